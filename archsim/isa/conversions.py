"""Which conversions each core has, how they round, and what they do where no option says."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

Pair = tuple[str, str]  # (source type, destination type)

# Rounding modes by the letter that ends a micro-op's name.
MODES: Mapping[str, str] = MappingProxyType(
    {"r": "rint", "a": "round", "f": "floor", "c": "ceil", "z": "trunc", "o": "odd"}
)


@dataclass(frozen=True, slots=True)
class Conversion:
    """One pair of one core.

    `modes` are the rounding modes it offers, `default` the one taken for `none` and for a mode
    that it does not offer (empty: exact, or the core's own rounding). `wraps`: without `sat=` the
    low bits are kept; every other pair clamps.
    """

    modes: str = ""
    default: str = ""
    wraps: bool = False

    def rounding(self, rmode: str) -> str:
        """The letter of the mode that an instruction with `rmode` runs in; empty: none."""
        letter = next((k for k, mode in MODES.items() if mode == rmode), "")
        return letter if letter and letter in self.modes else self.default


_FIVE = "rafcz"
_FIXED = Conversion()
_NARROWING = Conversion(wraps=True)
_TO_INT = Conversion(_FIVE, "z")
_TO_SMALL_INT = Conversion(_FIVE, "z", wraps=True)
_TO_FLOAT = Conversion(_FIVE, "r")
_TO_HALF = Conversion(_FIVE + "o", "r")
# One mode each, whatever is asked for.
_TO_EIGHT = Conversion("r", "r")
_TO_HIF8 = Conversion("a", "a")

_SHARED = {
    "f32>f16": _TO_HALF,
    "f32>bf16": _TO_FLOAT,
    "f32>f32": _TO_FLOAT,
    "f32>i32": _TO_INT,
    "f32>i16": _TO_SMALL_INT,
    "f16>f32": _FIXED,
    "f16>i32": _TO_INT,
    "f16>i16": _TO_SMALL_INT,
    "f16>i8": _TO_SMALL_INT,
    "f16>u8": _TO_SMALL_INT,
    "bf16>f32": _FIXED,
    "bf16>i32": _TO_INT,
    "i16>f32": _FIXED,
    "i32>i16": _NARROWING,
    "f32>i64": _TO_INT,
    "i64>f32": _TO_FLOAT,
    "i32>i64": _FIXED,
    "i64>i32": _NARROWING,
    "u8>f16": _FIXED,
    "i8>f16": _FIXED,
}
_A2A3 = {
    **_SHARED,
    "i16>f16": Conversion(_FIVE),
    "i32>f32": Conversion(_FIVE),
    "i32>f16": _FIXED,
}
_A5 = {
    **_SHARED,
    "i16>f16": _TO_FLOAT,
    "i32>f32": _TO_FLOAT,
    "bf16>f16": _TO_FLOAT,
    "i16>i32": _FIXED,
    "i16>u32": _FIXED,
    "i16>u8": _FIXED,
    "i32>u16": _FIXED,
    "u32>i16": _FIXED,
    "u32>u16": _FIXED,
    "u8>u16": _FIXED,
    "i8>i16": _FIXED,
    "i8>i32": _FIXED,
    "i32>u8": _FIXED,
    "u32>u8": _FIXED,
    "f32>f8e4m3": _TO_EIGHT,
    "f32>f8e5m2": _TO_EIGHT,
    "f32>hif8": _TO_HIF8,
    "f16>hif8": _TO_HIF8,
    "f8e4m3>f32": _FIXED,
    "f8e5m2>f32": _FIXED,
    "hif8>f32": _FIXED,
    "bf16>f4e2m1": _TO_FLOAT,
    "bf16>f4e1m2": _TO_FLOAT,
    "f4e2m1>bf16": _FIXED,
    "f4e1m2>bf16": _FIXED,
}


def _by_pair(rows: Mapping[str, Conversion]) -> Mapping[Pair, Conversion]:
    split = ((text.split(">"), row) for text, row in rows.items())
    return MappingProxyType({(source, to): row for (source, to), row in split})


CONVERSIONS: Mapping[str, Mapping[Pair, Conversion]] = MappingProxyType(
    {"a2a3": _by_pair(_A2A3), "a5": _by_pair(_A5)}
)
# Pairs that keep low bits by way of a wider integer, in a scratch tile where the core needs one.
THROUGH_WIDER: tuple[Pair, ...] = (("f32", "i16"), ("f16", "i16"), ("f16", "i8"))


def keeps_low_bits(isa: str, pair: Pair, sat: str | None, has_scratch: bool) -> bool:
    """Whether a conversion to integers wraps: `sat` is `on`, `off` or not given.

    A2A3 hears `off` only for pairs that wrap by default, and with a scratch tile.
    """
    row = CONVERSIONS[isa][pair]
    if isa == "a2a3" and not (row.wraps or has_scratch):
        return False
    return sat == "off" if sat else row.wraps
