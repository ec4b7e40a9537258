"""Broadcasts of one value a row or one a column, alone and in operations with a whole tile."""

from collections.abc import Mapping

from archsim.isa.pipes import Pipe
from archsim.isa.rules import (
    POSITIVE,
    TMP_PLACE,
    Constraint,
    Rules,
    in_vec,
    row_major,
    same_dtype,
    tiles,
)
from archsim.isa.tile_op import (
    A2A3_ARITH,
    A5_ALL,
    COPY,
    DST,
    FLOATS,
    TMP,
    VF_IMPL,
    Arg,
    TileOp,
    both,
    same,
)

_KINDS = {  # micro-op of A2A3, element types of A2A3 and A5, what it computes
    "ADD": ("vadd", A2A3_ARITH, A5_ALL, "{a} + {b}"),
    "SUB": ("vsub", A2A3_ARITH, A5_ALL, "{a} - {b}"),
    "MUL": ("vmul", A2A3_ARITH, A5_ALL, "{a} * {b}"),
    "DIV": ("vdiv", FLOATS, FLOATS, "{a} / {b}"),
    "MAX": ("vmax", A2A3_ARITH, A5_ALL, "max({a}, {b})"),
    "MIN": ("vmin", A2A3_ARITH, A5_ALL, "min({a}, {b})"),
    "EXPDIF": ("", FLOATS, FLOATS, "exp({a} - {b})"),
}


def _operation(along: str, kind: str) -> TileOp:
    uop, a2a3, a5, formula = _KINDS[kind]
    shape, index, scratch = ("col", "r", (TMP,)) if along == "ROW" else ("row", "c", ())
    return TileOp(
        f"T{along}EXPAND{kind}",
        f"{along.lower()}_expand_op",
        Pipe.V,
        DST,
        (Arg("src0", "tile"), Arg("src1", "tile", shape=shape), *scratch),
        {"a2a3": same(a2a3), "a5": same(a5)},
        {"a2a3": uop, "a5": uop.upper()} if uop else {},
        "dst[r, c] = " + formula.format(a="src0[r, c]", b=f"src1[{index}]"),
        keys=VF_IMPL,
    )


def _broadcast(along: str, shape: str, index: str) -> TileOp:
    return TileOp(
        f"T{along}EXPAND",
        f"{along.lower()}_expand",
        Pipe.V,
        DST,
        (Arg("src", "tile", shape=shape),),
        both(same(COPY)),
        {},
        f"dst[r, c] = src[{index}]",
        keys=VF_IMPL,
    )


ROWS = (
    _broadcast("ROW", "col", "r"),
    *(_operation("ROW", kind) for kind in _KINDS),
    _broadcast("COL", "row", "c"),
    *(_operation("COL", kind) for kind in _KINDS),
)
_OPERATION = (
    *in_vec("dst", "src0", "src1"),
    *row_major("dst"),
    same_dtype("src0", "dst"),
    same_dtype("src1", "dst"),
    POSITIVE,
)
RULES: Mapping[str, Rules] = {
    "row_expand": (
        *in_vec("dst", "src"),
        *row_major("dst"),
        Constraint("column_tile", ("src",), "src is row-major, or column-major with one column"),
        same_dtype("src", "dst"),
        Constraint("same_valid_rows", ("src", "dst"), "src has the valid rows of dst"),
        POSITIVE,
    ),
    "row_expand_op": (
        *_OPERATION,
        Constraint(
            "row_operands",
            ("src0", "src1", "dst"),
            "one source is row-major with the valid region of dst; the other has its valid rows and"
            " is column-major with one column, or row-major with 32 bytes of valid columns",
        ),
    ),
    "col_expand": (
        *tiles("dst", "src"),
        same_dtype("src", "dst"),
        Constraint("same_valid_cols", ("src", "dst"), "src has the valid columns of dst"),
        POSITIVE,
    ),
    "col_expand_op": (
        *_OPERATION,
        *row_major("src0", "src1"),
        Constraint(
            "col_operands",
            ("src0", "src1", "dst"),
            "one source has the valid region of dst, the other its valid columns",
        ),
    ),
}
OWN: Mapping[str, Mapping[str, Rules]] = {
    "a2a3": {
        "row_expand_op": (
            *TMP_PLACE,
            Constraint(
                "tmp_for_column", ("tmp", "src0", "src1"), "tmp goes with a column-major source"
            ),
            Constraint("reduce_scratch_holds", ("tmp",), "tmp holds a block for each row"),
        ),
    },
    "a5": {
        "row_expand": (
            Constraint("one_valid_col", ("src",), "src has one valid column, or a dynamic number"),
        ),
    },
}
