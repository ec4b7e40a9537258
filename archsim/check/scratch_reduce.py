"""The smallest scratch of reductions and broadcasts: element type, rows, columns."""

from collections.abc import Callable, Mapping

from archsim.arch import ArchConfig
from archsim.base.dtypes import DType
from archsim.isa.operands import BoundInstr, TileView
from archsim.isa.reductions import BLOCK_TREE_BYTES, FRESH_ROWS, by_blocks

ScratchTile = tuple[DType, int, int]
_BLOCK_BYTES = 32


def reduction_scratch(
    instr: BoundInstr, arch: ArchConfig, *, may_grow: bool = True
) -> ScratchTile | None:
    """What a reduction or broadcast needs; None where it works without.

    `may_grow`: dynamic valid regions count as the whole tile, not as they are now.
    """
    return _SMALLEST[instr.op.family](instr, arch, may_grow)


def _row_reduce(instr: BoundInstr, arch: ArchConfig, may_grow: bool) -> ScratchTile | None:
    """Floats: a repeat a row, for sums one for each pair of repeats. Integers: one block."""
    src, dst = _tiles(instr)
    if not src.dtype.is_float:
        return _block(instr, arch, may_grow)
    rows, cols = _extent(src, may_grow)
    lanes = arch.vector.width_bytes // src.dtype.itemsize
    repeats = max(1, cols // lanes // 2) if instr.op.name == "TROWSUM" else 1
    width = repeats * lanes
    if by_blocks(src, dst):
        width = max(width, BLOCK_TREE_BYTES // src.dtype.itemsize // rows)
    return src.dtype, rows, width


def _block(instr: BoundInstr, arch: ArchConfig, may_grow: bool) -> ScratchTile | None:
    """One block of partial results."""
    dtype = _tiles(instr)[0].dtype
    return dtype, 1, _BLOCK_BYTES // dtype.itemsize


def _row_arg(instr: BoundInstr, arch: ArchConfig, may_grow: bool) -> ScratchTile | None:
    """A repeat a row, or a value and an index for each of its repeats."""
    src = _tiles(instr)[0]
    rows, cols = _extent(src, may_grow)
    lanes = arch.vector.width_bytes // src.dtype.itemsize
    return src.dtype, rows, max(lanes, _whole_blocks(src, 2 * -(-cols // lanes)))


def _col_sum(instr: BoundInstr, arch: ArchConfig, may_grow: bool) -> ScratchTile | None:
    """The sums of pairs of rows, where it adds in pairs."""
    if instr.attrs.get("binary") != "true":
        return None
    src = _tiles(instr)[0]
    rows, cols = _extent(src, may_grow)
    return src.dtype, max(1, rows // 2), _whole_blocks(src, cols)


def _col_arg(instr: BoundInstr, arch: ArchConfig, may_grow: bool) -> ScratchTile | None:
    """The best values so far, and a repeat of row numbers."""
    src = _tiles(instr)[0]
    cols = (
        _whole_blocks(src, _extent(src, may_grow)[1])
        + arch.vector.width_bytes // src.dtype.itemsize
    )
    return src.dtype, 1, cols


def _row_expand(instr: BoundInstr, arch: ArchConfig, may_grow: bool) -> ScratchTile | None:
    """A block for each row, for 240 rows at most, in whole repeats."""
    dst = instr.dst[0]
    assert isinstance(dst, TileView)
    repeats = -(-min(_extent(dst, may_grow)[0], FRESH_ROWS) // 8)
    return dst.dtype, 1, repeats * arch.vector.width_bytes // dst.dtype.itemsize


_SMALLEST: Mapping[str, Callable[[BoundInstr, ArchConfig, bool], ScratchTile | None]] = {
    "col_arg": _col_arg,
    "col_sum": _col_sum,
    "row_arg": _row_arg,
    "row_expand_op": _row_expand,
    "row_product": _block,
    "row_reduce": _row_reduce,
}


def _tiles(instr: BoundInstr) -> tuple[TileView, TileView]:
    src, dst = instr.src[0], instr.dst[0]
    assert isinstance(src, TileView)
    assert isinstance(dst, TileView)
    return src, dst


def _extent(tile: TileView, may_grow: bool) -> tuple[int, int]:
    """The valid region, or all of the tile where that may grow."""
    rows = tile.rows if may_grow and not tile.static_rows else tile.valid_rows
    return rows, tile.cols if may_grow and not tile.static_cols else tile.valid_cols


def _whole_blocks(tile: TileView, cols: int) -> int:
    per_block = _BLOCK_BYTES // tile.dtype.itemsize
    return -(-cols // per_block) * per_block
