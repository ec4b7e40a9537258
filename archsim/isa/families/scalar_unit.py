"""What the scalar unit does with tiles."""

from collections.abc import Mapping

from archsim.isa.pipes import Pipe
from archsim.isa.rules import Rules
from archsim.isa.tile_op import COPY, DST, Arg, TileOp, both, same

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
)
RULES: Mapping[str, Rules] = {
    "assign": (),
    "subview": (),
}
OWN: Mapping[str, Mapping[str, Rules]] = {"a2a3": {}}
