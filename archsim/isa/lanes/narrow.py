"""Narrowing: scalars to the element type, floats to integers, overflow and NaN of half results."""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from archsim.base.dtypes import BF16, F16, I64, DType, Kind
from archsim.base.rounding import Rounding, to_float, trunc
from archsim.isa.lanes.state import Lanes

_TOP = 2.0**63
_GREATEST_I64 = np.int64(2**63 - 1)
_EXPONENT_BITS: Mapping[DType, int] = MappingProxyType({F16: 0x7C00, BF16: 0x7F80})


def as_element(value: float, dtype: DType) -> Any:
    """`value` in the element type, as a numpy scalar: scalar operands are converted *before* use.

    A float is rounded to nearest even (half(0.1) is 0x2E66) and overflows to infinity; an integer
    keeps its low bits; a float given to an integer type is truncated, infinities to the limits.
    """
    with np.errstate(all="ignore"):
        if dtype.is_float:
            if isinstance(value, int) and value.bit_length() > 1023:
                value = math.inf if value > 0 else -math.inf
            return to_float(np.array(value, np.float64), dtype)[()]
        if isinstance(value, float):
            return to_integer(np.array(value), dtype, trunc, wraps=True)[()]
        return np.array(value % (1 << dtype.bits), f"u{dtype.itemsize}").view(dtype.np)[()]


def integer_range(dtype: DType) -> tuple[int, int]:
    """Least and greatest value of an integer type."""
    if dtype.kind is Kind.UNSIGNED:
        return 0, (1 << dtype.bits) - 1
    return -(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1


def to_integer(x: Lanes, dtype: DType, rounding: Rounding, wraps: bool) -> Lanes:
    """Float lanes rounded and narrowed to an integer type.

    NaN gives 0, infinities the limits. What does not fit is clamped, or keeps its low bits where
    `wraps`. Ascend C conversion pages.
    """
    least, greatest = integer_range(dtype)
    rounded = rounding(x.astype(np.float64))
    if wraps:
        # fmod is exact, so that the low bits survive whatever the exponent.
        low = np.where(np.isfinite(rounded), np.fmod(rounded, 2.0**dtype.bits), rounded)
        if dtype is I64:  # what is too large for a signed number, exactly one turn away
            is_outside = (low >= _TOP) | (low < -_TOP)
            low = np.where(is_outside, low - np.copysign(2 * _TOP, low), low)
            low = np.where(np.isfinite(rounded), low, rounded)
        number = np.nan_to_num(low, nan=0.0, posinf=greatest, neginf=least)
        return _whole(number).astype(dtype.np)
    number = np.where(np.isnan(rounded), 0.0, rounded)
    return _whole(np.clip(number, least, greatest)).astype(dtype.np)


def _whole(number: Lanes) -> Lanes:
    """Whole numbers of at most 2^63 as i64: that one, which is none, becomes the greatest."""
    is_over = number >= _TOP
    return np.where(is_over, _GREATEST_I64, np.where(is_over, 0, number).astype(np.int64))


def to_odd(x: Lanes) -> Lanes:
    """i64 lanes as f64 with more bits than any further rounding to f32 sees.

    Beyond 2^53 the ten lowest bits are gathered in the one above them, which is odd then.
    """
    is_wide = (x >= 1 << 53) | (x <= -(1 << 53))
    held = (x & ~0x3FF) | np.where(x & 0x3FF, 0x400, 0)
    return np.where(is_wide, held, x).astype(np.float64)


def within(x: Lanes, greatest: float, keeps_infnan: bool) -> Lanes:
    """Lanes on their way to an 8-bit float: clamped to +-greatest and NaN 0, or as they are."""
    wide = x.astype(np.float64)
    return wide if keeps_infnan else np.clip(np.where(np.isnan(wide), 0, wide), -greatest, greatest)


def settle(x: Lanes, dtype: DType, keeps_infnan: bool) -> Lanes:
    """Half or bfloat16 results as the core delivers them: infinity becomes +-MAX and NaN 0.

    With `keeps_infnan`, and in every other type, they stay.
    """
    exponent = _EXPONENT_BITS.get(dtype)
    if keeps_infnan or exponent is None:
        return x
    bits = x.view(np.uint16)
    special = (bits & exponent) == exponent
    if not special.any():
        return x
    is_nan = special & ((bits & 0x7FFF) != exponent)
    greatest = (bits & 0x8000) | (exponent - 1)
    settled = np.where(is_nan, 0, np.where(special, greatest, bits))
    return settled.astype(np.uint16).view(dtype.np)
