"""Column reductions of the simd cores: row onto row, in place or in pairs."""

from collections.abc import Iterator
from dataclasses import replace

from archsim.arch import SimdArch
from archsim.base.dtypes import F32, I32, U8, DType
from archsim.isa.operands import MEMORY, BoundInstr, Region, TileView
from archsim.isa.simd import FULL, Access, Mask, RowLoop, SimdItem, SimdUop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import scratch, tile
from archsim.lower.simd.emit import BARRIER, SET_MASK, Item, chunks, counted, fenced, pack, partial

_IMAGE_BYTES = 16  # of the compare mask


def col_reduce(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst[c] = src[0, c] op src[1, c] op ...: row 0 is copied, then every row onto dst.

    1. The columns of whole repeats in count mode. 2. The rest under a mask. A barrier behind each
    micro-op.
    """
    src, dst = tile(instr, "src"), tile(instr, "dst")
    name, rows, cols = instr.op.uops[arch.isa], src.valid_rows, src.valid_cols
    lanes = arch.vector.width_bytes // src.dtype.itemsize
    rest = cols % lanes
    items: list[Item] = [_copy(dst, src, cols, arch), BARRIER]
    if rows > 1 and cols > rest:
        items += counted(_further(name, dst, src, 0, Mask("count", cols - rest), lanes))  # 1
    if rows > 1 and rest:
        further = _further(name, dst, src, cols - rest, partial(rest), lanes)  # 2
        items += [SET_MASK, further, SET_MASK]
    if rows > 1:
        items.append(BARRIER)
    return _lowered(items, src, dst, arch)


def col_sum(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst[c] = sum of src[:, c].

    1. binary=true: pairs of rows into tmp (`_level`), again until one is left, then a copy.
    2. Otherwise row 0 is copied and every row added, in count mode, a barrier behind each.
    """
    src, dst = tile(instr, "src"), tile(instr, "dst")
    rows, cols = src.valid_rows, src.valid_cols
    if rows == 1:
        return _lowered([_copy(dst, src, cols, arch)], src, dst, arch)
    if instr.attrs.get("binary") != "true":
        lanes = arch.vector.width_bytes // src.dtype.itemsize
        added = _further("vadd", dst, src, 0, Mask("count", cols), lanes)
        items: list[Item] = [_copy(dst, src, cols, arch), BARRIER, *counted(added)]  # 2
        return _lowered(items, src, dst, arch)
    tmp = replace(scratch(instr), dtype=src.dtype)  # 1
    items, level = [], src
    while rows > 1:
        items += _level(tmp, level, rows, cols, arch)
        level, rows = tmp, rows // 2
    items += [_copy(dst, tmp, cols, arch), BARRIER]
    used = replace(tmp.valid_region(cols * src.dtype.itemsize), rows=src.valid_rows // 2)
    return _lowered(items, src, dst, arch, (used,))


def _level(tmp: TileView, level: TileView, rows: int, cols: int, arch: SimdArch) -> Iterator[Item]:
    """Row i of tmp = rows 2i + (2i+1) of the level; an odd last row onto row 0 of tmp."""
    dtype, pitch = tmp.dtype, level.row_bytes
    lanes = arch.vector.width_bytes // dtype.itemsize
    count = Mask("count", cols)

    def add(dst: Access, a: Access, b: Access) -> SimdUop:
        return SimdUop("vadd", dtype, lanes, -(-cols // lanes), count, dst, (a, b), argument=0)

    whole = Access(tmp.addr, dtype, repeat_stride=arch.vector.width_bytes)
    into = replace(whole, row_stride=tmp.row_bytes)
    first, second = (
        replace(whole, addr=level.addr + k * pitch, row_stride=2 * pitch) for k in (0, 1)
    )
    items: list[Item] = [RowLoop(rows // 2, (add(into, first, second),)), BARRIER]
    if rows % 2:
        last = replace(whole, addr=level.addr + (rows - 1) * pitch)
        items += fenced(add(whole, whole, last))
    if level is tmp:
        items.append(BARRIER)
    return counted(*items)


def _further(name: str, dst: TileView, src: TileView, col: int, mask: Mask, lanes: int) -> RowLoop:
    """dst op= row 1, row 2, ... of src, from column `col` on, a barrier behind each."""
    dtype, ahead = src.dtype, col * src.dtype.itemsize
    into = Access(dst.addr + ahead, dtype, repeat_stride=lanes * dtype.itemsize)
    source = replace(into, addr=src.addr + src.row_bytes + ahead, row_stride=src.row_bytes)
    repeat = -(-mask.lanes // lanes)
    argument = 0 if mask.mode == "count" else None
    uop = SimdUop(name, dtype, lanes, repeat, mask, into, (into, source), argument=argument)
    return RowLoop(src.valid_rows - 1, fenced(uop))


def _copy(dst: TileView, src: TileView, cols: int, arch: SimdArch) -> SimdUop:
    """The first row, in whole blocks."""
    size = arch.vector.block_bytes
    blocks = -(-cols * src.dtype.itemsize // size)
    into, source = (Access(t.addr, src.dtype, repeat_stride=size) for t in (dst, src))
    lanes = size // src.dtype.itemsize
    return SimdUop("copy_ubuf_to_ubuf", src.dtype, lanes, blocks, FULL, into, (source,))


def col_arg(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst[c] = row of the first greatest (least) element of column c. The sequence is assumed.

    The best values so far lie in tmp, the compare mask in the library's own scratch at the top of
    UB. Per 64 columns and row: the row's number into a repeat of tmp, compare, select the number,
    combine the values; a barrier where the next step reads what one wrote.
    """
    src, dst, tmp = tile(instr, "src"), tile(instr, "dst"), scratch(instr)
    cols, size, width = src.valid_cols, src.dtype.itemsize, arch.vector.width_bytes
    held = -(-cols * size // 32) * 32
    best = replace(tmp, dtype=src.dtype)
    numbers = tmp.addr + held
    items: list[Item] = [_copy(best, src, cols, arch)]
    lanes = width // I32.itemsize
    into = Access(dst.addr, I32, repeat_stride=width)
    zeros = SimdUop(
        "vector_dup", I32, lanes, -(-cols // lanes), Mask("count", cols), into,
        scalar=0, argument=0,
    )  # fmt: skip
    items += [*counted(zeros), BARRIER]
    if src.valid_rows > 1:
        for col, count in chunks(cols, lanes):
            steps = _better(instr, best, numbers, col, count, arch)
            items += [SET_MASK, RowLoop(src.valid_rows - 1, tuple(steps))]
        items.append(SET_MASK)
    image = Region(MEMORY[dst.loc], _image(arch), 1, _IMAGE_BYTES, _IMAGE_BYTES)
    used = Region(MEMORY[tmp.loc], tmp.addr, 1, held + width, held + width)
    read = (src.valid_region(),)
    written = replace(dst.valid_region(cols * I32.itemsize), rows=1)
    return Lowered(pack(items), read, (written, used, image), read)


def _better(
    instr: BoundInstr, best: TileView, numbers: int, col: int, count: int, arch: SimdArch
) -> Iterator[SimdItem]:
    """One row against the best so far, on `count` columns from `col` on."""
    src, dst = tile(instr, "src"), tile(instr, "dst")
    dtype, lanes = src.dtype, arch.vector.width_bytes // I32.itemsize
    mask = FULL if count == lanes else partial(count)
    ahead = col * dtype.itemsize
    kept = Access(best.addr + ahead, dtype)
    row = Access(src.addr + src.row_bytes + ahead, dtype, row_stride=src.row_bytes)
    bits = Access(_image(arch), U8, bits=True)
    found = Access(dst.addr + col * I32.itemsize, F32)
    greatest = instr.op.name == "TCOLARGMAX"

    def uop(name: str, kind: DType, to: Access, *srcs: Access) -> SimdUop:
        return SimdUop(name, kind, lanes, 1, mask, to, srcs)

    number = SimdUop(
        "vector_dup", I32, lanes, 1, FULL, Access(numbers, I32), scalar=1, scalar_step=1
    )
    yield number
    yield from fenced(uop(instr.op.uops[arch.isa], dtype, bits, kept, row))
    yield uop("vsel", F32, found, bits, found, Access(numbers, F32))
    yield from fenced(uop("vmax" if greatest else "vmin", dtype, kept, kept, row))


def _image(arch: SimdArch) -> int:
    return arch.memory.ub.size_bytes - 32


def _lowered(
    items: list[Item],
    src: TileView,
    dst: TileView,
    arch: SimdArch,
    used: tuple[Region, ...] = (),
) -> Lowered:
    """Reads the valid region of src, writes a row of whole blocks, and scratch."""
    read = (src.valid_region(),)
    blocks = -(-src.valid_cols * src.dtype.itemsize // arch.vector.block_bytes)
    written = replace(dst.valid_region(blocks * arch.vector.block_bytes), rows=1)
    return Lowered(pack(items), read, (written, *used), read)


FAMILIES: Families[SimdArch] = {
    "col_arg": col_arg,
    "col_reduce": col_reduce,
    "col_sum": col_sum,
}
