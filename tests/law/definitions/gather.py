"""Elements picked, placed, sorted, merged and turned; indices count elements of a tile."""

import numpy as np
from definitions.call import Array, Call, Lanes, Law, Results
from definitions.numbers import is_int, wide

PATTERNS = {"P0101": (2, 0), "P1010": (2, 1), "P1111": (1, 0)} | {
    f"P{'0' * (3 - i)}1{'0' * i}": (4, i) for i in range(4)
}
BLOCK_BYTES = 32


def _flat(c: Call, name: str, index: Array) -> Lanes:
    """Elements of a tile by their place in memory, rows `stride` elements apart.

    What lies outside the valid region of the tile is nobody's.
    """
    shape = c.shapes[name]
    row, column = index // shape.stride, index % shape.stride
    return Lanes(c.whole[name][row, column], (row < shape.valid_rows) & (column < shape.valid_cols))


def gather(c: Call) -> Results:
    """dst[r, k] = the element of src that indices[r, k] counts."""
    return {"dst": _flat(c, "src", c["indices"].astype(np.int64))}


def gather_compare(c: Call) -> Results:
    """The columns whose element is above (or equals) k, close together, and how many there are.

    What follows them in a row of dst is undefined.
    """
    src, k = c["src"], np.full_like(c["src"], c.scalar("k"))
    if not is_int(c.src):
        src, k = wide(src), wide(k)
    hits = src == k if c.keys.get("mode") == "eq" else src > k
    counts = hits.sum(axis=1, keepdims=True)
    out = np.zeros((c.rows, c.cols), np.int32)
    for row, found in enumerate(hits):
        columns = np.flatnonzero(found)
        out[row, : len(columns)] = columns
    return {"dst": Lanes(out, np.arange(c.cols) < counts), "cdst": counts.astype(np.int32)}


def gather_pattern(c: Call) -> Results:
    """The columns of src that the pattern keeps, close together; bit 0 is written last."""
    step, first = PATTERNS[c.keys["maskPattern"]]
    kept = c["src"][:, first::step]
    return {"dst": kept[:, : c.cols]}


def gather_blocks(c: Call) -> Results:
    """Blocks of 32 bytes, each from its offset in bytes."""
    dst = c["dst"]
    size = dst.dtype.itemsize
    block = BLOCK_BYTES // size
    column = np.arange(c.cols)
    starts = c["offsets"].astype(np.int64)[: c.rows, column // block] // size
    return {"dst": _flat(c, "src", starts + column % block)}


def scatter(c: Call) -> Results:
    """All of dst is zero but for the elements of src, each at its index; the last of equals wins.

    A5 does not say which of several lanes of one vector wins over the others: see the data.
    """
    shape, src = c.shapes["dst"], c["src"]
    out = np.zeros((shape.rows, shape.cols), src.dtype)
    for at, value in zip(c["indices"].astype(np.int64).ravel(), src.ravel(), strict=True):
        out[at // shape.stride, at % shape.stride] = value
    return {"dst": out}


def scatter_pattern(c: Call) -> Results:
    """The columns of dst that the pattern names take those of src in turn, all others zero."""
    step, first = PATTERNS[c.keys["maskPattern"]]
    shape = c.shapes["dst"]
    src = c["src"]
    out = np.zeros((src.shape[0], src.shape[1] * step), src.dtype)
    out[:, first::step] = src
    return {"dst": out[:, : shape.cols]}


def interleave(c: Call) -> Results:
    """src0[0], src1[0], src0[1], ...: the first half of a row to dst0, the rest to dst1."""
    a, b = c["src0"], c["src1"]
    both = np.stack([a, b], axis=2).reshape(a.shape[0], -1)
    return {"dst0": both[:, : a.shape[1]], "dst1": both[:, a.shape[1] :]}


def deinterleave(c: Call) -> Results:
    """Of src0 and src1 side by side the even elements to dst0, the odd ones to dst1."""
    both = np.concatenate([c["src0"], c["src1"]], axis=1)
    return {"dst0": both[:, 0::2], "dst1": both[:, 1::2]}


def records(values: Array, index: Array) -> Array:
    """Eight bytes each: the value, for half two bytes that nobody defines, a 32-bit index."""
    rows, cols = values.shape
    size = values.dtype.itemsize
    out = np.zeros((rows, cols, 8 // size), f"u{size}")
    out[:, :, 0] = values.view(f"u{size}")
    out[:, :, 4 // size :] = (
        np.ascontiguousarray(index.astype(np.uint32)).view(f"u{size}").reshape(rows, cols, -1)
    )
    return out.reshape(rows, -1)


def sort_groups(c: Call) -> Results:
    """Every 32 elements of a row in falling order, equal ones in the order of their indices.

    Nobody says where NaN goes: groups with one are left out.
    """
    values = c["src"]
    index = np.broadcast_to(c["idx"], values.shape) if c["idx"].shape[0] == 1 else c["idx"]
    ordered, moved, known = values.copy(), index.copy(), np.ones(values.shape, bool)
    for start in range(0, values.shape[1], 32):
        group = slice(start, start + 32)
        keys = wide(values[:, group])
        order = np.argsort(-keys, axis=1, kind="stable")
        ordered[:, group] = np.take_along_axis(values[:, group], order, axis=1)
        moved[:, group] = np.take_along_axis(index[:, group], order, axis=1)
        known[:, group] = ~np.isnan(keys).any(axis=1, keepdims=True)
    return {"dst": _defined_records(ordered, moved, known)}


def _defined_records(values: Array, index: Array, known: Array) -> Lanes:
    size = values.dtype.itemsize
    parts = 8 // size
    defined = np.repeat(known, parts, axis=1)
    if size == 2:
        defined &= np.arange(defined.shape[1]) % parts != 1
    return Lanes(records(values, index), defined)


def _merged(parts: list[Array], size: int) -> Array:
    """Rows of records (values first) merged in falling order; earlier lists win ties."""
    both = np.concatenate(parts)
    to = np.float32 if size == 4 else np.float16
    keys = np.ascontiguousarray(both[:, 0]).view(to).astype(np.float64)
    return both[np.argsort(-keys, kind="stable")]


def _records_of(x: Array) -> Array:
    size = x.dtype.itemsize
    return np.ascontiguousarray(x).view(f"u{size}").reshape(-1, 8 // size)


def merge_single(c: Call) -> Results:
    """Four blocks of blockLen elements after each other are merged into one, along the row."""
    src = c["src"]
    size = src.dtype.itemsize
    length = int(c.scalars["blockLen"]) * size // 8
    rest = _records_of(src)
    out = [
        _merged([rest[at + k * length : at + (k + 1) * length] for k in range(4)], size)
        for at in range(0, len(rest) - 4 * length + 1, 4 * length)
    ]
    return {"dst": np.concatenate(out).reshape(1, -1)}


def merge_lists(c: Call) -> Results:
    """Two to four lists merged, and how many records of each were taken.

    exhausted=true ends with the first list that is used up; what follows then is undefined.
    """
    lists = [_records_of(c[f"src{k}"]) for k in range(4) if c.has(f"src{k}")]
    size = c["src0"].dtype.itemsize
    numbered = [np.insert(part, part.shape[1], k, axis=1) for k, part in enumerate(lists)]
    out = _merged(numbered, size)
    owner, out = out[:, -1], out[:, :-1]
    taken = len(out)
    if c.keys.get("exhausted") == "true":
        taken = min(int(np.flatnonzero(owner == k)[-1]) + 1 for k in range(len(lists)))
    counts = np.array([[np.count_nonzero(owner[:taken] == k) for k in range(4)]], np.uint16)
    known = np.repeat(np.arange(len(out)) < taken, out.shape[1])[None]
    return {"dst": Lanes(out.reshape(1, -1), known), "executed": counts}


def transpose(c: Call) -> Results:
    """dst[k, r] = src[r, k]."""
    return {"dst": np.ascontiguousarray(c["src"].T)}


LAW: Law = {
    "tgather": gather,
    "tgather.compare": gather_compare,
    "tgather.pattern": gather_pattern,
    "tgatherb": gather_blocks,
    "tscatter": scatter,
    "tscatter.pattern": scatter_pattern,
    "tinterleave": interleave,
    "tdeinterleave": deinterleave,
    "tsort32": sort_groups,
    "tmrgsort": merge_lists,
    "tmrgsort.single": merge_single,
    "ttrans": transpose,
}
