"""Data movement: GM to UB and back, UB to UB."""

from collections.abc import Mapping

from archsim.isa.pipes import Pipe
from archsim.isa.rules import Constraint, Rules, in_vec, same_dtype
from archsim.isa.tile_op import COPY, DST, UNARY, VF_IMPL, Arg, TileOp, both, same


def _move(tile: str, window: str) -> Rules:
    return (
        *in_vec(tile),
        Constraint("movable", (tile,), f"{tile} is row-major, column-major or nz"),
        Constraint("wide_is_plain", (tile,), f"eight-byte elements of {tile} come without boxes"),
        Constraint("positive_valid", (tile,), f"{tile} has at least one valid row and column"),
        Constraint("same_size", (window, tile), f"{window} has elements of the size of {tile}'s"),
        Constraint(
            "window_layout", (window, tile), f"{window} has the layout of {tile}, runs contiguous"
        ),
        Constraint(
            "window_matches", (window, tile), f"{window} has the valid rows and columns of {tile}"
        ),
    )


def _limits(tile: str, window: str) -> Rules:
    return (
        Constraint(
            "few_bursts", (window, tile), f"{window} has fewer than 4096 runs in a transfer"
        ),
        Constraint("few_rows", (tile,), f"{tile} has fewer than 4096 rows"),
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
        "dst[r, c] = src[r, c] to global memory, valid region only; atomic=add adds to it",
        keys={"atomic": ("add",)},
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
    "store": (
        *_move("src", "dst"),
        Constraint("atomic_type", ("src", "dst"), "atomic=add has a type that GM adds"),
    ),
    "move": (
        *in_vec("dst", "src"),
        same_dtype("src", "dst"),
        Constraint("movable", ("dst",), "dst is row-major, column-major or nz"),
        Constraint("same_layout", ("src", "dst"), "src has the layout of dst"),
    ),
}
OWN: Mapping[str, Mapping[str, Rules]] = {
    "a2a3": {
        "load": _limits("dst", "src"),
        "store": _limits("src", "dst"),
        "move": (
            Constraint(
                "same_shape", ("src", "dst"), "src has the declared rows and columns of dst"
            ),
        ),
    }
}
