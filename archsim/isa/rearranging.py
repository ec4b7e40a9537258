"""Choices of TTRANS and TSORT32 that both their lowering and their scratch hang on."""

from archsim.isa.operands import TileView

SORT_ROW_MAX = 32 * 255  # elements of a row that one sort takes through scratch


def group_rows(size: int) -> int:
    """Rows that a transposing group takes: 16, 32 of one-byte elements."""
    return 32 if size == 1 else 16


def transposes_by_blocks(dst: TileView) -> bool:
    """Whether rows of dst are whole groups; else the scalar unit moves the elements."""
    return dst.row_stride % group_rows(dst.dtype.itemsize) == 0


def turned_extent(size: int, rows: int, cols: int) -> tuple[int, int]:
    """Rows and columns of the turned tile in whole blocks of columns and groups of rows."""
    block, group = 32 // size, group_rows(size)
    return -(-cols // block) * block, -(-rows // group) * group
