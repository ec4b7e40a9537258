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
    FLOATS,
    SCALAR,
    TMP,
    UNARY,
    VF_IMPL,
    Arg,
    TileOp,
    both,
    same,
)

ALL_INTS = "i32 u32 i16 u16 i8 u8"


def elementwise(
    family: str,
    ins: tuple[Arg, ...],
    name: str,
    uops: tuple[str, str],
    a2a3_types: str,
    a5_types: str,
    summary: str,
) -> TileOp:
    """A row of equal source and destination types; `uops` of the simd and of the vreg cores."""
    return TileOp(
        name,
        family,
        Pipe.V,
        DST,
        ins,
        {"a2a3": same(a2a3_types), "a5": same(a5_types)},
        {"a2a3": uops[0], "a5": uops[1]},
        summary,
        keys=VF_IMPL,
    )


def alike(
    family: str, ins: tuple[Arg, ...], name: str, uop: str, types: tuple[str, str], summary: str
) -> TileOp:
    """A row whose micro-op has one name on both cores."""
    return elementwise(family, ins, name, (uop, uop.upper()), *types, summary)


_ARITH, _PRODUCT = (A2A3_ARITH, A5_ALL), (A2A3_ARITH, A5_MUL)
_LOGIC, _FLOATS = (ALL_INTS, ALL_INTS), (FLOATS, FLOATS)
_SHIFTS = ("i32 u32 i16 u16", ALL_INTS)
_THREE = (*BINARY, Arg("src2", "tile"))
_BETWEEN = (Arg("src0", "tile"), Arg("scalar", "scalar"), Arg("src1", "tile"))

ROWS = (
    alike("binary", BINARY, "TADD", "vadd", _ARITH, "dst = src0 + src1"),
    alike("binary", BINARY, "TSUB", "vsub", _ARITH, "dst = src0 - src1"),
    alike("binary", BINARY, "TMUL", "vmul", _PRODUCT, "dst = src0 * src1"),
    alike("binary", BINARY, "TMAX", "vmax", _ARITH, "dst = max(src0, src1)"),
    alike("binary", BINARY, "TMIN", "vmin", _ARITH, "dst = min(src0, src1)"),
    alike("logic", BINARY, "TAND", "vand", _LOGIC, "dst = src0 & src1"),
    alike("logic", BINARY, "TOR", "vor", _LOGIC, "dst = src0 | src1"),
    alike("exclusive", (*BINARY, TMP), "TXOR", "vxor", _LOGIC, "dst = src0 ^ src1"),
    elementwise(
        "shift", BINARY, "TSHL", ("scalar_shift_left", "VSHL"), *_LOGIC, "dst = src0 << src1"
    ),
    elementwise(
        "shift", BINARY, "TSHR", ("scalar_shift_right", "VSHR"), *_LOGIC, "dst = src0 >> src1"
    ),
    alike("binary_then", _THREE, "TADDC", "vadd vadd", _ARITH, "dst = src0 + src1 + src2"),
    alike("binary_then", _THREE, "TSUBC", "vsub vadd", _ARITH, "dst = src0 - src1 + src2"),
    alike("scalar", SCALAR, "TADDS", "vadds", _ARITH, "dst = src + scalar"),
    alike("sub_scalar", SCALAR, "TSUBS", "vadds", _ARITH, "dst = src - scalar"),
    alike("scalar", SCALAR, "TMULS", "vmuls", _PRODUCT, "dst = src * scalar"),
    alike("scalar", SCALAR, "TMAXS", "vmaxs", _ARITH, "dst = max(src, scalar)"),
    alike("scalar", SCALAR, "TMINS", "vmins", _ARITH, "dst = min(src, scalar)"),
    alike("logic_scalar", SCALAR, "TANDS", "vand", _LOGIC, "dst = src & scalar"),
    alike("logic_scalar", SCALAR, "TORS", "vor", _LOGIC, "dst = src | scalar"),
    alike("exclusive_scalar", (*SCALAR, TMP), "TXORS", "vxor", _LOGIC, "dst = src ^ scalar"),
    elementwise(
        "shift_scalar", SCALAR, "TSHLS", ("vshl", "VSHLS"), *_SHIFTS, "dst = src << scalar"
    ),
    elementwise(
        "shift_scalar", SCALAR, "TSHRS", ("vshr", "VSHRS"), *_SHIFTS, "dst = src >> scalar"
    ),
    alike("scalar", SCALAR, "TLRELU", "vlrelu", _FLOATS, "dst = src > 0 ? src : src * scalar"),
    alike("scalar_then", _BETWEEN, "TADDSC", "vadds vadd", _ARITH, "dst = src0 + scalar + src1"),
    alike(
        "sub_scalar_then", _BETWEEN, "TSUBSC", "vadds vadd", _ARITH, "dst = src0 - scalar + src1"
    ),
    alike("unary", UNARY, "TABS", "vabs", (FLOATS, "f16 f32 i8 i16 i32"), "dst = |src|"),
    alike("negate", UNARY, "TNEG", "vmuls", _PRODUCT, "dst = -src"),
    alike("invert", UNARY, "TNOT", "vnot", _LOGIC, "dst = ~src"),
    alike("unary", UNARY, "TRELU", "vrelu", ("f16 f32 i32", "f16 f32 i32"), "dst = max(src, 0)"),
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
_COUNT = Constraint(
    "shift_in_width", ("scalar", "dst"), "scalar is at least 0 and less than the bits of dst"
)
_SCALAR_RULES = (
    *tiles("dst", "src"),
    same_dtype("src", "dst"),
    *same_valid("src"),
    POSITIVE,
    SCALAR_FITS,
)
_BETWEEN_RULES = (*BINARY_RULES, POSITIVE, SCALAR_FITS)
RULES: Mapping[str, Rules] = {
    "binary": BINARY_RULES,
    "binary_then": (
        *tiles("dst", "src0", "src1", "src2"),
        *(same_dtype(name, "dst") for name in ("src0", "src1", "src2")),
        *same_valid("src0", "src1", "src2"),
    ),
    "exclusive": BINARY_RULES,
    "exclusive_scalar": _SCALAR_RULES,
    "expands": (*tiles("dst"), SCALAR_FITS),
    "invert": UNARY_RULES,
    "logic": BINARY_RULES,
    "logic_scalar": _SCALAR_RULES,
    "negate": (*UNARY_RULES, POSITIVE),
    "prelu": BINARY_RULES,
    "scalar": _SCALAR_RULES,
    "scalar_then": _BETWEEN_RULES,
    "shift": BINARY_RULES,
    "shift_scalar": (*_SCALAR_RULES, _COUNT),
    "sub_scalar": _SCALAR_RULES,
    "sub_scalar_then": _BETWEEN_RULES,
    "unary": UNARY_RULES,
}
_XOR_TMP = (
    NEEDS_TMP,
    *TMP_PLACE,
    same_dtype("tmp", "dst"),
    *same_valid("tmp"),
    apart("tmp", "dst"),
)
OWN: Mapping[str, Mapping[str, Rules]] = {
    "a2a3": {
        "binary_then": (apart("dst", "src2"),),
        "exclusive": (
            *_XOR_TMP,
            *(apart(name, src) for name in ("dst", "tmp") for src in ("src0", "src1")),
        ),
        "exclusive_scalar": (*_XOR_TMP, apart("dst", "src"), apart("tmp", "src")),
        "logic_scalar": (apart("dst", "src"),),
        "scalar_then": (apart("dst", "src1"),),
        "sub_scalar_then": (apart("dst", "src1"),),
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
