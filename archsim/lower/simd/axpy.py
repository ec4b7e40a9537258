"""TAXPY on the simd cores: dst = dst + src * scalar."""

from archsim.arch import SimdArch
from archsim.isa.operands import BoundInstr
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import data_tiles, number
from archsim.lower.simd.elementwise import scalar_over
from archsim.lower.simd.emit import Stream, pack
from archsim.lower.simd.walks import Walk


def axpy(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = dst + src * scalar, the scalar in the type of src.

    1. One type: as TADDS.
    2. f16 into f32, 64 lanes a repeat: row by row in count mode where a row pitch exceeds the
       repeat stride, or a row has more whole repeats than there are valid rows.
    3. f16 into f32 otherwise: down the columns.
    """
    dst, src = data_tiles(instr)
    name, value = instr.op.uops[arch.isa], number(instr, "scalar")
    if dst.dtype is src.dtype:
        items, notes = scalar_over(instr, name, dst, [src, dst], value, arch)  # 1
        return Lowered.over_tiles(pack(items), dst, [src, dst], notes)
    stream = Stream.over(name, dst, [src, dst], arch, scalar=value)
    walk = Walk.over(stream, dst.valid_rows, dst.valid_cols, arch)
    if not walk.strides_fit or walk.cols // stream.lanes > walk.rows:
        return Lowered.over_tiles(pack(walk.count_rows()), dst, [src, dst])  # 2
    return Lowered.over_tiles(pack(walk.down_columns()), dst, [src, dst])  # 3


FAMILIES: Families[SimdArch] = {"axpy": axpy}
