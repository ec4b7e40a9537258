"""Movement: the same bits elsewhere; and what the scalar unit reads and writes."""

import numpy as np
from definitions.call import READ, Call, Lanes, Law, Results
from definitions.fill import padding
from definitions.numbers import add, maximum, minimum, wide


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
        total = add(c, held, src)
        # Whether global memory obeys the profile of the vector core is unknown.
        known = np.full(total.shape, True)
        if c.src == "f16":
            known = np.abs(wide(held) + wide(src)) < 65504
        return {"dst": Lanes(total, known)}
    if kind in ("max", "min"):
        return {"dst": maximum(held, src) if kind == "max" else minimum(held, src)}
    return {"dst": src}


def expands(c: Call) -> Results:
    """Every valid lane is the scalar."""
    return {"dst": np.full_like(c["dst"], c.scalar("scalar", c.dst))}


def extract(c: Call) -> Results:
    """dst[r, k] = src[row + r, col + k]."""
    row, col = int(c.scalars["row"]), int(c.scalars["col"])
    return {"dst": c.whole["src"][row : row + c.rows, col : col + c.cols]}


def insert(c: Call) -> Results:
    """dst[row + r, col + k] = src[r, k]; the rest of dst stays."""
    row, col, src = int(c.scalars["row"]), int(c.scalars["col"]), c["src"]
    out, said = c.whole["dst"].copy(), np.zeros(c.whole["dst"].shape, bool)
    place = (slice(row, row + src.shape[0]), slice(col, col + src.shape[1]))
    out[place], said[place] = src, True
    return {"dst": Lanes(out, said)}


def gather_memory(c: Call) -> Results:
    """dst[r, k] = the element of a tensor that idx[r, k] counts."""
    return {"dst": c["mem"].ravel()[c["idx"].astype(np.int64)]}


def scatter_memory(c: Call) -> Results:
    """The element of a tensor that idx[r, k] counts = src[r, k]; the last of equals stays."""
    out = c["mem"].copy()
    flat = out.reshape(-1)
    for at, value in zip(c["idx"].astype(np.int64).ravel(), c["src"].ravel(), strict=True):
        flat[at] = value
    return {"mem": out}


def nothing(c: Call) -> Results:
    """No memory on the chip changes."""
    return {}


def _cell(c: Call, name: str) -> tuple[int, int]:
    row, column = divmod(int(c.scalars["offset"]), c.shapes[name].stride)
    return row, column


def set_value(c: Call) -> Results:
    """The element of dst that offset counts through memory = val."""
    out, said = c.whole["dst"].copy(), np.zeros(c.whole["dst"].shape, bool)
    out[_cell(c, "dst")], said[_cell(c, "dst")] = c.scalar("val", c.dst), True
    return {"dst": Lanes(out, said)}


def get_value(c: Call) -> Results:
    """What the scalar unit reads: the element of src that offset counts through memory."""
    return {READ: np.array([[c.whole["src"][_cell(c, "src")]]])}


LAW: Law = {
    "tmov": copy,
    "tload": load,
    "tstore": store,
    "texpands": expands,
    "textract": extract,
    "tinsert": insert,
    "mgather": gather_memory,
    "mscatter": scatter_memory,
    "tprefetch": nothing,
    "tsetval": set_value,
    "tgetval": get_value,
}
