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
from archsim.isa.tile_op import DST, TMP, UNARY, Arg, TileOp, both, pairs

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
        "TQUANT",
        "quant_groups",
        Pipe.V,
        (*DST, Arg("exponents", "tile", shape="groups", dtype="u8")),
        (*UNARY, TMP),
        {"a5": pairs("f32>f8e4m3 f16>f8e4m3 bf16>f8e4m3")},
        {},
        "exponents[r, g] = E - 8 of the greatest |src| = 1.m * 2^(E-127) of 32 columns (e8m0, not"
        " below 0; 255 if one is no finite number); dst[r, c] = rint(src[r, c] * 2^(127 -"
        " exponents[r, c / 32])), saturating",
        keys={"mode": ("mx",)},
        form="mx",
        requires=("mode",),
        refused={"a2a3": "it has neither 8-bit floats nor shared exponents"},
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
    "quant_groups": (
        *tiles("dst", "exponents", "src"),
        *same_valid("src"),
        Constraint("dtype_is", ("exponents", "u8"), "exponents is u8: e8m0 numbers"),
        Constraint(
            "one_for_a_group",
            ("exponents", "dst"),
            "exponents has the valid rows of dst and a valid column for every 32 of it",
        ),
        NEEDS_TMP,
        *TMP_PLACE,
        Constraint(
            "group_scratch_holds", ("tmp",), "tmp has four bytes for every 32 columns of each row"
        ),
        apart("dst", "src"),
        apart("exponents", "src"),
        apart("exponents", "dst"),
        *(apart("tmp", name) for name in ("dst", "exponents", "src")),
    ),
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
