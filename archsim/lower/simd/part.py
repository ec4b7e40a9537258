"""TPART* and TCONCAT on the simd cores. No lowering is published: the sequences are assumed."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from archsim.arch import SimdArch
from archsim.base.dtypes import DTYPES, U8, DType
from archsim.isa.operands import MEMORY, BoundInstr, Region, TileView
from archsim.isa.simd import FULL, RowLoop, SimdItem
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import data_tiles, tile
from archsim.lower.sides import overlap, same_valid, sides
from archsim.lower.simd.elementwise import binary_items
from archsim.lower.simd.emit import (
    BARRIER,
    SET_MASK,
    Item,
    Plane,
    Stream,
    chunks,
    counted,
    fenced,
    pack,
    partial,
)

_IMAGE_BYTES = 16  # of the compare mask


def part(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = src0 op src1 where both are valid, else the valid one.

    1. Both have the valid region of dst: the walks of the plain instruction.
    2. One has fewer rows: the operation on its rows, then copies of the other's further rows.
    3. One has fewer columns: a copy of the other, a barrier, the operation of the smaller on dst.
    4. One is empty: a copy of the other.
    Copies and operations of 2 and 3 go row by row in count mode.
    """
    dst, *srcs = data_tiles(instr)
    name = instr.op.uops[arch.isa]
    whole, small = sides(dst, srcs)
    if same_valid(small, dst):
        items, notes = binary_items(instr, name, arch)  # 1
        return Lowered.over_tiles(pack(items), dst, srcs, notes)
    rows, cols = overlap(small)
    if not rows:
        items = list(_copy(dst, whole, 0, arch))  # 4
    elif cols == dst.valid_cols:
        stream = Stream.over(name, dst, srcs, arch)  # 2
        items = [*_rows(stream, rows, cols), *_copy(dst, whole, rows, arch)]
    else:
        onto = [dst if src is whole else src for src in srcs]  # 3
        stream = Stream.over(name, dst, onto, arch)
        items = [*_copy(dst, whole, 0, arch), BARRIER, *_rows(stream, rows, cols)]
    return Lowered.over_tiles(pack(items), dst, srcs if rows else [whole])


def _rows(stream: Stream, rows: int, cols: int) -> Iterator[Item]:
    return counted(RowLoop(rows, (stream.counted(cols, looped=True),)))


def _copy(dst: TileView, src: TileView, first: int, arch: SimdArch) -> Iterator[Item]:
    """dst = src from row `first` on, the valid lanes alone; nothing where both are one tile."""
    in_place = (dst.addr, dst.row_bytes) == (src.addr, src.row_bytes)
    if in_place or dst.valid_rows == first or dst.valid_cols < 1:
        return iter(())
    bits = DTYPES[f"u{dst.dtype.bits}"]
    planes = [Plane(t.addr + first * t.row_bytes, bits, t.row_bytes) for t in (dst, src)]
    stream = Stream(
        "vcopy", bits, arch.vector.width_bytes // bits.itemsize, planes[0], (planes[1],)
    )
    return _rows(stream, dst.valid_rows - first, dst.valid_cols)


def part_arg(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = src0 where src0 >= src1 (<=), else src1, and the indices of whichever it is.

    As `part`, on values and indices alike; where both are valid, per row and 64 lanes: compare,
    barrier, select the index, select the value. The compare mask register is a piece of the
    library's own scratch at the top of UB here. A NaN on either side gives src1.
    """
    dst, index, src0, src1, index0, index1 = data_tiles(instr)
    whole, small = sides(dst, [src0, src1])
    whole_index = index0 if whole is src0 else index1
    rows, cols = overlap(small)
    values, indices = [src0, src1], [index0, index1]
    image = Region(MEMORY[dst.loc], arch.memory.ub.size_bytes - 32, 1, _IMAGE_BYTES, _IMAGE_BYTES)
    items: list[Item] = []
    first = rows if cols == dst.valid_cols else 0
    copies = [*_copy(index, whole_index, first, arch), *_copy(dst, whole, first, arch)]
    if 0 < cols < dst.valid_cols:
        values = [dst if src is whole else src for src in values]
        indices = [index if src is whole_index else src for src in indices]
        items = [*copies, BARRIER] if copies else []
        copies = []
    if rows:
        streams = _selection(instr.op.uops[arch.isa], dst, index, values, indices, image.addr)
        items.append(RowLoop(rows, tuple(_selected(streams, cols))))
    items += copies
    sources = [src0, src1, index0, index1] if rows else [whole, whole_index]
    read = tuple(src.valid_region() for src in sources)
    written = (dst.valid_region(), index.valid_region())
    return Lowered(pack(items), read, (*written, image) if rows else written, read)


def _selection(
    name: str,
    dst: TileView,
    index: TileView,
    values: Sequence[TileView],
    indices: Sequence[TileView],
    image: int,
) -> tuple[Stream, ...]:
    """Compare, select index, select value: on the lanes of the indices, the wider elements."""
    lanes = 64
    mask = Plane(image, U8, 0, bits=True, fixed=True)
    compared = tuple(Plane.of(src) for src in values)

    def pick(to: TileView, srcs: Sequence[TileView], dtype: DType) -> Stream:
        planes = (mask, *(Plane.of(src, dtype) for src in srcs))
        return Stream("vsel", dtype, lanes, Plane.of(to, dtype), planes)

    return (
        Stream(name, dst.dtype, lanes, mask, compared),
        pick(index, indices, DTYPES["f32"]),
        pick(dst, values, dst.dtype),
    )


def _selected(streams: tuple[Stream, ...], cols: int) -> Iterator[SimdItem]:
    compare, *picks = streams
    for start, size in chunks(cols, compare.lanes):
        mask = FULL if size == compare.lanes else partial(size)
        yield SET_MASK
        yield from fenced(compare.uop(1, mask, col=start, looped=True))
        for pick in picks:
            yield pick.uop(1, mask, col=start, looped=True)
    yield SET_MASK


def concat(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst[r] = src0[r] and src1[r] behind each other, valid lanes alone.

    1. The columns of src0 are whole blocks: two copies a row, in count mode.
    2. Otherwise a vector copy cannot begin there: the scalar unit moves src1 element by element,
       behind the copies of src0.
    """
    dst, src0, src1 = (tile(instr, name) for name in ("dst", "src0", "src1"))
    rows, size = dst.valid_rows, dst.dtype.itemsize
    head = replace(dst, valid_cols=src0.valid_cols)
    items = list(_copy(head, src0, 0, arch))
    start = src0.valid_cols * size
    behind = replace(dst, addr=dst.addr + start, valid_cols=src1.valid_cols)
    if start % arch.vector.block_bytes == 0:
        items += _copy(behind, src1, 0, arch)  # 1
    elif src1.valid_cols:
        bits = DTYPES[f"u{dst.dtype.bits}"]
        stream = Stream("scalar_copy", bits, 1, Plane.of(behind, bits), (Plane.of(src1, bits),))
        body = tuple(
            stream.uop(count, col=col, looped=True)
            for col, count in chunks(src1.valid_cols, arch.vector.repeat_max)
        )
        items += [BARRIER, RowLoop(rows, body), BARRIER]  # 2
    read = (src0.valid_region(), src1.valid_region())
    return Lowered(pack(items), read, (dst.valid_region(),), read)


FAMILIES: Families[SimdArch] = {
    "concat": concat,
    "part": part,
    "part_arg": part_arg,
}
