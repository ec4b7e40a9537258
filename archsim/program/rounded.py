"""Conversion of whole arrays to an element type, as initial values and references need it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from archsim.base.dtypes import BF16, DTYPES, F16, F32, DType
from archsim.base.rounding import odd, to_float

_EIGHT_BITS = (DTYPES["f8e4m3"], DTYPES["f8e5m2"])


def to_dtype(values: NDArray[Any], dtype: DType) -> NDArray[Any]:
    """`values` converted as numpy's astype does, except that floats are rounded only once.

    numpy and ml_dtypes take f64 and 32-bit integers to narrower types through f32, which rounds
    twice. A step through f32 that rounds to odd keeps enough to round right in the second one.
    """
    with np.errstate(all="ignore"):
        if values.dtype != dtype.np and dtype in (F16, BF16):
            return to_float(values.astype(np.float64), dtype)
        if values.dtype != dtype.np and dtype in _EIGHT_BITS:
            return to_float(values.astype(np.float64), F32, odd).astype(dtype.np)
        return values.astype(dtype.np)
