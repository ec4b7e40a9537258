"""Fused sequences: add, relu, convert, dequantise."""

from collections.abc import Mapping

from archsim.isa.pipes import Pipe
from archsim.isa.rules import (
    BINARY_RULES,
    NEEDS_TMP,
    POSITIVE,
    SCALAR_FITS,
    TMP_PLACE,
    Constraint,
    Rules,
    apart,
    same_dtype,
    same_valid,
    tiles,
)
from archsim.isa.tile_op import (
    BINARY,
    DST,
    FLOATS,
    SCALAR,
    TMP,
    VF_IMPL,
    Arg,
    TileOp,
    both,
    pairs,
    same,
)

_FUSED = (
    *tiles("dst", "src0", "src1"),
    same_dtype("src1", "src0"),
    POSITIVE,
    *same_valid("src0", "src1"),
)


def _fused(name: str, family: str, uops: tuple[str, str], summary: str) -> TileOp:
    """A row for f16 and f32 of two sources; further micro-ops work on the result of the first."""
    return TileOp(
        name,
        family,
        Pipe.V,
        DST,
        BINARY,
        both(same(FLOATS)),
        {"a2a3": uops[0], "a5": uops[1]},
        summary,
        keys=VF_IMPL,
    )


def _converted(name: str, uops: tuple[str, str], summary: str) -> TileOp:
    return TileOp(
        name,
        "addreluconv",
        Pipe.V,
        DST,
        BINARY,
        both(pairs("f32>f16 f16>i8 i16>i8")),
        {"a2a3": uops[0], "a5": uops[1]},
        summary,
        keys=VF_IMPL,
    )


ROWS = (
    _fused("TMULADDDST", "accumulate", ("vmla", "VMULA"), "dst = dst + src0 * src1, rounded once"),
    _fused(
        "TFUSEDMULADD", "accumulate", ("vmadd", "VMADD"), "dst = dst * src0 + src1, rounded once"
    ),
    _fused(
        "TFUSEDMULADDRELU",
        "accumulate",
        ("vmaddrelu", "VMADD VRELU"),
        "dst = max(dst * src0 + src1, 0), rounded once",
    ),
    _fused("TSUBRELU", "binary", ("vsubrelu", "VSUB VRELU"), "dst = max(src0 - src1, 0)"),
    TileOp(
        "TAXPY",
        "axpy",
        Pipe.V,
        DST,
        SCALAR,
        both(pairs("f16>f16 f32>f32 f16>f32")),
        {"a2a3": "vaxpy", "a5": "VAXPY"},
        "dst = dst + src * scalar, rounded once",
        keys=VF_IMPL,
    ),
    _converted(
        "TADDRELUCONV",
        ("vaddreluconv", "VADD"),
        "dst = convert(max(0, src0 + src1)), saturating",
    ),
    _converted(
        "TSUBRELUCONV",
        ("vsubreluconv", "VSUB"),
        "dst = convert(max(0, src0 - src1)), saturating",
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
    "accumulate": BINARY_RULES,
    "addreluconv": _FUSED,
    "axpy": (*tiles("dst", "src"), *same_valid("src"), POSITIVE, SCALAR_FITS),
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
