"""Division, remainder and power, as the devices do them."""

from collections.abc import Callable

import numpy as np
from definitions.call import Array, Call, Definition, Lanes, Law, Results, Turned
from definitions.numbers import (
    add,
    div,
    exp,
    half,
    is_int,
    limits,
    ln,
    low_bits,
    mul,
    narrowed,
    rounded,
    single,
    sub,
    to_integer,
    wide,
)


def quotient(c: Call, a: Array, b: Array) -> Lanes | Array:
    """Floats: rounded once, subnormals flushed on A5 unless precision is high. Integers: truncated;
    what a zero divisor or the least integer by -1 gives is unknown."""
    if is_int(c.src):
        x, y = a.astype(np.int64), b.astype(np.int64)
        safe = np.where(y == 0, 1, y)
        whole = np.sign(x) * np.sign(safe) * (np.abs(x) // np.abs(safe))
        known = (y != 0) & (whole <= limits(c.src)[1])
        return Lanes(low_bits(whole, c.src), known)
    if not c.on_a2a3 and c.keys.get("precision") == "high":
        with np.errstate(all="ignore"):
            return rounded(wide(a) / wide(b), c.src, c.infnan) if c.src == "f16" else a / b
    return div(c, a, b)


def divide(c: Call) -> Results:
    """src0 / src1."""
    return {"dst": quotient(c, c["src0"], c["src1"])}


def divide_scalar(c: Call) -> Results:
    """src / scalar, or scalar / src as written; A2A3 divides integers as floats, in src's place."""
    return _by_number(c, np.full_like(c["src"], c.scalar()), c.swapped)


def _by_number(c: Call, scalar: Array, swapped: bool) -> Results:
    src = c["src"]
    a, b = (scalar, src) if swapped else (src, scalar)
    if not (c.on_a2a3 and is_int(c.src)):
        return {"dst": quotient(c, a, b)}
    kind = "f32" if c.src == "i32" else "f16"
    x, y = (narrowed(v.astype(np.float64), kind, "rint") for v in (a, b))
    out = to_integer(wide(div(c, x, y, kind)), c.src, "trunc")
    return {"dst": Lanes(out, b != 0), "src": y if swapped else x}


def reciprocal(c: Call) -> Results:
    """1 / src."""
    return _by_number(c, np.full_like(c["src"], 1), True)


def _steps(c: Call, a: Array, b: Array, whole: Callable[[Array], Array]) -> Array:
    """a - whole(a / b) * b in f32, every step rounded."""
    with np.errstate(all="ignore"):
        q = whole(div(c, a, b, "f32"))
        return sub(c, a, mul(c, q, b, "f32"), "f32")


def _sign_fixed(c: Call, r: Array, b: Array, dtype: str) -> Lanes:
    """r + b where r * b is negative; where that product underflows nobody says what happens."""
    with np.errstate(all="ignore"):
        product = wide(mul(c, r, b, dtype))
        known = (product != 0) | (wide(r) == 0) | (wide(b) == 0)
        return Lanes(np.where(product < 0, add(c, r, b, dtype), r), known)


def remainder(c: Call, a: Array, b: Array) -> Results:
    """The sign of the divisor; A2A3 does i32 in f32 and leaves that rounding in its sources."""
    if c.src == "f32":
        return {"dst": _sign_fixed(c, _steps(c, a, b, np.floor), b, "f32")}
    if c.src == "f16":
        r = wide(_steps(c, single(a), single(b), np.floor))
        cut = half(narrowed(r, "f16", "trunc"), c.infnan)
        return {"dst": _sign_fixed(c, cut, b, "f16")}
    if c.on_a2a3:
        x, y = single(a), single(b)
        fixed = _sign_fixed(c, _steps(c, x, y, np.floor), y, "f32")
        out = to_integer(wide(fixed.values), c.src, "rint")
        names = ("src0", "src1") if c.has("src0") else ("src",)
        back = (Turned(to_integer(wide(v), c.src, "rint")) for v in (x, y))
        turned = dict(zip(names, back, strict=False))
        return {"dst": Lanes(out, fixed.defined & (b != 0)), **turned}
    x, y = a.astype(np.int64), b.astype(np.int64)
    known = (y != 0) & ((x < 0) == (y < 0))
    return {"dst": Lanes(low_bits(np.fmod(x, np.where(y == 0, 1, y)), c.src), known)}


def modulo(c: Call, a: Array, b: Array) -> Results:
    """The sign of the dividend."""
    if is_int(c.src):
        x, y = a.astype(np.int64), b.astype(np.int64)
        return {"dst": Lanes(low_bits(np.fmod(x, np.where(y == 0, 1, y)), c.src), y != 0)}
    if not c.on_a2a3 and c.keys.get("precision") == "high":
        with np.errstate(all="ignore"):
            exact = np.fmod(wide(a), wide(b))
            # What a half NaN becomes in the special cases of that sequence is unknown.
            known = ~np.isnan(exact) | (c.src == "f32") | c.infnan
            return {"dst": Lanes(rounded(exact, c.src, c.infnan), known)}
    r = _steps(c, single(a), single(b), np.trunc)
    return {"dst": r if c.src == "f32" else half(narrowed(wide(r), "f16", "rint"), c.infnan)}


def power(c: Call, a: Array, b: Array) -> Results:
    """exp(ln|a| * b), each step rounded, with its special cases; integers by squaring."""
    if is_int(c.src):
        return {"dst": _whole_power(c, a, b)}
    dtype, one = c.src, a.dtype.type(1)
    with np.errstate(all="ignore"):
        x, y = wide(a), wide(b)
        out = exp(c, mul(c, ln(c, np.abs(a)), b))
        is_odd = np.isfinite(y) & (np.fmod(y, 2) != 0) & (y == np.trunc(y))
        out = np.where((x < 0) & is_odd, -out, out)
        infinite = rounded(np.array(np.inf), dtype, c.infnan)
        out = np.where(x == 0, np.where(y > 0, a.dtype.type(0), infinite), out)
        out = np.where((x == -1) & np.isinf(y), one, out)
        out = np.where(y == 0, one, out)
        known = ~((x < 0) & np.isfinite(y) & (y != np.trunc(y)))
        known &= ~np.isnan(x) & ~np.isnan(y) | (y == 0)
        known &= ~((x == 0) & (is_odd | (y < 0)))  # the sign of an odd power of -0
    return {"dst": Lanes(out, known)}


def _whole_power(c: Call, a: Array, b: Array) -> Array:
    out = [_integer_power(int(x), int(y)) for x, y in zip(a.ravel(), b.ravel(), strict=True)]
    bits = (1 << 8 * a.dtype.itemsize) - 1
    return low_bits(np.array([n & bits for n in out], np.int64).reshape(a.shape), c.src)


def _integer_power(x: int, y: int) -> int:
    if y < 0:
        return {1: 1, -1: 1 if y % 2 == 0 else -1}.get(x, 0)
    return pow(x, y, 1 << 64)


def two(function: Callable[[Call, Array, Array], Results]) -> Definition:
    """f(src0, src1)."""
    return lambda c: function(c, c["src0"], c["src1"])


def with_scalar(function: Callable[[Call, Array, Array], Results]) -> Definition:
    """f(src, scalar)."""
    return lambda c: function(c, c["src"], np.full_like(c["src"], c.scalar()))


LAW: Law = {
    "tdiv": divide,
    "tdivs": divide_scalar,
    "trecip": reciprocal,
    "trem": two(remainder),
    "trems": with_scalar(remainder),
    "tfmod": two(modulo),
    "tfmods": with_scalar(modulo),
    "tpow": two(power),
    "tpows": with_scalar(power),
}
