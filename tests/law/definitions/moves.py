"""Movement: the same bits elsewhere; and what the scalar unit reads and writes."""

import numpy as np
from definitions.call import Call, Lanes, Law, Results
from definitions.fill import padding
from definitions.numbers import add, maximum, minimum


def copy(c: Call) -> Results:
    """dst = src, bit for bit."""
    return {"dst": c["src"]}


def load(c: Call) -> Results:
    """dst = the window; with a pad value the rest of the last block of a row takes it."""
    src, shape = c["src"], c.shapes["dst"]
    if shape.pad == "null":
        return {"dst": src}
    block = 32 // src.dtype.itemsize
    width = src.shape[1] + (shape.cols - src.shape[1]) % block
    out = np.full((src.shape[0], width), padding(c.dst, shape.pad))
    out[:, : src.shape[1]] = src
    # A2A3 pads to the block; how far A5 pads is unknown.
    said = np.arange(width) < (width if c.on_a2a3 else src.shape[1])
    return {"dst": Lanes(out, said)}


def store(c: Call) -> Results:
    """The window = src; atomic=add adds to what it held."""
    held, src = c["dst"], c["src"]
    kind = c.keys.get("atomic")
    if kind == "add":
        return {"dst": add(c, held, src)}
    if kind in ("max", "min"):
        return {"dst": maximum(held, src) if kind == "max" else minimum(held, src)}
    return {"dst": src}


def expands(c: Call) -> Results:
    """Every valid lane is the scalar."""
    return {"dst": np.full_like(c["dst"], c.scalar("scalar", c.dst))}


LAW: Law = {
    "tmov": copy,
    "tload": load,
    "tstore": store,
    "texpands": expands,
}
