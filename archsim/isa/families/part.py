"""Instructions on tiles of which one may be smaller, and side by side: TPART*, TCONCAT."""

from collections.abc import Mapping

from archsim.isa.pipes import Pipe
from archsim.isa.rules import POSITIVE, Constraint, Rules, same_dtype, same_valid, tiles
from archsim.isa.tile_op import A2A3_ARITH, A5_ALL, BINARY, DST, FLOATS, Arg, TileOp, both, same

_ARG_OUTS = (Arg("dst", "tile"), Arg("dstIdx", "tile", dtype="i32"))
_ARG_INS = (
    *BINARY,
    Arg("src0Idx", "tile", dtype="i32"),
    Arg("src1Idx", "tile", dtype="i32"),
)


def _part(name: str, uop: str, symbol: str) -> TileOp:
    return TileOp(
        name,
        "part",
        Pipe.V,
        DST,
        BINARY,
        {"a2a3": same(A2A3_ARITH), "a5": same(A5_ALL)},
        {"a2a3": uop, "a5": uop.upper()},
        f"dst = {symbol} where both sources are valid, else the one that is",
    )


def _part_arg(name: str, mode: str, symbol: str) -> TileOp:
    return TileOp(
        name,
        "part_arg",
        Pipe.V,
        _ARG_OUTS,
        _ARG_INS,
        both(same(FLOATS)),
        {"a2a3": f"vcmp_{mode}", "a5": "VCMP"},
        f"dst, dstIdx = src0, src0Idx where src0 {symbol} src1, else src1, src1Idx; where only one"
        " source is valid, that one",
    )


ROWS = (
    _part("TPARTADD", "vadd", "src0 + src1"),
    _part("TPARTMUL", "vmul", "src0 * src1"),
    _part("TPARTMAX", "vmax", "max(src0, src1)"),
    _part("TPARTMIN", "vmin", "min(src0, src1)"),
    _part_arg("TPARTARGMAX", "ge", ">="),
    _part_arg("TPARTARGMIN", "le", "<="),
    TileOp(
        "TCONCAT",
        "concat",
        Pipe.V,
        (Arg("dst", "tile", shape="double"),),
        BINARY,
        {"a2a3": same("i16 u16 i32 u32 f16 bf16 f32"), "a5": same(A5_ALL)},
        {"a2a3": "vcopy"},
        "dst[r] = src0[r] and src1[r] behind each other",
    ),
)
_SOURCES = (
    Constraint(
        "one_covers",
        ("src0", "src1", "dst"),
        "one source has the valid region of dst, the other lies in it",
    ),
    Constraint(
        "apart_if_narrower",
        ("src0", "src1", "dst"),
        "dst does not overlap a source of fewer columns",
    ),
)
RULES: Mapping[str, Rules] = {
    "part": (
        *tiles("dst", "src0", "src1"),
        same_dtype("src0", "dst"),
        same_dtype("src1", "dst"),
        POSITIVE,
        *_SOURCES,
    ),
    "part_arg": (
        *tiles("dst", "dstIdx", "src0", "src1", "src0Idx", "src1Idx"),
        same_dtype("src0", "dst"),
        same_dtype("src1", "dst"),
        Constraint("index_dtype", ("dstIdx",), "dstIdx is i32 or u32"),
        same_dtype("src0Idx", "dstIdx"),
        same_dtype("src1Idx", "dstIdx"),
        POSITIVE,
        *same_valid("dstIdx"),
        Constraint("same_valid", ("src0Idx", "src0"), "src0Idx has the valid region of src0"),
        Constraint("same_valid", ("src1Idx", "src1"), "src1Idx has the valid region of src1"),
        *_SOURCES,
        Constraint(
            "apart_if_narrower",
            ("src0Idx", "src1Idx", "dstIdx"),
            "dstIdx does not overlap the indices of a source of fewer columns",
        ),
    ),
    "concat": (
        *tiles("dst", "src0", "src1"),
        same_dtype("src0", "dst"),
        same_dtype("src1", "dst"),
        Constraint("same_valid_rows", ("src0", "dst"), "src0 has the valid rows of dst"),
        Constraint("same_valid_rows", ("src1", "dst"), "src1 has the valid rows of dst"),
        Constraint(
            "columns_add_up",
            ("dst", "src0", "src1"),
            "dst has the valid columns of src0 and src1 together",
        ),
        Constraint("apart", ("dst", "src1"), "dst and src1 do not overlap"),
    ),
}
OWN: Mapping[str, Mapping[str, Rules]] = {}
