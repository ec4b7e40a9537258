"""Division, roots and the logarithm on the vreg cores.

`precision=high` divides and takes roots in software, whose sequence is not known: one stand-in
micro-op (VDIV_SOFT, VSQRT_SOFT) has its values and its time.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import log

from archsim.arch import VregArch
from archsim.base.dtypes import F16, F32, DType
from archsim.isa.operands import BoundInstr, TileView
from archsim.isa.vreg import VectorFunction, VregUop
from archsim.lower.lowered import Families, Lowered, Watch
from archsim.lower.notes import Notes, departs
from archsim.lower.operands import data_tiles
from archsim.lower.vreg.emit import Body, Path, Spot, form, path_of, walk

# Below the first a logarithm is of x * 2**n: threshold, factor, and what is added afterwards.
_TINY_LOG = {F16: (2.0**-14, 2.0**10, -10 * log(2)), F32: (2.0**-126, 2.0**23, -23 * log(2))}


def divide(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = src0 / src1; integers are cut towards zero."""
    dst, src0, src1 = data_tiles(instr)

    def body(spot: Spot) -> tuple[VregUop, ...]:
        return (
            spot.load("v0", src0),
            spot.load("v1", src1),
            spot.op(_division(instr), "v2", "v0", "v1", dtype=dst.dtype),
            spot.store(dst, "v2"),
        )

    return replace(over(instr, arch, body), watched=zero_watch(src1))


def divide_scalar(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = src / scalar, or scalar / src as written; the scalar is spread before the loop."""
    order = ("v0", "v1") if isinstance(instr.src[0], TileView) else ("v1", "v0")
    value = next(operand for operand in instr.src if isinstance(operand, int | float))
    return _divided(instr, arch, value, order)


def reciprocal(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = 1 / src."""
    return _divided(instr, arch, 1, ("v1", "v0"))


def _divided(
    instr: BoundInstr, arch: VregArch, value: int | float, order: tuple[str, str]
) -> Lowered:
    dst, src = data_tiles(instr)

    def body(spot: Spot) -> tuple[VregUop, ...]:
        return (
            spot.load("v0", src),
            spot.op(_division(instr), "v2", *order, dtype=dst.dtype),
            spot.store(dst, "v2"),
        )

    before = (spread("VBR", "v1", value, dst.dtype),)
    divisor = value if order == ("v0", "v1") else src
    lowered = over(instr, arch, body, before, notes=zero_notes(instr, divisor, arch))
    return replace(lowered, watched=zero_watch(divisor))


def root(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = sqrt(src)."""
    dst, src = data_tiles(instr)

    def body(spot: Spot) -> tuple[VregUop, ...]:
        found = spot.op(_soft(instr, "VSQRT"), "v1", "v0", dtype=dst.dtype)
        return spot.load("v0", src), found, spot.store(dst, "v1")

    return over(instr, arch, body, one_form=True)


def reciprocal_root(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = 1 / sqrt(src), rounded twice; a scratch operand is neither read nor written."""
    dst, src = data_tiles(instr)

    def body(spot: Spot) -> tuple[VregUop, ...]:
        return (
            spot.load("v0", src),
            spot.op(_soft(instr, "VSQRT"), "v2", "v0", dtype=dst.dtype),
            spot.op(_division(instr), "v3", "v1", "v2", dtype=dst.dtype),
            spot.store(dst, "v3"),
        )

    return over(instr, arch, body, (spread("VDUP", "v1", 1.0, dst.dtype),), one_form=True)


def logarithm(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = ln(src); with precision=high subnormals are scaled up first, in every vector."""
    dst, src = data_tiles(instr)
    least, factor, added = _TINY_LOG[dst.dtype]

    def body(spot: Spot) -> tuple[VregUop, ...]:
        return (
            spot.load("v0", src),
            spot.op("VLN", "v1", "v0", dtype=dst.dtype),
            spot.store(dst, "v1"),
        )

    def precise(spot: Spot) -> tuple[VregUop, ...]:
        op = typed(spot, dst.dtype)
        return (
            spot.load("v0", src),
            op("VCMPS", "p0", "v0", scalar=least, effect="lt"),
            op("VMULS", "v1", "v0", scalar=factor),
            op("VSEL", "v2", "p0", "v1", "v0"),
            op("VLN", "v3", "v2"),
            op("VADDS", "v4", "v3", scalar=added),
            op("VSEL", "v5", "p0", "v4", "v3"),
            spot.store(dst, "v5"),
        )

    chosen = precise if is_precise(instr) else body
    return over(instr, arch, chosen, one_form=True)


def zero_notes(instr: BoundInstr, divisor: TileView | int | float, arch: VregArch) -> Notes:
    """What integers divided by a scalar 0 give is not known; tiles are watched as they run."""
    if data_tiles(instr)[0].dtype.is_float or isinstance(divisor, TileView) or divisor != 0:
        return ()
    return departs(
        instr,
        f"{instr.op.mnemonic} of integers: what a division by 0 gives on {arch.isa} is not known;"
        " all bits of such lanes are 1 here",
        "keep zeros out of the divisor, or mask those lanes afterwards",
    )


def zero_watch(divisor: TileView | int | float) -> tuple[Watch, ...]:
    """Integer divisors that may be 0 when the instruction runs."""
    if isinstance(divisor, TileView) and not divisor.dtype.is_float:
        return (Watch.zero_divisor(divisor),)
    return ()


def typed(spot: Spot, dtype: DType) -> Callable[..., VregUop]:
    """`spot.op` with the element type given."""
    return partial(spot.op, dtype=dtype)


def is_precise(instr: BoundInstr) -> bool:
    """Whether the program asks for high precision."""
    return instr.attrs.get("precision") == "high"


def _soft(instr: BoundInstr, name: str) -> str:
    """The micro-op, or its stand-in in software; integers know one only."""
    is_float = data_tiles(instr)[0].dtype.is_float
    return f"{name}_SOFT" if is_precise(instr) and is_float else name


def _division(instr: BoundInstr) -> str:
    return _soft(instr, "VDIV")


def spread(name: str, register: str, value: int | float, dtype: DType) -> VregUop:
    """A number in every lane of a register."""
    return VregUop(name, form(dtype), (register,), (), dtype, scalar=value)


def behind(before: tuple[VregUop, ...], function: VectorFunction) -> VectorFunction:
    """The function with some micro-ops before its loops."""
    return VectorFunction((*before, *function.nodes))


def over(
    instr: BoundInstr,
    arch: VregArch,
    body: Body,
    before: tuple[VregUop, ...] = (),
    *,
    one_form: bool = False,
    notes: Notes = (),
) -> Lowered:
    """`body` over the destination; `one_form`: nested it has no post-update."""
    dst, *srcs = data_tiles(instr)
    path = path_of(instr, [dst, *srcs])
    if one_form and path is Path.NEST_POST:
        path = Path.NEST
    lanes = arch.vector.width_bytes // dst.dtype.itemsize
    function = walk(path, dst.valid_rows, dst.valid_cols, lanes, body)
    return Lowered.over_tiles((behind(before, function),), dst, srcs, notes)


FAMILIES: Families[VregArch] = {
    "divide": divide,
    "divide_scalar": divide_scalar,
    "logarithm": logarithm,
    "reciprocal": reciprocal,
    "reciprocal_root": reciprocal_root,
    "root": root,
}
