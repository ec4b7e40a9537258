"""The elements that pad a tile's rows, by the tile's pad attribute."""

import numpy as np

from archsim.base.dtypes import DType

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
        value: float = np.inf if pad == "max" else -np.inf
    else:
        limits = np.iinfo(dtype.np)
        value = int(limits.max if pad == "max" else limits.min)
    return np.array(value).astype(dtype.np).tobytes()
