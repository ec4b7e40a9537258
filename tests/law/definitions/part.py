"""Tiles of which one may be smaller, and tiles side by side."""

import numpy as np
from definitions.call import Array, Call, Definition, Lanes, Law, Results
from definitions.elementwise import Binary, larger, smaller
from definitions.numbers import add, mul, wide


def _grown(c: Call, name: str) -> tuple[Array, Array]:
    """A source in the extent of dst, and where it is valid."""
    small = c[name]
    values = np.zeros((c.rows, c.cols), small.dtype)
    inside = np.zeros((c.rows, c.cols), bool)
    values[: small.shape[0], : small.shape[1]] = small
    inside[: small.shape[0], : small.shape[1]] = True
    return values, inside


def part(function: Binary) -> Definition:
    """f(src0, src1) where both are valid; else the one that is."""

    def define(c: Call) -> Results:
        (a, a_in), (b, b_in) = _grown(c, "src0"), _grown(c, "src1")
        return {"dst": np.where(a_in & b_in, function(c, a, b), np.where(a_in, a, b))}

    return define


def part_arg(sign: int) -> Definition:
    """The greater (smaller) value and its index; the first source wins ties, NaN is undefined."""

    def define(c: Call) -> Results:
        (a, a_in), (b, b_in) = _grown(c, "src0"), _grown(c, "src1")
        (i, _), (j, _) = _grown(c, "src0Idx"), _grown(c, "src1Idx")
        with np.errstate(all="ignore"):
            first = np.where(a_in & b_in, sign * wide(a) >= sign * wide(b), a_in)
        known = ~(a_in & b_in & (np.isnan(wide(a)) | np.isnan(wide(b))))
        return {
            "dst": Lanes(np.where(first, a, b), known),
            "dstIdx": Lanes(np.where(first, i, j), known),
        }

    return define


def concat(c: Call) -> Results:
    """The columns of src0, then those of src1."""
    return {"dst": np.concatenate([c["src0"], c["src1"]], axis=1)}


LAW: Law = {
    "tpartadd": part(add),
    "tpartmul": part(mul),
    "tpartmax": part(larger),
    "tpartmin": part(smaller),
    "tpartargmax": part_arg(1),
    "tpartargmin": part_arg(-1),
    "tconcat": concat,
}
