"""Broadcasts of the simd cores: blocks of one element each, rows with a stride of nothing."""

from collections.abc import Iterator
from dataclasses import replace

from archsim.arch import SimdArch
from archsim.base.dtypes import U16
from archsim.isa.operands import BoundInstr, Region, TileView
from archsim.isa.reductions import FRESH_ROWS
from archsim.isa.simd import FULL, Access, Mask, RowLoop, SimdItem, SimdUop
from archsim.isa.tile_ops import TILE_OPS
from archsim.lower.expansions import col_sides, row_sides
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import tile
from archsim.lower.simd.down import FLAGS, At, Down
from archsim.lower.simd.elementwise import unary
from archsim.lower.simd.emit import BARRIER, Item, chunks, counted, pack

_BLOCK_ROWS = 8  # elements that one repeat of vbrcb spreads


def row_expand(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst[r, :] = src[r].

    1. A static column-major source of 2- or 4-byte elements, dst one block wide: vbrcb, at most 254
       repeats each.
    2. Otherwise row by row: the scalar unit reads an element between flags, and it is duplicated in
       count mode. Bytes go in pairs.
    """
    dst, src = tile(instr, "dst"), tile(instr, "src")
    size = dst.dtype.itemsize
    read = (replace(src.valid_region(size), rows=dst.valid_rows),)
    if _is_block_column(dst, src, arch):
        pieces = chunks(dst.rows // _BLOCK_ROWS, 254)
        items: list[Item] = [_blocks(src, dst.addr, *piece) for piece in pieces]
        return Lowered(pack(items), read, (dst.whole_region(),), read)  # 1
    cols, lane = dst.valid_cols, dst.dtype
    if size == 1:
        cols, lane = -(-cols // 2), U16
    lanes = arch.vector.width_bytes // lane.itemsize
    into = Access(dst.addr, lane, repeat_stride=arch.vector.width_bytes, row_stride=dst.row_bytes)
    element = Access(src.addr, src.dtype, repeat_stride=0, row_stride=src.row_bytes, lanes=1)
    mask = Mask("count", cols)
    spread = SimdUop(
        "vector_dup", lane, lanes, -(-cols // lanes), mask, into, (element,), argument=0
    )
    items = list(counted(RowLoop(dst.valid_rows, (*FLAGS, *FLAGS, spread))))
    return Lowered(pack(items), read, (dst.valid_region(cols * lane.itemsize),), read)  # 2


def _is_block_column(dst: TileView, src: TileView, arch: SimdArch) -> bool:
    block = arch.vector.block_bytes
    whole = dst.valid_cols * dst.dtype.itemsize == dst.row_bytes == block
    known = dst.static_rows and dst.static_cols and src.static_rows
    rows = dst.rows == dst.valid_rows == src.rows and dst.rows % _BLOCK_ROWS == 0
    return whole and known and rows and not src.row_major and dst.dtype.itemsize in (2, 4)


def _blocks(column: TileView, into: int, first: int, repeats: int) -> SimdUop:
    """Elements 8 * first, ... of a column to a block of 32 bytes each."""
    dtype = column.dtype
    read = _BLOCK_ROWS * dtype.itemsize
    source = Access(column.addr + first * read, dtype, repeat_stride=read, lanes=_BLOCK_ROWS)
    target = Access(into + first * _BLOCK_ROWS * 32, dtype)
    lanes = _BLOCK_ROWS * 32 // dtype.itemsize
    return SimdUop("vbrcb", dtype, lanes, repeats, FULL, target, (source,))


def row_expand_op(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst[r, c] = whole[r, c] op column[r].

    1. A column-major column becomes a block for each row, in tmp or in the library's 8 KiB at the
       top of UB, and a barrier: of all rows below 256, else of 240 at a time with a barrier before.
    2. A row-major one has its blocks. 255 rows at a time, where there are 256 or more.
    The operation itself is that of `_onto_rows`. Exponentials of differences: a difference, a
    barrier, and TEXP in place. The whole tile is the left operand, wherever it is written.
    """
    dst = tile(instr, "dst")
    whole, column, notes = row_sides(instr)
    rows = dst.valid_rows
    limit = arch.vector.repeat_max
    items: list[Item] = []
    used: tuple[Region, ...] = ()
    if column.row_major:
        for row, count in chunks(rows, rows if rows <= limit else limit):
            blocks = At(column.addr + row * column.row_bytes, column.dtype, column.row_bytes)
            items += _onto_rows(instr, dst, whole, blocks, (row, count), arch)  # 2
    else:
        addr = _scratch(instr, arch)
        for row, count in chunks(rows, rows if rows <= limit else FRESH_ROWS):
            if rows > limit:
                items.append(BARRIER)
            repeats = -(-count // _BLOCK_ROWS)
            first = replace(column, addr=column.addr + row * column.row_bytes)
            items += [_blocks(first, addr, 0, repeats), BARRIER]  # 1
            blocks = At(addr, column.dtype, arch.vector.block_bytes)
            items += _onto_rows(instr, dst, whole, blocks, (row, count), arch)
            used = (*used, Region("UB", addr, 1, repeats * 256, repeats * 256))
    items += _exponential(instr, dst, arch)
    read = (whole.valid_region(), column.valid_region())
    return Lowered(pack(items), read, (dst.valid_region(), *used[:1]), read, notes=notes)


def _scratch(instr: BoundInstr, arch: SimdArch) -> int:
    if instr.tmp is not None:
        return instr.tmp.addr
    return arch.memory.ub.size_bytes - arch.memory.ub.reserved_top_bytes


def _name(instr: BoundInstr, arch: SimdArch) -> str:
    """The micro-op; exponentials of differences begin with a difference."""
    return instr.op.uops.get(arch.isa, "vsub")


def _onto_rows(
    instr: BoundInstr,
    dst: TileView,
    whole: TileView,
    blocks: At,
    rows: tuple[int, int],
    arch: SimdArch,
) -> Iterator[Item]:
    """`rows` (first, count) of dst = whole op the row's block, which is read over and over.

    1. Row strides beyond the repeat stride, or more repeats a row than rows: row by row in count
       mode. 2. Otherwise down the columns.
    """
    first, count = rows
    moved = [replace(t, addr=t.addr + first * t.row_bytes) for t in (dst, whole)]
    into, left = (At.of(t) for t in moved)
    lanes = arch.vector.width_bytes // dst.dtype.itemsize
    right = replace(blocks, block_stride=0)
    name = _name(instr, arch)
    if not (into.fits(arch) and left.fits(arch)) or dst.valid_cols // lanes > dst.valid_rows:
        yield from _count_rows(name, (into, left, right), dst, count, arch)  # 1
        return
    down = Down(name, dst.dtype, into, (left, right), arch)
    for col, size in chunks(dst.valid_cols, lanes):
        step = replace(down, dst=into.right(col), srcs=(left.right(col), right))
        yield from step.groups(count, FULL) if size == lanes else step.part(count, size)  # 2


def _count_rows(
    name: str, sides: tuple[At, At, At], dst: TileView, rows: int, arch: SimdArch
) -> Iterator[Item]:
    """One micro-op of count mode a row; what comes from one block does not move along the row."""
    width = arch.vector.width_bytes
    lanes = width // dst.dtype.itemsize
    step = [0 if at.block_stride == 0 else width for at in sides]
    into, *srcs = (
        Access(at.addr, at.dtype, at.block_stride, repeat, at.pitch)
        for at, repeat in zip(sides, step, strict=True)
    )
    mask, repeat = Mask("count", dst.valid_cols), -(-dst.valid_cols // lanes)
    uop = SimdUop(name, dst.dtype, lanes, repeat, mask, into, tuple(srcs), argument=0)
    yield from counted(RowLoop(rows, (uop,)))


def _exponential(instr: BoundInstr, dst: TileView, arch: SimdArch) -> Iterator[Item]:
    """A barrier and TEXP in place, behind a difference."""
    if not instr.op.uops:
        yield BARRIER
        for loop in unary(BoundInstr(TILE_OPS["texp"], (dst,), (dst,)), arch).uops:
            assert isinstance(loop, RowLoop)
            yield loop


def col_expand(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst[r, :] = src[0, :]: a copy in whole blocks for every row."""
    dst, src = tile(instr, "dst"), tile(instr, "src")
    block = arch.vector.block_bytes
    blocks = -(-dst.valid_cols * dst.dtype.itemsize // block)
    into = Access(dst.addr, dst.dtype, repeat_stride=block, row_stride=dst.row_bytes)
    source = Access(src.addr, src.dtype, repeat_stride=block)
    lanes = block // dst.dtype.itemsize
    copy = SimdUop("copy_ubuf_to_ubuf", dst.dtype, lanes, blocks, FULL, into, (source,))
    read = (replace(src.valid_region(), rows=1),)
    loops = (RowLoop(dst.valid_rows, (copy,)),)
    return Lowered(loops, read, (dst.valid_region(blocks * block),), read)


def col_expand_op(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst[r, c] = whole[r, c] op row[c].

    1. Static valid columns that fill the tile, or one row: down the columns, the row with a repeat
       stride of nothing. The library does not split at 255 rows; here it does.
    2. Otherwise one micro-op a row in count mode.
    Exponentials of differences: a barrier and the exponential behind each difference.
    """
    dst = tile(instr, "dst")
    whole, row, notes = col_sides(instr)
    lanes = arch.vector.width_bytes // dst.dtype.itemsize
    into, left = At.of(dst), At.of(whole)
    right = replace(At.of(row), pitch=0)
    full = dst.static_cols and dst.valid_cols == dst.cols
    items: list[Item] = []
    if (full or dst.rows == 1) and into.fits(arch) and left.fits(arch):
        for col, size in chunks(dst.valid_cols, lanes):  # 1
            sides = (left.right(col), right.right(col))
            steps = [Down(_name(instr, arch), dst.dtype, into.right(col), sides, arch)]
            if not instr.op.uops:
                steps.append(Down("vexp", dst.dtype, into.right(col), (into.right(col),), arch))
            for step in steps:
                if step is not steps[0]:
                    items.append(BARRIER)
                part = step.part(dst.valid_rows, size)
                items += step.groups(dst.valid_rows, FULL) if size == lanes else part
    else:
        items += _counted_rows(instr, (into, left, right), dst, lanes, arch)  # 2
    read = (whole.valid_region(), replace(row.valid_region(), rows=1))
    return Lowered(pack(items), read, (dst.valid_region(),), read, notes=notes)


def _counted_rows(
    instr: BoundInstr, sides: tuple[At, At, At], dst: TileView, lanes: int, arch: SimdArch
) -> Iterator[Item]:
    width = arch.vector.width_bytes
    into, *srcs = (
        Access(at.addr, at.dtype, repeat_stride=width, row_stride=at.pitch) for at in sides
    )
    mask, repeat = Mask("count", dst.valid_cols), -(-dst.valid_cols // lanes)
    name = _name(instr, arch)
    uop = SimdUop(name, dst.dtype, lanes, repeat, mask, into, tuple(srcs), argument=0)
    body: tuple[SimdItem, ...] = (uop,)
    if not instr.op.uops:
        body = (uop, BARRIER, replace(uop, name="vexp", srcs=(into,)))
    yield from counted(RowLoop(dst.valid_rows, body))


FAMILIES: Families[SimdArch] = {
    "col_expand": col_expand,
    "col_expand_op": col_expand_op,
    "row_expand": row_expand,
    "row_expand_op": row_expand_op,
}
