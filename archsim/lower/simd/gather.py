"""TGATHER, TGATHERB and TSCATTER on the simd cores."""

from collections.abc import Iterator

from archsim.arch import SimdArch
from archsim.base.dtypes import DTYPES, I32, U8, U16, DType
from archsim.isa.operands import MEMORY, BoundInstr, Region, TileView
from archsim.isa.patterns import PATTERNS
from archsim.isa.simd import FULL, Access, Mask, RowLoop, SimdUop, Table
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import number, scratch, tile
from archsim.lower.simd.copy import copy
from archsim.lower.simd.emit import (
    BARRIER,
    COUNT,
    NORM,
    SET_MASK,
    Item,
    Plane,
    Stream,
    counted,
    pack,
)

_BLOCK = 32


def gather(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst[r, c] = element indices[r, c] of src.

    Row by row in count mode: vmuls makes byte offsets of the indices, in dst for four-byte
    elements, in tmp for two-byte ones; a barrier; vgather.
    """
    dst, src, indices = (tile(instr, name) for name in ("dst", "src", "indices"))
    table, cols = _table_of(src), dst.valid_cols
    offsets = Access(dst.addr, I32, row_stride=dst.row_bytes)
    written = [dst.valid_region()]
    if dst.dtype.itemsize == 2:
        pitch = -(-cols // 8) * _BLOCK
        tmp = scratch(instr)
        offsets = Access(tmp.addr, I32, row_stride=pitch)
        written.append(Region(MEMORY[tmp.loc], tmp.addr, dst.valid_rows, cols * 4, pitch))
    wide, lanes = (arch.vector.width_bytes // size for size in (4, dst.dtype.itemsize))
    mask = Mask("count", cols)
    index = Access(indices.addr, indices.dtype, row_stride=indices.row_bytes)
    scaled = SimdUop(
        "vmuls", I32, wide, -(-cols // wide), mask, offsets, (index,),
        scalar=dst.dtype.itemsize, argument=1, table=table,
    )  # fmt: skip
    result = Access(dst.addr, dst.dtype, row_stride=dst.row_bytes)
    fetched = SimdUop(
        "vgather", dst.dtype, lanes, -(-cols // lanes), mask, result, (offsets,),
        argument=1, table=table,
    )  # fmt: skip
    body = (SET_MASK, scaled, BARRIER, fetched)
    items = (COUNT[0], RowLoop(dst.valid_rows, body), *NORM)
    read = (src.valid_region(), indices.valid_region())
    reads = (src.whole_region(), indices.valid_region())
    return Lowered(pack(items), reads, tuple(written), read)


def gather_pattern(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst[r] = the columns of src[r] that the pattern keeps: one vreducev2, a repeat a row.

    P1111 is a copy.
    """
    dst, src = tile(instr, "dst"), tile(instr, "src")
    pattern = instr.attrs["maskPattern"]
    if pattern == "P1111":
        return copy(instr, arch)
    to = Access(dst.addr, dst.dtype, repeat_stride=dst.row_bytes, lanes=dst.valid_cols)
    source = Access(src.addr, src.dtype, repeat_stride=src.row_bytes)
    uop = SimdUop(
        "vreducev2", src.dtype, src.valid_cols, src.valid_rows, FULL, to, (source,), effect=pattern
    )
    return Lowered.over_tiles(pack(counted(uop)), dst, [src])


def gather_compare(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst[r] = the columns c with src[r, c] > k (== k), close together; cdst[r] = how many.

    The scalar unit writes the numbers of the columns to tmp; then per row: compare, barrier, pack
    the numbers whose bit is set, and the scalar unit stores the count. What follows the last
    number in a row of dst stays. The order of these is assumed: only their names are published.
    """
    dst, src, counts = (tile(instr, name) for name in ("dst", "src", "cdst"))
    tmp, cols = scratch(instr), src.valid_cols
    bits = tmp.addr + -(-cols * 4 // _BLOCK) * _BLOCK
    lanes = arch.vector.width_bytes // src.dtype.itemsize
    numbers = SimdUop(
        "scalar_store", I32, 1, 1, FULL, Access(tmp.addr, I32, row_stride=4),
        scalar=0, scalar_step=1,
    )  # fmt: skip
    mode = instr.attrs["mode"]
    source = Access(
        src.addr, src.dtype, repeat_stride=arch.vector.width_bytes, row_stride=src.row_bytes
    )
    image = Access(bits, U8, repeat_stride=lanes // 8, bits=True)
    compared = SimdUop(
        f"vcmpvs_{mode}", src.dtype, lanes, -(-cols // lanes), FULL, image, (source,),
        scalar=number(instr, "k"),
    )  # fmt: skip
    to = Access(dst.addr, dst.dtype, row_stride=dst.row_bytes)
    packed = SimdUop(
        "vreducev2", I32, 64, -(-cols // 64), Mask("count", cols), to,
        (Access(tmp.addr, dst.dtype), Access(bits, U8, bits=True)),
        argument=1, table=Table(dst.addr, dst.size_bytes),
    )  # fmt: skip
    pitch = counts.row_bytes if counts.row_major else 4
    count = SimdUop(
        "scalar_count", counts.dtype, cols, 1, FULL,
        Access(counts.addr, counts.dtype, row_stride=pitch, lanes=1), (image,),
    )  # fmt: skip
    row = (SET_MASK, compared, BARRIER, SET_MASK, packed, BARRIER, count, BARRIER)
    items = (BARRIER, RowLoop(cols, (numbers,)), BARRIER, RowLoop(src.valid_rows, row), *NORM)
    width = bits - tmp.addr + -(-cols // lanes) * lanes // 8
    written = (
        dst.valid_region(),
        Region(MEMORY[counts.loc], counts.addr, dst.valid_rows, 4, pitch),
        Region(MEMORY[tmp.loc], tmp.addr, 1, width, width),
    )
    read = (src.valid_region(),)
    return Lowered(pack(items), read, written, read)


def gather_blocks(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """Block b of dst[r] = the 32 bytes of src at offsets[r, b]: one vgatherb a row, in count mode.

    The sequence is assumed: only the micro-op is published.
    """
    dst, src, offsets = (tile(instr, name) for name in ("dst", "src", "offsets"))
    cols, lanes = dst.valid_cols, arch.vector.width_bytes // dst.dtype.itemsize
    width = arch.vector.width_bytes
    to = Access(dst.addr, dst.dtype, repeat_stride=width, row_stride=dst.row_bytes)
    blocks = width // _BLOCK
    places = Access(
        offsets.addr, offsets.dtype, repeat_stride=4 * blocks, row_stride=offsets.row_bytes,
        lanes=blocks,
    )  # fmt: skip
    uop = SimdUop(
        "vgatherb", dst.dtype, lanes, -(-cols // lanes), Mask("count", cols), to, (places,),
        table=_table_of(src),
    )  # fmt: skip
    items = counted(RowLoop(dst.valid_rows, (uop,)))
    used = _used_offsets(dst, offsets)
    read = (src.valid_region(), used)
    return Lowered(pack(items), (src.whole_region(), used), (dst.valid_region(),), read)


def scatter(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = 0, whole tile; then element indices[r, c] of dst = src[r, c], in order: the last stays.

    Zeros in count mode; the scalar unit moves the elements, between flags.
    """
    dst, src, indices = (tile(instr, name) for name in ("dst", "src", "indices"))
    bits = DTYPES[f"u{dst.dtype.bits}"]
    values = Access(src.addr, bits, row_stride=src.row_bytes)
    places = Access(indices.addr, indices.dtype, row_stride=indices.row_bytes)
    move = SimdUop(
        "scalar_scatter", bits, 1, src.valid_cols, FULL, Access(dst.addr, bits),
        (values, places), table=_table_of(dst),
    )  # fmt: skip
    items = (*_zeros(dst, arch), BARRIER, RowLoop(src.valid_rows, (move,)), BARRIER)
    read = (src.valid_region(), indices.valid_region())
    return Lowered(pack(items), read, (dst.whole_region(),), read)


def scatter_pattern(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = 0, whole tile; then the columns of dst[r] that the pattern keeps = src[r].

    The scalar unit moves the elements, between flags. P1111 is a copy.
    """
    dst, src = tile(instr, "dst"), tile(instr, "src")
    bits = DTYPES[f"u{dst.dtype.bits}"]
    period, first = PATTERNS[instr.attrs["maskPattern"]]
    zeros = list(_zeros(dst, arch))
    if period == 1:
        copied = copy(instr, arch)
        uops = (*pack([*zeros, BARRIER]), *copied.uops)
        return Lowered(uops, copied.reads, (dst.whole_region(),), copied.sources)
    size = bits.itemsize
    to = Access(
        dst.addr + first * size, bits, repeat_stride=period * size, row_stride=dst.row_bytes
    )
    source = Access(src.addr, bits, repeat_stride=size, row_stride=src.row_bytes)
    move = SimdUop("scalar_copy", bits, 1, src.valid_cols, FULL, to, (source,))
    items = (*zeros, BARRIER, RowLoop(src.valid_rows, (move,)), BARRIER)
    read = (src.valid_region(),)
    return Lowered(pack(items), read, (dst.whole_region(),), read)


def _zeros(dst: TileView, arch: SimdArch) -> Iterator[Item]:
    """0 to every element of the tile; one-byte ones in pairs."""
    dtype: DType = U16 if dst.dtype.itemsize < 4 else DTYPES["u32"]
    count = dst.cols * dst.dtype.itemsize // dtype.itemsize
    lanes = arch.vector.width_bytes // dtype.itemsize
    stream = Stream("vector_dup", dtype, lanes, Plane.of(dst, dtype), scalar=0)
    if dst.cols == dst.row_stride:
        return counted(stream.counted(dst.rows * count))
    return counted(RowLoop(dst.rows, (stream.counted(count, looped=True),)))


def _used_offsets(dst: TileView, offsets: TileView) -> Region:
    blocks = -(-dst.valid_cols * dst.dtype.itemsize // _BLOCK)
    return Region(MEMORY[offsets.loc], offsets.addr, dst.valid_rows, 4 * blocks, offsets.row_bytes)


def _table_of(of: TileView) -> Table:
    return Table(of.addr, of.size_bytes)


FAMILIES: Families[SimdArch] = {
    "gather": gather,
    "gather_blocks": gather_blocks,
    "gather_compare": gather_compare,
    "gather_pattern": gather_pattern,
    "scatter": scatter,
    "scatter_pattern": scatter_pattern,
}
