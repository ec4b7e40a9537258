"""TCVT: between element types. A2A3's 4-bit integers and the 4-bit floats of A5 are left out."""

from collections.abc import Mapping

from archsim.isa.conversions import CONVERSIONS
from archsim.isa.pipes import Pipe
from archsim.isa.rules import TMP_PLACE, Constraint, Rules, same_valid, tiles
from archsim.isa.tile_op import DST, TMP, VF_IMPL, Arg, TileOp

ROWS = (
    TileOp(
        "TCVT",
        "convert",
        Pipe.V,
        DST,
        (Arg("src", "tile"), TMP),
        {isa: tuple(rows) for isa, rows in CONVERSIONS.items()},
        {},
        "dst = convert(src)",
        keys={
            "rmode": ("none", "rint", "round", "floor", "ceil", "trunc", "odd"),
            "sat": ("on", "off"),
            **VF_IMPL,
        },
    ),
)
RULES: Mapping[str, Rules] = {
    "convert": (*tiles("dst", "src"), *same_valid("src")),
}
OWN: Mapping[str, Mapping[str, Rules]] = {
    "a2a3": {
        "convert": (
            *TMP_PLACE,
            Constraint(
                "scratch_holds",
                ("tmp",),
                "tmp holds 256 bytes, for f32 -> i16 256 a repeat of a call",
            ),
        ),
    }
}
