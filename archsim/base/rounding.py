"""Rounding: every mode a named function, to an integer value and to a narrower float type."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from archsim.base.dtypes import BF16, F8E4M3, F8E5M2, F16, F32, DType

Values = NDArray[np.float64]
Rounding = Callable[[Values], Values]


def nearest_even(x: Values) -> Values:
    """The nearest integer; a tie goes to the even one. Infinities and NaN stay, in every mode."""
    return np.rint(x)


def nearest_away(x: Values) -> Values:
    """The nearest integer; a tie goes away from zero."""
    fraction, whole = np.modf(x)
    up: Values = whole + np.copysign(np.abs(fraction) >= 0.5, x)
    return up


def floor(x: Values) -> Values:
    """The largest integer that is not above x."""
    return np.floor(x)


def ceil(x: Values) -> Values:
    """The smallest integer that is not below x."""
    return np.ceil(x)


def trunc(x: Values) -> Values:
    """The integer part of x."""
    return np.trunc(x)


def odd(x: Values) -> Values:
    """The integer part of x, made odd where x is no integer (von Neumann rounding)."""
    fraction, whole = np.modf(x)
    is_even = np.modf(whole * 0.5)[0] == 0
    up: Values = whole + np.copysign((fraction != 0) & is_even, x)
    return up


ROUNDINGS: Mapping[str, Rounding] = MappingProxyType(
    {
        "rint": nearest_even,
        "round": nearest_away,
        "floor": floor,
        "ceil": ceil,
        "trunc": trunc,
        "odd": odd,
    }
)


@dataclass(frozen=True, slots=True)
class _Format:
    """A binary float type: significand bits, exponent of the least normal, greatest value."""

    precision: int
    least_exponent: int
    greatest: float


def greatest(dtype: DType) -> float:
    """The greatest finite value of a float type of `to_float`."""
    return _FORMATS[dtype].greatest


_FORMATS: Mapping[DType, _Format] = MappingProxyType(
    {
        F16: _Format(11, -14, 65504.0),
        BF16: _Format(8, -126, float.fromhex("0x1.fep127")),
        F32: _Format(24, -126, float.fromhex("0x1.fffffep127")),
        F8E4M3: _Format(4, -6, 448.0),
        F8E5M2: _Format(3, -14, 57344.0),
    }
)


def to_float(x: NDArray[Any], dtype: DType, rounding: Rounding = nearest_even) -> NDArray[Any]:
    """`x` rounded once to `dtype`, a float type of numpy's or ml_dtypes', subnormals kept.

    IEEE overflow; f8e4m3 has no infinity, NaN stands in its place.

    `x` is an array of f64, or of a type that f64 holds exactly. What lies above the greatest value
    becomes that value or infinity, as the mode directs (IEEE 754, 7.4; odd rounding never
    overflows). Shape and signs, that of zero included, are kept. numpy's warnings about casts
    (overflow, signalling NaN) are the caller's to silence.
    """
    if rounding is nearest_even and dtype in (F16, F32):
        # numpy takes integers to f16 through f32, which is exact below the overflow of f16.
        return x.astype(dtype.np)
    return _scaled(x.astype(np.float64), _FORMATS[dtype], rounding).astype(dtype.np)


def _scaled(x: Values, fmt: _Format, rounding: Rounding) -> Values:
    # Multiples of one unit in the last place are integers after an exact scaling by a power of 2.
    exponent = (x.view(np.int64) >> 52 & 0x7FF) - 1023
    ulp = np.maximum(exponent, fmt.least_exponent) - (fmt.precision - 1)
    out: Values = rounding(x * _power_of_two(-ulp)) * _power_of_two(ulp)
    over = (np.abs(out) > fmt.greatest) & np.isfinite(x)
    if over.any():
        # The greatest value has an odd last bit, as 1 has: 1.75 goes up where overflow does.
        away = np.abs(rounding(np.copysign(1.75, x))) == 2
        out = np.where(over, np.copysign(np.where(away, np.inf, fmt.greatest), x), out)
    return out


def _power_of_two(exponent: NDArray[np.int64]) -> Values:
    # By its bits: several times faster than ldexp, and every exponent here is a normal number's.
    return (exponent + 1023 << 52).view(np.float64)
