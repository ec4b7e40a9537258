"""Quotients, remainders, roots and powers of lanes.

R(x) is one rounding of the exact x to the element type, settled as in `arith`. What an integer
divided by zero gives is not known: all bits are 1 here, and lowering warns of it.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from archsim.isa.lanes import arith
from archsim.isa.lanes.arith import flushing
from archsim.isa.lanes.narrow import integer_range, settle
from archsim.isa.lanes.state import How, LaneOp, Lanes

_UNKNOWN = -1  # all bits set


def quotient(how: How, a: Lanes, b: Any) -> Lanes:
    """R(a / b); integers are cut towards zero, and the least by -1 wraps to itself."""
    if how.dtype.is_float:
        return arith.div(how, a, b)
    x, y = _wide(a), _wide(b)
    safe = np.where(y == 0, 1, y)
    whole = np.sign(x) * np.sign(safe) * (np.abs(x) // np.abs(safe))
    return _narrow(how, np.where(y == 0, _UNKNOWN, whole))


def flushed_quotient(how: How, a: Lanes, b: Any) -> Lanes:
    """`quotient` that takes and gives subnormal floats as zeros."""
    divide = flushing(arith.div) if how.dtype.is_float else quotient
    return divide(how, a, b)


def modulo(how: How, a: Lanes, b: Any) -> Lanes:
    """a - trunc(a / b) * b of integers; the sign follows a, or b with `vmod_sign: divisor`.

    Floats exactly, whatever the quotient: the remainder needs no rounding.
    """
    if how.dtype.is_float:
        return settle(np.asarray(np.fmod(a, b)), how.dtype, how.state.fp_infnan)
    x, y = _wide(a), _wide(b)
    safe = np.where(y == 0, 1, y)
    follow = np.fmod if how.state.vmod_sign == "dividend" else np.mod
    return _narrow(how, np.where(y == 0, _UNKNOWN, follow(x, safe)))


def _wide(x: Any) -> Lanes:
    return np.asarray(x).astype(np.int64)


def _narrow(how: How, x: Lanes) -> Lanes:
    """Low bits of 64-bit integers."""
    least, greatest = integer_range(how.dtype)
    assert greatest - least < 1 << 32, f"{how.dtype} is too wide for 64-bit arithmetic"
    return x.astype(how.dtype.np)


VREG: Mapping[str, LaneOp] = MappingProxyType(
    {
        "VDIV": LaneOp(flushed_quotient),
        "VDIV_SOFT": LaneOp(quotient),
        "VSQRT_SOFT": LaneOp(arith.sqrt),
        "VMOD": LaneOp(modulo),
        "VMOD_SOFT": LaneOp(modulo),
    }
)
