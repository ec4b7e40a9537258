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
    BARRIER,
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

_CHUNK = 64  # lanes: one repeat of i32
_REPEAT_BYTES = 256


def _scratch(tmp: TileView, dtype: DType, offset: int = 0) -> Plane:
    return Plane(tmp.addr + offset, dtype, 0, fixed=True)


def _region(tmp: TileView, size: int) -> Region:
    return Region(MEMORY[tmp.loc], tmp.addr, 1, size, size)


def _f32_to_i16(walk: Walk, tmp: TileView) -> Chain:
    """Each call of the plain walk in two steps: clamp into the scratch, a repeat behind the
    other; cut to i16."""
    rounding = walk.stream.name.removeprefix("vconv_f322s16")
    held = _scratch(tmp, I32)
    clamp = replace(walk.stream, name=f"vconv_f322s32{rounding}", dst=held, effect="sat")
    cut = replace(walk.stream, name="vconv_s322s16", dtype=I32, srcs=(held,))
    lanes, whole, rest = walk.stream.lanes, *divmod(walk.cols, walk.stream.lanes)
    body: list[SimdItem] = []
    for start, size in chunks(whole, walk.repeat_max):
        col = start * lanes
        body += [
            clamp.uop(size, col=col, looped=True),
            BARRIER,
            cut.uop(size, col=col, looped=True),
        ]
    items: list[Item] = [RowLoop(walk.rows, tuple(body))] if body else []
    pieces = list(chunks(walk.rows, walk.repeat_max if walk.strides_fit else 1)) if rest else []
    tail: list[Item] = []
    for row, size in pieces:
        tail += [
            clamp.uop(size, partial(rest), row=row, col=whole * lanes, down=True),
            BARRIER,
            cut.uop(size, partial(rest), row=row, col=whole * lanes, down=True),
        ]
    if tail:
        items += masked(*tail)
    repeats = max(min(whole, walk.repeat_max), *(size for _, size in pieces), 0)
    return tuple(items), _region(tmp, repeats * _REPEAT_BYTES)


def _f16_to_i16(walk: Walk, tmp: TileView) -> Chain:
    """64 lanes at a time: clamp to i32 in the scratch, cut to i16."""
    rounding = walk.stream.name.removeprefix("vconv_f162s16")
    held = _scratch(tmp, I32)
    clamp = replace(
        walk.stream, name=f"vconv_f162s32{rounding}", lanes=_CHUNK, dst=held, effect="sat"
    )
    cut = replace(walk.stream, name="vconv_s322s16", dtype=I32, lanes=_CHUNK, srcs=(held,))
    return tuple(_by_chunks(walk, (clamp, cut))), _region(tmp, _REPEAT_BYTES)


def _f16_to_i8(walk: Walk, tmp: TileView) -> Chain:
    """64 lanes at a time: clamp to i32, cut to i16, keep eight bits, back to f16, cut to i8."""
    rounding = walk.stream.name.removeprefix("vconv_f162s8")
    wide, low = _scratch(tmp, I32), _scratch(tmp, I16)
    half, ones = _scratch(tmp, F16), _scratch(tmp, I16, _REPEAT_BYTES // 2)
    steps = (
        Stream(f"vconv_f162s32{rounding}", F16, _CHUNK, wide, walk.stream.srcs, effect="sat"),
        Stream("vconv_s322s16", I32, _CHUNK, low, (wide,), effect="wrap"),
        Stream("vector_dup", I16, 2 * _CHUNK, ones, scalar=0x00FF),
        Stream("vand", I16, 2 * _CHUNK, low, (low, ones)),
        Stream("vconv_s162f16", I16, 2 * _CHUNK, half, (low,)),
        Stream("vconv_f162s8z", F16, 2 * _CHUNK, walk.stream.dst, (half,), effect="wrap"),
    )
    return tuple(_by_chunks(walk, steps)), _region(tmp, _REPEAT_BYTES)


def _by_chunks(walk: Walk, steps: tuple[Stream, ...]) -> Iterator[Item]:
    """Every step, fenced, on every 64 lanes of the whole repeats, then of the rest of each row.

    Each chunk writes its own mask, the rest under an outer one that has no effect.
    """
    whole = walk.cols - walk.cols % walk.stream.lanes
    if whole:
        yield RowLoop(walk.rows, tuple(_row_of_chunks(steps, 0, whole)))
    if whole < walk.cols:
        yield from masked(RowLoop(walk.rows, tuple(_row_of_chunks(steps, whole, walk.cols))))


def _row_of_chunks(steps: tuple[Stream, ...], start: int, stop: int) -> Iterator[SimdItem]:
    for first, size in chunks(stop - start, _CHUNK):
        yield SET_MASK
        for step in steps:
            mask = FULL if size == step.lanes else partial(size)
            yield from fenced(step.uop(1, mask, col=start + first, looped=True))
    yield SET_MASK


CHAINS: Mapping[tuple[DType, DType], Callable[[Walk, TileView], Chain]] = MappingProxyType(
    {(F32, I16): _f32_to_i16, (F16, I16): _f16_to_i16, (F16, I8): _f16_to_i8}
)
