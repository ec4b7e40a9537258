"""TQUANT and TDEQUANT on the simd cores: chains of micro-ops through UB."""

from collections.abc import Iterator
from dataclasses import replace

from archsim.arch import SimdArch
from archsim.base.dtypes import F16, F32, I8, I32
from archsim.base.errors import Diagnostic
from archsim.isa.operands import MEMORY, BoundInstr, Region, TileView
from archsim.isa.simd import Access, Control, Mask, RowLoop, SimdUop
from archsim.isa.tile_ops import TILE_OPS
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import scratch, tile
from archsim.lower.simd.convert import convert
from archsim.lower.simd.emit import (
    BARRIER,
    COUNT,
    NORM,
    Item,
    Stream,
    fenced,
    pack,
)
from archsim.lower.simd.expand import row_expand_op

_OVERWRITES = "tquant leaves src and tmp overwritten on a2a3: src with halves, tmp with integers"
_NEAREST = {"rmode": "rint", "sat": "on"}
# The scalar unit waits for the vector pipe, reads an element, and lets the pipe go on.
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
    steps = [("trowexpandmul", tile(instr, "scale"))]
    if instr.op.family == "quant_offset":
        steps.append(("trowexpandadd", tile(instr, "offset")))
    words = replace(src, dtype=I32, addr=tmp.addr, row_stride=src.cols)
    halves = replace(src, dtype=F16, row_stride=2 * src.row_stride)
    items: list[Item] = []
    for name, values in steps:
        step = BoundInstr(TILE_OPS[name], (src,), (src, values), tmp)
        items += [*_loops(row_expand_op(step, arch)), BARRIER]  # 1
    for to, source in ((words, src), (halves, words), (dst, halves)):  # 2, 3, 4
        step = BoundInstr(TILE_OPS["tcvt"], (to,), (source,), None, _NEAREST)
        items += [*_loops(convert(step, arch)), BARRIER]
    read = (src.valid_region(), *(_column(values) for _, values in steps))
    used_rows = src.valid_rows * words.row_bytes
    size = max(used_rows, -(-src.valid_rows // 8) * 8 * arch.vector.block_bytes)
    used = Region(MEMORY[tmp.loc], tmp.addr, 1, size, size)
    gone = src.valid_region()
    notes = (Diagnostic(_OVERWRITES, instr.span, None, kind="numerics", severity="note"),)
    return Lowered(pack(items), read, (dst.valid_region(), gone, used), read, (gone,), notes)


def _loops(lowered: Lowered) -> Iterator[RowLoop]:
    for loop in lowered.uops:
        assert isinstance(loop, RowLoop), "a simd core runs row loops"
        yield loop


FAMILIES: Families[SimdArch] = {
    "dequant": dequantise,
    "quant": quantise,
    "quant_offset": quantise,
}
