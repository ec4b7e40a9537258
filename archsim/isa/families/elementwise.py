"""Elementwise instructions: one tile, two, or a tile and a scalar."""

from collections.abc import Mapping

from archsim.isa.pipes import Pipe
from archsim.isa.rules import (
    BINARY_RULES,
    NEEDS_TMP,
    POSITIVE,
    SCALAR_FITS,
    TMP_PLACE,
    UNARY_RULES,
    Constraint,
    Rules,
    apart,
    same_dtype,
    same_valid,
    tiles,
)
from archsim.isa.tile_op import (
    A2A3_ARITH,
    A5_ALL,
    A5_MUL,
    BINARY,
    COPY,
    DST,
    SCALAR,
    TMP,
    UNARY,
    VF_IMPL,
    Arg,
    TileOp,
    both,
    same,
)


def elementwise(
    family: str, ins: tuple[Arg, ...], name: str, uop: str, a5_types: str, summary: str
) -> TileOp:
    """A row whose micro-op has one name on both cores."""
    return TileOp(
        name,
        family,
        Pipe.V,
        DST,
        ins,
        {"a2a3": same(A2A3_ARITH), "a5": same(a5_types)},
        {"a2a3": uop, "a5": uop.upper()},
        summary,
        keys=VF_IMPL,
    )


ROWS = (
    elementwise("binary", BINARY, "TADD", "vadd", A5_ALL, "dst = src0 + src1"),
    elementwise("binary", BINARY, "TSUB", "vsub", A5_ALL, "dst = src0 - src1"),
    elementwise("binary", BINARY, "TMUL", "vmul", A5_MUL, "dst = src0 * src1"),
    elementwise("binary", BINARY, "TMAX", "vmax", A5_ALL, "dst = max(src0, src1)"),
    elementwise("binary", BINARY, "TMIN", "vmin", A5_ALL, "dst = min(src0, src1)"),
    elementwise("scalar", SCALAR, "TADDS", "vadds", A5_ALL, "dst = src + scalar"),
    elementwise("scalar", SCALAR, "TMULS", "vmuls", A5_MUL, "dst = src * scalar"),
    elementwise("scalar", SCALAR, "TMAXS", "vmaxs", A5_ALL, "dst = max(src, scalar)"),
    elementwise("scalar", SCALAR, "TMINS", "vmins", A5_ALL, "dst = min(src, scalar)"),
    TileOp(
        "TEXP",
        "unary",
        Pipe.V,
        DST,
        UNARY,
        both(same("f16 f32")),
        {"a2a3": "vexp", "a5": "VEXP"},
        "dst = exp(src)",
        keys={"precision": ("default", "high"), **VF_IMPL},
    ),
    TileOp(
        "TEXPANDS",
        "expands",
        Pipe.V,
        DST,
        (Arg("scalar", "scalar"),),
        both(same(COPY)),
        {"a2a3": "vector_dup", "a5": "VDUP"},
        "dst = scalar",
        keys=VF_IMPL,
    ),
    TileOp(
        "TPRELU",
        "prelu",
        Pipe.V,
        DST,
        (Arg("src0", "tile"), Arg("src1", "tile"), TMP),
        both(same("f16 f32")),
        {"a5": "VPRELU"},
        "dst = src0 > 0 ? src0 : src0 * src1",
        keys=VF_IMPL,
    ),
)
RULES: Mapping[str, Rules] = {
    "binary": BINARY_RULES,
    "prelu": BINARY_RULES,
    "scalar": (
        *tiles("dst", "src"),
        same_dtype("src", "dst"),
        *same_valid("src"),
        POSITIVE,
        SCALAR_FITS,
    ),
    "unary": UNARY_RULES,
    "expands": (*tiles("dst"), SCALAR_FITS),
}
OWN: Mapping[str, Mapping[str, Rules]] = {
    "a2a3": {
        "prelu": (
            NEEDS_TMP,
            *TMP_PLACE,
            Constraint("dtype_is", ("tmp", "u8"), "tmp is u8: packed bits"),
            Constraint("more_valid_rows", ("tmp", "dst"), "tmp has more valid rows than dst"),
            Constraint(
                "mask_holds", ("tmp", "src0"), "a row of tmp holds the bits of whole repeats"
            ),
            apart("dst", "src0"),
            apart("dst", "src1"),
            apart("src0", "src1"),
            *(apart("tmp", name) for name in ("dst", "src0", "src1")),
        ),
    }
}
