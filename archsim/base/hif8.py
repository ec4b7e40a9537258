"""HiFloat8, the 8-bit float of tapered precision: its 256 codes, and rounding to them.

Source of the format: "Ascend HiFloat8 Format for Deep Learning", arXiv 2409.16626. From the top
bit: sign; a dot field, a prefix code for the number D of exponent bits (11: 4, 10: 3, 01: 2, 001:
1, 0001: 0); the exponent in sign and magnitude, whose leading magnitude bit 1 is left out; the
mantissa in what is left, 1 to 3 bits. Dot field 0000 has three mantissa bits M and no exponent: it
is 2^(M - 23), and for M = 0 zero, or NaN with the sign set. Exponent +15 with mantissa 1 is the
infinity, so that 2^15 is the greatest value. Rounding is to the nearest, ties away from zero; its
overflow, at 1.25 * 2^15, is the paper's.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_NAN, _INFINITY, _SIGN = 0x80, 0x6F, 0x80
GREATEST = 2.0**15
_DOT_FIELDS = ((2, 0b11, 4), (2, 0b10, 3), (2, 0b01, 2), (3, 0b001, 1), (4, 0b0001, 0))


def _magnitude(code: int) -> float:
    """The value of a code of seven bits; the infinity as the next value of its series."""
    found = [(w, bits) for w, prefix, bits in _DOT_FIELDS if code >> 7 - w == prefix]
    if not found:
        return 2.0 ** (code - 23) if code else 0.0
    ((width, exponent_bits),) = found
    mantissa_bits = 7 - width - exponent_bits
    mantissa = 1 + (code & (1 << mantissa_bits) - 1) / (1 << mantissa_bits)
    field = code >> mantissa_bits & (1 << exponent_bits) - 1
    if not exponent_bits:
        return mantissa
    top = 1 << exponent_bits - 1
    exponent = top | field & top - 1
    return mantissa * 2.0 ** (-exponent if field & top else exponent)


_MAGNITUDES = np.array([_magnitude(code) for code in range(128)])
_ASCENDING = np.argsort(_MAGNITUDES)
_MIDDLES = (_MAGNITUDES[_ASCENDING][:-1] + _MAGNITUDES[_ASCENDING][1:]) / 2


def _values() -> NDArray[np.float32]:
    positive = _MAGNITUDES.copy()
    positive[_INFINITY] = np.inf
    negative = -positive
    negative[0] = np.nan
    return np.concatenate([positive, negative]).astype(np.float32)


_VALUES = _values()


def decode(codes: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The value of every code, exactly."""
    return _VALUES[codes]


def encode(x: NDArray[Any]) -> NDArray[np.uint8]:
    """Codes of the nearest values, ties away from zero; what rounds to 0 has no sign."""
    wide = x.astype(np.float64)
    nearest = _ASCENDING[np.searchsorted(_MIDDLES, np.abs(wide), side="right")]
    signed = np.where((wide < 0) & (nearest > 0), nearest | _SIGN, nearest)
    return np.where(np.isnan(wide), _NAN, signed).astype(np.uint8)
