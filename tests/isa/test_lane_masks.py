"""Comparison, selection and packed masks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from archsim.base.dtypes import F16, F32, I8, I16, I32, U16, DType
from archsim.isa.lanes.compare import pack, unpack
from archsim.isa.lanes.narrow import as_element
from archsim.isa.lanes.state import How, NumericState
from archsim.isa.lanes.tables import SIMD, VREG

STATE = NumericState()
MODES = ("eq", "ne", "lt", "le", "gt", "ge")


def vcmpvs(mode: str, dtype: DType, values: list[float], scalar: float) -> list[bool]:
    how = How(dtype, dtype, STATE, as_element(scalar, dtype))
    return SIMD[f"vcmpvs_{mode}"].function(how, np.array(values, dtype.np)).tolist()


def vcmps(mode: str, dtype: DType, values: list[float], scalar: float) -> list[bool]:
    how = How(dtype, dtype, STATE, as_element(scalar, dtype), (mode,))
    return VREG["VCMPS"].function(how, np.array(values, dtype.np)).tolist()


INF, NAN = float("inf"), float("nan")
FLOATS = [
    # mode, lanes, scalar, result
    ("eq", [0.0, -0.0, 1.0, NAN], 0.0, [True, True, False, False]),
    ("ne", [0.0, -0.0, 1.0, NAN], 0.0, [False, False, True, True]),
    ("lt", [-1.0, 0.0, NAN, -INF], -0.0, [True, False, False, True]),
    ("le", [-1.0, 0.0, NAN, INF], -0.0, [True, True, False, False]),
    ("gt", [1.0, 0.0, NAN, INF], 0.0, [True, False, False, True]),
    ("ge", [1.0, 0.0, NAN, -INF], 0.0, [True, True, False, False]),
    ("eq", [INF, -INF], INF, [True, False]),
    ("eq", [1e-7], 0.0, [False]),
    ("gt", [1.0], NAN, [False]),
    ("ne", [1.0], NAN, [True]),
]


@pytest.mark.parametrize(("mode", "values", "scalar", "want"), FLOATS)
@pytest.mark.parametrize("dtype", [F16, F32])
def test_floats_compare_as_ieee_on_both_cores(
    mode: str, values: list[float], scalar: float, want: list[bool], dtype: DType
) -> None:
    assert vcmpvs(mode, dtype, values, scalar) == want
    assert vcmps(mode, dtype, values, scalar) == want


@pytest.mark.parametrize("mode", MODES)
def test_32_bit_integers_know_only_equality_on_simd_cores(mode: str) -> None:
    assert vcmpvs(mode, I32, [0, 1, 2], 1) == [False, True, False]


def test_16_bit_integers_are_compared_as_halves_on_simd_cores() -> None:
    assert vcmpvs("eq", I16, [-1], -1) == [False], "0xFFFF is a NaN"
    assert vcmpvs("eq", I16, [-32768], 0) == [True], "0x8000 is -0"
    assert vcmpvs("lt", I16, [-2, 5, 0x7C01], 3) == [False, False, False]
    assert vcmpvs("eq", U16, [0x8000], 0) == [True], "so it is without a sign"
    assert vcmpvs("gt", U16, [0x3C01, 0x3C00], 0x3C00) == [True, False]
    assert vcmpvs("gt", I16, [-31744], -31745) == [False], "-inf is less than -65504"


def test_integers_are_compared_as_integers_on_vreg_cores() -> None:
    assert vcmps("gt", I32, [0, 1, 2], 1) == [False, False, True]
    assert vcmps("eq", I16, [-1, -32768], -1) == [True, False]
    assert vcmps("ge", I8, [-128, 127], -1) == [False, True]


def test_select_moves_bits_untouched() -> None:
    nan = np.array([0x7D01, 0xFC00], np.uint16).view(np.float16)
    other = np.array([0x0001, 0x8000], np.uint16).view(np.float16)
    how = How(F16, F16, STATE)
    got = SIMD["vsel"].function(how, np.array([True, False]), nan, other)
    assert got.view(np.uint16).tolist() == [0x7D01, 0x8000]


def test_lane_c_is_bit_c_mod_8_of_byte_c_div_8() -> None:
    mask = np.zeros(16, np.bool_)
    mask[[0, 3, 9]] = True
    assert pack(mask).tolist() == [0b0000_1001, 0b0000_0010]


@given(mask=st.lists(st.booleans(), min_size=1, max_size=40))
def test_unpack_inverts_pack(mask: list[bool]) -> None:
    assert unpack(pack(np.array(mask)), len(mask)).tolist() == mask
