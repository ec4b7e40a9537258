"""TSORT32 and TMRGSORT on the simd cores."""

from collections.abc import Iterator
from math import nan

from archsim.arch import SimdArch
from archsim.base.dtypes import DTYPES, U32
from archsim.isa.operands import MEMORY, BoundInstr, Region, TileView
from archsim.isa.rearranging import SORT_ROW_MAX
from archsim.isa.simd import FULL, Access, RowLoop, SimdItem, SimdUop
from archsim.lower.lowered import Families, Lowered, Watch
from archsim.lower.operands import number, scratch, tile
from archsim.lower.simd.emit import BARRIER, SET_MASK, chunks, pack, partial

GROUP = 32
_RECORD = 8
_BLOCK = 32


def sort(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """Each 32 columns of a row in falling order, as records of value and index.

    1. Whole groups: per row vbitsort of all groups (255 at most each), barrier.
    2. A part of a group at the end: per row a copy to tmp, NaN behind the last value, vbitsort of
       the groups there; of rows longer than 255 groups only the last group goes through tmp.
    The rows of idx are its own, or all the one that it has.
    """
    dst, src, idx = (tile(instr, name) for name in ("dst", "src", "idx"))
    groups, rest = divmod(src.valid_cols, GROUP)
    if not rest:
        body = tuple(_sorts(dst, src, idx, groups, arch))  # 1
    else:
        body = tuple(_with_tail(dst, src, idx, scratch(instr), arch))  # 2
    groups += rest > 0
    written = [dst.valid_region(groups * GROUP * _RECORD)]
    if rest:
        tmp = scratch(instr)
        size = (GROUP if src.valid_cols > SORT_ROW_MAX else groups * GROUP) * src.dtype.itemsize
        written.append(Region(MEMORY[tmp.loc], tmp.addr, 1, size, size))
    used = Region(MEMORY[idx.loc], idx.addr, idx.valid_rows, src.valid_cols * 4, idx.row_bytes)
    read = (src.valid_region(), used)
    uops = pack([RowLoop(src.valid_rows, body)])
    return Lowered(uops, read, tuple(written), read, watched=(Watch.sorted_nan(src),))


def _sorts(
    dst: TileView, src: TileView, idx: TileView, groups: int, arch: SimdArch
) -> Iterator[SimdItem]:
    for first, count in chunks(groups, arch.vector.repeat_max):
        start = src.addr + first * GROUP * src.dtype.itemsize
        yield _sort(dst, src, idx, start, src.row_bytes, first, count)
        yield BARRIER


def _sort(
    dst: TileView, src: TileView, idx: TileView, start: int, pitch: int, first: int, count: int
) -> SimdUop:
    """`count` groups from number `first` on, their values from `start`."""
    values = Access(start, src.dtype, repeat_stride=GROUP * src.dtype.itemsize, row_stride=pitch)
    step = idx.row_bytes if idx.valid_rows > 1 else 0
    indices = Access(idx.addr + first * GROUP * 4, U32, repeat_stride=GROUP * 4, row_stride=step)
    size = GROUP * _RECORD
    to = Access(
        dst.addr + first * size, U32, repeat_stride=size, row_stride=dst.row_bytes, lanes=size // 4
    )
    return SimdUop("vbitsort", src.dtype, GROUP, count, FULL, to, (values, indices))


def _with_tail(
    dst: TileView, src: TileView, idx: TileView, tmp: TileView, arch: SimdArch
) -> Iterator[SimdItem]:
    groups, rest = divmod(src.valid_cols, GROUP)
    size = src.dtype.itemsize
    inside = groups if src.valid_cols > SORT_ROW_MAX else 0  # groups sorted where they are
    if inside:
        yield from _sorts(dst, src, idx, inside, arch)
    bits = DTYPES[f"u{src.dtype.bits}"]
    blocks = -(-(src.valid_cols - inside * GROUP) * size // _BLOCK)
    source = Access(
        src.addr + inside * GROUP * size, bits, repeat_stride=_BLOCK, row_stride=src.row_bytes
    )
    to = Access(tmp.addr, bits, repeat_stride=_BLOCK)
    yield SimdUop("copy_ubuf_to_ubuf", bits, _BLOCK // size, blocks, FULL, to, (source,))
    yield BARRIER
    yield SET_MASK
    tail = Access(tmp.addr + ((groups - inside) * GROUP + rest) * size, src.dtype)
    lanes = arch.vector.width_bytes // size
    yield SimdUop("vector_dup", src.dtype, lanes, 1, partial(GROUP - rest), tail, scalar=nan)
    yield BARRIER
    yield _sort(dst, src, idx, tmp.addr, 0, inside, groups - inside + 1)
    yield BARRIER
    yield SET_MASK


def merge_blocks(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """Each four sorted blocks of src, blockLen elements long, as one: one vmrgsort4."""
    dst, src = tile(instr, "dst"), tile(instr, "src")
    group = 4 * int(number(instr, "blockLen")) * src.dtype.itemsize
    repeat = src.valid_cols * src.dtype.itemsize // group
    accesses = [Access(t.addr, U32, repeat_stride=group, lanes=group // 4) for t in (dst, src)]
    uop = SimdUop(
        "vmrgsort4", src.dtype, group // 4, repeat, FULL, accesses[0], (accesses[1],),
        effect=src.dtype.name,
    )  # fmt: skip
    return Lowered.over_tiles(pack([uop]), dst, [src])


def merge_lists(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """Two to four sorted lists as one: vmrgsort4 into tmp, the counts by the scalar unit, a copy.

    Where it stops at the first list that is used up (`exhausted`), nobody says what lies behind
    the records that it took: here what a whole merge puts there.
    """
    dst, executed, tmp = tile(instr, "dst"), tile(instr, "executed"), scratch(instr)
    lists = [tile(instr, f"src{k}") for k in range(4) if f"src{k}" in instr.operands]
    words = [t.valid_cols * t.dtype.itemsize // 4 for t in lists]
    effect = dst.dtype.name
    if instr.attrs.get("exhausted") == "true":
        effect += " exhausted"
    total = sum(words)
    srcs = tuple(Access(t.addr, U32, lanes=n) for t, n in zip(lists, words, strict=True))
    merged = Access(tmp.addr, U32, lanes=total)
    merge = SimdUop("vmrgsort4", dst.dtype, total, 1, FULL, merged, srcs, effect=effect)
    to = Access(executed.addr, executed.dtype, lanes=4)
    status = SimdUop("scalar_status", executed.dtype, total, 1, FULL, to, srcs, effect=effect)
    blocks = -(-total * 4 // _BLOCK)
    moved = SimdUop(
        "copy_ubuf_to_ubuf", U32, 8, blocks, FULL,
        Access(dst.addr, U32, repeat_stride=_BLOCK), (Access(tmp.addr, U32, repeat_stride=_BLOCK),),
    )  # fmt: skip
    read = tuple(t.valid_region() for t in lists)
    written = (
        dst.valid_region(blocks * _BLOCK),
        Region(MEMORY[executed.loc], executed.addr, 1, 8, 8),
        Region(MEMORY[tmp.loc], tmp.addr, 1, total * 4, total * 4),
    )
    return Lowered(pack([merge, BARRIER, status, BARRIER, moved]), read, written, read)


FAMILIES: Families[SimdArch] = {
    "merge_blocks": merge_blocks,
    "merge_lists": merge_lists,
    "sort": sort,
}
