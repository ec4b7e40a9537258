"""Division, remainders, powers, roots and the logarithm."""

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
    BINARY,
    DST,
    FLOATS,
    PRECISION,
    SCALAR,
    TMP,
    UNARY,
    VF_IMPL,
    Arg,
    TileOp,
    same,
)

_A5_DIVIDED = "i32 u32 i16 u16 f16 f32"
_DIVIDED = ("i32 i16 f16 f32", _A5_DIVIDED)


def _row(
    name: str,
    family: str,
    ins: tuple[Arg, ...],
    types: tuple[str, str],
    summary: str,
    *,
    uops: tuple[str, str] = ("", ""),
    precise: bool = True,
    swappable: bool = False,
    sample_scalar: float = 2.0,
) -> TileOp:
    """A row of equal source and destination types, those of A2A3 and those of A5."""
    return TileOp(
        name,
        family,
        Pipe.V,
        DST,
        ins,
        {"a2a3": same(types[0]), "a5": same(types[1])},
        {"a2a3": uops[0], "a5": uops[1]},
        summary,
        keys={**PRECISION, **VF_IMPL} if precise else VF_IMPL,
        swappable=swappable,
        sample_scalar=sample_scalar,
    )


_FLOATS = (FLOATS, FLOATS)
_REMAINDER = ("i32 f32", _A5_DIVIDED)
_MODULO = ("f32", _A5_DIVIDED)
_POWER = ("f32", "i32 i16 f32")

ROWS = (
    _row("TDIV", "divide", BINARY, (FLOATS, _A5_DIVIDED), "dst = src0 / src1"),
    _row(
        "TDIVS",
        "divide_scalar",
        SCALAR,
        _DIVIDED,
        "dst = src / scalar, or scalar / src where it is written first",
        swappable=True,
    ),
    _row("TRECIP", "reciprocal", UNARY, _DIVIDED, "dst = 1 / src"),
    _row("TSQRT", "root", UNARY, _FLOATS, "dst = sqrt(src)", uops=("vsqrt", "VSQRT")),
    _row(
        "TRSQRT",
        "reciprocal_root",
        (*UNARY, TMP),
        _FLOATS,
        "dst = 1 / sqrt(src); A2A3 estimates it without tmp and divides with it",
        uops=("vrsqrt", ""),
    ),
    _row("TLOG", "logarithm", UNARY, _FLOATS, "dst = ln(src)", uops=("vln", "VLN")),
    _row(
        "TREM",
        "remainder",
        (*BINARY, TMP),
        _REMAINDER,
        "dst = src0 - floor(src0 / src1) * src1, each step rounded: the sign of src1",
        precise=False,
    ),
    _row(
        "TREMS",
        "remainder_scalar",
        (*SCALAR, TMP),
        _REMAINDER,
        "dst = src - floor(src / scalar) * scalar, each step rounded: the sign of scalar",
        precise=False,
    ),
    _row(
        "TFMOD",
        "modulo",
        BINARY,
        _MODULO,
        "dst = src0 - trunc(src0 / src1) * src1, each step rounded: the sign of src0",
    ),
    _row(
        "TFMODS",
        "modulo_scalar",
        SCALAR,
        _MODULO,
        "dst = src - trunc(src / scalar) * scalar, each step rounded: the sign of src",
    ),
    _row(
        "TPOW",
        "power",
        (*BINARY, TMP),
        _POWER,
        "dst = src0 ** src1, floats as exp(ln|src0| * src1) with special cases",
        precise=False,
    ),
    _row(
        "TPOWS",
        "power_scalar",
        (*SCALAR, TMP),
        _POWER,
        "dst = src ** scalar, floats as exp(ln|src| * scalar) with special cases",
        precise=False,
    ),
)
_WITH_SCALAR = (
    *tiles("dst", "src"),
    same_dtype("src", "dst"),
    *same_valid("src"),
    POSITIVE,
    SCALAR_FITS,
)
RULES: Mapping[str, Rules] = {
    "divide": BINARY_RULES,
    "divide_scalar": _WITH_SCALAR,
    "logarithm": UNARY_RULES,
    "modulo": BINARY_RULES,
    "modulo_scalar": _WITH_SCALAR,
    "power": BINARY_RULES,
    "power_scalar": _WITH_SCALAR,
    "reciprocal": (*UNARY_RULES, POSITIVE),
    "reciprocal_root": UNARY_RULES,
    "remainder": BINARY_RULES,
    "remainder_scalar": _WITH_SCALAR,
    "root": UNARY_RULES,
}
_HOLDS = "tmp holds the tiles, the mask bits and the address words of the sequence"
_CHAIN_TMP = (
    NEEDS_TMP,
    *TMP_PLACE,
    same_dtype("tmp", "dst"),
    Constraint("chain_scratch_holds", ("tmp",), _HOLDS),
    apart("tmp", "dst"),
)
_TWO = (apart("dst", "src0"), apart("dst", "src1"))
_TMP_OF_TWO = (*_CHAIN_TMP, apart("tmp", "src0"), apart("tmp", "src1"))
_TMP_OF_ONE = (*_CHAIN_TMP, apart("tmp", "src"))
OWN: Mapping[str, Mapping[str, Rules]] = {
    "a2a3": {
        "divide_scalar": (
            Constraint("whole_apart", ("dst", "src"), "dst and src overlap for tile / scalar only"),
        ),
        "modulo": _TWO,
        "modulo_scalar": (apart("dst", "src"),),
        "power": (*_TWO, *_TMP_OF_TWO),
        "power_scalar": (apart("dst", "src"), *_TMP_OF_ONE),
        "reciprocal": (apart("dst", "src"),),
        "reciprocal_root": (
            *TMP_PLACE,
            same_dtype("tmp", "dst"),
            Constraint("holds_block", ("tmp",), "tmp holds a block of 32 bytes"),
            apart("tmp", "dst"),
            apart("tmp", "src"),
        ),
        "remainder": (*_TWO, apart("src0", "src1"), *_TMP_OF_TWO),
        "remainder_scalar": (apart("dst", "src"), *_TMP_OF_ONE),
    }
}
