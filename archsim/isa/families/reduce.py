"""Reductions along rows, down columns and of pairs."""

from collections.abc import Mapping

from archsim.isa.pipes import Pipe
from archsim.isa.rules import NEEDS_TMP, TMP_PLACE, Constraint, Rules, in_vec, same_dtype, tiles
from archsim.isa.tile_op import (
    A2A3_ARITH,
    A5_ALL,
    A5_MUL,
    FLOATS,
    TMP,
    UNARY,
    VF_IMPL,
    Arg,
    TileOp,
    both,
    pairs,
    same,
)

_COLUMN = (Arg("dst", "tile", shape="col"),)
_ROW = (Arg("dst", "tile", shape="row"),)
_INS = (*UNARY, TMP)
_INDEX_TYPES = both(pairs(" ".join(f"{t}>{i}" for t in FLOATS.split() for i in ("i32", "u32"))))


def _rows(name: str, family: str, uops: str, a5_types: str, summary: str) -> TileOp:
    """A reduction of each row; `uops` are the micro-ops of A2A3 and of A5."""
    a2a3, a5 = uops.split()
    types = {"a2a3": same(A2A3_ARITH), "a5": same(a5_types)}
    named = {"a2a3": a2a3, "a5": a5}
    return TileOp(name, family, Pipe.V, _COLUMN, _INS, types, named, summary, keys=VF_IMPL)


def _columns(name: str, family: str, uop: str, a5_types: str, summary: str) -> TileOp:
    """A reduction of each column."""
    types = {"a2a3": same(A2A3_ARITH), "a5": same(a5_types)}
    ins: tuple[Arg, ...] = UNARY
    keys = VF_IMPL
    if name == "TCOLSUM":
        ins, keys = _INS, {"binary": ("true", "false"), **VF_IMPL}
    uops = {"a2a3": uop, "a5": uop.upper()}
    return TileOp(name, family, Pipe.V, _ROW, ins, types, uops, summary, keys=keys)


def _arg(name: str, family: str, shape: str, uops: str, summary: str) -> TileOp:
    """The place of an extreme value; the first one where several are equal."""
    a2a3, a5 = uops.split()
    outs = (Arg("dst", "tile", shape=shape, dtype="i32"),)
    named = {"a2a3": a2a3, "a5": a5}
    return TileOp(name, family, Pipe.V, outs, _INS, _INDEX_TYPES, named, summary, keys=VF_IMPL)


_SUM = "f16 f32 i32 i16"
_EXTREME = "f16 f32 i32 i16 i8 u8"
ROWS = (
    _rows("TROWSUM", "row_reduce", "vcadd VCADD", _SUM, "dst[r] = sum of src[r, :]"),
    _rows("TROWMAX", "row_reduce", "vcmax VCMAX", _EXTREME, "dst[r] = max of src[r, :]"),
    _rows("TROWMIN", "row_reduce", "vcmin VCMIN", _EXTREME, "dst[r] = min of src[r, :]"),
    _rows("TROWPROD", "row_product", "vmul VMUL", _SUM, "dst[r] = product of src[r, :]"),
    _arg("TROWARGMAX", "row_arg", "col", "vcmax VCMAX", "dst[r] = column of the max of src[r, :]"),
    _arg("TROWARGMIN", "row_arg", "col", "vcmin VCMIN", "dst[r] = column of the min of src[r, :]"),
    _columns("TCOLSUM", "col_sum", "vadd", A5_ALL, "dst[c] = sum of src[:, c]"),
    _columns("TCOLMAX", "col_reduce", "vmax", A5_ALL, "dst[c] = max of src[:, c]"),
    _columns("TCOLMIN", "col_reduce", "vmin", A5_ALL, "dst[c] = min of src[:, c]"),
    _columns("TCOLPROD", "col_reduce", "vmul", A5_MUL, "dst[c] = product of src[:, c]"),
    _arg("TCOLARGMAX", "col_arg", "row", "vcmp_ge VCMP", "dst[c] = row of the max of src[:, c]"),
    _arg("TCOLARGMIN", "col_arg", "row", "vcmp_le VCMP", "dst[c] = row of the min of src[:, c]"),
    TileOp(
        "TPAIRREDUCESUM",
        "pair_sum",
        Pipe.V,
        (Arg("dst", "tile", shape="half"),),
        UNARY,
        both(same(FLOATS)),
        {"a2a3": "vcpadd", "a5": "VCPADD"},
        "dst[r, c] = src[r, 2c] + src[r, 2c+1]",
    ),
)
_NOT_EMPTY = Constraint("positive_valid", ("src",), "src has at least one valid row and column")
COLUMN_OR_ROWS = "is row-major, or column-major with one column"
_ALONG = (
    *in_vec("dst", "src"),
    Constraint("row_major", ("src",), "src is row-major"),
    Constraint("column_tile", ("dst",), f"dst {COLUMN_OR_ROWS}"),
    Constraint("same_valid_rows", ("src", "dst"), "src has the valid rows of dst"),
    _NOT_EMPTY,
)
_DOWN = (
    *tiles("dst", "src"),
    Constraint("same_valid_cols", ("src", "dst"), "src has the valid columns of dst"),
    _NOT_EMPTY,
)
_INDICES = Constraint("index_dtype", ("dst",), "dst is i32 or u32")
_HOLDS = Constraint("reduce_scratch_holds", ("tmp",), "tmp holds what the reduction puts there")
_SCRATCH = (NEEDS_TMP, *TMP_PLACE, _HOLDS)
RULES: Mapping[str, Rules] = {
    "row_reduce": (*_ALONG, same_dtype("src", "dst")),
    "row_product": (*_ALONG, same_dtype("src", "dst")),
    "row_arg": (*_ALONG, _INDICES),
    "col_sum": (*_DOWN, same_dtype("src", "dst"), *_SCRATCH),
    "col_reduce": (*_DOWN, same_dtype("src", "dst")),
    "col_arg": (*_DOWN, _INDICES),
    "pair_sum": (
        *tiles("dst", "src"),
        same_dtype("src", "dst"),
        Constraint("same_valid_rows", ("src", "dst"), "src has the valid rows of dst"),
        Constraint("twice_the_cols", ("src", "dst"), "src has twice the valid columns of dst"),
        _NOT_EMPTY,
    ),
}
OWN: Mapping[str, Mapping[str, Rules]] = {
    "a2a3": {
        "row_reduce": _SCRATCH,
        "row_product": _SCRATCH,
        "row_arg": _SCRATCH,
        "col_arg": _SCRATCH,
    }
}
