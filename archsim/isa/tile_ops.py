"""The tile instructions: one row each.

A row says what the operands are, which pipe runs it, which element types each core takes and
which micro-op carries it. `family` names the lowering function and the shape rules, so that an
elementwise instruction with a known micro-op is one row here and nothing else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from archsim.isa.conversions import CONVERSIONS, Pair
from archsim.isa.pipes import Pipe


@dataclass(frozen=True, slots=True)
class Arg:
    """One operand: `kind` is tile, mask, gm, scalar or any (tile or tensor window)."""

    name: str
    kind: str
    optional: bool = False
    scratch: bool = False


@dataclass(frozen=True, slots=True)
class TileOp:
    """One tile instruction.

    `dtypes[isa]` lists the legal (source, destination) pairs of a core generation; a generation
    that is absent does not have the instruction. `uops[isa]` is the micro-op that computes it,
    where the family needs only one. `keys` are the `key=value` operands and their legal values
    (empty tuple: any). `swappable` marks two
    sources of different kinds that may be written in either order, which then means something
    (`tdivs d <- a, scalar` and `tdivs d <- scalar, a`): bound operands keep the order as written.
    """

    name: str
    family: str
    pipe: Pipe
    outs: tuple[Arg, ...]
    ins: tuple[Arg, ...]
    dtypes: Mapping[str, tuple[Pair, ...]]
    uops: Mapping[str, str]
    summary: str
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    swappable: bool = False

    @property
    def mnemonic(self) -> str:
        """The lower-case name that programs use."""
        return self.name.lower()

    @property
    def scratch(self) -> Arg | None:
        """The scratch operand, where the instruction has one."""
        return next((arg for arg in self.ins if arg.scratch), None)


def same(types: str) -> tuple[Pair, ...]:
    """Pairs of equal source and destination type."""
    return tuple((t, t) for t in types.split())


def pairs(text: str) -> tuple[Pair, ...]:
    """Pairs written `f32>f16 f16>i8`."""
    return tuple((a, b) for a, b in (item.split(">") for item in text.split()))


_DST = (Arg("dst", "tile"),)
_BINARY = (Arg("src0", "tile"), Arg("src1", "tile"))
_SCALAR = (Arg("src", "tile"), Arg("scalar", "scalar"))
_UNARY = (Arg("src", "tile"),)
_TMP = Arg("tmp", "tile", optional=True, scratch=True)
_VF_IMPL = {
    "vf_impl": (
        "DEFAULT",
        "1D_NO_POST_UPDATE",
        "1D_POST_UPDATE",
        "2D_NO_POST_UPDATE",
        "2D_POST_UPDATE",
    )
}
_A2A3_ARITH = "i32 i16 f16 f32"
_A5_ALL = "i32 u32 i16 u16 i8 u8 f16 bf16 f32"
_A5_MUL = "i32 u32 i16 u16 f16 bf16 f32"
_COMPARE = {"mode": ("eq", "ne", "lt", "le", "gt", "ge")}
_COPY = "i8 u8 i16 u16 i32 u32 f16 bf16 f32"


def _elementwise(
    family: str, ins: tuple[Arg, ...], name: str, uop: str, a5_types: str, summary: str
) -> TileOp:
    return TileOp(
        name,
        family,
        Pipe.V,
        _DST,
        ins,
        {"a2a3": same(_A2A3_ARITH), "a5": same(a5_types)},
        {"a2a3": uop, "a5": uop.upper()},
        summary,
        keys=_VF_IMPL,
    )


def _both(pairs_: tuple[Pair, ...]) -> dict[str, tuple[Pair, ...]]:
    return {"a2a3": pairs_, "a5": pairs_}


_ROWS = (
    TileOp(
        "TLOAD",
        "load",
        Pipe.MTE2,
        _DST,
        (Arg("src", "gm"),),
        _both(same(_COPY + " i64 u64")),
        {},
        "dst[r, c] = src[r, c] from global memory; padding columns take the tile's pad value",
    ),
    TileOp(
        "TSTORE",
        "store",
        Pipe.MTE3,
        (Arg("dst", "gm"),),
        _UNARY,
        _both(same(_COPY + " i64 u64")),
        {},
        "dst[r, c] = src[r, c] to global memory, valid region only",
    ),
    TileOp(
        "TMOV",
        "move",
        Pipe.V,
        _DST,
        _UNARY,
        _both(same(_COPY)),
        {"a2a3": "copy_ubuf_to_ubuf"},
        "dst[r, c] = src[r, c] between tiles",
        keys=_VF_IMPL,
    ),
    _elementwise("binary", _BINARY, "TADD", "vadd", _A5_ALL, "dst = src0 + src1"),
    _elementwise("binary", _BINARY, "TSUB", "vsub", _A5_ALL, "dst = src0 - src1"),
    _elementwise("binary", _BINARY, "TMUL", "vmul", _A5_MUL, "dst = src0 * src1"),
    _elementwise("binary", _BINARY, "TMAX", "vmax", _A5_ALL, "dst = max(src0, src1)"),
    _elementwise("binary", _BINARY, "TMIN", "vmin", _A5_ALL, "dst = min(src0, src1)"),
    _elementwise("scalar", _SCALAR, "TADDS", "vadds", _A5_ALL, "dst = src + scalar"),
    _elementwise("scalar", _SCALAR, "TMULS", "vmuls", _A5_MUL, "dst = src * scalar"),
    _elementwise("scalar", _SCALAR, "TMAXS", "vmaxs", _A5_ALL, "dst = max(src, scalar)"),
    _elementwise("scalar", _SCALAR, "TMINS", "vmins", _A5_ALL, "dst = min(src, scalar)"),
    TileOp(
        "TEXP",
        "unary",
        Pipe.V,
        _DST,
        _UNARY,
        _both(same("f16 f32")),
        {"a2a3": "vexp", "a5": "VEXP"},
        "dst = exp(src)",
        keys={"precision": ("default", "high"), **_VF_IMPL},
    ),
    TileOp(
        "TEXPANDS",
        "expands",
        Pipe.V,
        _DST,
        (Arg("scalar", "scalar"),),
        _both(same(_COPY)),
        {"a2a3": "vector_dup", "a5": "VDUP"},
        "dst = scalar",
        keys=_VF_IMPL,
    ),
    TileOp(
        "TCMPS",
        "compare_scalar",
        Pipe.V,
        (Arg("dst", "mask"),),
        _SCALAR,
        {
            "a2a3": pairs("i32>u8 f32>u8 f16>u8 u16>u8 i16>u8"),
            "a5": pairs(" ".join(f"{t}>u8" for t in _A5_ALL.split())),
        },
        {"a2a3": "vcmpvs", "a5": "VCMPS"},
        "bit (r, c) of dst = src[r, c] <mode> scalar",
        keys={**_COMPARE, **_VF_IMPL},
    ),
    TileOp(
        "TSEL",
        "select",
        Pipe.V,
        _DST,
        (Arg("mask", "mask"), Arg("src0", "tile"), Arg("src1", "tile"), _TMP),
        {"a2a3": same("i16 u16 f16 bf16 i32 u32 f32"), "a5": same(_COPY)},
        {"a2a3": "vsel", "a5": "VSEL"},
        "dst = src0 where the mask bit is 1, else src1",
        keys=_VF_IMPL,
    ),
    TileOp(
        "TCVT",
        "convert",
        Pipe.V,
        _DST,
        (Arg("src", "tile"), _TMP),
        {isa: tuple(rows) for isa, rows in CONVERSIONS.items()},
        {},
        "dst = convert(src)",
        keys={
            "rmode": ("none", "rint", "round", "floor", "ceil", "trunc", "odd"),
            "sat": ("on", "off"),
            **_VF_IMPL,
        },
    ),
    TileOp(
        "TPRELU",
        "prelu",
        Pipe.V,
        _DST,
        (Arg("src0", "tile"), Arg("src1", "tile"), _TMP),
        _both(same("f16 f32")),
        {"a5": "VPRELU"},
        "dst = src0 > 0 ? src0 : src0 * src1",
        keys=_VF_IMPL,
    ),
    TileOp(
        "TADDRELUCONV",
        "addreluconv",
        Pipe.V,
        _DST,
        _BINARY,
        _both(pairs("f32>f16 f16>i8 i16>i8")),
        {},
        "dst = convert(max(0, src0 + src1)), saturating",
        keys=_VF_IMPL,
    ),
    TileOp(
        "TADDDEQRELU",
        "adddeqrelu",
        Pipe.V,
        _DST,
        (Arg("src0", "tile"), Arg("src1", "tile"), Arg("scale", "scalar"), _TMP),
        _both(pairs("i32>f16")),
        {},
        "dst = half(max(0, (src0 + src1) * scale))",
        keys=_VF_IMPL,
    ),
    TileOp(
        "TASSIGN",
        "assign",
        Pipe.S,
        _DST,
        (Arg("addr", "scalar"),),
        _both(same(_COPY + " i64 u64")),
        {},
        "binds a tile to a byte address of its memory",
    ),
    TileOp(
        "TSUBVIEW",
        "subview",
        Pipe.S,
        _DST,
        (Arg("src", "tile"), Arg("row", "scalar"), Arg("col", "scalar")),
        _both(same(_COPY + " i64 u64")),
        {},
        "dst names the part of src that starts at (row, col)",
    ),
)

TILE_OPS: Mapping[str, TileOp] = MappingProxyType({row.mnemonic: row for row in _ROWS})
