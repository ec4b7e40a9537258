"""Data movement: GM to UB and back, by window or by index; UB to UB, whole tiles and parts."""

from collections.abc import Mapping

from archsim.isa.pipes import Pipe
from archsim.isa.rules import Constraint, Rules, in_vec, same_dtype, tiles
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


def _part(whole: str, part: str) -> Rules:
    return (
        *in_vec("dst", "src"),
        same_dtype("src", "dst"),
        Constraint("movable", ("dst",), "dst is row-major or nz"),
        Constraint("no_columns", ("dst",), "dst is row-major or nz"),
        Constraint("no_columns", ("src",), "src is row-major or nz"),
        Constraint("same_layout", ("src", "dst"), "src has the layout of dst"),
        Constraint("part_inside", (whole, part), f"{part} at (row, col) lies inside {whole}"),
        Constraint(
            "part_aligned",
            (whole, part),
            "the part starts at a block (row-major) or at a box (nz), or is one element",
        ),
    )


def _even(part: str) -> Constraint:
    return Constraint("even_tail", (part,), f"{part} has rows of an even number of bytes")


def _indexed(data: str) -> Rules:
    return (
        *tiles(data, "idx"),
        Constraint("index_type", ("idx",), "idx is i32 or u32"),
        Constraint("same_size", ("mem", data), f"mem has elements of the size of {data}'s"),
        Constraint("dense_tensor", ("mem",), "mem is a dense nd tensor"),
        Constraint("same_valid", ("idx", data), f"idx has the valid rows and columns of {data}"),
    )


PARTS = "i8 f16 bf16 f32"
ROWS = (
    TileOp(
        "TLOAD",
        "load",
        Pipe.MTE2,
        DST,
        (Arg("src", "gm"),),
        {"a2a3": same(COPY + " i64 u64"), "a5": same(COPY + " i64 u64 f8e4m3 f8e5m2 hif8")},
        {},
        "dst[r, c] = src[r, c] from global memory; padding columns take the tile's pad value",
    ),
    TileOp(
        "TSTORE",
        "store",
        Pipe.MTE3,
        (Arg("dst", "gm"),),
        UNARY,
        {"a2a3": same(COPY + " i64 u64"), "a5": same(COPY + " i64 u64 f8e4m3 f8e5m2 hif8")},
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
        {"a2a3": same(COPY), "a5": same(COPY + " f8e4m3 f8e5m2 hif8")},
        {"a2a3": "copy_ubuf_to_ubuf"},
        "dst[r, c] = src[r, c] between tiles",
        keys=VF_IMPL,
    ),
    TileOp(
        "TEXTRACT",
        "extract",
        Pipe.V,
        DST,
        (Arg("src", "tile"), Arg("row", "scalar"), Arg("col", "scalar")),
        both(same(PARTS)),
        {},
        "dst[r, c] = src[row + r, col + c]",
        sample_scalar=0,
    ),
    TileOp(
        "TINSERT",
        "insert",
        Pipe.V,
        DST,
        (Arg("src", "tile"), Arg("row", "scalar"), Arg("col", "scalar")),
        both(same(PARTS)),
        {},
        "dst[row + r, col + c] = src[r, c]; the rest of dst stays",
        sample_scalar=0,
    ),
    TileOp(
        "MGATHER",
        "gather_memory",
        Pipe.MTE2,
        DST,
        (Arg("mem", "gm"), Arg("idx", "tile", dtype="i32")),
        both(same(COPY)),
        {},
        "dst[r, c] = element idx[r, c] of mem, counted from its origin, the last dimension first",
    ),
    TileOp(
        "MSCATTER",
        "scatter_memory",
        Pipe.MTE3,
        (Arg("mem", "gm"),),
        (Arg("src", "tile"), Arg("idx", "tile", dtype="i32")),
        both(same(COPY)),
        {},
        "element idx[r, c] of mem = src[r, c]; of equal indices the last one counts",
    ),
    TileOp(
        "TPREFETCH",
        "prefetch",
        Pipe.MTE2,
        DST,
        (Arg("src", "gm"),),
        both(same(COPY + " i64 u64")),
        {},
        "the window, as large as dst, is fetched into the cache; nothing on the chip changes",
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
    "extract": _part("src", "dst"),
    "insert": _part("dst", "src"),
    "gather_memory": _indexed("dst"),
    "scatter_memory": _indexed("src"),
    "prefetch": _move("dst", "src"),
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
        "extract": (_even("dst"),),
        "insert": (_even("src"),),
        "prefetch": _limits("dst", "src"),
    }
}
