"""Records of value and index, eight bytes each: sorted in groups of 32 and merged."""

from collections.abc import Mapping

from archsim.isa.pipes import Pipe
from archsim.isa.rules import (
    NEEDS_TMP,
    TMP_PLACE,
    Constraint,
    Rules,
    apart,
    same_dtype,
    tiles,
)
from archsim.isa.tile_op import FLOATS, TMP, UNARY, Arg, TileOp, both, same

_MERGE = {"a2a3": "vmrgsort4", "a5": "VMRGSORT4"}
ROWS = (
    TileOp(
        "TSORT32",
        "sort",
        Pipe.V,
        (Arg("dst", "tile", shape="records"),),
        (*UNARY, Arg("idx", "tile", dtype="u32"), TMP),
        both(same(FLOATS)),
        {"a2a3": "vbitsort", "a5": "VBITSORT"},
        "each 32 columns of src[r] in falling order, as records of value and index; NaN last",
    ),
    TileOp(
        "TMRGSORT",
        "merge_lists",
        Pipe.V,
        (
            Arg("dst", "tile", shape="two_lines"),
            Arg("executed", "tile", shape="counts", dtype="u16"),
        ),
        (
            Arg("src0", "tile", shape="line"),
            Arg("src1", "tile", shape="line"),
            Arg("src2", "tile", optional=True, shape="line"),
            Arg("src3", "tile", optional=True, shape="line"),
            Arg("tmp", "tile", scratch=True),
        ),
        both(same(FLOATS)),
        _MERGE,
        "dst = sorted lists of records as one, equals in list order; executed[k] = how many of k",
        keys={"exhausted": ("false", "true")},
        form="lists",
        sample=(1, 256),
    ),
    TileOp(
        "TMRGSORT",
        "merge_blocks",
        Pipe.V,
        (Arg("dst", "tile", shape="line"),),
        (Arg("src", "tile", shape="line"), Arg("blockLen", "scalar")),
        both(same(FLOATS)),
        _MERGE,
        "dst = each four sorted blocks of src, blockLen elements long, as one",
        form="single",
        sample=(1, 256),
        sample_scalar=64.0,
    ),
)
_SORT_SCRATCH = Constraint(
    "rearrange_scratch_holds", ("tmp",), "tmp holds a row, or its last group where rows are long"
)
_LISTS = ("src0", "src1", "src2", "src3")
RULES: Mapping[str, Rules] = {
    "sort": (
        *tiles("dst", "src", "idx"),
        same_dtype("src", "dst"),
        Constraint("dtype_is", ("idx", "u32"), "idx is u32"),
        Constraint("sort_indices", ("idx", "src"), "idx has src's valid region, or one row of it"),
        Constraint("holds_records", ("dst", "src"), "dst has 8 bytes for each valid column of src"),
        Constraint("holds_groups", ("dst", "src"), "a row of dst has room for whole groups of 32"),
        apart("dst", "src"),
        apart("dst", "idx"),
    ),
    "merge_lists": (
        *tiles("dst", "src0", "src1"),
        Constraint("merge_lists", ("dst", *_LISTS), "all lists are one row of dst's type, in vec"),
        Constraint("counts_tile", ("executed",), "executed is one row of four u16 in vec"),
        Constraint("holds_lists", ("dst", *_LISTS), "dst has the valid columns of all lists"),
        Constraint("merge_fits", ("dst", *_LISTS), "the lists together fit in UB"),
        NEEDS_TMP,
        *TMP_PLACE,
        Constraint("rearrange_scratch_holds", ("tmp",), "tmp holds all records"),
        apart("dst", "tmp"),
        Constraint("lists_apart", ("tmp", *_LISTS), "tmp does not overlap a list"),
    ),
    "merge_blocks": (
        *tiles("dst", "src"),
        same_dtype("src", "dst"),
        Constraint("one_row", ("src",), "src has one row"),
        Constraint("same_valid", ("src", "dst"), "src has the valid rows and columns of dst"),
        Constraint("block_length", ("blockLen", "src"), "blockLen is a multiple of 64 that fits"),
        apart("dst", "src"),
    ),
}
OWN: Mapping[str, Mapping[str, Rules]] = {"a2a3": {"sort": (NEEDS_TMP, *TMP_PLACE, _SORT_SCRATCH)}}
