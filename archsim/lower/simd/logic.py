"""Logic and shifts on the simd cores.

The core combines bits of 16-bit lanes alone: other element types are read as those. Their rows then
end on a whole lane, so that the byte behind an odd count of single bytes is written too.
"""

from collections.abc import Iterator
from dataclasses import replace

from archsim.arch import SimdArch
from archsim.base.dtypes import I16, Kind
from archsim.isa.operands import BoundInstr, Region, TileView
from archsim.isa.simd import RowLoop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.notes import Notes, departs
from archsim.lower.operands import data_tiles, number, scratch
from archsim.lower.simd.elementwise import (
    binary_over,
    expand_over,
    scalar_over,
    unary_over,
)
from archsim.lower.simd.emit import BARRIER, Item, Plane, Stream, chunks, pack
from archsim.lower.simd.walks import Walk


def logic(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = src0 and|or src1, bit by bit."""
    dst, src0, src1 = data_tiles(instr)
    items, notes = _combined(instr, instr.op.uops[arch.isa], dst, src0, src1, arch)
    return _lowered(items, [dst], [src0, src1], notes)


def invert(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = not src, bit by bit."""
    dst, src = data_tiles(instr)
    items, notes = _inverted(instr, dst, src, arch)
    return _lowered(items, [dst], [src], notes)


def exclusive(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = src0 xor src1: not (src0 and src1), and (src0 or src1), which tmp holds afterwards."""
    dst, src0, src1 = data_tiles(instr)
    tmp = _like(dst, scratch(instr))
    either, notes = _combined(instr, "vor", tmp, src0, src1, arch)
    common, _ = _combined(instr, "vand", dst, src0, src1, arch)
    items = [*either, BARRIER, *common, BARRIER, *_without(instr, dst, tmp, arch)]
    return _lowered(items, [dst, tmp], [src0, src1], notes)


def logic_scalar(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = src and|or scalar: the scalar fills dst first."""
    dst, src = data_tiles(instr)
    items, notes = _with_filled(instr, instr.op.uops[arch.isa], dst, src, arch)
    return _lowered(items, [dst], [src], notes)


def exclusive_scalar(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = src xor scalar: as `exclusive`; the scalar fills tmp, then dst."""
    dst, src = data_tiles(instr)
    tmp = _like(dst, scratch(instr))
    either, notes = _with_filled(instr, "vor", tmp, src, arch)
    common, _ = _with_filled(instr, "vand", dst, src, arch)
    items = [*either, BARRIER, *common, BARRIER, *_without(instr, dst, tmp, arch)]
    return _lowered(items, [dst, tmp], [src], notes)


def shift_scalar(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = src shifted by scalar. The right shift is a logical one, whatever the type."""
    dst, src = data_tiles(instr)
    name = instr.op.uops[arch.isa]
    items, notes = scalar_over(instr, name, dst, [src], number(instr, "scalar"), arch)
    if name == "vshr" and dst.dtype.kind is Kind.SIGNED:
        notes += departs(
            instr,
            f"{instr.op.mnemonic} on {dst.dtype} shifts zeros in on {arch.isa}, not copies of the"
            " sign: negative values become positive",
            f"use a u{dst.dtype.bits} tile where that is meant",
        )
    return Lowered.over_tiles(pack(items), dst, [src], notes)


def shift(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = src0 shifted by src1, element by element, by the scalar unit: V waits before and after.

    No vector micro-op does it. Its repeats are elements.
    """
    dst, src0, src1 = data_tiles(instr)
    planes = (Plane.of(src0), Plane.of(src1))
    stream = Stream(instr.op.uops[arch.isa], dst.dtype, 1, Plane.of(dst), planes)
    body = tuple(
        stream.uop(count, col=col, looped=True)
        for col, count in chunks(dst.valid_cols, arch.vector.repeat_max)
    )
    items = (BARRIER, RowLoop(dst.valid_rows, body), BARRIER)
    return Lowered.over_tiles(pack(items), dst, [src0, src1])


def _combined(
    instr: BoundInstr, name: str, dst: TileView, src0: TileView, src1: TileView, arch: SimdArch
) -> tuple[list[Item], Notes]:
    """The micro-ops `name` over tiles: 16-bit types as `binary_over`.

    Of other types whole repeats row by row, then the rest down the rows.
    """
    if dst.dtype.itemsize == 2:
        return binary_over(instr, name, dst, [src0, src1], arch)
    into, *words = map(_as_words, (dst, src0, src1))
    stream = Stream.over(name, into, words, arch)
    walk = Walk.over(stream, into.valid_rows, into.valid_cols, arch)
    return list(walk.rows_then_tail()), ()


def _inverted(
    instr: BoundInstr, dst: TileView, src: TileView, arch: SimdArch
) -> tuple[list[Item], Notes]:
    return unary_over(instr, "vnot", _as_words(dst), _as_words(src), arch)


def _without(instr: BoundInstr, dst: TileView, either: TileView, arch: SimdArch) -> Iterator[Item]:
    """dst = not dst, and `either`."""
    yield from _inverted(instr, dst, dst, arch)[0]
    yield BARRIER
    yield from _combined(instr, "vand", dst, dst, either, arch)[0]


def _with_filled(
    instr: BoundInstr, name: str, dst: TileView, src: TileView, arch: SimdArch
) -> tuple[list[Item], Notes]:
    """dst = scalar, then src `name` dst."""
    filled, notes, _ = expand_over(instr, dst, number(instr, "scalar"), arch)
    items, others = _combined(instr, name, dst, src, dst, arch)
    return [*filled, BARRIER, *items], notes + others


def _as_words(tile: TileView) -> TileView:
    """A tile as 16-bit lanes: two for a lane of four bytes, one for a pair of single bytes."""
    size = tile.dtype.itemsize
    if size == 2:
        return tile
    return replace(
        tile,
        dtype=I16,
        cols=tile.cols * size // 2,
        valid_cols=-(-tile.valid_cols * size // 2),
        row_stride=tile.row_stride * size // 2,
    )


def _like(dst: TileView, tmp: TileView) -> TileView:
    """The part of a scratch tile that the instruction works in."""
    return replace(tmp, valid_rows=dst.valid_rows, valid_cols=dst.valid_cols)


def _written(tile: TileView) -> Region:
    return _as_words(tile).valid_region()


def _lowered(
    items: list[Item], dsts: list[TileView], srcs: list[TileView], notes: Notes
) -> Lowered:
    read = tuple(src.valid_region() for src in srcs)
    return Lowered(pack(items), read, tuple(map(_written, dsts)), read, notes=notes)


FAMILIES: Families[SimdArch] = {
    "exclusive": exclusive,
    "exclusive_scalar": exclusive_scalar,
    "invert": invert,
    "logic": logic,
    "logic_scalar": logic_scalar,
    "shift": shift,
    "shift_scalar": shift_scalar,
}
