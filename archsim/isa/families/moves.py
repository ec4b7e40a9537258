"""Data movement: GM to UB and back, UB to UB."""

from collections.abc import Mapping

from archsim.isa.pipes import Pipe
from archsim.isa.rules import Constraint, Rules, same_dtype, tiles
from archsim.isa.tile_op import COPY, DST, UNARY, VF_IMPL, Arg, TileOp, both, same


def _move(tile: str, window: str) -> Rules:
    return (
        *tiles(tile),
        Constraint("positive_valid", (tile,), f"{tile} has at least one valid row and column"),
        Constraint("same_size", (window, tile), f"{window} has elements of the size of {tile}'s"),
        Constraint("window_is_nd", (window,), f"{window} is nd, its last dimension contiguous"),
        Constraint(
            "window_matches", (window, tile), f"{window} has the valid rows and columns of {tile}"
        ),
    )


ROWS = (
    TileOp(
        "TLOAD",
        "load",
        Pipe.MTE2,
        DST,
        (Arg("src", "gm"),),
        both(same(COPY + " i64 u64")),
        {},
        "dst[r, c] = src[r, c] from global memory; padding columns take the tile's pad value",
    ),
    TileOp(
        "TSTORE",
        "store",
        Pipe.MTE3,
        (Arg("dst", "gm"),),
        UNARY,
        both(same(COPY + " i64 u64")),
        {},
        "dst[r, c] = src[r, c] to global memory, valid region only",
    ),
    TileOp(
        "TMOV",
        "move",
        Pipe.V,
        DST,
        UNARY,
        both(same(COPY)),
        {"a2a3": "copy_ubuf_to_ubuf"},
        "dst[r, c] = src[r, c] between tiles",
        keys=VF_IMPL,
    ),
)
RULES: Mapping[str, Rules] = {
    "load": _move("dst", "src"),
    "store": _move("src", "dst"),
    "move": (*tiles("dst", "src"), same_dtype("src", "dst")),
}
OWN: Mapping[str, Mapping[str, Rules]] = {
    "a2a3": {
        "load": (Constraint("few_bursts", ("src",), "src has fewer than 4096 rows in a transfer"),),
        "store": (
            Constraint("few_bursts", ("dst",), "dst has fewer than 4096 rows in a transfer"),
        ),
        "move": (
            Constraint(
                "same_shape", ("src", "dst"), "src has the declared rows and columns of dst"
            ),
        ),
    }
}
