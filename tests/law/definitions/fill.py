"""Tiles filled by rule: padding, consecutive numbers, triangles."""

import numpy as np
from definitions.call import TYPES, Call, Law, Results
from definitions.numbers import low_bits
from numpy import generic


def padding(dtype: str, pad: str) -> generic:
    """The value of a padding: zero, or the type's greatest or least, infinite for floats."""
    to = TYPES[dtype]
    if pad in ("zero", "null"):
        return np.zeros(1, to)[0]
    if dtype[0] in "iu":
        info = np.iinfo(to)
        return to.type(info.max if pad == "max" else info.min)
    return np.array([np.inf if pad == "max" else -np.inf], np.float32).astype(to)[0]


def fill_pad(c: Call) -> Results:
    """The whole of dst: src where src is valid, the pad value elsewhere."""
    shape, src = c.shapes["dst"], c["src"]
    out = np.full((shape.rows, shape.cols), padding(c.dst, shape.pad))
    out[: src.shape[0], : src.shape[1]] = src
    return {"dst": out}


def fill_in_place(c: Call) -> Results:
    """The same, src being dst."""
    return {**fill_pad(c), "src": c["src"]}


def consecutive(c: Call) -> Results:
    """start + k, or start - k, for the k-th valid element, row after row."""
    sign = -1 if c.keys.get("descending") == "true" else 1
    numbers = int(c.scalars["start"]) + sign * np.arange(c.rows * c.cols)
    return {"dst": low_bits(numbers.reshape(c.rows, c.cols), c.dst)}


def triangle(c: Call) -> Results:
    """1 on and below the diagonal (upper: on and above it), 0 elsewhere."""
    row, col = np.indices((c.rows, c.cols))
    diagonal = int(c.scalars["diagonal"])
    is_upper = c.keys.get("upper") == "true"
    inside = col - row >= diagonal if is_upper else col - row <= diagonal
    return {"dst": inside.astype(np.float32).astype(c.dst_type)}


WORD = (1 << 32) - 1


def philox(key: tuple[int, int], counter: int, rounds: int) -> tuple[int, ...]:
    """Philox4x32 as published by Salmon and others (SC 2011): four words of a 128-bit counter."""
    k0, k1 = key
    x = [counter >> 32 * i & WORD for i in range(4)]
    for _ in range(rounds):
        a, b = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [b >> 32 ^ x[1] ^ k0, b & WORD, a >> 32 ^ x[3] ^ k1, a & WORD]
        k0, k1 = k0 + 0x9E3779B9 & WORD, k1 + 0xBB67AE85 & WORD
    return tuple(x)


def random(c: Call) -> Results:
    """Four neighbours of a row are the words of one counter; counters run on through the rows."""
    key = (int(c.scalars["key0"]) & WORD, int(c.scalars["key1"]) & WORD)
    start = sum((int(c.scalars[f"counter{i}"]) & WORD) << 32 * i for i in range(4))
    rounds, quads = int(c.keys.get("rounds", "10")), -(-c.cols // 4)
    out = [
        [word for q in range(quads) for word in philox(key, start + r * quads + q, rounds)]
        for r in range(c.rows)
    ]
    return {"dst": low_bits(np.array(out, np.int64)[:, : c.cols], c.dst)}


def histogram(c: Call) -> Results:
    """How many elements of a row have each byte; the low byte counts where the high one is idx."""
    src = c["src"].astype(np.int64)
    out = np.zeros((c.rows, 256), np.int64)
    for r in range(c.rows):
        row = src[r]
        if c.src == "u16":
            high = c.keys.get("byte", "1") == "1"
            row = row >> 8 if high else row[row >> 8 == int(c["idx"][r, 0])] & 255
        out[r] = np.bincount(row, minlength=256)
    return {"dst": low_bits(out, c.dst)}


LAW: Law = {
    "tfillpad": fill_pad,
    "tfillpad_expand": fill_pad,
    "tfillpad_inplace": fill_in_place,
    "tci": consecutive,
    "ttri": triangle,
    "trandom": random,
    "thistogram": histogram,
}
