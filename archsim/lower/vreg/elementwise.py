"""Elementwise instructions of the vreg cores: load, compute, store, one vector an iteration."""

from collections.abc import Sequence
from dataclasses import replace

from archsim.arch import VregArch
from archsim.base.dtypes import F16, F32, DType
from archsim.isa.lanes.narrow import as_element
from archsim.isa.operands import BoundInstr, TileView
from archsim.isa.vreg import VectorFunction, VregUop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import data_tiles, negated, number, output
from archsim.lower.vreg.emit import Body, Path, Spot, form, path_of, walk

_LARGEST_SUBNORMAL = {F16: 0x03FF * 2.0**-24, F32: 0x007FFFFF * 2.0**-149}


def binary(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = src0 op src1; a scratch operand (TPRELU, TXOR) is neither read nor written.

    Further micro-ops of the row (a relu) work on the result.
    """
    dst, *srcs = data_tiles(instr)
    return _from_vectors(instr, arch, dst, srcs)


def accumulate(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = op(dst, src0, src1), as `binary` with dst the first of three sources."""
    dst, *srcs = data_tiles(instr)
    return _from_vectors(instr, arch, dst, [dst, *srcs])


def _from_vectors(
    instr: BoundInstr, arch: VregArch, dst: TileView, srcs: list[TileView]
) -> Lowered:
    first, *then = instr.op.uops[arch.isa].split()
    registers = [f"v{k}" for k in range(len(srcs))]

    def body(spot: Spot) -> tuple[VregUop, ...]:
        found = f"v{len(srcs)}"
        uops = [spot.load(name, src) for name, src in zip(registers, srcs, strict=True)]
        uops.append(spot.op(first, found, *registers, dtype=dst.dtype))
        for k, name in enumerate(then, len(srcs) + 1):
            uops.append(spot.op(name, f"v{k}", found, dtype=dst.dtype))
            found = f"v{k}"
        return *uops, spot.store(dst, found)

    path = path_of(instr, data_tiles(instr))
    return _over_tiles(instr, arch, path, body, srcs)


def binary_then(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = (src0 op src1) op src2, in registers: assumed, nothing is known of the body."""
    dst, *srcs = data_tiles(instr)
    first, then = instr.op.uops[arch.isa].split()

    def body(spot: Spot) -> tuple[VregUop, ...]:
        return (
            *(spot.load(f"v{k}", src) for k, src in enumerate(srcs)),
            spot.op(first, "v3", "v0", "v1", dtype=dst.dtype),
            spot.op(then, "v4", "v3", "v2", dtype=dst.dtype),
            spot.store(dst, "v4"),
        )

    return _over_tiles(instr, arch, path_of(instr, [dst, *srcs]), body)


def scalar(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = src op scalar."""
    return _with_number(instr, number(instr, "scalar"), arch)


def sub_scalar(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = src - scalar: the negated scalar is added."""
    return _with_number(instr, negated(number(instr, "scalar"), output(instr).dtype), arch)


def negate(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = src * -1."""
    return _with_number(instr, -1, arch)


def _with_number(instr: BoundInstr, value: int | float, arch: VregArch) -> Lowered:
    dst, src = data_tiles(instr)

    def body(spot: Spot) -> tuple[VregUop, ...]:
        return (
            spot.load("v0", src),
            spot.op(instr.op.uops[arch.isa], "v1", "v0", dtype=dst.dtype, scalar=value),
            spot.store(dst, "v1"),
        )

    return _over_tiles(instr, arch, path_of(instr, [dst, src]), body)


def scalar_then(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = (src0 op scalar) op src1, in registers: assumed, nothing is known of the body."""
    return _scalar_then(instr, number(instr, "scalar"), arch)


def sub_scalar_then(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = (src0 - scalar) op src1, as `scalar_then` with the negated scalar."""
    return _scalar_then(instr, negated(number(instr, "scalar"), output(instr).dtype), arch)


def _scalar_then(instr: BoundInstr, value: int | float, arch: VregArch) -> Lowered:
    dst, src0, src1 = data_tiles(instr)
    first, then = instr.op.uops[arch.isa].split()

    def body(spot: Spot) -> tuple[VregUop, ...]:
        return (
            spot.load("v0", src0),
            spot.load("v1", src1),
            spot.op(first, "v2", "v0", dtype=dst.dtype, scalar=value),
            spot.op(then, "v3", "v2", "v1", dtype=dst.dtype),
            spot.store(dst, "v3"),
        )

    return _over_tiles(instr, arch, path_of(instr, [dst, src0, src1]), body)


def logic_scalar(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = src op scalar, the scalar in every lane of a register that is made before the loop.

    A scratch operand (TXORS) is neither read nor written.
    """
    dst, src = data_tiles(instr)
    lanes = VregUop("VBR", form(dst.dtype), ("v1",), (), dst.dtype, scalar=number(instr, "scalar"))

    def body(spot: Spot) -> tuple[VregUop, ...]:
        return (
            spot.load("v0", src),
            spot.op(instr.op.uops[arch.isa], "v2", "v0", "v1", dtype=dst.dtype),
            spot.store(dst, "v2"),
        )

    return _over_tiles(instr, arch, path_of(instr, [dst, src]), body, before=(lanes,))


def axpy(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = dst + src * scalar, the scalar in the type of src; always a nest of rows.

    Halves for an f32 destination are widened on the way.
    """
    dst, src = data_tiles(instr)
    value = float(as_element(number(instr, "scalar"), src.dtype))
    widens = src.dtype is not dst.dtype

    def body(spot: Spot) -> tuple[VregUop, ...]:
        load = spot.load("v0", src, dist="unpk" if widens else "norm")
        wide = (spot.cvt("v1", "v0", src.dtype, dst.dtype),) if widens else ()
        factor = "v1" if widens else "v0"
        return (
            load,
            *wide,
            spot.load("v2", dst),
            spot.op("VAXPY", "v3", factor, "v2", dtype=dst.dtype, scalar=value),
            spot.store(dst, "v3"),
        )

    return _over_tiles(instr, arch, Path.NEST, body, [src, dst])


def unary(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = op src. Nested it has one form only, without post-update."""
    dst, src = data_tiles(instr)
    name = instr.op.uops[arch.isa]

    def body(spot: Spot) -> tuple[VregUop, ...]:
        computed = spot.op(name, "v1", "v0", dtype=dst.dtype)
        return spot.load("v0", src), computed, spot.store(dst, "v1")

    def precise(spot: Spot) -> tuple[VregUop, ...]:
        return spot.load("v0", src), *_precise_exp(spot, dst.dtype), spot.store(dst, "v6")

    chosen = precise if instr.attrs.get("precision") == "high" else body
    return _over_tiles(instr, arch, _unary_path(path_of(instr, [dst, src])), chosen)


def _precise_exp(spot: Spot, dtype: DType) -> tuple[VregUop, ...]:
    """v6 = exp(v0), with exp(v0 / 2) squared where exp(v0) is subnormal or flushed to zero.

    Every vector runs the whole sequence; normal results keep the bits of the plain exp.
    """
    kind = form(dtype)

    def tiny(name: str, dst: str, *src: str, scalar: float | None = None) -> VregUop:
        return VregUop(name, kind, (dst,), src, dtype, scalar=scalar, pred="p0")

    return (
        spot.op("VEXP", "v1", "v0", dtype=dtype),
        spot.op("VCMPS", "p0", "v1", dtype=dtype, scalar=_LARGEST_SUBNORMAL[dtype], effect="le"),
        tiny("VDUP", "v2", scalar=2.0),
        tiny("VDIV", "v3", "v0", "v2"),
        tiny("VEXP", "v4", "v3"),
        tiny("VMUL", "v5", "v4", "v4"),
        spot.op("VSEL", "v6", "p0", "v5", "v1", dtype=dtype),
    )


def expands(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = scalar; nothing is read."""
    dst = output(instr)
    value = number(instr, "scalar")

    def body(spot: Spot) -> tuple[VregUop, ...]:
        return spot.op("VDUP", "v0", dtype=dst.dtype, scalar=value), spot.store(dst, "v0")

    return _over_tiles(instr, arch, path_of(instr, [dst]), body)


def copy(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = src between UB tiles, by load and store of their runs (rows; columns; nz groups)."""
    dst, src = (tile.as_rows() for tile in data_tiles(instr))
    instr = replace(instr, dst=(dst,), src=(src,))

    def body(spot: Spot) -> tuple[VregUop, ...]:
        return spot.load("v0", src), spot.store(dst, "v0")

    return _over_tiles(instr, arch, _unary_path(path_of(instr, [dst, src])), body)


def _over_tiles(
    instr: BoundInstr,
    arch: VregArch,
    path: Path,
    body: Body,
    reads: Sequence[TileView] = (),
    before: tuple[VregUop, ...] = (),
) -> Lowered:
    """`body` over the destination; `reads` where that is more than the sources."""
    dst, *srcs = data_tiles(instr)
    lanes = arch.vector.width_bytes // dst.dtype.itemsize
    function = walk(path, dst.valid_rows, dst.valid_cols, lanes, body)
    function = VectorFunction((*before, *function.nodes))
    return Lowered.over_tiles((function,), dst, reads or srcs)


def _unary_path(path: Path) -> Path:
    return Path.NEST if path is Path.NEST_POST else path


FAMILIES: Families[VregArch] = {
    "accumulate": accumulate,
    "axpy": axpy,
    "binary": binary,
    "binary_then": binary_then,
    "exclusive": binary,
    "exclusive_scalar": logic_scalar,
    "expands": expands,
    "invert": unary,
    "logic": binary,
    "logic_scalar": logic_scalar,
    "move": copy,
    "negate": negate,
    "prelu": binary,
    "scalar": scalar,
    "scalar_then": scalar_then,
    "shift": binary,
    "shift_scalar": scalar,
    "sub_scalar": sub_scalar,
    "sub_scalar_then": sub_scalar_then,
    "unary": unary,
}
