"""Tiles out of numbers: TCI, TTRI, TRANDOM; and counts of bytes: THISTOGRAM."""

from collections.abc import Mapping

from archsim.isa.pipes import Pipe
from archsim.isa.rules import POSITIVE, Constraint, Rules, tiles
from archsim.isa.tile_op import A5_ALL, DST, Arg, TileOp, both, pairs, same

_NO_UNIT = "its vector unit has no such micro-op and no sequence is published"

ROWS = (
    TileOp(
        "TCI",
        "arange",
        Pipe.V,
        DST,
        (Arg("start", "scalar"),),
        both(same("i32 u32 i16 u16")),
        {"a2a3": "scalar_store", "a5": "VCI"},
        "dst = start + k (descending: start - k) for the k-th valid element, row by row",
        keys={"descending": ("false", "true")},
        pipe_on={"a2a3": Pipe.S},
    ),
    TileOp(
        "TTRI",
        "triangle",
        Pipe.V,
        DST,
        (Arg("diagonal", "scalar"),),
        {"a2a3": same("i16 u16 i32 u32 f16 bf16 f32"), "a5": same(A5_ALL)},
        {"a2a3": "vector_dup", "a5": "VSEL"},
        "dst[r, c] = 1 where c <= r + diagonal (upper: c >= r + diagonal), else 0",
        keys={"upper": ("false", "true")},
    ),
    TileOp(
        "TRANDOM",
        "random",
        Pipe.V,
        DST,
        tuple(
            Arg(name, "scalar")
            for name in ("key0", "key1", "counter0", "counter1", "counter2", "counter3")
        ),
        {"a5": same("u32 i32")},
        {"a5": "VMULL"},
        "dst[r, c] = word c % 4 of Philox4x32(key, counter + r * ceil(C / 4) + c // 4)",
        keys={"rounds": ("10", "7")},
        refused={"a2a3": _NO_UNIT},
    ),
    TileOp(
        "THISTOGRAM",
        "histogram",
        Pipe.V,
        (Arg("dst", "tile", shape="bins"),),
        (Arg("src", "tile"), Arg("idx", "tile", shape="block_col", dtype="u8")),
        {"a5": pairs("u8>u32 u16>u32")},
        {"a5": "VDHIST"},
        "dst[r, b] = how many elements of row r of src have b as the byte that is counted",
        keys={"byte": ("1", "0")},
        refused={"a2a3": _NO_UNIT},
    ),
)
_WHOLE = "is a whole number of 32 bits"
RULES: Mapping[str, Rules] = {
    "arange": (
        *tiles("dst"),
        POSITIVE,
        Constraint("scalar_fits", ("start", "dst"), "start is a value of dst's element type"),
    ),
    "triangle": (
        *tiles("dst"),
        POSITIVE,
        Constraint("word", ("diagonal",), f"diagonal {_WHOLE}"),
    ),
    "random": (
        *tiles("dst"),
        POSITIVE,
        *(
            Constraint("word", (name,), f"{name} {_WHOLE}")
            for name in ("key0", "key1", "counter0", "counter1", "counter2", "counter3")
        ),
    ),
    "histogram": (
        *tiles("dst", "src", "idx"),
        POSITIVE,
        Constraint("dtype_is", ("idx", "u8"), "idx is u8"),
        Constraint("same_valid_rows", ("src", "dst"), "src has the valid rows of dst"),
        Constraint("same_valid_rows", ("idx", "dst"), "idx has the valid rows of dst"),
        Constraint("has_bins", ("dst",), "dst has 256 valid columns, one a byte value"),
    ),
}
OWN: Mapping[str, Mapping[str, Rules]] = {}
