"""Tests behind the rules of logic and shift instructions."""

from archsim.check.case import Case

Names = tuple[str, ...]


def shift_in_width(case: Case, names: Names) -> str | None:
    """A count that leaves a bit of the element in place."""
    value, dtype = case.number(names[0]), case.tile(names[1]).dtype
    if 0 <= value < dtype.bits:
        return None
    return f"{names[0]} is {value}, must be 0 to {dtype.bits - 1} for {dtype}"
