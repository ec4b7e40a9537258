"""Tests behind the rules of instructions that make tiles out of numbers."""

from math import isfinite

from archsim.check.case import Case

Names = tuple[str, ...]
BINS = 256


def word(case: Case, names: Names) -> str | None:
    """A whole number of 32 bits, signed or not."""
    value = case.number(names[0])
    if isfinite(value) and value == int(value) and -(1 << 31) <= value < 1 << 32:
        return None
    return f"{names[0]} is {value}, must be a whole number of 32 bits"


def has_bins(case: Case, names: Names) -> str | None:
    """A column for every value of a byte."""
    cols = case.tile(names[0]).valid_cols
    return None if cols == BINS else f"{names[0]} has {cols} valid columns, must have {BINS}"
