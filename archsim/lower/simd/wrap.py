"""TCVT to small integers that keeps the low bits: chains through i32 in a scratch tile.

The plain micro-op turns an infinity into the greatest value even where it keeps low bits; these
chains clamp to i32 first and cut that, as PyTorch does.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from archsim.base.dtypes import F16, F32, I8, I16, I32, DType
from archsim.isa.operands import MEMORY, Region, TileView
from archsim.isa.simd import FULL, RowLoop, SimdItem
from archsim.lower.simd.emit import (
    SET_MASK,
    Item,
    Plane,
    Stream,
    chunks,
    fenced,
    masked,
    partial,
)
from archsim.lower.simd.walks import Walk

Chain = tuple[tuple[Item, ...], Region]  # the micro-ops, and the scratch that they write


def _scratch(tmp: TileView, dtype: DType, offset: int = 0) -> Plane:
    return Plane(tmp.addr + offset, dtype, 0, fixed=True)


def _region(tmp: TileView, size: int) -> Region:
    return Region(MEMORY[tmp.loc], tmp.addr, 1, size, size)


def _f32_to_i16(walk: Walk, tmp: TileView) -> Chain:
    """Each micro-op of the plain walk in two: clamp into the scratch, cut to i16."""
    rounding = walk.stream.name.removeprefix("vconv_f322s16")
    lanes, held = walk.stream.lanes, _scratch(tmp, I32)
    clamp = replace(walk.stream, name=f"vconv_f322s32{rounding}", dst=held, effect="sat")
    cut = replace(walk.stream, name="vconv_s322s16", dtype=I32, srcs=(held,))
    items = tuple(replace(walk, stream=clamp, then=(cut,)).rows_then_tail())
    whole, rest = divmod(walk.cols, lanes)
    down = walk.rows if walk.strides_fit else 1
    repeats = min(max(whole, down if rest else 0), walk.repeat_max)
    return items, _region(tmp, repeats * lanes * I32.itemsize)


def _f16_to_i16(walk: Walk, tmp: TileView) -> Chain:
    """A repeat of i32 at a time: clamp to i32 in the scratch, cut to i16."""
    rounding = walk.stream.name.removeprefix("vconv_f162s16")
    chunk, held = walk.stream.lanes // 2, _scratch(tmp, I32)
    steps = (
        Stream(f"vconv_f162s32{rounding}", F16, chunk, held, walk.stream.srcs, effect="sat"),
        Stream("vconv_s322s16", I32, chunk, walk.stream.dst, (held,), effect="wrap"),
    )
    return tuple(_by_chunks(walk, steps)), _region(tmp, chunk * I32.itemsize)


def _f16_to_i8(walk: Walk, tmp: TileView) -> Chain:
    """A repeat of i32 at a time: clamp to i32, cut to i16, keep eight bits, by f16 to i8."""
    rounding = walk.stream.name.removeprefix("vconv_f162s8")
    lanes = walk.stream.lanes
    chunk, size = lanes // 2, lanes // 2 * I32.itemsize
    wide, low, half = (_scratch(tmp, dtype) for dtype in (I32, I16, F16))
    ones = _scratch(tmp, I16, size // 2)
    steps = (
        Stream(f"vconv_f162s32{rounding}", F16, chunk, wide, walk.stream.srcs, effect="sat"),
        Stream("vconv_s322s16", I32, chunk, low, (wide,), effect="wrap"),
        Stream("vector_dup", I16, lanes, ones, scalar=0x00FF),
        Stream("vand", I16, lanes, low, (low, ones)),
        Stream("vconv_s162f16", I16, lanes, half, (low,)),
        Stream("vconv_f162s8z", F16, lanes, walk.stream.dst, (half,), effect="wrap"),
    )
    return tuple(_by_chunks(walk, steps)), _region(tmp, size)


def _by_chunks(walk: Walk, steps: tuple[Stream, ...]) -> Iterator[Item]:
    """Every step, fenced, on every chunk of the whole repeats, then of the rest of each row.

    Each chunk writes its own mask, the rest under an outer one that has no effect.
    """
    whole = walk.cols - walk.cols % walk.stream.lanes
    if whole:
        yield RowLoop(walk.rows, tuple(_row_of_chunks(steps, 0, whole)))
    if whole < walk.cols:
        yield from masked(RowLoop(walk.rows, tuple(_row_of_chunks(steps, whole, walk.cols))))


def _row_of_chunks(steps: tuple[Stream, ...], start: int, stop: int) -> Iterator[SimdItem]:
    for first, size in chunks(stop - start, steps[0].lanes):
        yield SET_MASK
        for step in steps:
            mask = FULL if size == step.lanes else partial(size)
            yield from fenced(step.uop(1, mask, col=start + first, looped=True))
    yield SET_MASK


CHAINS: Mapping[tuple[DType, DType], Callable[[Walk, TileView], Chain]] = MappingProxyType(
    {(F32, I16): _f32_to_i16, (F16, I16): _f16_to_i16, (F16, I8): _f16_to_i8}
)
