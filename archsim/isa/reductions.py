"""What checks and lowering must both know about reductions."""

from archsim.base.dtypes import F32
from archsim.isa.operands import TileView

# Rows and columns of f32 tiles that A2A3 reduces by blocks instead of repeats: library headers.
BLOCK_TREES = ((64, 128), (32, 256), (16, 512), (8, 1024))
BLOCK_TREE_BYTES = 4096  # scratch that the first step of each of them fills
FRESH_ROWS = 240  # rows of a column whose blocks A2A3 makes at once


def by_blocks(src: TileView, dst: TileView) -> bool:
    """Whether A2A3 reduces these rows by blocks: an exact, static, full shape into a column."""
    shape = (src.rows, src.cols)
    return (
        src.dtype is F32
        and shape in BLOCK_TREES
        and shape == (src.valid_rows, src.valid_cols)
        and src.static_rows
        and src.static_cols
        and src.row_stride == src.cols
        and not dst.row_major
        and dst.cols == 1
    )


def is_whole(tile: TileView, dst: TileView) -> bool:
    """A source of the destination's valid region."""
    own, other = ((t.valid_rows, t.valid_cols) for t in (tile, dst))
    return tile.row_major and own == other


def is_column(tile: TileView, dst: TileView) -> bool:
    """One value for each of the destination's valid rows: column-major, or in a block a row."""
    one = tile.valid_cols * tile.dtype.itemsize == 32 if tile.row_major else tile.cols == 1
    return one and tile.valid_rows == dst.valid_rows
