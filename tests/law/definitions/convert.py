"""TCVT: rounding mode, saturation, and the chains that keep low bits."""

import numpy as np
from definitions.call import TYPES, Array, Call, Law, Results
from definitions.numbers import half, integral, is_int, limits, low_bits, narrowed, to_integer, wide

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


def convert(c: Call) -> Results:
    """dst = src in another type."""
    x, mode, pair = c["src"], mode_of(c), (c.src, c.dst)
    if is_int(c.dst):
        if wraps(c):
            return {"dst": _low(c, x, mode, pair)}
        return {"dst": _clamped(x, c.dst, mode)}
    exact = x.astype(np.float64) if is_int(c.src) else wide(x)
    if c.dst == "f32":
        if pair == ("f32", "f32"):
            with np.errstate(all="ignore"):
                return {"dst": integral(exact, mode).astype(np.float32)}
        return {"dst": narrowed(exact, "f32", mode)}
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
    if form == "2D_NO_POST_UPDATE":
        return True
    return _contiguous(c) and form in ("DEFAULT", "1D_NO_POST_UPDATE", "1D_POST_UPDATE")


def _contiguous(c: Call) -> bool:
    tiles = [c.shapes["dst"], c.shapes["src"]]
    full = all(t.static_cols and t.valid_cols == t.cols for t in tiles)
    return full or all(t.rows == 1 for t in tiles)


LAW: Law = {"tcvt": convert}
