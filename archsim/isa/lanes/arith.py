"""Arithmetic on lanes. R(x) below is one rounding of the exact x to the element type.

A half result is settled: overflow and NaN follow CTRL[48] (`settle`). f32 is always IEEE, with
subnormals. Integers wrap, or clamp under CTRL[53]. bfloat16 is computed in f32 and rounded once.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from archsim.base.dtypes import BF16, F16, F32, DType
from archsim.base.rounding import to_float
from archsim.isa.lanes.narrow import integer_range, settle
from archsim.isa.lanes.state import How, LaneFunction, Lanes

Binary = Callable[[Any, Any], Any]  # a numpy ufunc


def add(how: How, a: Lanes, b: Lanes) -> Lanes:
    """R(a + b)."""
    return _arithmetic(np.add, how, a, b)


def sub(how: How, a: Lanes, b: Lanes) -> Lanes:
    """R(a - b); x - x is +0."""
    return _arithmetic(np.subtract, how, a, b)


def mul(how: How, a: Lanes, b: Lanes) -> Lanes:
    """R(a * b)."""
    return _arithmetic(np.multiply, how, a, b)


def div(how: How, a: Lanes, b: Lanes) -> Lanes:
    """R(a / b), floats only; x / 0 is an infinity with its sign, 0 / 0 NaN."""
    return _arithmetic(np.divide, how, a, b)


def _arithmetic(op: Binary, how: How, a: Lanes, b: Lanes) -> Lanes:
    dtype = how.dtype
    if dtype is F32:
        return np.asarray(op(a, b))
    if dtype is F16:
        # numpy goes through f32, which has more than twice the bits of half plus two: one rounding.
        return settle(np.asarray(op(a, b)), F16, how.state.fp_infnan)
    if dtype is BF16:
        # CTRL[48] does not act on bfloat16 arithmetic of the vreg cores, the only ones with it.
        return to_float(op(a.astype(np.float32), b.astype(np.float32)), BF16)
    return _integer(op, dtype, a, b) if how.state.int_alu_sat else np.asarray(op(a, b))


def _integer(op: Binary, dtype: DType, a: Lanes, b: Lanes) -> Lanes:
    # f64 is exact wherever the result fits 32 bits, and the rest is clamped anyway.
    wide = op(a.astype(np.float64), np.asarray(b, np.float64))
    return np.asarray(np.clip(wide, *integer_range(dtype)).astype(dtype.np))


def maximum(how: How, a: Lanes, b: Lanes) -> Lanes:
    """The greater of a and b, bits kept; max(-0, +0) = +0."""
    return _extreme(np.maximum, np.fmax, np.bitwise_and, how, a, b)


def minimum(how: How, a: Lanes, b: Lanes) -> Lanes:
    """The smaller of a and b, bits kept; min(-0, +0) = -0."""
    return _extreme(np.minimum, np.fmin, np.bitwise_or, how, a, b)


def _extreme(propagate: Binary, other: Binary, zero: Binary, how: How, a: Lanes, b: Lanes) -> Lanes:
    out = np.asarray((propagate if how.state.max_nan == "propagate" else other)(a, b))
    if how.dtype.is_integer or out.all():
        return out
    # Of two equal zeros numpy gives either one: the sign bit decides here.
    bits = np.dtype(f"u{how.dtype.itemsize}")
    zeros = np.asarray(zero(np.asarray(a).view(bits), np.asarray(b).view(bits)), bits)
    return np.where((a == 0) & (b == 0), zeros.view(out.dtype), out)


def relu(how: How, a: Lanes) -> Lanes:
    """max(a, +0): -0 becomes +0."""
    return maximum(how, a, np.zeros((), a.dtype))


def absolute(how: How, a: Lanes) -> Lanes:
    """a without its sign bit; the least integer has no positive and stays."""
    return np.abs(a)


def exp(how: How, a: Lanes) -> Lanes:
    """R(e^a), evaluated in f64; `exp_ftz` turns a subnormal result into +0."""
    out = _rounded(np.exp(a.astype(np.float64)), how)
    if not how.state.exp_ftz:
        return out
    return np.where(np.abs(out) < _least_normal(how.dtype), np.zeros((), out.dtype), out)


def log(how: How, a: Lanes) -> Lanes:
    """R(ln a), evaluated in f64: -inf for zeros, NaN below."""
    return _rounded(np.log(a.astype(np.float64)), how)


def sqrt(how: How, a: Lanes) -> Lanes:
    """R(sqrt a): -0 stays, NaN below."""
    return _rounded(np.sqrt(a.astype(np.float64)), how)


def rsqrt(how: How, a: Lanes) -> Lanes:
    """R(1 / sqrt a); the device gives an estimate of this, good to about 1e-3."""
    return _rounded(1 / np.sqrt(a.astype(np.float64)), how)


def _rounded(x: Lanes, how: How) -> Lanes:
    return settle(to_float(x, how.dtype), how.dtype, how.state.fp_infnan)


def prelu(how: How, a: Lanes, slope: Lanes) -> Lanes:
    """a where a > 0 (a >= 0 with `prelu_zero_keeps`), else R(a * slope)."""
    keeps = a >= 0 if how.state.prelu_zero_keeps else a > 0
    return np.where(keeps, a, mul(how, a, slope))


def bit_and(how: How, a: Lanes, b: Lanes) -> Lanes:
    """Bitwise a & b."""
    return np.bitwise_and(a, b)


def bit_or(how: How, a: Lanes, b: Lanes) -> Lanes:
    """Bitwise a | b."""
    return np.bitwise_or(a, b)


def bit_not(how: How, a: Lanes) -> Lanes:
    """Bitwise ~a."""
    return np.invert(a)


def copy(how: How, a: Lanes) -> Lanes:
    """a, bit by bit."""
    return a.copy()


def dup(how: How, *_: Lanes) -> Lanes:
    """The scalar in every lane."""
    return np.asarray(how.scalar)


def with_scalar(op: LaneFunction) -> LaneFunction:
    """The form of a two-input function whose second input is the scalar.

    An `element` is a scalar that the scalar unit read from UB; the word `negated` changes its sign.
    """

    def by_scalar(how: How, a: Lanes, *element: Lanes) -> Lanes:
        value = element[0] if element else how.scalar
        return op(how, a, np.negative(value) if "negated" in how.words else value)

    return by_scalar


def flushing(op: LaneFunction) -> LaneFunction:
    """The form of a float function that takes and gives subnormals as zeros of the same sign."""

    def flushed(how: How, *sources: Lanes) -> Lanes:
        return _flush(op(how, *(_flush(s, how.dtype) for s in sources)), how.dtype)

    return flushed


def _flush(x: Lanes, dtype: DType) -> Lanes:
    return np.where(np.abs(x) < _least_normal(dtype), np.copysign(np.zeros((), x.dtype), x), x)


def _least_normal(dtype: DType) -> Any:
    return dtype.np.type(2.0 ** (-14 if dtype is F16 else -126))
