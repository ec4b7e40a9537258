"""TQUANT and TDEQUANT: between numbers and small integers, a scale for each row."""

from collections.abc import Mapping

from archsim.isa.pipes import Pipe
from archsim.isa.rules import Constraint, Rules, same_valid, tiles
from archsim.isa.tile_op import DST, Arg, TileOp, both, pairs

ROWS = (
    TileOp(
        "TDEQUANT",
        "dequant",
        Pipe.V,
        DST,
        (
            Arg("src", "tile"),
            Arg("scale", "tile", shape="block_col", dtype="f32"),
            Arg("offset", "tile", shape="block_col", dtype="f32"),
        ),
        both(pairs("i8>f32 i16>f32")),
        {},
        "dst[r, c] = (float(src[r, c]) - offset[r]) * scale[r]",
    ),
)
_PER_ROW = (
    Constraint("dtype_is", ("scale", "f32"), "scale is f32"),
    Constraint("same_valid_rows", ("scale", "dst"), "scale has the valid rows of dst"),
)
RULES: Mapping[str, Rules] = {
    "dequant": (
        *tiles("dst", "src", "scale", "offset"),
        *same_valid("src"),
        *_PER_ROW,
        Constraint("dtype_is", ("offset", "f32"), "offset is f32"),
        Constraint("same_valid_rows", ("offset", "dst"), "offset has the valid rows of dst"),
    ),
}
OWN: Mapping[str, Mapping[str, Rules]] = {}
