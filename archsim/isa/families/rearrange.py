"""Elements at other places: TTRANS, TGATHER, TGATHERB, TSCATTER, TINTERLEAVE, TDEINTERLEAVE."""

from collections.abc import Mapping

from archsim.isa.patterns import PATTERNS
from archsim.isa.pipes import Pipe
from archsim.isa.rules import (
    NEEDS_TMP,
    TMP_PLACE,
    Constraint,
    Rules,
    apart,
    same_dtype,
    same_valid,
    tiles,
)
from archsim.isa.tile_op import (
    A5_ALL,
    BINARY,
    COPY,
    DST,
    TMP,
    UNARY,
    Arg,
    TileOp,
    both,
    pairs,
    same,
)

_WIDE = same("i16 u16 i32 u32 f16 bf16 f32")  # elements of two or four bytes
_PATTERN = {"maskPattern": tuple(PATTERNS)}
_COMPARED = {"a2a3": "f16 f32", "a5": "i16 u16 i32 u32 f16 f32"}
_DST2 = (Arg("dst0", "tile"), Arg("dst1", "tile"))
_NO_INTERLEAVE = "its vector unit has no interleaving micro-op"

ROWS = (
    TileOp(
        "TTRANS",
        "transpose",
        Pipe.V,
        (Arg("dst", "tile", shape="transposed"),),
        (*UNARY, TMP),
        both(same(COPY)),
        {"a5": "VGATHER2"},
        "dst[c, r] = src[r, c]",
    ),
    TileOp(
        "TGATHER",
        "gather",
        Pipe.V,
        DST,
        (*UNARY, Arg("indices", "tile", dtype="i32"), TMP),
        {"a2a3": _WIDE, "a5": same(COPY)},
        {"a2a3": "vgather", "a5": "VGATHER2"},
        "dst[r, c] = element indices[r, c] of src, counted row by row through the whole tile",
        form="index",
    ),
    TileOp(
        "TGATHER",
        "gather_pattern",
        Pipe.V,
        (Arg("dst", "tile", shape="kept"),),
        UNARY,
        {"a2a3": _WIDE, "a5": same(COPY)},
        {"a2a3": "vreducev2", "a5": "VSQZ"},
        "dst[r] = the columns of src[r] that the pattern keeps, together; P0101 keeps 0, 2, ..",
        keys=_PATTERN,
        form="pattern",
        requires=("maskPattern",),
    ),
    TileOp(
        "TGATHER",
        "gather_compare",
        Pipe.V,
        (Arg("dst", "tile"), Arg("cdst", "tile", shape="col", dtype="i32")),
        (*UNARY, Arg("k", "scalar"), TMP),
        {
            isa: pairs(" ".join(f"{t}>i32 {t}>u32" for t in types.split()))
            for isa, types in _COMPARED.items()
        },
        {"a2a3": "vreducev2", "a5": "VSQZ"},
        "dst[r] = the columns c with src[r, c] > k (or == k), close together; cdst[r] = how many",
        keys={"mode": ("gt", "eq")},
        form="compare",
        requires=("mode",),
    ),
    TileOp(
        "TGATHERB",
        "gather_blocks",
        Pipe.V,
        DST,
        (*UNARY, Arg("offsets", "tile", shape="blocks", dtype="u32")),
        {"a2a3": _WIDE, "a5": same(COPY)},
        {"a2a3": "vgatherb", "a5": "VGATHERB"},
        "block b of dst[r] = the 32 bytes of src at byte offset offsets[r, b]",
    ),
    TileOp(
        "TSCATTER",
        "scatter",
        Pipe.V,
        DST,
        (*UNARY, Arg("indices", "tile", dtype="index")),
        both(same(COPY)),
        {"a2a3": "scalar_scatter", "a5": "VSCATTER"},
        "dst = 0, then element indices[r, c] of dst = src[r, c]",
        form="index",
        pipe_on={"a2a3": Pipe.S},
    ),
    TileOp(
        "TSCATTER",
        "scatter_pattern",
        Pipe.V,
        DST,
        (Arg("src", "tile", shape="kept"),),
        both(same(COPY)),
        {"a2a3": "scalar_copy", "a5": "VINTLV"},
        "dst = 0, then the columns of dst[r] that the pattern keeps = src[r]",
        keys=_PATTERN,
        form="pattern",
        requires=("maskPattern",),
        pipe_on={"a2a3": Pipe.S},
    ),
    TileOp(
        "TINTERLEAVE",
        "interleave",
        Pipe.V,
        _DST2,
        BINARY,
        {"a5": same(A5_ALL)},
        {"a5": "VINTLV"},
        "dst0[r], dst1[r] = src0[r, 0], src1[r, 0], src0[r, 1], ...",
        refused={"a2a3": _NO_INTERLEAVE},
    ),
    TileOp(
        "TDEINTERLEAVE",
        "deinterleave",
        Pipe.V,
        _DST2,
        BINARY,
        {"a5": same(A5_ALL)},
        {"a5": "VDINTLV"},
        "of src0[r] and src1[r] in a line the even elements to dst0[r], the odd ones to dst1[r]",
        refused={"a2a3": _NO_INTERLEAVE},
    ),
)
_HOLDS = Constraint(
    "rearrange_scratch_holds", ("tmp",), "tmp holds what the instruction puts there"
)
_SCRATCH = (NEEDS_TMP, *TMP_PLACE, _HOLDS)
_KEPT = "has the columns that the pattern keeps of"
_FULL_DST = Constraint(
    "dst_is_whole", ("dst",), "the valid columns of dst are all of its row: rows are packed"
)
_TWO = (
    *tiles("dst0", "dst1", "src0", "src1"),
    *(same_dtype(name, "dst0") for name in ("dst1", "src0", "src1")),
    *(
        Constraint("same_valid", (n, "dst0"), f"{n} has the valid rows and columns of dst0")
        for n in ("dst1", "src0", "src1")
    ),
    *(apart(d, s) for d in ("dst0", "dst1") for s in ("src0", "src1")),
    apart("dst0", "dst1"),
)
RULES: Mapping[str, Rules] = {
    "transpose": (
        *tiles("dst", "src"),
        Constraint("same_width", ("src", "dst"), "src has elements of dst's size"),
        Constraint("valid_turned", ("dst", "src"), "dst has src's valid columns as rows"),
        apart("dst", "src"),
    ),
    "gather": (
        *tiles("dst", "src", "indices"),
        same_dtype("src", "dst"),
        Constraint("gather_indices", ("indices", "dst"), "indices are integers of a legal size"),
        *same_valid("indices"),
        apart("dst", "src"),
    ),
    "gather_pattern": (
        *tiles("dst", "src"),
        same_dtype("src", "dst"),
        Constraint("same_valid_rows", ("dst", "src"), "dst has the valid rows of src"),
        Constraint("kept_columns", ("dst", "src"), f"dst {_KEPT} src"),
        apart("dst", "src"),
    ),
    "gather_compare": (
        *tiles("dst", "src"),
        *same_valid("src"),
        Constraint("scalar_fits", ("k", "src"), "k is a value of src's element type"),
        Constraint("index_dtype", ("cdst",), "cdst is i32 or u32"),
        Constraint("same_valid_rows", ("cdst", "dst"), "cdst has a count for each row of dst"),
        apart("dst", "src"),
    ),
    "gather_blocks": (
        *tiles("dst", "src", "offsets"),
        same_dtype("src", "dst"),
        Constraint("dtype_is", ("offsets", "u32"), "offsets are u32"),
        Constraint("covers_blocks", ("offsets", "dst"), "offsets has one for each block of dst"),
        apart("dst", "src"),
    ),
    "scatter": (
        *tiles("dst", "src", "indices"),
        same_dtype("src", "dst"),
        Constraint(
            "scatter_indices", ("indices", "dst"), "indices have a size that goes with dst's"
        ),
        Constraint("same_valid", ("indices", "src"), "indices has the valid region of src"),
        apart("dst", "src"),
        apart("dst", "indices"),
    ),
    "scatter_pattern": (
        *tiles("dst", "src"),
        same_dtype("src", "dst"),
        Constraint("same_valid_rows", ("src", "dst"), "src has the valid rows of dst"),
        Constraint("kept_columns", ("src", "dst"), f"src {_KEPT} dst"),
        apart("dst", "src"),
    ),
    "interleave": _TWO,
    "deinterleave": _TWO,
}
OWN: Mapping[str, Mapping[str, Rules]] = {
    "a2a3": {
        "transpose": _SCRATCH,
        "gather": _SCRATCH,
        "gather_pattern": (_FULL_DST,),
        "gather_compare": _SCRATCH,
    },
}
