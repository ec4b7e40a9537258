"""TQUANT and TDEQUANT on the vreg cores: nests of rows."""

from archsim.arch import VregArch
from archsim.base.dtypes import F16, F32, I8, I16, I32
from archsim.isa.operands import BoundInstr, Region, TileView
from archsim.isa.vreg import Tail, VectorFunction, VregLoop, VregMem, VregUop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import tile
from archsim.lower.vreg.emit import Spot, form


def dequantise(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst[r, c] = (float(src[r, c]) - offset[r]) * scale[r], two roundings.

    For each row two broadcast loads, then vectors of 64 with post-update; i8 goes through i32.
    """
    dst, src = tile(instr, "dst"), tile(instr, "src")
    scale, offset = tile(instr, "scale"), tile(instr, "offset")
    lanes = arch.vector.width_bytes // F32.itemsize
    spot = Spot(lanes, 0, nested=True, pred=Tail(dst.valid_cols, lanes))
    row = (row_value("v0", scale, (scale.row_bytes,)), row_value("v1", offset, (offset.row_bytes,)))
    body = (
        spot.load("v2", src, dist="unpk"),
        *_widened(spot, src),
        spot.op("VSUB", "v5", "v4", "v1", dtype=F32),
        spot.op("VMUL", "v6", "v5", "v0", dtype=F32),
        spot.store(dst, "v6"),
    )
    inner = VregLoop(-(-dst.valid_cols // lanes), body, post_update=True)
    function = VectorFunction((VregLoop(dst.valid_rows, (*row, inner)),))
    read = (src.valid_region(), column(scale), column(offset))
    return Lowered((function,), read, (dst.valid_region(),), read)


def quantise(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst[r, c] = rint(src[r, c] * scale[r] [+ offset[r]]), saturating.

    64 elements an iteration; every conversion to nearest even and saturating, by way of i32, f32
    and f16. Sources stay as they are; a scratch operand is neither read nor written.
    """
    dst, src, scale = tile(instr, "dst"), tile(instr, "src"), tile(instr, "scale")
    lanes = arch.vector.width_bytes // F32.itemsize
    spot = Spot(lanes, 0, nested=True, pred=Tail(dst.valid_cols, lanes))
    body = [
        row_value("v0", scale, (scale.row_bytes, 0)),
        spot.load("v1", src),
        spot.op("VMUL", "v2", "v1", "v0", dtype=F32),
    ]
    read = [src.valid_region(), column(scale)]
    if instr.op.family == "quant_offset":
        offset = tile(instr, "offset")
        body.append(row_value("v3", offset, (offset.row_bytes, 0)))
        body.append(spot.op("VADD", "v2", "v2", "v3", dtype=F32))
        read.append(column(offset))
    body += (
        spot.cvt("v4", "v2", F32, I32, "rint sat"),
        spot.cvt("v5", "v4", I32, F32, "rint"),
        spot.cvt("v6", "v5", F32, F16, "rint sat"),
        spot.cvt("v7", "v6", F16, dst.dtype, "rint sat"),
        spot.store(dst, "v7", dist="pk"),
    )
    inner = VregLoop(-(-dst.valid_cols // lanes), tuple(body))
    function = VectorFunction((VregLoop(dst.valid_rows, (inner,)),))
    return Lowered((function,), tuple(read), (dst.valid_region(),), tuple(read))


def row_value(register: str, values: TileView, steps: tuple[int, ...]) -> VregUop:
    """A load of a row's first element into every lane."""
    mem = VregMem(values.addr, steps, F32, 1, "brc")
    return VregUop("VLDS", form(F32), (register,), (), F32, mem)


def column(values: TileView) -> Region:
    """The first element of every row."""
    return values.valid_region(values.dtype.itemsize)


def _widened(spot: Spot, src: TileView) -> tuple[VregUop, ...]:
    if src.dtype is I16:
        return (spot.cvt("v4", "v2", I16, F32),)
    return spot.cvt("v3", "v2", I8, I32), spot.cvt("v4", "v3", I32, F32, "rint")


FAMILIES: Families[VregArch] = {
    "dequant": dequantise,
    "quant": quantise,
    "quant_offset": quantise,
}
