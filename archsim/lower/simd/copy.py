"""TMOV between UB tiles on the simd cores: copies in whole blocks, on the vector pipe."""

from dataclasses import replace

from archsim.arch import SimdArch
from archsim.isa.operands import BoundInstr, TileView
from archsim.isa.simd import RowLoop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import data_tiles
from archsim.lower.simd.emit import Plane, Stream


def copy(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst[r, c] = src[r, c] over the smaller of the two valid regions.

    Rows are the runs of both tiles: columns where they are column-major, column groups in nz.
    """
    dst, src = (tile.as_rows() for tile in data_tiles(instr))
    return copied(dst, src, arch)


def copied(dst: TileView, src: TileView, arch: SimdArch) -> Lowered:
    """Copies from row to row.

    1. Equal columns (or one row), all of them valid: one copy.
    2. Otherwise one copy a row.
    A copy counts in blocks of 32 bytes: a `repeat` is a block, the last one whole. So bytes behind
    the valid columns, up to the end of their block, are copied too.
    """
    rows = min(dst.valid_rows, src.valid_rows)
    cols = min(dst.valid_cols, src.valid_cols)
    per_block = arch.vector.block_bytes // dst.dtype.itemsize
    stream = Stream("copy_ubuf_to_ubuf", dst.dtype, per_block, Plane.of(dst), (Plane.of(src),))
    one_run = rows == 1 or (cols == dst.cols == src.cols == dst.row_stride == src.row_stride)
    blocks = -(-(rows * cols if one_run else cols) // per_block)
    loop = RowLoop(1 if one_run else rows, (stream.uop(blocks, looped=not one_run),))
    width = -(-cols // per_block) * arch.vector.block_bytes
    moved = [replace(t.valid_region(width), rows=rows) for t in (src, dst)]
    source = replace(src.valid_region(cols * src.dtype.itemsize), rows=rows)
    return Lowered((loop,), (moved[0],), (moved[1],), (source,))


FAMILIES: Families[SimdArch] = {
    "move": copy,
}
