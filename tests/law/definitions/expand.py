"""One value a row, or one a column, spread over a tile."""

import numpy as np
from definitions.call import Array, Call, Definition, Law, Results
from definitions.division import quotient
from definitions.elementwise import Binary, larger, smaller
from definitions.numbers import add, exp, mul, sub


def exp_dif(c: Call, a: Array, b: Array) -> Array:
    """exp(a - b), the difference rounded first."""
    return exp(c, sub(c, a, b))


def _row_value(c: Call, name: str) -> Array:
    """A source of one value a row, or of one block a row that repeats, over the columns of dst."""
    x = c[name]
    block = 32 // x.dtype.itemsize
    if x.shape[1] == 1:
        return np.repeat(x, c.cols, axis=1)
    return x[:, np.arange(c.cols) % block]


def _is_full(c: Call, name: str) -> bool:
    return c[name].shape == (c.rows, c.cols) and c.shapes[name].row_major


def by_row(function: Binary) -> Definition:
    """dst[r, k] = f(src0[r, k], src1[r])."""

    def define(c: Call) -> Results:
        if "src0" in c.valid and not _is_full(c, "src0"):
            return {"dst": function(c, _row_value(c, "src0"), c["src1"])}
        return {"dst": function(c, c["src0"], _row_value(c, "src1"))}

    return define


def by_column(function: Binary) -> Definition:
    """dst[r, k] = f(src0[r, k], src1[k])."""

    def define(c: Call) -> Results:
        a, b = c["src0"], c["src1"]
        if a.shape[0] != c.rows:
            return {"dst": function(c, np.repeat(a[:1], c.rows, axis=0), b)}
        return {"dst": function(c, a, np.repeat(b[:1], c.rows, axis=0))}

    return define


def rows(c: Call) -> Results:
    """dst[r, k] = src[r]."""
    return {"dst": np.repeat(c["src"][:, :1], c.cols, axis=1)}


def columns(c: Call) -> Results:
    """dst[r, k] = src[0, k]."""
    return {"dst": np.repeat(c["src"][:1], c.rows, axis=0)}


_FUNCTIONS = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "div": quotient,
    "max": larger,
    "min": smaller,
    "expdif": exp_dif,
}
LAW: Law = {
    "trowexpand": rows,
    "tcolexpand": columns,
    **{f"trowexpand{name}": by_row(function) for name, function in _FUNCTIONS.items()},
    **{f"tcolexpand{name}": by_column(function) for name, function in _FUNCTIONS.items()},
}
