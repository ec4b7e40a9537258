"""What must hold of an instruction's operands, core by core: one row a rule.

A rule says by its name which test `archsim.check` makes, of which operands; `text` is the sentence
for people. Element types are not here: `TileOp.dtypes` lists them. Sources: the checks that the
device libraries make, and the instructions' own pages.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Constraint:
    """One rule: the test `rule` on `operands`."""

    rule: str
    operands: tuple[str, ...]
    text: str


Rules = tuple[Constraint, ...]


def _same_dtype(name: str, like: str) -> Constraint:
    return Constraint("same_dtype", (name, like), f"{name} has the element type of {like}")


def _row_major(*names: str) -> Rules:
    return tuple(Constraint("row_major", (n,), f"{n} is row-major") for n in names)


def _in_vec(*names: str) -> Rules:
    return tuple(Constraint("in_vec", (n,), f"{n} is in vec (UB)") for n in names)


def _tiles(*names: str) -> Rules:
    return (*_in_vec(*names), *_row_major(*names))


def _same_valid(*names: str) -> Rules:
    text = "has the valid rows and columns of dst"
    return tuple(Constraint("same_valid", (n, "dst"), f"{n} {text}") for n in names)


def _apart(first: str, second: str) -> Constraint:
    return Constraint("apart", (first, second), f"{first} and {second} do not overlap")


_POSITIVE = Constraint("positive_valid", ("dst",), "dst has at least one valid row and column")
_SCALAR = Constraint("scalar_fits", ("scalar", "dst"), "scalar is a value of dst's element type")
_NEEDS_TMP = Constraint("has_scratch", ("tmp",), "tmp is given or allocated by the tool")
_TMP_PLACE = (*_in_vec("tmp"), *_row_major("tmp"))

_BINARY = (
    *_tiles("dst", "src0", "src1"),
    _same_dtype("src0", "dst"),
    _same_dtype("src1", "dst"),
    *_same_valid("src0", "src1"),
)
_WITH_SCALAR = (
    *_tiles("dst", "src"),
    _same_dtype("src", "dst"),
    *_same_valid("src"),
    _POSITIVE,
    _SCALAR,
)
_UNARY = (*_tiles("dst", "src"), _same_dtype("src", "dst"), *_same_valid("src"))
_EXPANDS = (*_tiles("dst"), _SCALAR)
_COMPARE = (
    *_tiles("dst", "src"),
    Constraint("scalar_fits", ("scalar", "src"), "scalar is a value of src's element type"),
    Constraint("same_valid_rows", ("src", "dst"), "src has the valid rows of dst"),
    Constraint("mask_tile", ("dst",), "dst has an integer element type: bytes of packed bits"),
    Constraint("mask_holds", ("dst", "src"), "a row of dst holds the bits of src's whole repeats"),
)
_SELECT = (
    *_tiles("dst", "mask", "src0", "src1"),
    _same_dtype("src0", "dst"),
    _same_dtype("src1", "dst"),
    *_same_valid("src0", "src1"),
    Constraint("mask_tile", ("mask",), "mask has an integer element type: bytes of packed bits"),
    Constraint("mask_covers", ("mask", "dst"), "mask has a bit for every valid lane of dst"),
)
_CONVERT = (*_tiles("dst", "src"), *_same_valid("src"))
_PRELU = _BINARY
_FUSED = (
    *_tiles("dst", "src0", "src1"),
    _same_dtype("src1", "src0"),
    _POSITIVE,
    *_same_valid("src0", "src1"),
)


def _move(tile: str, window: str) -> Rules:
    return (
        *_tiles(tile),
        Constraint("positive_valid", (tile,), f"{tile} has at least one valid row and column"),
        Constraint("same_size", (window, tile), f"{window} has elements of the size of {tile}'s"),
        Constraint("window_is_nd", (window,), f"{window} is nd, its last dimension contiguous"),
        Constraint(
            "window_matches", (window, tile), f"{window} has the valid rows and columns of {tile}"
        ),
    )


_BOTH: dict[str, Rules] = {
    "load": _move("dst", "src"),
    "store": _move("src", "dst"),
    "move": (*_tiles("dst", "src"), _same_dtype("src", "dst")),
    "binary": _BINARY,
    "scalar": _WITH_SCALAR,
    "unary": _UNARY,
    "expands": _EXPANDS,
    "compare_scalar": _COMPARE,
    "select": _SELECT,
    "convert": _CONVERT,
    "prelu": _PRELU,
    "addreluconv": _FUSED,
    "adddeqrelu": _FUSED,
    "assign": (),
    "subview": (),
}
# What only the simd core asks: it works through scratch in UB.
_A2A3_ONLY: dict[str, Rules] = {
    "load": (Constraint("few_bursts", ("src",), "src has fewer than 4096 rows in a transfer"),),
    "store": (Constraint("few_bursts", ("dst",), "dst has fewer than 4096 rows in a transfer"),),
    "move": (
        Constraint("same_shape", ("src", "dst"), "src has the declared rows and columns of dst"),
    ),
    "select": (
        _NEEDS_TMP,
        *_TMP_PLACE,
        Constraint("scratch_holds", ("tmp",), "tmp holds 8 bytes, 16 for two-byte elements"),
    ),
    "convert": (
        *_TMP_PLACE,
        Constraint(
            "scratch_holds", ("tmp",), "tmp holds 256 bytes, for f32 -> i16 256 a repeat of a call"
        ),
    ),
    "prelu": (
        _NEEDS_TMP,
        *_TMP_PLACE,
        Constraint("dtype_is", ("tmp", "u8"), "tmp is u8: packed bits"),
        Constraint("more_valid_rows", ("tmp", "dst"), "tmp has more valid rows than dst"),
        Constraint("mask_holds", ("tmp", "src0"), "a row of tmp holds the bits of whole repeats"),
        _apart("dst", "src0"),
        _apart("dst", "src1"),
        _apart("src0", "src1"),
        *(_apart("tmp", name) for name in ("dst", "src0", "src1")),
    ),
    "adddeqrelu": (
        _NEEDS_TMP,
        *_TMP_PLACE,
        Constraint("dtype_is", ("tmp", "i32"), "tmp is i32"),
        Constraint("covers_valid", ("tmp", "dst"), "tmp's valid region covers that of dst"),
        _apart("src0", "src1"),
        _apart("tmp", "src0"),
        _apart("tmp", "src1"),
    ),
}


def _all_of(own: Mapping[str, Rules]) -> Mapping[str, Rules]:
    return MappingProxyType({name: (*rules, *own.get(name, ())) for name, rules in _BOTH.items()})


CONSTRAINTS: Mapping[str, Mapping[str, Rules]] = MappingProxyType(
    {"a2a3": _all_of(_A2A3_ONLY), "a5": _all_of({})}
)
