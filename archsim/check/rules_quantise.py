"""Tests behind the rules of quantisation in groups that share an exponent."""

from archsim.check.case import Case
from archsim.check.scratch_quantise import group_scratch
from archsim.isa.shared_exponents import GROUP_COLUMNS, groups

Names = tuple[str, ...]


def one_for_a_group(case: Case, names: Names) -> str | None:
    """An element for each group of columns, row by row."""
    own, other = (case.tile(name) for name in names)
    rows, cols = other.valid_rows, groups(other.valid_cols)
    if (own.valid_rows, own.valid_cols) == (rows, cols):
        return None
    return (
        f"{names[0]} has valid {own.valid_rows}x{own.valid_cols}, must have {rows}x{cols}: one for"
        f" every {GROUP_COLUMNS} columns of {names[1]}"
    )


def group_scratch_holds(case: Case, names: Names) -> str | None:
    """Scratch has the rows of the smallest legal one, and each of them its bytes."""
    tmp = case.tile(names[0])
    dtype, rows, cols = group_scratch(case.instr, case.arch)
    has, needs = tmp.cols * tmp.dtype.itemsize, cols * dtype.itemsize
    if tmp.rows >= rows and has >= needs:
        return None
    return f"{names[0]} has {tmp.rows} rows of {has} bytes, must have {rows} of {needs}"
