"""TCVT: rounding mode, saturation, and the chains that keep low bits."""

from fractions import Fraction

import numpy as np
from definitions.call import TYPES, Array, Call, Law, Results
from definitions.numbers import (
    FORMATS,
    exactly,
    half,
    integral,
    is_int,
    limits,
    low_bits,
    narrowed,
    to_integer,
    wide,
)

WRAPS = (
    ("f16", "u8"),
    ("f16", "i8"),
    ("f32", "i16"),
    ("f16", "i16"),
    ("i64", "i32"),
    ("i32", "i16"),
)
# Without a mode of their own: exact, or the core's one rounding.
FIVE = ("rint", "round", "floor", "ceil", "trunc")
A2A3_FIXED = (("i32", "f16"),)


def mode_of(c: Call) -> str:
    """The rounding that runs: `none` and modes that a pair lacks truncate floats to integers."""
    pair = (c.src, c.dst)
    asked = c.keys.get("rmode", "none")
    if asked in FIVE or (asked == "odd" and pair == ("f32", "f16")):
        if c.on_a2a3 and pair in A2A3_FIXED:
            return "rint"
        return asked
    return "trunc" if not is_int(c.src) and is_int(c.dst) else "rint"


def wraps(c: Call) -> bool:
    """Whether low bits are kept: by `sat=`, else by the pair; A2A3 hears `off` for few pairs."""
    listed = (c.src, c.dst) in WRAPS
    if c.on_a2a3 and not (listed or c.has("tmp")):
        return False
    asked = c.keys.get("sat")
    return asked == "off" if asked else listed


def to_half(c: Call, x: Array, mode: str) -> Array:
    """To f16 in a mode; the profile decides about overflow, infinities and NaN."""
    near = narrowed(x, "f16", mode)
    return half(near, c.infnan)


def to_bfloat(c: Call, x: Array, mode: str) -> Array:
    """To bf16 likewise."""
    near = narrowed(x, "bf16", mode)
    if c.infnan:
        return near
    values = near.astype(np.float32)
    greatest = np.float32(float.fromhex("0x1.fep127"))
    values = np.where(np.isinf(values), np.copysign(greatest, values), values)
    return np.where(np.isnan(values), np.float32(0), values).astype(TYPES["bf16"])


def to_eight(c: Call, x: Array) -> Array:
    """To f8e4m3 or f8e5m2, nearest even; what is infinity elsewhere is NaN in e4m3."""
    near = np.asarray(narrowed(x, c.dst, "rint"), np.float64)
    greatest = FORMATS[c.dst][2]
    if not c.infnan:
        near = np.where(np.isnan(x), 0, np.clip(near, -greatest, greatest))
    elif c.dst == "f8e4m3":
        near = np.where(np.isinf(near), np.nan, near)
    return near.astype(np.float32).astype(TYPES[c.dst])


def hif8_value(code: int) -> float:
    """HiFloat8 as published: sign, a prefix that says how long exponent and fraction are.

    11 and 10 and 01: 4, 3, 2 bits of exponent; 001: one; 0001: none; 0000: a power of two.
    An exponent is its sign, then its size behind a leading 1 that is not written.
    """
    sign, rest = -1.0 if code & 0x80 else 1.0, code & 0x7F
    if code == 0x80:
        return float("nan")
    if rest == 0x6F:
        return sign * float("inf")
    if rest < 8:
        return sign * 2.0 ** (rest - 23) if rest else 0.0
    lengths = ((0b11, 5, 4), (0b10, 5, 3), (0b01, 5, 2), (0b001, 4, 1), (0b0001, 3, 0))
    size, start = next((n, at) for prefix, at, n in lengths if rest >> at == prefix)
    fraction_bits = start - size
    field = rest >> fraction_bits & (1 << size) - 1
    exponent = 0
    if size:
        exponent = 1 << size - 1 | field & (1 << size - 1) - 1
        exponent = -exponent if field >> size - 1 else exponent
    fraction = (rest & (1 << fraction_bits) - 1) / (1 << fraction_bits)
    return sign * (1 + fraction) * 2.0**exponent


HIF8 = np.array([hif8_value(code) for code in range(256)])
_ORDER = sorted((code for code in range(0x80) if code != 0x6F), key=lambda code: HIF8[code])
_POSITIVE = np.array([HIF8[code] for code in _ORDER])


def to_hif8(c: Call, x: Array) -> Array:
    """The nearest value, a tie away from zero; there is no -0, and 2^15 is the greatest."""
    size = np.where(np.isnan(x), 0, np.abs(x))
    above = np.searchsorted(_POSITIVE, size, side="left").clip(1, len(_POSITIVE) - 1)
    low, high = _POSITIVE[above - 1], _POSITIVE[above]
    nearest = np.where(size - low < high - size, above - 1, above)
    code = np.array(_ORDER)[nearest]
    over = size >= 1.25 * 2.0**15
    code = np.where(over, 0x6F if c.infnan else code, code)
    code = np.where((x < 0) & (code != 0), code | 0x80, code)
    return np.where(np.isnan(x), 0x80 if c.infnan else 0, code).astype(np.uint8)


def convert(c: Call) -> Results:
    """dst = src in another type."""
    x, mode, pair = c["src"], mode_of(c), (c.src, c.dst)
    if is_int(c.dst):
        return {"dst": _low(c, x, mode, pair) if wraps(c) else _clamped(x, c.dst, mode)}
    if pair == ("i64", "f32"):
        numbers = [float(exactly(Fraction(int(v)), 24, -149, mode)) for v in x.ravel()]
        return {"dst": np.array(numbers, np.float32).reshape(x.shape)}
    if c.src == "hif8":
        return {"dst": HIF8[x].astype(np.float32)}
    exact = x.astype(np.float64) if is_int(c.src) else wide(x)
    if c.dst == "f32":
        if pair == ("f32", "f32"):
            with np.errstate(all="ignore"):
                return {"dst": integral(exact, mode).astype(np.float32)}
        return {"dst": narrowed(exact, "f32", mode)}
    if c.dst in ("f8e4m3", "f8e5m2"):
        return {"dst": to_eight(c, exact)}
    if c.dst == "hif8":
        return {"dst": to_hif8(c, exact)}
    return {"dst": to_half(c, exact, mode) if c.dst == "f16" else to_bfloat(c, exact, mode)}


def _clamped(x: Array, to: str, mode: str) -> Array:
    if x.dtype.kind in "iu":
        least, greatest = limits(to)
        return low_bits(np.clip(x.astype(np.int64), least, greatest), to)
    return to_integer(x, to, mode)


def _low(c: Call, x: Array, mode: str, pair: tuple[str, str]) -> Array:
    if is_int(c.src):
        return low_bits(x.astype(np.int64), c.dst)
    if _through_wider(c, pair):
        middle = to_integer(x, "i32", mode)
        if pair == ("f16", "i8"):
            byte = low_bits(middle, "i16") & 0xFF
            return to_integer(byte.astype(np.float64), "i8", "trunc", wrap=True)
        return low_bits(middle, c.dst)
    return to_integer(x, c.dst, mode, wrap=True)


def _through_wider(c: Call, pair: tuple[str, str]) -> bool:
    """A2A3 with scratch, A5 where rows follow each other, take the chain over a wider integer."""
    if pair not in (("f32", "i16"), ("f16", "i16"), ("f16", "i8")):
        return False
    if c.on_a2a3:
        return c.has("tmp")
    form = c.keys.get("vf_impl", "DEFAULT")
    if "NO_POST" in form:  # flat or, where rows do not follow each other, nested
        return True
    return _contiguous(c) and form in ("DEFAULT", "1D_POST_UPDATE")


def _contiguous(c: Call) -> bool:
    tiles = [c.shapes["dst"], c.shapes["src"]]
    # A view with rows further apart than they are long has the columns of the tile it lies in.
    full = all(t.static_cols and t.valid_cols == t.cols == t.stride for t in tiles)
    return full or all(t.rows == 1 for t in tiles)


LAW: Law = {"tcvt": convert}
