"""The smallest scratch of instructions that move elements: element type, rows, columns."""

from collections.abc import Callable, Mapping

from archsim.arch import ArchConfig
from archsim.base.dtypes import I32, U8, DType
from archsim.isa.operands import BoundInstr, TileView
from archsim.isa.rearranging import (
    SORT_ROW_MAX,
    transposes_by_blocks,
    turned_extent,
)

ScratchTile = tuple[DType, int, int]
_BLOCK_BYTES = 32


def rearrange_scratch(instr: BoundInstr, arch: ArchConfig) -> ScratchTile | None:
    """What the instruction needs; None where it works without."""
    return _SMALLEST[instr.op.family](instr, arch)


def _transpose(instr: BoundInstr, arch: ArchConfig) -> ScratchTile | None:
    """The turned tile in whole groups."""
    dst, src = _tile(instr, "dst"), _tile(instr, "src")
    if not transposes_by_blocks(dst):
        return None
    rows, cols = turned_extent(src.dtype.itemsize, *_extent(src))
    return src.dtype, rows, cols


def _gather(instr: BoundInstr, arch: ArchConfig) -> ScratchTile | None:
    """Byte offsets of two-byte elements; those of four bytes fit in dst."""
    dst = _tile(instr, "dst")
    if dst.dtype.itemsize == 4:
        return None
    rows, cols = _extent(dst)
    return I32, rows, -(-cols // 8) * 8


def _compare(instr: BoundInstr, arch: ArchConfig) -> ScratchTile:
    """The numbers of the columns, then the bits of one row's whole repeats."""
    src = _tile(instr, "src")
    cols = _extent(src)[1]
    lanes = arch.vector.width_bytes // src.dtype.itemsize
    bits = -(-cols // lanes) * lanes // 8
    numbers = -(-cols * 4 // _BLOCK_BYTES) * _BLOCK_BYTES
    return U8, 1, numbers + -(-bits // _BLOCK_BYTES) * _BLOCK_BYTES


def _sort(instr: BoundInstr, arch: ArchConfig) -> ScratchTile | None:
    """A row in whole groups of 32, or the last group of a long row."""
    src = _tile(instr, "src")
    cols = _extent(src)[1]
    if src.static_cols and cols % 32 == 0:
        return None
    return src.dtype, 1, 32 if cols > SORT_ROW_MAX else -(-cols // 32) * 32


def _merge(instr: BoundInstr, arch: ArchConfig) -> ScratchTile:
    """All records."""
    dst = _tile(instr, "dst")
    per_block = _BLOCK_BYTES // dst.dtype.itemsize
    return dst.dtype, 1, -(-_extent(dst)[1] // per_block) * per_block


_SMALLEST: Mapping[str, Callable[[BoundInstr, ArchConfig], ScratchTile | None]] = {
    "gather": _gather,
    "gather_compare": _compare,
    "merge_lists": _merge,
    "sort": _sort,
    "transpose": _transpose,
}


def _tile(instr: BoundInstr, name: str) -> TileView:
    tile = instr.operands[name]
    assert isinstance(tile, TileView)
    return tile


def _extent(tile: TileView) -> tuple[int, int]:
    """What scratch must cover: the whole tile where its valid region may grow."""
    rows = tile.valid_rows if tile.static_rows else tile.rows
    return rows, tile.valid_cols if tile.static_cols else tile.cols
