"""Elementwise instructions: two tiles, a tile and a scalar, one tile, fused forms."""

from collections.abc import Callable

import numpy as np
from definitions.call import TYPES, Array, Call, Definition, Law, Results
from definitions.numbers import (
    add,
    div,
    exp,
    fma,
    half,
    is_int,
    ln,
    low_bits,
    maximum,
    minimum,
    mul,
    rounded,
    sqrt,
    sub,
    to_integer,
    wide,
)

Binary = Callable[[Call, Array, Array], Array]


def two(function: Binary) -> Definition:
    """dst = f(src0, src1)."""
    return lambda c: {"dst": function(c, c["src0"], c["src1"])}


def with_scalar(function: Binary) -> Definition:
    """dst = f(src, scalar), the scalar an element of the type."""
    return lambda c: {"dst": function(c, c["src"], np.full_like(c["src"], c.scalar()))}


def one(function: Callable[[Call, Array], Array]) -> Definition:
    """dst = f(src)."""
    return lambda c: {"dst": function(c, c["src"])}


def larger(c: Call, a: Array, b: Array) -> Array:
    return maximum(a, b)


def smaller(c: Call, a: Array, b: Array) -> Array:
    return minimum(a, b)


def bits_and(c: Call, a: Array, b: Array) -> Array:
    return a & b


def bits_or(c: Call, a: Array, b: Array) -> Array:
    return a | b


def bits_xor(c: Call, a: Array, b: Array) -> Array:
    return a ^ b


def left(c: Call, a: Array, b: Array) -> Array:
    """Counts of 0 to the width less one; others are undefined and not drawn."""
    return low_bits(a.astype(np.int64) << b.astype(np.int64), c.src)


def right(c: Call, a: Array, b: Array) -> Array:
    """Arithmetic for signed types, logical for unsigned ones."""
    return low_bits(a.astype(np.int64) >> b.astype(np.int64), c.src)


def right_by_scalar(c: Call, a: Array, b: Array) -> Array:
    """A2A3 asks for the logical shift, whatever the type."""
    if not c.on_a2a3:
        return right(c, a, b)
    bits = f"u{a.dtype.itemsize}"
    return low_bits(a.view(bits).astype(np.int64) >> b.astype(np.int64), c.src)


def sub_scalar(c: Call) -> Results:
    """src - scalar: an addition of the negated scalar."""
    return {"dst": sub(c, c["src"], np.full_like(c["src"], c.scalar()))}


def relu(c: Call, x: Array) -> Array:
    """max(x, +0): -0 becomes +0; NaN stays."""
    return maximum(x, np.zeros_like(x))


def negative(c: Call, x: Array) -> Array:
    """x * -1."""
    return sub(c, np.zeros_like(x), x) if is_int(c.src) else mul(c, x, np.full_like(x, -1))


def magnitude(c: Call, x: Array) -> Array:
    """The sign bit is cleared; the least integer stays."""
    if is_int(c.src):
        return low_bits(np.abs(x.astype(np.int64)), c.src)
    size = x.dtype.itemsize
    return (x.view(f"u{size}") & ((1 << 8 * size - 1) - 1)).view(x.dtype)


def inverted(c: Call, x: Array) -> Array:
    """Every bit flipped."""
    size = x.dtype.itemsize
    return (~x.view(f"u{size}")).view(x.dtype)


def exponential(c: Call) -> Results:
    """exp; high precision on A5 squares exp(x / 2) where the plain result is subnormal or zero."""
    x = c["src"]
    plain = exp(c, x)
    if c.on_a2a3 or c.keys.get("precision") != "high":
        return {"dst": plain}
    least = {"f32": 2.0**-126, "f16": 2.0**-14}[c.src]
    root = exp(c, div(c, x, np.full_like(x, 2)))
    return {"dst": np.where(wide(plain) < least, mul(c, root, root), plain)}


def logarithm(c: Call) -> Results:
    """ln; high precision on A5 scales subnormals up first and subtracts the logarithm of that."""
    x = c["src"]
    plain = ln(c, x)
    if c.on_a2a3 or c.keys.get("precision") != "high":
        return {"dst": plain}
    to = TYPES[c.src].type
    greatest, factor, shift = {
        "f32": (to(2.0**-126), to(2.0**23), to(-15.9423851528787421)),
        "f16": (to(2.0**-14), to(1024), to(-6.931471805599453)),
    }[c.src]
    with np.errstate(all="ignore"):
        mask = wide(x) < wide(greatest)
    # Where x is at most 0 the scaled chain gives what the plain one gives.
    scaled = ln(c, mul(c, x, np.full_like(x, factor)))
    repaired = add(c, scaled, np.full_like(x, shift))
    return {"dst": np.where(mask, repaired, plain)}


def root(c: Call) -> Results:
    """sqrt; high precision on A5 honours subnormals."""
    x = c["src"]
    if not c.on_a2a3 and c.keys.get("precision") == "high":
        with np.errstate(all="ignore"):
            return {"dst": rounded(np.sqrt(wide(x)), c.src, c.infnan)}
    return {"dst": sqrt(c, x)}


def reciprocal_root(c: Call) -> Results:
    """A2A3 without scratch: one correctly rounded estimate; else sqrt, then 1 / it.

    High precision on A5 honours subnormals in both.
    """
    x = c["src"]
    if c.on_a2a3 and not c.has("tmp"):
        with np.errstate(all="ignore"):
            return {"dst": rounded(1 / np.sqrt(wide(x)), c.src, c.infnan)}
    one = np.full_like(x, 1)
    if not c.on_a2a3 and c.keys.get("precision") == "high":
        with np.errstate(all="ignore"):
            found = rounded(np.sqrt(wide(x)), c.src, c.infnan)
            whole = wide(one) / wide(found)
            return {"dst": rounded(whole, c.src, c.infnan) if c.src == "f16" else one / found}
    return {"dst": div(c, one, sqrt(c, x))}


def leaky(c: Call) -> Results:
    """x > 0 ? x : x * scalar."""
    x = c["src"]
    with np.errstate(all="ignore"):
        keep = wide(x) > 0
    return {"dst": np.where(keep, x, mul(c, x, np.full_like(x, c.scalar())))}


def prelu(c: Call) -> Results:
    """src0 > 0 ? src0 : src0 * src1; A2A3 builds masks in its scratch."""
    x = c["src0"]
    with np.errstate(all="ignore"):
        keep = wide(x) > 0
    return {"dst": np.where(keep, x, mul(c, x, c["src1"]))}


def axpy(c: Call) -> Results:
    """dst + src * scalar, rounded once in dst's type."""
    scalar = c.scalar("scalar", c.src)
    x = c["src"]
    factor = np.full_like(x, scalar)
    return {"dst": fma(c, x, factor, c["dst"], c.dst)}


def multiply_add_dst(c: Call) -> Results:
    """dst + src0 * src1, rounded once."""
    return {"dst": fma(c, c["src0"], c["src1"], c["dst"])}


def fused_multiply_add(c: Call) -> Results:
    """dst * src0 + src1, rounded once."""
    return {"dst": fma(c, c["dst"], c["src0"], c["src1"])}


def fused_multiply_add_relu(c: Call) -> Results:
    """The same, negative results made +0."""
    return {"dst": relu(c, fma(c, c["dst"], c["src0"], c["src1"]))}


def sub_relu(c: Call) -> Results:
    """max(src0 - src1, 0)."""
    return {"dst": relu(c, sub(c, c["src0"], c["src1"]))}


def relu_convert(function: Binary) -> Definition:
    """The sum or difference in the source type, negative ones made 0, narrowed with saturation."""

    def define(c: Call) -> Results:
        total = relu(c, function(c, c["src0"], c["src1"]))
        if c.dst == "f16":
            return {"dst": half(total, c.infnan)}
        return {"dst": to_integer(total, c.dst, "rint")}

    return define


def dequantise_relu(c: Call) -> Results:
    """half(max(f32(src0 + src1) * scale, 0)); A2A3 leaves its steps in the sources."""
    scale = np.float32(c.scalars["scale"])
    total = add(c, c["src0"], c["src1"], "i32").astype(np.float32)
    with np.errstate(all="ignore"):
        steps = total * np.float32(2.0**-17) * scale * np.float32(2.0**17)
    positive = maximum(steps, np.zeros_like(steps))
    out: dict[str, Array] = {"dst": half(positive, c.infnan)}
    if c.on_a2a3:
        out |= {"src0": steps, "src1": positive, "tmp": np.zeros_like(steps)}
    return out


def carry(sign: int, scalar: bool = False) -> Definition:
    """src0 + src1 + src2, or src0 - src1 + src2: two operations, left to right."""

    def define(c: Call) -> Results:
        first = c["src0"]
        second = np.full_like(first, c.scalar()) if scalar else c["src1"]
        third = c["src1"] if scalar else c["src2"]
        begun = add(c, first, second) if sign > 0 else sub(c, first, second)
        return {"dst": add(c, begun, third)}

    return define


LAW: Law = {
    "tadd": two(add),
    "tsub": two(sub),
    "tmul": two(mul),
    "tmax": two(larger),
    "tmin": two(smaller),
    "tand": two(bits_and),
    "tor": two(bits_or),
    "txor": two(bits_xor),
    "tshl": two(left),
    "tshr": two(right),
    "tadds": with_scalar(add),
    "tsubs": sub_scalar,
    "tmuls": with_scalar(mul),
    "tmaxs": with_scalar(larger),
    "tmins": with_scalar(smaller),
    "tands": with_scalar(bits_and),
    "tors": with_scalar(bits_or),
    "txors": with_scalar(bits_xor),
    "tshls": with_scalar(left),
    "tshrs": with_scalar(right_by_scalar),
    "tlrelu": leaky,
    "taxpy": axpy,
    "tabs": one(magnitude),
    "tneg": one(negative),
    "tnot": one(inverted),
    "trelu": one(relu),
    "texp": exponential,
    "tlog": logarithm,
    "tsqrt": root,
    "trsqrt": reciprocal_root,
    "tprelu": prelu,
    "tmuladddst": multiply_add_dst,
    "tfusedmuladd": fused_multiply_add,
    "tfusedmuladdrelu": fused_multiply_add_relu,
    "tsubrelu": sub_relu,
    "taddreluconv": relu_convert(add),
    "tsubreluconv": relu_convert(sub),
    "tadddeqrelu": dequantise_relu,
    "taddc": carry(1),
    "tsubc": carry(-1),
    "taddsc": carry(1, scalar=True),
    "tsubsc": carry(-1, scalar=True),
}
