"""Arithmetic of element types: rounding to the bit, profiles of half, integers that wrap.

Written for these definitions alone. Values that decide are exact: a sum, difference or product of
two halves and a product of two f32 are exact in f64, and a fused f32 sum is rounded to odd in f64
first, which makes the second rounding harmless (53 >= 2 * 24 + 2 significand bits).
"""

from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
from definitions.call import TYPES, Array, Call

HALF_MAX = 65504.0


def half(x: Array, infnan: bool) -> Array:
    """R16: to half, nearest even, subnormals kept; `reset` gives +-65504 and 0 for inf and NaN."""
    with np.errstate(all="ignore"):
        out = np.asarray(x).astype(np.float16)
    if infnan:
        return out
    out = np.where(np.isinf(out), np.copysign(np.float16(HALF_MAX), out), out)
    return np.where(np.isnan(out), np.float16(0), out)


def bfloat(x: Array) -> Array:
    """To bfloat16, nearest even, from f32, by its bits; NaN stays NaN."""
    wide = np.asarray(x, np.float32)
    bits = wide.view(np.uint32).astype(np.uint64)
    up = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    out = np.where(np.isnan(wide), np.uint64(0x7FC0), up).astype(np.uint16)
    return out.view(TYPES["bf16"])


def single(x: Array) -> Array:
    """To f32, nearest even, from a value that f64 holds exactly or rounded to odd."""
    with np.errstate(all="ignore"):
        return np.asarray(x, np.float64).astype(np.float32)


def is_int(dtype: str) -> bool:
    """Whether the type is an integer."""
    return dtype[0] in "iu"


def wide(x: Array) -> Array:
    """The values of halves, bfloats or singles as f64, which holds them exactly."""
    return np.asarray(x).astype(np.float32).astype(np.float64)


def rounded(exact: Array, dtype: str, infnan: bool) -> Array:
    """An f64 result once rounded to a float type; bfloat16 goes by way of f32 (its definition)."""
    if dtype == "f16":
        return half(exact, infnan)
    return bfloat(single(exact)) if dtype == "bf16" else single(exact)


def limits(dtype: str) -> tuple[int, int]:
    """Least and greatest value of an integer type."""
    bits = 8 * TYPES[dtype].itemsize
    return (0, (1 << bits) - 1) if dtype[0] == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)


def low_bits(x: Array, dtype: str) -> Array:
    """The low bits of whole numbers that i64 holds, as an integer type."""
    size = TYPES[dtype].itemsize
    masked = np.asarray(x, np.int64).astype(np.uint64) & np.uint64((1 << 8 * size) - 1)
    return masked.astype(f"u{size}").view(TYPES[dtype])


def _arith(c: Call, a: Array, b: Array, dtype: str, op: str) -> Array:
    if is_int(dtype):
        x, y = np.asarray(a).astype(np.int64), np.asarray(b).astype(np.int64)
        if op == "mul":  # products of 32-bit numbers fit i64 or wrap in it, low bits are right
            with np.errstate(all="ignore"):
                return low_bits(x * y, dtype)
        return low_bits(x + y if op == "add" else x - y, dtype)
    with np.errstate(all="ignore"):
        if dtype == "f32":
            x, y = np.asarray(a, np.float32), np.asarray(b, np.float32)
            return {"add": np.add, "sub": np.subtract, "mul": np.multiply}[op](x, y)
        x, y = wide(a), wide(b)
        exact = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[op](x, y)
        return rounded(exact, dtype, c.infnan)


def add(c: Call, a: Array, b: Array, dtype: str = "") -> Array:
    """a + b in a type (default: the source type), rounded once; integers wrap."""
    return _arith(c, a, b, dtype or c.src, "add")


def sub(c: Call, a: Array, b: Array, dtype: str = "") -> Array:
    """a - b likewise."""
    return _arith(c, a, b, dtype or c.src, "sub")


def mul(c: Call, a: Array, b: Array, dtype: str = "") -> Array:
    """a * b likewise."""
    return _arith(c, a, b, dtype or c.src, "mul")


def flushed(x: Array, dtype: str) -> Array:
    """Subnormals become zero of their sign."""
    least = {"f32": 2.0**-126, "f16": 2.0**-14}[dtype]
    return np.where(np.abs(wide(x)) < least, np.copysign(x.dtype.type(0), x), x)


def div(c: Call, a: Array, b: Array, dtype: str = "") -> Array:
    """a / b of floats, rounded once; on A5 subnormal operands and results become zero."""
    dtype = dtype or c.src
    with np.errstate(all="ignore"):
        if not c.on_a2a3:
            a, b = flushed(a, dtype), flushed(b, dtype)
        if dtype == "f32":
            out = np.asarray(a, np.float32) / np.asarray(b, np.float32)
        else:
            out = rounded(wide(a) / wide(b), dtype, c.infnan)
        return out if c.on_a2a3 else flushed(out, dtype)


def fma(c: Call, a: Array, b: Array, addend: Array, dtype: str = "") -> Array:
    """a * b + addend with one rounding."""
    dtype = dtype or c.src
    with np.errstate(all="ignore"):
        product = wide(a) * wide(b)
        if dtype == "f16":  # 22 bits from 2^-48 up and 11 from 2^-24: not exact in f64
            return half(_odd_sum(product, wide(addend)), c.infnan)
        return single(_odd_sum(product, wide(addend)))


def _odd_sum(a: Array, b: Array) -> Array:
    """a + b in f64, rounded to odd: where it is not exact the last bit is 1."""
    total = a + b
    back = total - a
    error = (a - (total - back)) + (b - back)
    bits = np.atleast_1d(total).view(np.int64).copy()
    inexact = np.atleast_1d(np.isfinite(total) & (error != 0)) & (bits & 1 == 0)
    # The bits of a float grow with its magnitude.
    away = np.atleast_1d((error > 0) == (total > 0))
    bits[inexact & away] += 1
    bits[inexact & ~away] -= 1
    return bits.view(np.float64).reshape(total.shape)


def exp(c: Call, x: Array, dtype: str = "") -> Array:
    """exp(x), once rounded; A5 makes subnormal results +0."""
    dtype = dtype or c.src
    with np.errstate(all="ignore"):
        out = rounded(np.exp(wide(x)), dtype, c.infnan)
    return out if c.on_a2a3 else flushed(out, dtype)


def ln(c: Call, x: Array, dtype: str = "") -> Array:
    """The natural logarithm, once rounded; A5 reads subnormals as 0."""
    dtype = dtype or c.src
    with np.errstate(all="ignore"):
        x = x if c.on_a2a3 else flushed(x, dtype)
        return rounded(np.log(wide(x)), dtype, c.infnan)


def sqrt(c: Call, x: Array, dtype: str = "") -> Array:
    """The square root, once rounded; A5 reads subnormals as 0."""
    dtype = dtype or c.src
    with np.errstate(all="ignore"):
        x = x if c.on_a2a3 else flushed(x, dtype)
        return rounded(np.sqrt(wide(x)), dtype, c.infnan)


def maximum(a: Array, b: Array) -> Array:
    """The greater; NaN wins, +0 is greater than -0; bits are kept."""
    return _extreme(a, b, 1)


def minimum(a: Array, b: Array) -> Array:
    """The smaller likewise; -0 is smaller than +0."""
    return _extreme(a, b, -1)


def _extreme(a: Array, b: Array, sign: int) -> Array:
    a, b = np.broadcast_arrays(a, b)
    if a.dtype.kind in "iu":
        return np.maximum(a, b) if sign > 0 else np.minimum(a, b)
    x, y = sign * wide(a), sign * wide(b)
    a_wins = (x > y) | ((x == y) & (np.signbit(x) < np.signbit(y))) | np.isnan(x)
    return np.where(a_wins & ~(np.isnan(y) & ~np.isnan(x)), a, b)


def integral(x: Array, mode: str) -> Array:
    """f64 values rounded to whole numbers: rint, round (ties away), floor, ceil, trunc."""
    if mode == "round":
        below = np.floor(np.abs(x))
        up = np.abs(x) - below >= 0.5
        return np.copysign(below + up, x)
    return {"rint": np.rint, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc}[mode](x)


def exactly(value: Fraction, precision: int, least: int, mode: str) -> Fraction:
    """A fraction rounded to `precision` bits, units not below 2^least: how `narrowed` is proved."""
    if value == 0:
        return value
    size = abs(value)
    exponent = 0
    while Fraction(2) ** (exponent + 1) <= size:
        exponent += 1
    while Fraction(2) ** exponent > size:
        exponent -= 1
    unit = Fraction(2) ** max(exponent - precision + 1, least)
    whole = floor(value / unit)
    rest = value / unit - whole
    if rest == 0:
        return value
    towards_zero = value > 0
    if mode == "rint":
        up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1)
    elif mode == "round":
        up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and value > 0)
    elif mode == "odd":
        up = whole % 2 == 0
    else:
        up = {"floor": False, "ceil": True, "trunc": not towards_zero}[mode]
    return (whole + up) * unit


def narrowed(x: Array, dtype: str, mode: str) -> Array:
    """f64 values (exact) to a float type in a rounding mode, IEEE overflow; small types as f32."""
    precision, least, greatest = FORMATS[dtype]
    x = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(np.where(np.isfinite(x), x, 1.0))
        unit = np.maximum(exponent - precision, least)
        scaled = np.ldexp(x, -unit)
        whole = _made_odd(scaled) if mode == "odd" else integral(scaled, mode)
        near = np.copysign(np.ldexp(whole, unit), x)
        stays = np.isin(mode, ("trunc", "odd")) | (
            ((mode == "floor") & (x > 0)) | ((mode == "ceil") & (x < 0))
        )
        over = np.isfinite(x) & (np.abs(near) > greatest)
        near = np.where(over, np.copysign(np.where(stays, greatest, np.inf), x), near)
        to = near.astype(np.float32)
        return to.astype(TYPES[dtype]) if dtype in ("f16", "bf16") else to


FORMATS = {
    "f16": (11, -24, HALF_MAX),
    "bf16": (8, -133, float.fromhex("0x1.fep127")),
    "f8e4m3": (4, -9, 448.0),
    "f8e5m2": (3, -16, 57344.0),
    "f32": (24, -149, float.fromhex("0x1.fffffep127")),
}


def _made_odd(x: Array) -> Array:
    below = np.trunc(x)
    return np.where((below != x) & (np.fmod(below, 2) == 0), below + np.copysign(1, x), below)


def to_integer(x: Array, dtype: str, mode: str, wrap: bool = False) -> Array:
    """Floats (or integers) to an integer type: rounded, then clamped or cut to the low bits.

    Infinities give the greatest and least value either way, NaN gives 0.
    """
    least, greatest = limits(dtype)
    with np.errstate(all="ignore"):
        whole = integral(np.asarray(x).astype(np.float64), mode)
        clamped = np.clip(whole, least, greatest)
        kept = np.fmod(whole, 2.0 ** (8 * TYPES[dtype].itemsize)) if wrap else clamped
    kept = np.where(np.isinf(whole), clamped, np.where(np.isnan(whole), 0, kept))
    if dtype == "i64":  # whose greatest value f64 does not hold
        numbers = [min(max(int(v), least), greatest) for v in kept.ravel()]
        return np.array(numbers, np.int64).reshape(np.shape(x))
    return low_bits(kept.astype(np.int64), dtype)


def as_type(x: Any, dtype: str) -> Array:
    """The same bits read as another type of their size."""
    return np.ascontiguousarray(x).view(TYPES[dtype])
