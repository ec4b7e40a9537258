"""TMOV, TEXTRACT, TINSERT between UB tiles on the simd cores: copies on the vector pipe."""

from dataclasses import replace

from archsim.arch import SimdArch
from archsim.base.dtypes import U16
from archsim.isa.operands import MEMORY, BoundInstr, Region, TileView
from archsim.isa.simd import RowLoop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import data_tiles, tile
from archsim.lower.parts import both_parts, is_element
from archsim.lower.simd.emit import BARRIER, Item, Plane, Stream, chunks, masked, pack, partial


def copy(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst[r, c] = src[r, c] over the smaller of the two valid regions.

    Rows are the runs of both tiles: columns where they are column-major, column groups in nz.
    """
    dst, src = (operand.as_rows() for operand in data_tiles(instr))
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


def part(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """TEXTRACT and TINSERT: a part of a tile.

    1. One element: the scalar unit copies it, with flags from V and back to V around it.
    2. Whole blocks (nz: always): copies of blocks, one a row.
    3. Else the blocks, then the rest of each row under a mask of 16-bit lanes, at most 255 rows at
       a time. No byte behind the part is written.
    """
    dst, src = both_parts(instr)
    small = "dst" if instr.op.family == "extract" else "src"
    if is_element(tile(instr, small)):
        return _element(dst, src)  # 1
    block = arch.vector.block_bytes
    blocks, rest = divmod(dst.valid_cols * dst.dtype.itemsize, block)
    if not rest or tile(instr, "dst").layout == "nz":
        return copied(dst, src, arch)  # 2
    items: list[Item] = []  # 3
    planes = [Plane(t.addr, dst.dtype, t.row_bytes) for t in (dst, src)]
    if blocks:
        lanes = block // dst.dtype.itemsize
        stream = Stream("copy_ubuf_to_ubuf", dst.dtype, lanes, planes[0], (planes[1],))
        items.append(RowLoop(dst.valid_rows, (stream.uop(blocks, looped=True),)))
    behind = [Plane(t.addr + blocks * block, U16, t.row_bytes) for t in (dst, src)]
    tail = Stream("vcopy", U16, arch.vector.width_bytes // 2, behind[0], (behind[1],))
    pieces = chunks(dst.valid_rows, arch.vector.repeat_max)
    mask = partial(rest // U16.itemsize)
    items += masked(*(tail.uop(size, mask, row=row, down=True) for row, size in pieces))
    return Lowered.over_tiles(pack(items), dst, (src,))


def _element(dst: TileView, src: TileView) -> Lowered:
    planes = [Plane(t.addr, dst.dtype, t.row_bytes) for t in (dst, src)]
    stream = Stream("scalar_copy", dst.dtype, 1, planes[0], (planes[1],))
    size = dst.dtype.itemsize
    cells = [Region(MEMORY[t.loc], t.addr, 1, size, size) for t in (dst, src)]
    loop = RowLoop(1, (BARRIER, stream.uop(1), BARRIER))
    return Lowered((loop,), (cells[1],), (cells[0],), (cells[1],))


FAMILIES: Families[SimdArch] = {
    "extract": part,
    "insert": part,
    "move": copy,
}
