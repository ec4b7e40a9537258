"""What the scalar unit does with tiles."""

from collections.abc import Mapping

from archsim.isa.pipes import Pipe
from archsim.isa.rules import Constraint, Rules, in_vec
from archsim.isa.tile_op import COPY, DST, Arg, TileOp, both, same

# Families whose destination gets its address by running; nothing else happens.
BINDERS = ("assign", "subview", "reshape")

ROWS = (
    TileOp(
        "TASSIGN",
        "assign",
        Pipe.S,
        DST,
        (Arg("addr", "scalar"),),
        both(same(COPY + " i64 u64")),
        {},
        "binds a tile to a byte address of its memory",
    ),
    TileOp(
        "TSUBVIEW",
        "subview",
        Pipe.S,
        DST,
        (Arg("src", "tile"), Arg("row", "scalar"), Arg("col", "scalar")),
        both(same(COPY + " i64 u64")),
        {},
        "dst names the part of src that starts at (row, col)",
    ),
    TileOp(
        "TRESHAPE",
        "reshape",
        Pipe.S,
        DST,
        (Arg("src", "tile"),),
        both(same(COPY + " i64 u64")),
        {},
        "dst names the bytes of src, with a shape, a layout and an element type of its own",
    ),
    TileOp(
        "TSETVAL",
        "set_value",
        Pipe.S,
        DST,
        (Arg("offset", "scalar"), Arg("val", "scalar")),
        both(same(COPY)),
        {},
        "element `offset` of dst, counted as they lie in memory, = val",
    ),
    TileOp(
        "TGETVAL",
        "get_value",
        Pipe.S,
        (Arg("dst", "scalar"),),
        (Arg("src", "tile"), Arg("offset", "scalar")),
        both(same(COPY)),
        {},
        "$dst = element `offset` of src, as they lie in memory; the scalar unit waits for it",
    ),
)
RULES: Mapping[str, Rules] = {
    "assign": (),
    "subview": (),
    "reshape": (
        *in_vec("dst", "src"),
        Constraint("same_size_bytes", ("dst", "src"), "dst has as many bytes as src"),
    ),
    "set_value": (
        *in_vec("dst"),
        Constraint("element_inside", ("dst", "offset"), "offset names an element of dst"),
        Constraint("scalar_fits", ("val", "dst"), "val is a whole number for an integer type"),
    ),
    "get_value": (
        *in_vec("src"),
        Constraint("element_inside", ("src", "offset"), "offset names an element of src"),
    ),
}
OWN: Mapping[str, Mapping[str, Rules]] = {"a2a3": {}}
