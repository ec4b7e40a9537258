"""The 4-bit floats e2m1 and e1m2: their 16 codes, rounding to them, and pairs of them in bytes.

A code is a sign bit and the number of a magnitude. e2m1 has 0, 0.5, 1, 1.5, 2, 3, 4, 6 (two bits of
exponent, bias 1, one of mantissa); e1m2 the multiples of 0.25 up to 1.75. Neither has an infinity
or a NaN. Source: OCP Microscaling formats (e2m1); the same rules with one bit of exponent (e1m2).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from archsim.base.dtypes import F4E1M2, F4E2M1, DType
from archsim.base.rounding import Rounding

_MAGNITUDES: Mapping[DType, NDArray[np.float64]] = MappingProxyType(
    {
        F4E2M1: np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6]),
        F4E1M2: np.arange(8) / 4,
    }
)
_SIGN = 8


def encode(x: NDArray[Any], dtype: DType, rounding: Rounding) -> NDArray[np.uint8]:
    """The code of each value: rounded in a mode, clamped to the greatest; NaN gives +0."""
    wide = np.where(np.isnan(x.astype(np.float64)), 0.0, x.astype(np.float64))
    magnitudes = _MAGNITUDES[dtype]
    clamped = np.clip(wide, -magnitudes[-1], magnitudes[-1])
    step = np.full(wide.shape, magnitudes[1])
    if dtype is F4E2M1:
        step = np.where(np.abs(clamped) >= 4, 2.0, np.where(np.abs(clamped) >= 2, 1.0, 0.5))
    rounded = np.abs(rounding(clamped / step) * step)
    number = np.searchsorted(magnitudes, np.minimum(rounded, magnitudes[-1]))
    codes = number + np.where(np.signbit(wide), _SIGN, 0)
    return np.asarray(codes, np.uint8)


def decode(codes: NDArray[np.uint8], dtype: DType) -> NDArray[np.float64]:
    """The value of every code, exactly; -0 for code 8."""
    magnitude = _MAGNITUDES[dtype][codes & 7]
    return np.asarray(np.where(codes & _SIGN, -magnitude, magnitude), np.float64)


def pack(codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Two codes a byte along the last axis, the first in the low bits."""
    return np.asarray(codes[..., 0::2] | codes[..., 1::2] << 4, np.uint8)


def unpack(packed: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The inverse of `pack`."""
    return np.stack([packed & 15, packed >> 4], axis=-1).reshape(*packed.shape[:-1], -1)
