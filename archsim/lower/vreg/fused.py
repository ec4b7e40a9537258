"""The fused instructions of the vreg cores: always a nest of rows, everything in registers."""

from archsim.arch import VregArch
from archsim.base.dtypes import F16, F32, I16, I32, U8
from archsim.isa.operands import BoundInstr
from archsim.isa.vreg import VectorFunction, VregUop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import data_tiles, number
from archsim.lower.vreg.emit import Body, Spot, nest

_SHIFT = 2.0**17


def add_relu_convert(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = convert(max(0, src0 + src1)), or of src0 - src1, in the source type.

    Results of i16 are clamped to 127 and stored as u8, whose bytes are those of i8: there is no
    conversion from i16 to i8.
    """
    dst, src0, src1 = data_tiles(instr)
    source = src0.dtype

    def body(spot: Spot) -> tuple[VregUop, ...]:
        head = (
            spot.load("v0", src0),
            spot.load("v1", src1),
            spot.op(instr.op.uops[arch.isa], "v2", "v0", "v1", dtype=source),
            spot.op("VMAXS", "v3", "v2", dtype=source, scalar=0),
        )
        if source is not I16:
            converted = spot.cvt("v4", "v3", source, dst.dtype, "rint")
            return *head, converted, spot.store(dst, "v4", dist="pk")
        return (
            *head,
            spot.op("VMINS", "v4", "v3", dtype=I16, scalar=127),
            spot.cvt("v5", "v4", I16, U8),
            spot.store(dst, "v5", dist="pk"),
        )

    return _rows(instr, arch, body)


def add_dequantise_relu(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = half(max(0, (src0 + src1) * scale)); sources and scratch stay as they are."""
    dst, src0, src1 = data_tiles(instr)
    scale = float(number(instr, "scale"))

    def body(spot: Spot) -> tuple[VregUop, ...]:
        return (
            spot.load("v0", src0),
            spot.load("v1", src1),
            spot.op("VADD", "v2", "v0", "v1", dtype=I32),
            spot.cvt("v3", "v2", I32, F32, "rint"),
            spot.op("VMULS", "v4", "v3", dtype=F32, scalar=1 / _SHIFT),
            spot.op("VMULS", "v5", "v4", dtype=F32, scalar=scale),
            spot.op("VMULS", "v6", "v5", dtype=F32, scalar=_SHIFT),
            spot.op("VMAXS", "v7", "v6", dtype=F32, scalar=0.0),
            spot.cvt("v8", "v7", F32, F16, "rint"),
            spot.store(dst, "v8", dist="pk"),
        )

    return _rows(instr, arch, body)


def _rows(instr: BoundInstr, arch: VregArch, body: Body) -> Lowered:
    dst, *srcs = data_tiles(instr)
    lanes = arch.vector.width_bytes // srcs[0].dtype.itemsize
    loop = nest(dst.valid_rows, dst.valid_cols, lanes, body)
    return Lowered.over_tiles((VectorFunction((loop,)),), dst, srcs)


FAMILIES: Families[VregArch] = {
    "adddeqrelu": add_dequantise_relu,
    "addreluconv": add_relu_convert,
}
