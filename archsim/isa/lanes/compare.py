"""Comparison and selection of lanes, and the packed form of masks."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from archsim.base.dtypes import I16, I32, U16
from archsim.isa.lanes.state import How, LaneFunction, Lanes

# Ordered comparisons with NaN are false, ne is true; +0 == -0.
COMPARISONS: Mapping[str, Any] = MappingProxyType(
    {
        "eq": np.equal,
        "ne": np.not_equal,
        "lt": np.less,
        "le": np.less_equal,
        "gt": np.greater,
        "ge": np.greater_equal,
    }
)


def compare(how: How, a: Lanes, b: Any) -> Lanes:
    """a <mode> b as booleans; the mode is one of the words."""
    mode = next(w for w in how.words if w in COMPARISONS)
    return np.asarray(COMPARISONS[mode](a, b))


def simd_compare(mode: str) -> LaneFunction:
    """A comparison of the simd cores, which know no integers.

    Every mode on 32-bit integers is equality; 16-bit integers are compared as the half numbers of
    the same bits. Device headers.
    """

    def by_mode(how: How, a: Lanes, b: Any) -> Lanes:
        if how.dtype is I32:
            return np.asarray(np.equal(a, b))
        if how.dtype in (I16, U16):
            a, b = a.view(np.float16), np.asarray(b).view(np.float16)
        return np.asarray(COMPARISONS[mode](a, b))

    return by_mode


def select(how: How, mask: Lanes, on_true: Lanes, on_false: Any = None) -> Lanes:
    """on_true where the mask is set, else on_false (without one the scalar), bit by bit."""
    return np.where(mask, on_true, how.scalar if on_false is None else on_false)


def pack(mask: Lanes) -> Lanes:
    """Booleans to bytes along the last axis: lane c is bit c & 7 of byte c >> 3."""
    return np.packbits(mask, axis=-1, bitorder="little")


def unpack(packed: Lanes, lanes: int) -> Lanes:
    """Bytes to `lanes` booleans along the last axis, the inverse of `pack`."""
    bits = np.unpackbits(packed, axis=-1, count=lanes, bitorder="little")
    return bits.view(np.bool_)
