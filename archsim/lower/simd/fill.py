"""TFILLPAD* on the simd cores. No lowering is published: the sequence is assumed."""

from collections.abc import Iterator
from dataclasses import replace

from archsim.arch import SimdArch
from archsim.base.dtypes import DTYPES
from archsim.isa.operands import BoundInstr, Region, TileView
from archsim.isa.padding import pad_element
from archsim.isa.simd import RowLoop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import tile
from archsim.lower.sides import overlap
from archsim.lower.simd.emit import (
    BARRIER,
    Item,
    Plane,
    Stream,
    chunks,
    counted,
    masked,
    pack,
    partial,
)


def fill_pad(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = src in the valid region of src, dst's pad value in the rest of the declared tile.

    1. In place nothing is copied; otherwise whole blocks of every valid row, and a barrier.
    2. The columns behind the valid ones: the block that these began down the rows, under a mask
       whose first lanes are off; whole blocks row by row in count mode.
    3. The rows below in count mode: at once where they follow each other, else row by row.
    A mask whose first lanes are off is recorded as an access that begins behind them. Single bytes
    are duplicated in pairs; a pair that is half valid is filled by the scalar unit.
    """
    dst, src = tile(instr, "dst"), tile(instr, "src")
    in_place = instr.op.family == "fill_pad_in_place"
    rows, cols = overlap(src)
    src = replace(src, valid_rows=rows, valid_cols=cols)
    items: list[Item] = []
    if rows and not in_place:
        items += [_copy(dst, src, arch), BARRIER]  # 1
    if rows:
        items += _right(dst, src, arch)  # 2
    items += _below(dst, src, arch)  # 3
    read = (src.valid_region(),) if rows else ()
    # In place nothing is read, but what is kept must have been written: that is an operand too.
    return Lowered(pack(items), read, _written(dst, src, in_place), read)


def _written(dst: TileView, src: TileView, in_place: bool) -> tuple[Region, ...]:
    if not in_place:
        return (dst.whole_region(),)
    size = dst.dtype.itemsize
    regions = []
    if src.valid_cols < dst.cols:
        width = (dst.cols - src.valid_cols) * size
        start = dst.addr + src.valid_cols * size
        whole = dst.whole_region()
        regions.append(replace(whole, addr=start, rows=src.valid_rows, row_bytes=width))
    if src.valid_rows < dst.rows:
        whole = dst.whole_region()
        below = dst.addr + src.valid_rows * dst.row_bytes
        regions.append(replace(whole, addr=below, rows=dst.rows - src.valid_rows))
    return tuple(regions)


def _copy(dst: TileView, src: TileView, arch: SimdArch) -> RowLoop:
    per_block = arch.vector.block_bytes // dst.dtype.itemsize
    stream = Stream("copy_ubuf_to_ubuf", dst.dtype, per_block, Plane.of(dst), (Plane.of(src),))
    blocks = -(-src.valid_cols // per_block)
    return RowLoop(src.valid_rows, (stream.uop(blocks, looped=True),))


def _right(dst: TileView, src: TileView, arch: SimdArch) -> Iterator[Item]:
    """Pad values in the valid rows, from the first invalid column to the end of the tile."""
    size, block = dst.dtype.itemsize, arch.vector.block_bytes
    start, end = src.valid_cols * size, dst.cols * size
    whole = min(-(-start // block) * block, end)
    if size == 1 and start % 2:
        scalar = Stream("scalar_store", dst.dtype, 1, _at(dst, start), scalar=_element(dst, 1))
        yield from (RowLoop(src.valid_rows, (scalar.uop(1, looped=True),)), BARRIER)
        start += 1
    if start < whole:
        stream = _duplication(dst, start, arch)
        mask = partial((whole - start) // stream.dtype.itemsize)
        down = dst.row_bytes <= arch.vector.repeat_stride_max * block
        if down:
            pieces = chunks(src.valid_rows, arch.vector.repeat_max)
            yield from masked(*(stream.uop(n, mask, row=r, down=True) for r, n in pieces))
        else:
            yield from masked(RowLoop(src.valid_rows, (stream.uop(1, mask, looped=True),)))
    if whole < end:
        stream = _duplication(dst, whole, arch)
        count = (end - whole) // stream.dtype.itemsize
        yield from counted(RowLoop(src.valid_rows, (stream.counted(count, looped=True),)))


def _below(dst: TileView, src: TileView, arch: SimdArch) -> Iterator[Item]:
    """Pad values in the rows below the valid ones."""
    rows = dst.rows - src.valid_rows
    if not rows:
        return
    stream = _duplication(dst, src.valid_rows * dst.row_bytes, arch)
    width = dst.cols * dst.dtype.itemsize // stream.dtype.itemsize
    if dst.cols == dst.row_stride:
        yield from counted(stream.counted(rows * width))
    else:
        yield from counted(RowLoop(rows, (stream.counted(width, looped=True),)))


def _duplication(dst: TileView, offset: int, arch: SimdArch) -> Stream:
    """The pad value from a byte of the tile on, in lanes of two bytes at least."""
    size = max(dst.dtype.itemsize, 2)
    bits = DTYPES[f"u{8 * size}"]
    value = _element(dst, size)
    return Stream(
        "vector_dup", bits, arch.vector.width_bytes // size, _at(dst, offset, size), scalar=value
    )


def _at(dst: TileView, offset: int, size: int = 1) -> Plane:
    return Plane(dst.addr + offset, DTYPES[f"u{8 * size}"], dst.row_bytes)


def _element(dst: TileView, size: int) -> int:
    """The bits of `size` bytes of padding."""
    element = pad_element(dst.pad, dst.dtype)
    return int.from_bytes(element * (size // len(element)), "little")


FAMILIES: Families[SimdArch] = {
    "fill_pad": fill_pad,
    "fill_pad_expand": fill_pad,
    "fill_pad_in_place": fill_pad,
}
