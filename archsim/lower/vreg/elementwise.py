"""Elementwise instructions of the vreg cores: load, compute, store, one vector an iteration."""

from archsim.arch import VregArch
from archsim.base.dtypes import F16, F32, DType
from archsim.isa.operands import BoundInstr
from archsim.isa.vreg import VregUop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import data_tiles, number, output
from archsim.lower.vreg.emit import Body, Path, Spot, form, path_of, walk

_LARGEST_SUBNORMAL = {F16: 0x03FF * 2.0**-24, F32: 0x007FFFFF * 2.0**-149}


def binary(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = src0 op src1; a scratch operand (TPRELU) is neither read nor written."""
    dst, src0, src1 = data_tiles(instr)

    def body(spot: Spot) -> tuple[VregUop, ...]:
        return (
            spot.load("v0", src0),
            spot.load("v1", src1),
            spot.op(instr.op.uops[arch.isa], "v2", "v0", "v1", dtype=dst.dtype),
            spot.store(dst, "v2"),
        )

    return _over_tiles(instr, arch, path_of(instr, [dst, src0, src1]), body)


def scalar(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = src op scalar."""
    dst, src = data_tiles(instr)
    value = number(instr, "scalar")

    def body(spot: Spot) -> tuple[VregUop, ...]:
        return (
            spot.load("v0", src),
            spot.op(instr.op.uops[arch.isa], "v1", "v0", dtype=dst.dtype, scalar=value),
            spot.store(dst, "v1"),
        )

    return _over_tiles(instr, arch, path_of(instr, [dst, src]), body)


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
    """dst = src between UB tiles, by load and store."""
    dst, src = data_tiles(instr)

    def body(spot: Spot) -> tuple[VregUop, ...]:
        return spot.load("v0", src), spot.store(dst, "v0")

    return _over_tiles(instr, arch, _unary_path(path_of(instr, [dst, src])), body)


def _over_tiles(instr: BoundInstr, arch: VregArch, path: Path, body: Body) -> Lowered:
    dst, *srcs = data_tiles(instr)
    lanes = arch.vector.width_bytes // dst.dtype.itemsize
    function = walk(path, dst.valid_rows, dst.valid_cols, lanes, body)
    return Lowered.over_tiles((function,), dst, srcs)


def _unary_path(path: Path) -> Path:
    return Path.NEST if path is Path.NEST_POST else path


FAMILIES: Families[VregArch] = {
    "binary": binary,
    "move": copy,
    "prelu": binary,
    "expands": expands,
    "scalar": scalar,
    "unary": unary,
}
