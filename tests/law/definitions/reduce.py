"""Reductions of rows and columns, in the orders in which the cores add."""

from functools import reduce

import numpy as np
from definitions.call import TYPES, Array, Call, Definition, Lanes, Law, Results
from definitions.elementwise import Binary, larger, smaller
from definitions.numbers import add, is_int, low_bits, mul, wide

VECTOR_BYTES = 256
BLOCK_BYTES = 32
NO_POST = ("1D_NO_POST_UPDATE", "2D_NO_POST_UPDATE")
# rows x columns of f32 that A2A3 reduces block by block: how often blocks are added before vcgadd
SHAPES = {(64, 128): "gpg", (32, 256): "gppg", (16, 512): "ggg", (8, 1024): "ggpg"}


def lanes_of(dtype: str) -> int:
    """Lanes of a vector."""
    return VECTOR_BYTES // TYPES[dtype].itemsize


def tree(c: Call, x: Array, width: int) -> Array:
    """vcadd: neighbours in pairs, each sum rounded; lanes that are not there are +0."""
    padded = np.zeros((x.shape[0], width), x.dtype)
    padded[:, : x.shape[1]] = x
    while padded.shape[1] > 1:
        padded = add(c, padded[:, 0::2], padded[:, 1::2])
    return padded


def row_sum(c: Call) -> Results:
    """dst[r] = the sum of row r of src."""
    x = c["src"]
    if is_int(c.src):
        total = x.astype(np.int64).sum(axis=1, keepdims=True)
        return {"dst": low_bits(total, c.src)}
    return {"dst": _a2a3_row_sum(c, x) if c.on_a2a3 else _a5_row_sum(c, x)}


def _a5_row_sum(c: Call, x: Array) -> Array:
    e = lanes_of(c.src)
    total = np.zeros((x.shape[0], 1), x.dtype)
    for start in range(0, x.shape[1], e):
        total = add(c, total, tree(c, x[:, start : start + e], e))
    return total


def _a2a3_row_sum(c: Call, x: Array) -> Array:
    shape = c.shapes["src"]
    if _is_block_tree(c):
        return _block_tree(c, x, SHAPES[(shape.rows, shape.cols)])
    e = lanes_of(c.src)
    whole, rest = divmod(x.shape[1], e)
    if whole < 1 or (whole == 1 and not rest):
        return tree(c, x, e)
    tail = x[:, whole * e :]
    parts = [x[:, k * e : (k + 1) * e] for k in range(whole)]
    if whole == 1:
        groups = parts
    else:
        groups = [add(c, parts[2 * i], parts[2 * i + 1]) for i in range(whole // 2)]
        if whole % 2:
            groups[0] = add(c, groups[0], parts[-1])
    if rest:
        groups[0] = groups[0].copy()
        groups[0][:, :rest] = add(c, groups[0][:, :rest], tail)
    while len(groups) > 1:
        pairs = [add(c, groups[2 * i], groups[2 * i + 1]) for i in range(len(groups) // 2)]
        if len(groups) % 2:
            pairs[-1] = add(c, pairs[-1], groups[-1])
        groups = pairs
    return tree(c, groups[0], e)


def _is_block_tree(c: Call) -> bool:
    src, dst = c.shapes["src"], c.shapes["dst"]
    is_full = src.static_cols and src.static_rows and src.stride == src.cols
    is_full = is_full and (src.valid_rows, src.valid_cols) == (src.rows, src.cols)
    return c.src == "f32" and not dst.row_major and is_full and (src.rows, src.cols) in SHAPES


def _block_tree(c: Call, x: Array, steps: str) -> Array:
    """g: every block of 8 becomes its sum; p: blocks in pairs, lane by lane."""
    rows = x.shape[0]
    for step in steps:
        if step == "g":
            x = tree(c, x.reshape(-1, 8), 8).reshape(rows, -1)
        else:
            blocks = x.reshape(rows, -1, 2, 8)
            x = add(c, blocks[:, :, 0], blocks[:, :, 1]).reshape(rows, -1)
    return x


def row_extreme(function: Binary) -> Definition:
    """dst[r] = the extreme of row r; the order does not matter."""

    def define(c: Call) -> Results:
        x = c["src"]
        return {"dst": reduce(lambda a, b: function(c, a, b), np.split(x, x.shape[1], axis=1))}

    return define


def row_product(c: Call) -> Results:
    """dst[r] = the product of row r."""
    x = c["src"]
    if is_int(c.src):
        columns = np.split(x, x.shape[1], axis=1)
        return {"dst": reduce(lambda a, b: mul(c, a, b), columns)}
    return {"dst": _a2a3_row_product(c, x) if c.on_a2a3 else _a5_row_product(c, x)}


def _a2a3_row_product(c: Call, x: Array) -> Array:
    """Block by block into the lanes of one block, then lane after lane."""
    lanes = BLOCK_BYTES // x.dtype.itemsize
    total = _folded(c, x, lanes)
    return reduce(lambda a, b: mul(c, a, b), np.split(total, lanes, axis=1))


def _a5_row_product(c: Call, x: Array) -> Array:
    """Vector by vector into the lanes of one, then its halves lane by lane."""
    total = _folded(c, x, lanes_of(c.src))
    while total.shape[1] > 1:
        near, far = np.split(total, 2, axis=1)
        total = mul(c, near, far)
    return total


def _folded(c: Call, x: Array, lanes: int) -> Array:
    total = np.ones((x.shape[0], lanes), x.dtype)
    for start in range(0, x.shape[1], lanes):
        part = x[:, start : start + lanes]
        total[:, : part.shape[1]] = mul(c, total[:, : part.shape[1]], part)
    return total


def arg(sign: int, axis: int) -> Definition:
    """The index of the first greatest (smallest) value; with NaN nobody says."""

    def define(c: Call) -> Results:
        x = c["src"]
        values = x.astype(np.float64) if is_int(c.src) else wide(x)
        best = np.argmax(sign * values, axis=axis, keepdims=True)
        unknown = np.isnan(values).any(axis=axis, keepdims=True)
        return {"dst": Lanes(best.astype(c.dst_type), ~unknown)}

    return define


def column_sum(c: Call) -> Results:
    """dst[0] = the sum of the rows: a tree where binary=true, else row after row (A5: by pairs)."""
    rows = list(np.split(c["src"], c["src"].shape[0]))
    if c.keys.get("binary") == "true" and c.has("tmp"):
        return {"dst": _column_tree(c, rows)}
    return {"dst": _columns(c, rows, add, np.zeros_like(rows[0]))}


def _column_tree(c: Call, rows: list[Array]) -> Array:
    """An odd last row goes to the first pair of its level on A2A3, to the last one on A5."""
    while len(rows) > 1:
        level = [add(c, rows[2 * i], rows[2 * i + 1]) for i in range(len(rows) // 2)]
        if len(rows) % 2:
            at = 0 if c.on_a2a3 else -1
            level[at] = add(c, level[at], rows[-1])
        rows = level
    return rows[0]


def _columns(c: Call, rows: list[Array], function: Binary, start: Array) -> Array:
    if c.on_a2a3:
        return reduce(lambda a, b: function(c, a, b), rows)
    if c.keys.get("vf_impl") in NO_POST:
        return reduce(lambda a, b: function(c, a, b), [start, *rows])
    total, rest = rows[0], rows[1:]
    while len(rest) >= 2:
        total = function(c, total, function(c, rest[0], rest[1]))
        rest = rest[2:]
    return function(c, total, rest[0]) if rest else total


def column_product(c: Call) -> Results:
    """dst[0] = the product of the rows, in the order of sums."""
    rows = list(np.split(c["src"], c["src"].shape[0]))
    return {"dst": _columns(c, rows, mul, np.full_like(rows[0], 1))}


def column_extreme(function: Binary) -> Definition:
    """dst[0] = the extreme of the rows."""

    def define(c: Call) -> Results:
        rows = np.split(c["src"], c["src"].shape[0])
        return {"dst": reduce(lambda a, b: function(c, a, b), rows)}

    return define


def pairs(c: Call) -> Results:
    """dst[r, k] = src[r, 2k] + src[r, 2k + 1]."""
    x = c["src"]
    return {"dst": add(c, x[:, 0::2][:, : c.cols], x[:, 1::2][:, : c.cols])}


LAW: Law = {
    "trowsum": row_sum,
    "trowmax": row_extreme(larger),
    "trowmin": row_extreme(smaller),
    "trowprod": row_product,
    "trowargmax": arg(1, 1),
    "trowargmin": arg(-1, 1),
    "tcolsum": column_sum,
    "tcolmax": column_extreme(larger),
    "tcolmin": column_extreme(smaller),
    "tcolprod": column_product,
    "tcolargmax": arg(1, 0),
    "tcolargmin": arg(-1, 0),
    "tpairreducesum": pairs,
}
