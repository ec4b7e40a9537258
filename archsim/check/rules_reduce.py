"""Tests behind the rules of reductions and broadcasts."""

from archsim.check.case import Case
from archsim.check.scratch_reduce import reduction_scratch
from archsim.isa.operands import TileView
from archsim.isa.reductions import is_column, is_whole

Names = tuple[str, ...]
_BLOCK_BYTES = 32


def _valid(tile: TileView) -> str:
    return f"{tile.valid_rows}x{tile.valid_cols}"


def column_tile(case: Case, names: Names) -> str | None:
    """One value a row: rows of any width, or a column-major tile of one column."""
    tile = case.tile(names[0])
    if tile.row_major or tile.cols == 1:
        return None
    return f"{names[0]} is column-major with {tile.cols} columns, must be row-major or have one"


def same_valid_cols(case: Case, names: Names) -> str | None:
    """Equal valid columns."""
    own, other = (case.tile(name).valid_cols for name in names)
    if own == other:
        return None
    return f"{names[0]} has {own} valid columns, must have {other} like {names[1]}"


def twice_the_cols(case: Case, names: Names) -> str | None:
    """A pair of columns for every column."""
    own, other = (case.tile(name).valid_cols for name in names)
    if own == 2 * other:
        return None
    return (
        f"{names[0]} has {own} valid columns, must have {2 * other}: a pair for each of {names[1]}"
    )


def one_valid_col(case: Case, names: Names) -> str | None:
    """One valid column where the number is known to the compiler."""
    tile = case.tile(names[0])
    if tile.valid_cols == 1 or not tile.static_cols:
        return None
    return f"{names[0]} has {tile.valid_cols} valid columns, must have 1"


def row_operands(case: Case, names: Names) -> str | None:
    """A whole tile and one value a row."""
    first, second, dst = (case.tile(name) for name in names)
    if any(is_whole(a, dst) and is_column(b, dst) for a, b in ((first, second), (second, first))):
        return None
    own = f"{names[0]} has valid {_valid(first)}, {names[1]} {_valid(second)}"
    block = _BLOCK_BYTES // dst.dtype.itemsize
    rows = dst.valid_rows
    return (
        f"{own}, must have {_valid(dst)} like {names[2]} in one and {rows} rows of one"
        f" column-major or {block} row-major columns in the other"
    )


def col_operands(case: Case, names: Names) -> str | None:
    """A whole tile and a row of values."""
    first, second, dst = (case.tile(name) for name in names)
    for whole, row in ((first, second), (second, first)):
        if _valid(whole) == _valid(dst) and row.valid_cols == dst.valid_cols and row.valid_rows:
            return None
    own = f"{names[0]} has valid {_valid(first)}, {names[1]} {_valid(second)}"
    return (
        f"{own}, must have {_valid(dst)} like {names[2]} in one and a row of {dst.valid_cols}"
        " columns in the other"
    )


def tmp_for_column(case: Case, names: Names) -> str | None:
    """Scratch holds the values of a column-major source, block by block."""
    if not all(case.tile(name).row_major for name in names[1:]):
        return None
    return "tmp is given, must not be: no source is column-major"


def reduce_scratch_holds(case: Case, names: Names) -> str | None:
    """Scratch as large as the smallest legal one: in rows, or, where that has one, in bytes."""
    need = reduction_scratch(case.instr, case.arch, may_grow=False)
    if need is None:
        return None
    tmp = case.tile(names[0])
    dtype, rows, cols = need
    has, wanted = tmp.cols * tmp.dtype.itemsize, cols * dtype.itemsize
    if rows == 1:
        if tmp.size_bytes >= wanted:
            return None
        return f"{names[0]} has {tmp.size_bytes} bytes, must have {wanted}"
    if tmp.rows >= rows and has >= wanted:
        return None
    return f"{names[0]} has {tmp.rows} rows of {has} bytes, must have {rows} of {wanted}"
