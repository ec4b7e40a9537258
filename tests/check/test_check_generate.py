"""Rules of instructions that make tiles out of numbers."""

import pytest
from instrs import ARCHS, bind, tile

from archsim.check import check


@pytest.mark.parametrize("core", ["a2a3", "a5"])
@pytest.mark.parametrize("value", [float("inf"), float("nan"), 0.5])
def test_a_diagonal_is_a_whole_number(core: str, value: float) -> None:
    faults = check(bind("ttri", tile("f32"), value), ARCHS[core], may_allocate=True)
    assert [fault.message for fault in faults] == [
        f"diagonal is {value}, must be a whole number of 32 bits"
    ]
