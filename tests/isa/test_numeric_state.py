"""The numeric state of a chip: profile and switches by their names in the chip file."""

from dataclasses import asdict

import pytest

from archsim.arch import load
from archsim.isa.lanes.state import NumericState

SWITCHES = {
    # name: (value to set, field, what it becomes)
    "profile": ("infnan", "fp_infnan", True),
    "vmod_sign": ("divisor", "vmod_sign", "divisor"),
    "max_nan": ("other", "max_nan", "other"),
    "prelu_zero_keeps": ("true", "prelu_zero_keeps", True),
    "a2a3_addreluconv_wide_add": ("true", "a2a3_addreluconv_wide_add", True),
    "a2a3_addreluconv_s16_wide": ("true", "a2a3_addreluconv_s16_wide", True),
    "fp8_nan_keep": ("true", "fp8_nan_keep", True),
    "a5_f32_f16_uses_ctrl59": ("true", "a5_f32_f16_uses_ctrl59", True),
}


def test_chips_start_as_a_reset_leaves_them() -> None:
    assert NumericState.of(load("a2a3")) == NumericState()
    assert NumericState.of(load("a5")) == NumericState(exp_ftz=True)


@pytest.mark.parametrize("name", SWITCHES)
@pytest.mark.parametrize("chip", ["a2a3", "a5"])
def test_each_switch_changes_its_own_field(chip: str, name: str) -> None:
    value, field, becomes = SWITCHES[name]
    plain = asdict(NumericState.of(load(chip)))
    changed = asdict(NumericState.of(load(chip, ((f"numerics.{name}", value),))))
    assert {k: v for k, v in changed.items() if v != plain[k]} == {field: becomes}


@pytest.mark.parametrize(("chip", "value"), [("a2a3", "true"), ("a5", "false")])
def test_the_flush_of_exp_may_be_turned(chip: str, value: str) -> None:
    state = NumericState.of(load(chip, (("numerics.exp_ftz", value),)))
    assert state.exp_ftz is (value == "true")
