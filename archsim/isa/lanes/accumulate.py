"""Multiply and add, rounded once in the type of the result; and the difference behind a relu.

R(x) is one rounding of the exact x. A half result is settled (`archsim.isa.lanes.narrow`).
Source: the vendor's precision table calls these equivalent to a fused multiply-add on A5; A2A3,
where nothing is said, is modelled alike.
"""

from collections.abc import Mapping

import numpy as np

from archsim.base.rounding import to_float
from archsim.isa.lanes.arith import relu, sub
from archsim.isa.lanes.narrow import settle
from archsim.isa.lanes.state import How, LaneOp, Lanes


def fma(how: How, a: Lanes, b: Lanes, addend: Lanes) -> Lanes:
    """R(a * b + addend) in the type `how.to`, for factors of f16 or f32."""
    with np.errstate(all="ignore"):
        product = a.astype(np.float64) * np.asarray(b, np.float64)  # exact: 48 bits at most
        total = _sum_to_odd(product, addend.astype(np.float64))
        return settle(to_float(total, how.to), how.to, how.state.fp_infnan)


def _sum_to_odd(a: Lanes, b: Lanes) -> Lanes:
    """a + b, where it is not exact the neighbour of the exact sum whose last bit is 1.

    With more than two bits to spare a second rounding of that is the only one that counts.
    """
    total = a + b
    part = total - a
    error = (a - (total - part)) + (b - part)  # exact (Knuth), NaN beside infinities
    is_even = (total.view(np.int64) & 1) == 0
    moves = np.isfinite(total) & (error != 0) & is_even
    return np.where(moves, np.nextafter(total, np.copysign(np.inf, error)), total)


def multiply_accumulate(how: How, dst: Lanes, a: Lanes, b: Lanes) -> Lanes:
    """R(dst + a * b)."""
    return fma(how, a, b, dst)


def multiply_add(how: How, dst: Lanes, a: Lanes, b: Lanes) -> Lanes:
    """R(dst * a + b)."""
    return fma(how, dst, a, b)


def multiply_add_relu(how: How, dst: Lanes, a: Lanes, b: Lanes) -> Lanes:
    """max(R(dst * a + b), +0)."""
    return relu(how, multiply_add(how, dst, a, b))


def axpy(how: How, a: Lanes, dst: Lanes) -> Lanes:
    """R(dst + a * scalar), the scalar in the type of a."""
    return fma(how, a, how.scalar, dst)


def sub_relu(how: How, a: Lanes, b: Lanes) -> Lanes:
    """max(R(a - b), +0)."""
    return relu(how, sub(how, a, b))


SIMD: Mapping[str, LaneOp] = {
    "vmla": LaneOp(multiply_accumulate),
    "vmadd": LaneOp(multiply_add),
    "vmaddrelu": LaneOp(multiply_add_relu),
    "vaxpy": LaneOp(axpy),
    "vsubrelu": LaneOp(sub_relu),
}
VREG: Mapping[str, LaneOp] = {
    "VMULA": LaneOp(multiply_accumulate),
    "VMADD": LaneOp(multiply_add),
    "VAXPY": LaneOp(axpy),
}
