"""TTRANS on the simd cores."""

from collections.abc import Iterator

from archsim.arch import SimdArch
from archsim.base.dtypes import DTYPES, DType
from archsim.isa.operands import MEMORY, BoundInstr, Region, TileView
from archsim.isa.rearranging import group_rows, transposes_by_blocks, turned_extent
from archsim.isa.simd import FULL, Access, Control, RowLoop, SimdItem, SimdUop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import scratch, tile
from archsim.lower.simd.emit import BARRIER, pack

_BLOCK = 32
_VA = Control("set_va_reg_sb")


def transpose(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst[c, r] = src[r, c].

    1. Rows of dst are no whole groups of 16 (32 of one-byte elements): the scalar unit moves
       element by element.
    2. Otherwise for each column block of 32 bytes: the addresses of 16 rows, and a micro-op whose
       repeats go down the rows, into tmp; one-byte elements take four on quarters of the block.
    3. Rows left over: one group more, whose repeats go along the column blocks.
    4. A barrier, and a copy of the turned rows in whole blocks to dst; one copy where both lie
       alike without gaps.
    """
    dst, src = tile(instr, "dst"), tile(instr, "src")
    bits = DTYPES[f"u{src.dtype.bits}"]
    read = (src.valid_region(),)
    if not transposes_by_blocks(dst):
        slow = (BARRIER, _element_loop(dst, src, bits), BARRIER)
        return Lowered(pack(slow), read, (dst.valid_region(),), read)  # 1
    tmp = scratch(instr)
    rows, cols = src.valid_rows, src.valid_cols
    depth, width = turned_extent(bits.itemsize, rows, cols)
    pitch = width * bits.itemsize
    copied = -(-rows * bits.itemsize // _BLOCK) * _BLOCK
    copy = _copy(dst, tmp.addr, pitch, cols, copied, bits)
    items = (*_groups(src, tmp.addr, pitch, bits, depth), BARRIER, copy)
    turned = Region(MEMORY[tmp.loc], tmp.addr, 1, depth * pitch, depth * pitch)
    return Lowered(pack(items), read, (dst.valid_region(copied), turned), read)


def _element_loop(dst: TileView, src: TileView, bits: DType) -> RowLoop:
    size = bits.itemsize
    to = Access(dst.addr, bits, repeat_stride=dst.row_bytes, row_stride=size)
    source = Access(src.addr, bits, repeat_stride=size, row_stride=src.row_bytes)
    move = SimdUop("scalar_copy", bits, 1, src.valid_cols, FULL, to, (source,))
    return RowLoop(src.valid_rows, (move,))


def _groups(src: TileView, turned: int, pitch: int, bits: DType, depth: int) -> Iterator[SimdItem]:
    """Blocks of columns down the whole groups of rows, then the rows left over."""
    size = bits.itemsize
    block, group = _BLOCK // size, group_rows(size)
    whole, rest = divmod(src.valid_rows, group)
    if whole:
        for column in range(0, depth, block):  # 2
            steps = (group * src.row_bytes, group * size)
            yield from _group(src, turned, pitch, bits, (0, column), (whole, group), steps)
    if rest:
        steps = (_BLOCK, block * pitch)
        start = (whole * group, 0)
        yield from _group(src, turned, pitch, bits, start, (depth // block, rest), steps)  # 3


def _group(
    src: TileView,
    turned: int,
    pitch: int,
    bits: DType,
    start: tuple[int, int],
    count: tuple[int, int],
    steps: tuple[int, int],
) -> Iterator[SimdItem]:
    """Addresses and micro-ops from `start` (row, column); `count` repeats, rows in each."""
    size = bits.itemsize
    yield from [_VA] * (8 if size == 1 else 4)
    quarters = [(r, c) for r in (0, 16) for c in (0, 16)] if size == 1 else [(0, 0)]
    repeats, rows = count
    for down, right in quarters:
        row, column = start[0] + down, start[1] + right
        some = min(rows - down, 16)
        if some < 1:
            continue
        yield SimdUop(
            f"scatter_vnchwconv_b{bits.bits}",
            bits,
            some * (8 if size == 4 else 16),
            repeats,
            FULL,
            Access(turned + column * pitch + row * size, bits, pitch, steps[1]),
            (
                Access(
                    src.addr + row * src.row_bytes + column * size, bits, src.row_bytes, steps[0]
                ),
            ),
        )


def _copy(dst: TileView, turned: int, pitch: int, rows: int, width: int, bits: DType) -> RowLoop:
    """The rows of dst, whole blocks of each, from the turned ones."""
    lanes = _BLOCK // bits.itemsize
    together = pitch == dst.row_bytes == width  # 4
    to = Access(dst.addr, bits, repeat_stride=_BLOCK, row_stride=0 if together else dst.row_bytes)
    source = Access(turned, bits, repeat_stride=_BLOCK, row_stride=0 if together else pitch)
    blocks = width // _BLOCK * (rows if together else 1)
    move = SimdUop("copy_ubuf_to_ubuf", bits, lanes, blocks, FULL, to, (source,))
    return RowLoop(1 if together else rows, (move,))


FAMILIES: Families[SimdArch] = {
    "transpose": transpose,
}
