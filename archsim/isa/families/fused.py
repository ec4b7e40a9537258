"""Fused sequences: add, relu, convert, dequantise."""

from collections.abc import Mapping

from archsim.isa.pipes import Pipe
from archsim.isa.rules import (
    NEEDS_TMP,
    POSITIVE,
    TMP_PLACE,
    Constraint,
    Rules,
    apart,
    same_dtype,
    same_valid,
    tiles,
)
from archsim.isa.tile_op import BINARY, DST, TMP, VF_IMPL, Arg, TileOp, both, pairs

_FUSED = (
    *tiles("dst", "src0", "src1"),
    same_dtype("src1", "src0"),
    POSITIVE,
    *same_valid("src0", "src1"),
)

ROWS = (
    TileOp(
        "TADDRELUCONV",
        "addreluconv",
        Pipe.V,
        DST,
        BINARY,
        both(pairs("f32>f16 f16>i8 i16>i8")),
        {},
        "dst = convert(max(0, src0 + src1)), saturating",
        keys=VF_IMPL,
    ),
    TileOp(
        "TADDDEQRELU",
        "adddeqrelu",
        Pipe.V,
        DST,
        (Arg("src0", "tile"), Arg("src1", "tile"), Arg("scale", "scalar"), TMP),
        both(pairs("i32>f16")),
        {},
        "dst = half(max(0, (src0 + src1) * scale))",
        keys=VF_IMPL,
    ),
)
RULES: Mapping[str, Rules] = {
    "addreluconv": _FUSED,
    "adddeqrelu": _FUSED,
}
OWN: Mapping[str, Mapping[str, Rules]] = {
    "a2a3": {
        "adddeqrelu": (
            NEEDS_TMP,
            *TMP_PLACE,
            Constraint("dtype_is", ("tmp", "i32"), "tmp is i32"),
            Constraint("covers_valid", ("tmp", "dst"), "tmp's valid region covers that of dst"),
            apart("src0", "src1"),
            apart("tmp", "src0"),
            apart("tmp", "src1"),
        ),
    }
}
