"""TQUANT in groups that share an exponent (MX), on the vreg cores: three passes over the rows."""

from dataclasses import replace

from archsim.arch import VregArch
from archsim.base.dtypes import F32, I32
from archsim.isa.operands import BoundInstr, TileView
from archsim.isa.shared_exponents import GREATEST_EXPONENT, GROUP_COLUMNS, groups
from archsim.isa.vreg import Tail, VectorFunction, VregLoop, VregMem, VregNode, VregUop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import scratch, tile
from archsim.lower.vreg.accumulate import cvt, fence, op, store
from archsim.lower.vreg.emit import FOURTH_BYTES, Spot, form, fourth_bytes

_EXPONENT_BITS, _EXPONENT_AT = 0x7F800000, 23
_NOT_FINITE = 255  # the exponent of infinities and NaN, and the e8m0 that means NaN
_NAN_BITS = 0x7FC00000
_INVERSE = 254  # biased exponents of x and 1 / x add up to it


def quantise_groups(instr: BoundInstr, arch: VregArch) -> Lowered:
    """exponents[r, g] = E - emax, E the biased exponent of the greatest |src| of 32 columns;
    dst[r, c] = rint(src[r, c] * 2^(127 - exponents[r, c / 32])), saturating.

    1. The greatest |x| of each group, 256 elements an iteration, to tmp.
    2. By bits, 64 groups an iteration: the exponent, and over the maxima the factor.
    3. Products in f32, converted and packed, 64 elements an iteration.
    The passes and their instructions are published, their order within a pass is assumed, and so is
    this: E below emax gives exponent 0, as an e8m0 number has no less; E = 255 (a group with an
    infinity or a NaN) gives exponent 255, which is NaN, and the factor NaN for the whole group.
    Where `max_nan` lets a maximum drop a NaN, it does not count in its group.
    The conversion follows CTRL[48]: 0 clamps to +-448 and makes NaN 0, 1 keeps NaN and makes what
    rounds to more than 448 NaN.
    """
    dst, src, exponents = (tile(instr, name) for name in ("dst", "src", "exponents"))
    tmp, count = scratch(instr), groups(src.valid_cols)
    emax = GREATEST_EXPONENT[dst.dtype.name]
    rows, width = src.valid_rows, arch.vector.width_bytes
    lanes = width // F32.itemsize
    maxima = VregLoop(-(-src.valid_cols // width), _maxima(src, tmp, width))
    factors = VregLoop(-(-count // lanes), _factors(exponents, tmp, lanes, emax))
    products = VregLoop(-(-src.valid_cols // lanes), _products(dst, src, tmp, lanes))
    nodes: tuple[VregNode, ...] = (
        VregLoop(rows, (maxima,)),  # 1
        fence(F32),
        *_constants(emax),
        VregLoop(rows, (factors,)),  # 2
        fence(F32),
        *_indices(lanes),
        VregLoop(rows, (products,)),  # 3
    )
    read = (src.valid_region(),)
    held = (dst.valid_region(), exponents.valid_region())
    kept = replace(tmp.valid_region(count * F32.itemsize), rows=rows)
    return Lowered((VectorFunction(nodes),), read, (*held, kept), read)


def _maxima(src: TileView, tmp: TileView, width: int) -> tuple[VregUop, ...]:
    """Every fourth element in a register, so that a group's are a block of each: |x|, maxima of
    registers, maxima of blocks."""
    lanes, cols = width // F32.itemsize, src.valid_cols
    split = _split_words if src.dtype is F32 else _split_halves
    # Lane l of register `first` is element first + 4 l: the lanes of a register that are valid.
    on = [Tail(-(-(cols - first) // 4), lanes) for first in range(4)]
    absolute = tuple(
        VregUop("VABS", form(F32), (f"v{first}",), (f"v{first}",), F32, pred=on[first])
        for first in range(4)
    )
    return (
        *split(src, width),
        *absolute,
        op("VMAX", F32, "v4", "v0", "v1"),
        op("VMAX", F32, "v5", "v2", "v3"),
        op("VMAX", F32, "v6", "v4", "v5"),
        op("VCGMAX", F32, "v7", "v6"),
        store(_floats(tmp), "v7", (tmp.row_bytes, 32), 8, Tail(groups(cols), 8)),
    )


def _split_words(src: TileView, width: int) -> tuple[VregUop, ...]:
    """Two loads, of even and odd elements each; those of both again into even and odd ones."""
    return (
        _split_load(src, ("v4", "v5"), width, 0),
        _split_load(src, ("v6", "v7"), width, width // 2),
        VregUop("VDINTLV", form(F32), ("v0", "v2"), ("v4", "v6"), F32),
        VregUop("VDINTLV", form(F32), ("v1", "v3"), ("v5", "v7"), F32),
    )


def _split_halves(src: TileView, width: int) -> tuple[VregUop, ...]:
    """One load, of even and odd elements; the even and the odd ones of both, widened."""
    return (
        _split_load(src, ("v4", "v5"), width, 0),
        cvt("v0", "v4", src.dtype, F32, "from_even"),
        cvt("v2", "v4", src.dtype, F32, "from_odd"),
        cvt("v1", "v5", src.dtype, F32, "from_even"),
        cvt("v3", "v5", src.dtype, F32, "from_odd"),
    )


def _split_load(src: TileView, registers: tuple[str, str], width: int, ahead: int) -> VregUop:
    """Even elements to one register, odd ones to the other, from `ahead` elements on."""
    size = src.dtype.itemsize
    steps = (src.row_bytes, width * size)
    mem = VregMem(src.addr + ahead * size, steps, src.dtype, 2 * width // size, "dintlv")
    return VregUop("VLDS", form(src.dtype), registers, (), src.dtype, mem)


def _constants(emax: int) -> tuple[VregUop, ...]:
    values = {"vm": _EXPONENT_BITS, "ve": emax, "vf": _INVERSE, "vx": _NOT_FINITE, "vn": _NAN_BITS}
    return tuple(op("VBR", I32, name, scalar=value) for name, value in values.items())


def _factors(exponents: TileView, tmp: TileView, lanes: int, emax: int) -> tuple[VregUop, ...]:
    spot = Spot(lanes, 0, nested=True, pred=Tail(exponents.valid_cols, lanes))
    whole = replace(spot, pred=None)
    return (
        spot.load("v0", _floats(tmp)),
        spot.op("VAND", "v1", "v0", "vm", dtype=I32),
        whole.op("VSHRS", "v2", "v1", dtype=I32, scalar=_EXPONENT_AT),
        whole.op("VCMPS", "p0", "v2", dtype=I32, scalar=_NOT_FINITE, effect="eq"),
        whole.op("VCMPS", "p1", "v2", dtype=I32, scalar=emax, effect="lt"),
        whole.op("VSEL", "v3", "p1", "ve", "v2", dtype=I32),
        whole.op("VSUB", "v4", "v3", "ve", dtype=I32),
        whole.op("VSUB", "v5", "vf", "v4", dtype=I32),
        whole.op("VSHLS", "v6", "v5", dtype=I32, scalar=_EXPONENT_AT),
        whole.op("VSEL", "v7", "p0", "vx", "v4", dtype=I32),
        whole.op("VSEL", "v8", "p0", "vn", "v6", dtype=I32),
        spot.store(exponents, "v7", dist="pk"),
        spot.store(_floats(tmp), "v8"),
    )


def _indices(lanes: int) -> tuple[VregUop, ...]:
    """Which byte of a register goes where, and which lanes are of the first of two groups."""
    return (
        *FOURTH_BYTES,
        VregUop("VCI", form(I32), ("vl",), (), I32, scalar=0, effect=f"inc {lanes}"),
        VregUop("VCMPS", form(I32), ("p2",), ("vl",), I32, scalar=GROUP_COLUMNS, effect="lt"),
    )


def _products(dst: TileView, src: TileView, tmp: TileView, lanes: int) -> tuple[VregUop, ...]:
    spot = Spot(lanes, 0, nested=True, pred=Tail(src.valid_cols, lanes))
    loaded = [spot.load("v3", src)]
    if src.dtype is not F32:
        loaded = [spot.load("v2", src, dist="unpk"), spot.cvt("v3", "v2", src.dtype, F32)]
    steps = (tmp.row_bytes, lanes // GROUP_COLUMNS * F32.itemsize)
    return (
        _factor("v0", tmp, steps, 0),
        _factor("v1", tmp, steps, 1),
        spot.op("VSEL", "v4", "p2", "v0", "v1", dtype=F32),
        *loaded,
        spot.op("VMUL", "v5", "v3", "v4", dtype=F32),
        spot.cvt("v6", "v5", F32, dst.dtype, "rint sat part_even"),
        *fourth_bytes("v7", "v6"),
        spot.store(dst, "v7"),
    )


def _factor(register: str, tmp: TileView, steps: tuple[int, int], group: int) -> VregUop:
    mem = VregMem(tmp.addr + group * F32.itemsize, steps, F32, 1, "brc")
    return VregUop("VLDS", form(F32), (register,), (), F32, mem)


def _floats(tmp: TileView) -> TileView:
    """Scratch as f32, a number for each group of a row, whatever its own type."""
    return replace(tmp, dtype=F32, row_stride=tmp.row_bytes // F32.itemsize)


FAMILIES: Families[VregArch] = {
    "quant_groups": quantise_groups,
}
