"""One value a row, or one a column, spread over a tile."""

import numpy as np
from definitions.call import Array, Call, Definition, Lanes, Law, Results
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


def _together(c: Call, function: Binary, whole: Array, value: Array, is_swapped: bool) -> Results:
    """f(whole, value), whichever of them is src0: A2A3 tells them apart by shape.

    Whether A5 then swaps the operands of a difference or quotient is unknown.
    """
    result = function(c, whole, value)
    is_known = c.on_a2a3 or not is_swapped or function in (add, mul, larger, smaller)
    return {"dst": result} if is_known else {"dst": Lanes(result, np.array(False))}


def by_row(function: Binary) -> Definition:
    """dst[r, k] = f(src0[r, k], src1[r]), or the sources the other way round."""

    def define(c: Call) -> Results:
        if _is_full(c, "src0"):
            return _together(c, function, c["src0"], _row_value(c, "src1"), False)
        return _together(c, function, c["src1"], _row_value(c, "src0"), True)

    return define


def by_column(function: Binary) -> Definition:
    """dst[r, k] = f(src0[r, k], src1[k]), or the sources the other way round."""

    def define(c: Call) -> Results:
        a, b = c["src0"], c["src1"]
        if _is_full(c, "src0"):
            return _together(c, function, a, np.repeat(b[:1], c.rows, axis=0), False)
        return _together(c, function, b, np.repeat(a[:1], c.rows, axis=0), True)

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
