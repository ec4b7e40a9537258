"""Numbers to small integers and back, a scale and an offset for each row."""

import numpy as np
from definitions.call import Call, Clobbered, Law, Results
from definitions.numbers import add, half, mul, sub, to_integer, wide


def quantise(c: Call) -> Results:
    """src * scale (+ offset) to i32, to half, to a byte: nearest even, saturating at each step.

    A2A3 works in src and in its scratch.
    """
    x = mul(c, c["src"], c["scale"][:, :1], "f32")
    if c.has("offset"):
        x = add(c, x, c["offset"][:, :1], "f32")
    whole = to_integer(x, "i32", "rint")
    out = to_integer(wide(half(whole, c.infnan)), c.dst, "rint")
    return {"dst": out, "src": Clobbered()} if c.on_a2a3 else {"dst": out}


def dequantise(c: Call) -> Results:
    """(float(src) - offset) * scale, two roundings."""
    x = c["src"].astype(np.float32)
    return {"dst": mul(c, sub(c, x, c["offset"][:, :1], "f32"), c["scale"][:, :1], "f32")}


LAW: Law = {"tquant": quantise, "tdequant": dequantise}
