"""Rounding against an independent model: exact integers, one rule a mode, written by hand."""

import math
from bisect import bisect_right

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from archsim.base.dtypes import BF16, F16, F32, DType
from archsim.base.rounding import ROUNDINGS, to_float

HALF_BITS = np.arange(65536, dtype=np.uint16)
HALVES = HALF_BITS.view(np.float16)
FINITE = HALVES[np.isfinite(HALVES)]


def choose(x: int, low: int, high: int, low_is_odd: bool, mode: str) -> int:
    """One of two neighbours of x, low < x < high: the definition of every mode."""
    if mode == "floor":
        return low
    if mode == "ceil":
        return high
    if mode == "trunc":
        return low if x > 0 else high
    if mode == "odd":
        return low if low_is_odd else high
    if x - low != high - x:
        return low if x - low < high - x else high
    if mode == "round":
        return high if x > 0 else low
    return high if low_is_odd else low


def integral(value: float, mode: str) -> int:
    """`value` rounded to an integer."""
    numerator, unit = value.as_integer_ratio()
    low, rest = divmod(numerator, unit)
    if rest == 0:
        return low
    return choose(numerator, low * unit, (low + 1) * unit, low % 2 == 1, mode) // unit


@pytest.mark.parametrize("mode", ROUNDINGS)
def test_every_finite_half_rounds_to_the_integer_of_the_exact_model(mode: str) -> None:
    got = ROUNDINGS[mode](FINITE.astype(np.float64))
    want = np.array([integral(float(v), mode) for v in FINITE], dtype=np.float64)
    assert np.array_equal(got, want)
    assert np.array_equal(np.signbit(got), np.signbit(FINITE)), "zero keeps the sign of its source"


@pytest.mark.parametrize("mode", ROUNDINGS)
def test_infinities_and_nan_pass_through(mode: str) -> None:
    got = ROUNDINGS[mode](np.array([np.inf, -np.inf, np.nan]))
    assert got[0] == np.inf
    assert got[1] == -np.inf
    assert np.isnan(got[2])


@pytest.mark.parametrize("mode", ROUNDINGS)
@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_every_double_rounds_as_the_exact_model(mode: str, value: float) -> None:
    assert float(ROUNDINGS[mode](np.array([value]))[0]) == integral(value, mode)


def scaled(value: float) -> int:
    """Any f32 as an exact integer number of 2^-149."""
    numerator, unit = value.as_integer_ratio()
    return numerator * (2**149 // unit)


# The half line: every finite magnitude in order; the index of a magnitude is its bit pattern.
LADDER = [scaled(float(v)) for v in HALF_BITS[:0x7C00].view(np.float16)]


def half_bits(value: float, mode: str) -> int:
    """Bits of the half that the exact value rounds to; overflow as IEEE 754 section 7.4."""
    sign = 0x8000 if math.copysign(1.0, value) < 0 else 0
    size = abs(scaled(value))
    # Away from zero or toward it: a directed mode, seen from the magnitude.
    if sign and mode in ("floor", "ceil"):
        mode = "ceil" if mode == "floor" else "floor"
    if size > LADDER[-1]:
        half_way = scaled(65520.0)
        goes_up = mode == "ceil" or (mode in ("rint", "round") and size >= half_way)
        return sign | (0x7C00 if goes_up else 0x7BFF)
    index = bisect_right(LADDER, size) - 1
    low = LADDER[index]
    if low == size:
        return sign | index
    picked = choose(size, low, LADDER[index + 1], index % 2 == 1, mode)
    return sign | (index if picked == low else index + 1)


def halves_of(values: np.ndarray, mode: str) -> np.ndarray:
    with np.errstate(all="ignore"):
        return to_float(values, F16, ROUNDINGS[mode]).view(np.uint16)


def neighbourhood() -> np.ndarray:
    """Around every half of a dense sample: itself, its upper midpoint, and an f32 ulp each side."""
    near = HALF_BITS[:0x7C00:13].view(np.float16).astype(np.float32)
    up = (HALF_BITS[:0x7C00:13] + 1).view(np.float16).astype(np.float32)
    up[np.isinf(up)] = 65536.0
    middle = (near + up) / 2  # exact: 12 bits
    points = [near, middle]
    for centre in (near, middle):
        points += [np.nextafter(centre, np.float32(np.inf)), np.nextafter(centre, np.float32(0))]
    edges = [65504, 65519.996, 65520, 65535, 65536, 1e6, 3e38, 2.0**-24, 2.0**-25, 2.0**-26, 1e-45]
    flat = np.concatenate([*points, np.array(edges, np.float32)])
    return np.concatenate([flat, -flat])


@pytest.mark.parametrize("mode", ROUNDINGS)
def test_f32_to_half_equals_the_exact_model_at_halves_midpoints_and_beside_them(mode: str) -> None:
    values = neighbourhood()
    want = np.array([half_bits(float(v), mode) for v in values], dtype=np.uint16)
    got = halves_of(values, mode)
    wrong = np.flatnonzero(got != want)
    assert wrong.size == 0, [(values[i], hex(got[i]), hex(want[i])) for i in wrong[:5]]


@pytest.mark.parametrize("mode", ROUNDINGS)
def test_every_half_survives_the_trip_through_f32(mode: str) -> None:
    got = halves_of(HALVES.astype(np.float32), mode)
    number = ~np.isnan(HALVES)
    assert np.array_equal(got[number], HALF_BITS[number])
    assert np.isnan(got.view(np.float16)[~number]).all()


@pytest.mark.parametrize("mode", ROUNDINGS)
@given(value=st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_any_f32_becomes_the_half_of_the_exact_model(mode: str, value: float) -> None:
    assert int(halves_of(np.array([value], np.float32), mode)[0]) == half_bits(value, mode)


DIRECTED = [
    ("trunc", 65520.0, 0x7BFF),
    ("floor", 1e6, 0x7BFF),
    ("floor", -1e6, 0xFC00),
    ("ceil", 1e6, 0x7C00),
    ("ceil", -1e6, 0xFBFF),
    ("odd", 1 + 2.0**-20, 0x3C01),
    ("odd", 1e6, 0x7BFF),
    ("rint", 65519.0, 0x7BFF),
    ("rint", 65520.0, 0x7C00),
    ("round", 1 + 2.0**-11, 0x3C01),
    ("rint", 1 + 2.0**-11, 0x3C00),
    ("ceil", 1e-30, 0x0001),
    ("floor", -1e-30, 0x8001),
    ("ceil", -1e-30, 0x8000),
    ("trunc", np.inf, 0x7C00),
]


@pytest.mark.parametrize(("mode", "value", "bits"), DIRECTED)
def test_known_points_of_f32_to_half(mode: str, value: float, bits: int) -> None:
    assert int(halves_of(np.array([value], np.float32), mode)[0]) == bits


@pytest.mark.parametrize("mode", ROUNDINGS)
def test_32_bit_integers_become_the_half_of_the_exact_model(mode: str) -> None:
    values = [2049, 2051, 32784, 32785, 65519, 65520, 16777217, 2**31 - 1, -(2**31), -2049, 0]
    got = halves_of(np.array(values, np.int32), mode)
    assert [int(b) for b in got] == [half_bits(float(v), mode) for v in values]


def exact_neighbour(value: int, precision: int, mode: str) -> int:
    """An integer rounded to `precision` significant bits."""
    size = abs(value)
    unit = 1 << max(size.bit_length() - precision, 0)
    low = size // unit * unit
    if low == size:
        return value
    flipped = {"floor": "ceil", "ceil": "floor"}.get(mode, mode) if value < 0 else mode
    picked = choose(size, low, low + unit, low // unit % 2 == 1, flipped)
    return picked if value > 0 else -picked


INTEGERS = [16777217, 16777219, -16777217, 2**31 - 1, -(2**31), 2**31 - 64, 2**31 - 65, 12345, 0]


@pytest.mark.parametrize("mode", ROUNDINGS)
@pytest.mark.parametrize("value", INTEGERS)
@pytest.mark.parametrize(("dtype", "precision"), [(F32, 24), (BF16, 8)])
def test_a_32_bit_integer_rounds_to_f32_and_bf16(
    mode: str, value: int, dtype: DType, precision: int
) -> None:
    got = to_float(np.array([value], np.int32), dtype, ROUNDINGS[mode])
    assert int(got[0]) == exact_neighbour(value, precision, mode)
