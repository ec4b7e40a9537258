"""The elements that pad a tile's rows, by the tile's pad attribute."""

import numpy as np

from archsim.base.dtypes import DType, Kind

PADS = ("null", "zero", "max", "min")


def pad_element(pad: str, dtype: DType) -> bytes:
    """One element of padding in memory order; empty for `null`, which leaves bytes as they are.

    `max` and `min` are the infinities of a float type and the limits of an integer type.
    """
    if pad == "null":
        return b""
    if pad == "zero":
        return bytes(dtype.itemsize)
    if dtype.is_float:
        value: int | float = np.inf if pad == "max" else -np.inf
    else:
        below = dtype.bits - (dtype.kind is Kind.SIGNED)
        least = -(1 << below) if dtype.kind is Kind.SIGNED else 0
        value = (1 << below) - 1 if pad == "max" else least
    return np.array(value).astype(dtype.np).tobytes()
