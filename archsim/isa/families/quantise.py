"""TQUANT and TDEQUANT: between numbers and small integers, a scale for each row."""

from collections.abc import Mapping

from archsim.isa.pipes import Pipe
from archsim.isa.rules import (
    NEEDS_TMP,
    TMP_PLACE,
    Constraint,
    Rules,
    apart,
    in_vec,
    same_valid,
    tiles,
)
from archsim.isa.tile_op import DST, TMP, Arg, TileOp, both, pairs

_SCALE = Arg("scale", "tile", shape="col", dtype="f32")
_OFFSET = Arg("offset", "tile", shape="col", dtype="f32")


def _quant(form: str, family: str, per_row: tuple[Arg, ...], to: str, formula: str) -> TileOp:
    return TileOp(
        "TQUANT",
        family,
        Pipe.V,
        DST,
        (Arg("src", "tile"), *per_row, TMP),
        both(pairs(f"f32>{to}")),
        {},
        f"dst[r, c] = rint({formula}), saturating",
        form=form,
    )


ROWS = (
    _quant("symmetric", "quant", (_SCALE,), "i8", "src[r, c] * scale[r]"),
    _quant(
        "asymmetric",
        "quant_offset",
        (_SCALE, _OFFSET),
        "u8",
        "src[r, c] * scale[r] + offset[r]",
    ),
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
_ONE = "column-major with one column"


def _column(name: str, rule: str, text: str) -> Constraint:
    return Constraint(rule, (name,), f"{name} is {text}")


_PER_ROW = (
    Constraint("dtype_is", ("scale", "f32"), "scale is f32"),
    Constraint("same_valid_rows", ("scale", "dst"), "scale has the valid rows of dst"),
)
_OFFSET_PER_ROW = (
    Constraint("dtype_is", ("offset", "f32"), "offset is f32"),
    Constraint("same_valid_rows", ("offset", "dst"), "offset has the valid rows of dst"),
)
_QUANT = (*tiles("dst", "src"), *same_valid("src"), *in_vec("scale"), *_PER_ROW)
RULES: Mapping[str, Rules] = {
    "quant": _QUANT,
    "quant_offset": (*_QUANT, *in_vec("offset"), *_OFFSET_PER_ROW),
    "dequant": (
        *tiles("dst", "src"),
        *in_vec("scale", "offset"),
        _column("scale", "column_tile", "row-major, or column-major with one column"),
        _column("offset", "column_tile", "row-major, or column-major with one column"),
        *same_valid("src"),
        *_PER_ROW,
        *_OFFSET_PER_ROW,
    ),
}


_OWN_QUANT = (
    NEEDS_TMP,
    *TMP_PLACE,
    Constraint(
        "covers_words", ("tmp", "src"), "tmp has four bytes for every element of src's rows"
    ),
    apart("tmp", "src"),
    apart("tmp", "scale"),
    apart("src", "scale"),
    apart("dst", "src"),
    _column("scale", "one_column", _ONE),
)
OWN: Mapping[str, Mapping[str, Rules]] = {
    "a2a3": {
        "quant": _OWN_QUANT,
        "quant_offset": (
            *_OWN_QUANT,
            apart("src", "offset"),
            apart("tmp", "offset"),
            _column("offset", "one_column", _ONE),
        ),
    }
}
