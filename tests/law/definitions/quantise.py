"""Numbers to small integers and back, a scale and an offset for each row."""

from math import frexp

import numpy as np
from definitions.call import Call, Clobbered, Law, Results
from definitions.convert import to_eight
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


def quantise_groups(c: Call) -> Results:
    """Each 32 columns of a row to f8e4m3 under one power of two, 2^(exponent - 127).

    The greatest magnitude of the group gets 2^8 to 2^9, the binade of 448; exponents end at 0, and
    255 is that of a group with an infinity or a NaN, whose numbers all become NaN.
    """
    x = wide(c["src"])
    starts = range(0, x.shape[1], 32)
    exponents = np.zeros((x.shape[0], len(starts)), np.uint8)
    scaled = np.full(x.shape, np.nan)
    for r, row in enumerate(x):
        for g, start in enumerate(starts):
            group = row[start : start + 32]
            greatest = max(abs(float(v)) if v == v else np.inf for v in group)
            if greatest == np.inf:
                exponents[r, g] = 255
                continue
            power = frexp(greatest)[1] - 1 if greatest else -1000
            exponents[r, g] = max(power - 8 + 127, 0)
            scaled[r, start : start + 32] = np.ldexp(group, 127 - int(exponents[r, g]))
    return {"dst": to_eight(c, scaled), "exponents": exponents}


LAW: Law = {
    "tquant": quantise,
    "tquant.mx": quantise_groups,
    "tdequant": dequantise,
}
