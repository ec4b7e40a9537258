"""Comparisons to packed bits, and selections by them."""

import operator

import numpy as np
from definitions.call import Array, Bits, Call, Law, Results
from definitions.numbers import as_type, is_int, wide

MODES = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def _true(a: Array, b: Array, mode: str, dtype: str) -> Array:
    if not is_int(dtype):
        a, b = wide(a), wide(b)
    with np.errstate(all="ignore"):
        return MODES[mode](a, b)


def tiles(c: Call) -> Results:
    """Bit (r, k) of dst; A2A3 compares i32 for equality whatever the mode, NE inverts that."""
    mode = c.keys.get("mode", "eq")
    if c.on_a2a3 and c.src == "i32" and mode != "ne":
        mode = "eq"
    return {"dst": Bits(_true(c["src0"], c["src1"], mode, c.src))}


def scalar(c: Call) -> Results:
    """The same with one value; A2A3 reads i16 and u16 as halves."""
    mode, a, dtype = c.keys.get("mode", "eq"), c["src"], c.src
    b = np.full_like(a, c.scalar())
    if c.on_a2a3 and dtype == "i32" and mode != "ne":
        mode = "eq"
    if c.on_a2a3 and dtype in ("i16", "u16"):
        a, b, dtype = as_type(a, "f16"), as_type(b, "f16"), "f16"
    return {"dst": Bits(_true(a, b, mode, dtype))}


def _bits(c: Call, rows: int, cols: int) -> Array:
    """The first `cols` bits of each row of the mask."""
    packed = np.ascontiguousarray(c.whole["mask"][:rows]).view(np.uint8)
    return np.unpackbits(packed, axis=1, bitorder="little")[:, :cols].astype(bool)


def select(c: Call) -> Results:
    """src0 where the bit is 1, else src1; bits are kept."""
    return {"dst": np.where(_bits(c, c.rows, c.cols), c["src0"], c["src1"])}


def select_scalar(c: Call) -> Results:
    """src where the bit is 1, else the scalar."""
    src = c["src"]
    return {"dst": np.where(_bits(c, c.rows, c.cols), src, np.full_like(src, c.scalar()))}


LAW: Law = {"tcmp": tiles, "tcmps": scalar, "tsel": select, "tsels": select_scalar}
