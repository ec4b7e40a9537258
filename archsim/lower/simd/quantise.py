"""TQUANT and TDEQUANT on the simd cores: chains of micro-ops through UB."""

from collections.abc import Iterator
from dataclasses import replace

from archsim.arch import SimdArch
from archsim.base.dtypes import F16, F32, I8, I32
from archsim.base.errors import Diagnostic
from archsim.isa.operands import MEMORY, BoundInstr, Region, TileView
from archsim.isa.simd import FULL, Access, Control, Mask, RowLoop, SimdUop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import scratch, tile
from archsim.lower.simd.convert import SET_CTRL
from archsim.lower.simd.emit import (
    BARRIER,
    COUNT,
    NORM,
    Item,
    Plane,
    Stream,
    chunks,
    counted,
    fenced,
    masked,
    pack,
    partial,
)
from archsim.lower.simd.walks import Walk

# The scalar unit waits for the vector pipe, reads an element, and lets the pipe go on.
_OVERWRITES = "tquant leaves src and tmp overwritten on a2a3: src with halves, tmp with integers"
_ROWS_AT_ONCE = 240
_READ_SCALAR = (
    Control("set_flag"),
    Control("wait_flag"),
    Control("set_flag"),
    Control("wait_flag"),
)


def dequantise(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst[r, c] = (float(src[r, c]) - offset[r]) * scale[r], two roundings.

    In count mode: first every row to f32; i8 goes through f16 in the memory of dst, where halves
    take every other block so that widening them does not run into what it still has to read. Then
    for every row the scalar unit reads offset and scale: an addition of the negated offset, a
    multiplication. A barrier behind each micro-op.
    """
    dst, src = tile(instr, "dst"), tile(instr, "src")
    scale, offset = tile(instr, "scale"), tile(instr, "offset")
    widened = _through_half(dst, src, arch) if src.dtype is I8 else _widened(dst, src, arch)
    items: list[Item] = [*COUNT, RowLoop(dst.valid_rows, fenced(*widened)), *NORM]
    applied = tuple(_applied(dst, scale, offset, arch))
    items += [*COUNT, RowLoop(dst.valid_rows, (*_READ_SCALAR, *fenced(*applied))), *NORM]
    read = (src.valid_region(), *(_column(values) for values in (scale, offset)))
    return Lowered(pack(items), read, (dst.valid_region(),), read)


def _column(values: TileView) -> Region:
    """The first element of every row."""
    return values.valid_region(values.dtype.itemsize)


def _widened(dst: TileView, src: TileView, arch: SimdArch) -> tuple[SimdUop, ...]:
    stream = Stream.over("vconv_s162f32", dst, [src], arch)
    return (stream.counted(dst.valid_cols, looped=True),)


def _through_half(dst: TileView, src: TileView, arch: SimdArch) -> tuple[SimdUop, ...]:
    """i8 to f16 in every other block of the row of dst, these to f32 in place."""
    width, block = arch.vector.width_bytes, arch.vector.block_bytes
    count = Mask("count", dst.valid_cols)

    def uop(name: str, lanes: int, to: Access, source: Access) -> SimdUop:
        repeat = -(-dst.valid_cols // lanes)
        return SimdUop(name, source.dtype, lanes, repeat, count, to, (source,), argument=0)

    halves = Access(dst.addr, F16, 2 * block, 2 * width, dst.row_bytes)
    bytes_ = Access(src.addr, I8, block, width // 2, src.row_bytes)
    floats = Access(dst.addr, F32, block, width, dst.row_bytes)
    return (
        uop("vconv_s82f16", width // F16.itemsize, halves, bytes_),
        uop("vconv_f162f32", width // F32.itemsize, floats, replace(halves, repeat_stride=width)),
    )


def _applied(dst: TileView, scale: TileView, offset: TileView, arch: SimdArch) -> Iterator[SimdUop]:
    for name, values, words in (("vadds", offset, "negated"), ("vmuls", scale, "")):
        plain = Stream.over(name, dst, [dst], arch, effect=words)
        element = Access(values.addr, F32, row_stride=values.row_bytes, lanes=1)
        uop = plain.counted(dst.valid_cols, looped=True, argument=1)
        yield replace(uop, srcs=(*uop.srcs, replace(element, repeat_stride=0)))


def quantise(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst[r, c] = rint(src[r, c] * scale[r] [+ offset[r]]), saturating.

    1. src times scale in place, the scales broadcast to blocks in tmp; with offset, its sum alike.
    2. f32 -> i32 to nearest even into tmp, the rows of src.
    3. i32 -> f16 into the memory of src, by a scale of 1.
    4. f16 -> i8 or u8, saturating.
    A barrier behind each. Afterwards src holds halves and what they left of the scaled values, tmp
    the integers. Where values are beyond 2048 halves lose bits that saturation drops anyway.
    """
    dst, src, tmp = tile(instr, "dst"), tile(instr, "src"), scratch(instr)
    steps = [("vmul", tile(instr, "scale"))]
    if instr.op.family == "quant_offset":
        steps.append(("vadd", tile(instr, "offset")))
    items: list[Item] = []
    for name, values in steps:
        items += [*row_operation(name, src, values, tmp.addr, arch), BARRIER]  # 1
    words = replace(src, dtype=I32, addr=tmp.addr, row_stride=src.cols)
    halves = replace(src, dtype=F16, row_stride=2 * src.row_stride)
    items += [*_converted("vconv_f322s32r", words, src, "sat", arch), BARRIER]  # 2
    items += [
        Control("set_deqscale"),
        BARRIER,
        *_converted("vconv_deq", halves, words, "", arch),
        BARRIER,
    ]  # 3
    name = "vconv_f162s8r" if dst.dtype is I8 else "vconv_f162u8r"
    items += [*_converted(name, dst, halves, "sat", arch), BARRIER]  # 4
    read = (src.valid_region(), *(_column(values) for _, values in steps))
    size = max(words.size_bytes, -(-src.valid_rows // 8) * 8 * arch.vector.block_bytes)
    used = Region(MEMORY[tmp.loc], tmp.addr, 1, size, size)
    gone = src.valid_region()
    notes = (Diagnostic(_OVERWRITES, instr.span, None, kind="numerics", severity="note"),)
    return Lowered(pack(items), read, (dst.valid_region(), gone, used), read, (gone,), notes)


def row_operation(
    name: str, whole: TileView, values: TileView, blocks: int, arch: SimdArch
) -> Iterator[Item]:
    """whole[r, c] = whole[r, c] op values[r], the values of a column-major tile.

    The values are broadcast to blocks of memory, 240 rows at a time where there are 256 or more.
    1. Row pitch beyond the repeat stride, or more whole repeats a row than rows: row by row in
       count mode.
    2. Otherwise down the rows: a micro-op for each repeat-wide column, a masked one for the rest.
    """
    stream, vector = Stream.over(name, whole, [whole, whole], arch), arch.vector
    at_once = whole.valid_rows if whole.valid_rows <= vector.repeat_max else _ROWS_AT_ONCE
    by_row = whole.valid_cols // stream.lanes > whole.valid_rows
    by_row = by_row or whole.row_bytes > vector.repeat_stride_max * vector.block_bytes
    for first, rows in chunks(whole.valid_rows, at_once):
        if first:
            yield BARRIER
        yield from (_broadcast(values, first, rows, blocks, arch), BARRIER)
        if by_row:
            at = replace(
                stream, dst=_further(stream.dst, first), srcs=(_further(stream.dst, first),) * 2
            )
            uop = at.counted(whole.valid_cols, looped=True)
            yield from counted(RowLoop(rows, (_with_blocks(uop, blocks, arch),)))  # 1
        else:
            yield from _down(stream, whole.valid_cols, first, rows, blocks, arch)  # 2


def _down(
    stream: Stream, cols: int, first: int, rows: int, blocks: int, arch: SimdArch
) -> Iterator[Item]:
    for col, size in chunks(cols, stream.lanes):
        mask = FULL if size == stream.lanes else partial(size)
        uop = _with_blocks(stream.uop(rows, mask, row=first, col=col, down=True), blocks, arch)
        if size == stream.lanes:
            yield uop
        else:
            yield from masked(uop)


def _further(plane: Plane, rows: int) -> Plane:
    return replace(plane, addr=plane.addr + rows * plane.pitch)


def _broadcast(values: TileView, first: int, rows: int, blocks: int, arch: SimdArch) -> SimdUop:
    """Each value to all lanes of a block; eight a repeat."""
    width, block = arch.vector.width_bytes, arch.vector.block_bytes
    per_repeat = width // block
    size = values.dtype.itemsize
    source = Access(values.addr + first * size, F32, block, per_repeat * size, lanes=per_repeat)
    repeat = -(-rows // per_repeat)
    return SimdUop("vbrcb", F32, width // size, repeat, FULL, Access(blocks, F32), (source,))


def _with_blocks(uop: SimdUop, blocks: int, arch: SimdArch) -> SimdUop:
    """The second source is a block for each row, over and over."""
    block, in_rows = arch.vector.block_bytes, uop.dst.row_stride > 0
    second = Access(
        blocks,
        F32,
        block_stride=0,
        repeat_stride=0 if in_rows else block,
        row_stride=block if in_rows else 0,
    )
    return replace(uop, srcs=(uop.srcs[0], second))


def _converted(
    name: str, dst: TileView, src: TileView, effect: str, arch: SimdArch
) -> Iterator[Item]:
    scalar = 1.0 if name == "vconv_deq" else None
    stream = Stream.over(name, dst, [src], arch, effect=effect, scalar=scalar)
    walk = Walk.over(stream, src.valid_rows, src.valid_cols, arch)
    yield SET_CTRL
    yield from walk.rows_then_tail()
    yield SET_CTRL


FAMILIES: Families[SimdArch] = {
    "dequant": dequantise,
    "quant": quantise,
    "quant_offset": quantise,
}
