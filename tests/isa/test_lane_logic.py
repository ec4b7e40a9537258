"""Shifts and fused multiply-add, lane by lane, against whole numbers and fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from archsim.base.dtypes import F16, F32, I8, I16, I32, U8, U32
from archsim.isa.lanes.accumulate import fma
from archsim.isa.lanes.state import How, NumericState
from archsim.isa.lanes.tables import SIMD, VREG


def how(dtype, scalar=None, to=None, **state):
    return How(dtype, to or dtype, NumericState(**state), scalar)


@pytest.mark.parametrize(
    ("table", "name", "want"),
    [
        (VREG, "VSHRS", [-64, -1, 31, 0]),
        (SIMD, "vshr", [64, 127, 31, 0]),  # zeros come in
        (VREG, "VSHLS", [0, -2, 126, 2]),
        (SIMD, "vshl", [0, -2, 126, 2]),
    ],
)
def test_shifts_by_one(table, name, want):
    x = np.array([-128, -1, 63, 1], np.int8)
    assert table[name].function(how(I8, np.int8(1)), x).tolist() == want


@pytest.mark.parametrize(
    ("name", "dtype", "value", "count", "want"),
    [
        ("VSHR", I16, -32768, 15, -1),
        ("VSHR", I16, 32767, 14, 1),
        ("VSHL", I32, 1, 31, -(2**31)),
        ("VSHR", U8, 255, 7, 1),
        ("VSHL", U32, 3, 31, 2**31),
        # undefined on the cores; here every bit goes out
        ("VSHL", I16, 1, 16, 0),
        ("VSHL", I16, 1, -1, 0),
        ("VSHR", U32, 2**31, 32, 0),
        ("VSHR", I16, -5, 16, -1),
    ],
)
def test_counts_at_the_edge(name, dtype, value, count, want):
    lanes = (np.array([v], dtype.np) for v in (value, count))
    assert VREG[name].function(how(dtype), *lanes).tolist() == [want]


def test_exclusive_or():
    a, b = np.array([0b1100, -1], np.int32), np.array([0b1010, 0], np.int32)
    assert VREG["VXOR"].function(how(I32), a, b).tolist() == [0b0110, -1]


# (dtype, a, b, addend, result): where two roundings, or a double one, give something else
ROUNDED = [
    (F32, 1 + 2.0**-12, 1 + 2.0**-12, -1.0, 2.0**-11 + 2.0**-24),
    # just above half of the last bit of 1: up; just below: down; exact ties: to even
    (F32, 2.0**-12 + 2.0**-35, 2.0**-12, 1.0, 1 + 2.0**-23),
    (F32, 2.0**-12, 2.0**-12, 1.0, 1.0),
    (F32, 2.0**-12, 2.0**-12, 1 + 2.0**-23, 1 + 2.0**-22),
    # a tie of f32 that f64 cannot tell from one just above it, or below it
    (F32, 2.0**-60, 2.0**-60, 1.0, 1.0),
    (F32, -(2.0**-60), 2.0**-60, 1.0, 1.0),
    (F32, 2.0**-126, 2.0**-23, 0.0, 2.0**-149),
    (F32, 2.0**-126, 2.0**-24, 0.0, 0.0),
    (F32, 2.0**-126, 2.0**-24, 2.0**-149, 2.0**-148),
    (F16, 1 + 2.0**-10, 1 + 2.0**-10, -1 - 2.0**-9, 2.0**-20),
    (F16, 2.0**-24, 2.0**-24, 1 + 2.0**-10, 1 + 2.0**-10),
]


@pytest.mark.parametrize(("dtype", "a", "b", "addend", "want"), ROUNDED)
def test_multiply_and_add_rounds_once(dtype, a, b, addend, want):
    lanes = (np.array([x], dtype.np) for x in (a, b, addend))
    assert fma(how(dtype), *lanes).tolist() == [want]


TIES = [
    # (1 + x)(1 - x + x^2) = 1 + x^3: 2^-30 above the middle of 2^30 and 2^30 + 128
    (64 * (1 + 2.0**-12), 1 - 2.0**-12 + 2.0**-24, 2.0**30, 2.0**30 + 128),
    # (1 + y)(1 - y) = 1 - y^2: 2^-40 below the middle of 2^30 + 128 and 2^30 + 256
    (64 * (1 + 2.0**-23), 1 - 2.0**-23, 2.0**30 + 128, 2.0**30 + 128),
]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("a", "b", "addend", "want"), TIES)
def test_what_f64_drops_decides_a_tie(sign, a, b, addend, want):
    lanes = [np.array([x], np.float32) for x in (sign * a, b, sign * addend)]
    assert [float(lane[0]) for lane in lanes] == [sign * a, b, sign * addend]
    assert fma(how(F32), *lanes).tolist() == [sign * want]
    by_f64 = np.float32(float(lanes[0][0]) * float(lanes[1][0]) + float(lanes[2][0]))
    assert by_f64 != sign * want


HALVES = st.integers(0, 2**16 - 1).map(lambda b: float(np.uint16(b).view(np.float16)))


@given(HALVES.filter(np.isfinite), HALVES.filter(np.isfinite), HALVES.filter(np.isfinite))
def test_no_half_is_nearer_to_the_exact_sum(a, b, c):
    lanes = (np.array([v], np.float16) for v in (a, b, c))
    got = fma(how(F16), *lanes)[0]
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    assert np.isfinite(got)
    for way in (np.inf, -np.inf):
        with np.errstate(over="ignore"):
            other = np.nextafter(got, np.float16(way))
        if not np.isfinite(other):
            continue
        own, far = (abs(Fraction(float(v)) - exact) for v in (got, other))
        is_even = got.view(np.uint16) % 2 == 0
        assert own < far or (own == far and is_even)


@pytest.mark.parametrize(("infnan", "want"), [(False, [65504, 0]), (True, [np.inf, np.nan])])
def test_halves_are_settled_and_floats_are_not(infnan, want):
    a, b = np.array([60000, np.inf], np.float16), np.array([2, 0], np.float16)
    zero = np.zeros(2, np.float16)
    got = fma(how(F16, fp_infnan=infnan), a, b, zero).astype(float)
    np.testing.assert_array_equal(got, want)
    wide = fma(how(F16, to=F32), a, b, zero.astype(np.float32))
    np.testing.assert_array_equal(wide, [120000, np.nan])


def test_zeros_keep_their_signs():
    a, one = np.array([-0.0, 0.0, 1.0], np.float32), np.ones(3, np.float32)
    got = fma(how(F32), a, one, np.array([-0.0, -0.0, -1.0], np.float32))
    assert np.signbit(got).tolist() == [True, False, False]
    relu = SIMD["vmaddrelu"].function(how(F32), a, one, np.array([-0.0, -3.0, np.nan], np.float32))
    assert np.signbit(relu[:2]).tolist() == [False, False]
    assert relu[:2].tolist() == [0, 0]
    assert np.isnan(relu[2])
