"""Comparisons and selections: masks of packed bits."""

from collections.abc import Mapping

from archsim.isa.pipes import Pipe
from archsim.isa.rules import (
    NEEDS_TMP,
    SCALAR_FITS,
    TMP_PLACE,
    Constraint,
    Rules,
    same_dtype,
    same_valid,
    tiles,
)
from archsim.isa.tile_op import (
    A5_ALL,
    BINARY,
    COMPARE,
    COPY,
    DST,
    SCALAR,
    TMP,
    VF_IMPL,
    Arg,
    TileOp,
    pairs,
    same,
)

_TO_BITS = pairs(" ".join(f"{t}>u8" for t in A5_ALL.split()))
_WIDE = "i16 u16 f16 bf16 i32 u32 f32"  # two and four bytes
ROWS = (
    TileOp(
        "TCMP",
        "compare",
        Pipe.V,
        (Arg("dst", "mask"),),
        BINARY,
        {"a2a3": pairs("i32>u8 f32>u8 f16>u8"), "a5": _TO_BITS},
        {"a2a3": "vcmpv", "a5": "VCMP"},
        "bit (r, c) of dst = src0[r, c] <mode> src1[r, c]",
        keys={**COMPARE, **VF_IMPL},
    ),
    TileOp(
        "TCMPS",
        "compare_scalar",
        Pipe.V,
        (Arg("dst", "mask"),),
        SCALAR,
        {
            "a2a3": pairs("i32>u8 f32>u8 f16>u8 u16>u8 i16>u8"),
            "a5": _TO_BITS,
        },
        {"a2a3": "vcmpvs", "a5": "VCMPS"},
        "bit (r, c) of dst = src[r, c] <mode> scalar",
        keys={**COMPARE, **VF_IMPL},
    ),
    TileOp(
        "TSEL",
        "select",
        Pipe.V,
        DST,
        (Arg("mask", "mask"), Arg("src0", "tile"), Arg("src1", "tile"), TMP),
        {"a2a3": same(_WIDE), "a5": same(COPY)},
        {"a2a3": "vsel", "a5": "VSEL"},
        "dst = src0 where the mask bit is 1, else src1",
        keys=VF_IMPL,
    ),
    TileOp(
        "TSELS",
        "select_scalar",
        Pipe.V,
        DST,
        (Arg("mask", "mask"), Arg("src", "tile"), TMP, Arg("scalar", "scalar")),
        {"a2a3": same(_WIDE), "a5": same("i8 u8 i16 u16 i32 u32 f16 f32")},
        {"a2a3": "vsel", "a5": "VSEL"},
        "dst = src where the mask bit is 1, else scalar",
        keys=VF_IMPL,
    ),
)
_MASK_TILE = Constraint(
    "mask_tile", ("mask",), "mask has an integer element type: bytes of packed bits"
)
_MASK_COVERS = Constraint(
    "mask_covers", ("mask", "dst"), "mask has a bit for every valid lane of dst"
)
_BITS_TILE = Constraint(
    "mask_tile", ("dst",), "dst has an integer element type: bytes of packed bits"
)
RULES: Mapping[str, Rules] = {
    "compare": (
        *tiles("dst", "src0", "src1"),
        same_dtype("src1", "src0"),
        Constraint("same_valid", ("src1", "src0"), "src1 has the valid rows and columns of src0"),
        Constraint("same_valid_rows", ("src0", "dst"), "src0 has the valid rows of dst"),
        _BITS_TILE,
        Constraint(
            "mask_holds", ("dst", "src0"), "a row of dst holds the bits of src0's whole repeats"
        ),
    ),
    "compare_scalar": (
        *tiles("dst", "src"),
        Constraint("scalar_fits", ("scalar", "src"), "scalar is a value of src's element type"),
        Constraint("same_valid_rows", ("src", "dst"), "src has the valid rows of dst"),
        _BITS_TILE,
        Constraint(
            "mask_holds", ("dst", "src"), "a row of dst holds the bits of src's whole repeats"
        ),
    ),
    "select": (
        *tiles("dst", "mask", "src0", "src1"),
        same_dtype("src0", "dst"),
        same_dtype("src1", "dst"),
        *same_valid("src0", "src1"),
        _MASK_TILE,
        _MASK_COVERS,
    ),
    "select_scalar": (
        *tiles("dst", "mask", "src"),
        same_dtype("src", "dst"),
        *same_valid("src"),
        SCALAR_FITS,
        _MASK_TILE,
        _MASK_COVERS,
    ),
}
OWN: Mapping[str, Mapping[str, Rules]] = {
    "a2a3": {
        "select": (
            NEEDS_TMP,
            *TMP_PLACE,
            Constraint("scratch_holds", ("tmp",), "tmp holds 8 bytes, 16 for two-byte elements"),
        ),
        "select_scalar": (
            NEEDS_TMP,
            *TMP_PLACE,
            Constraint("scratch_holds", ("tmp",), "tmp holds an element of dst"),
        ),
    }
}
