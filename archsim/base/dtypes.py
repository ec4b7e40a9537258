"""Element types: one table."""

from dataclasses import dataclass
from enum import Enum

import ml_dtypes
import numpy as np


class Kind(Enum):
    """What a type's bits mean."""

    FLOAT = "float"
    SIGNED = "signed integer"
    UNSIGNED = "unsigned integer"


@dataclass(frozen=True, slots=True)
class DType:
    """An element type. `storage` is the numpy type that holds it; None where numpy has none.

    `coded`: numpy has no such type either, and `storage` holds the bits for a codec of our own
    (`archsim.base.hif8`, `archsim.base.float4`); only conversions know what they mean.
    """

    name: str
    bits: int
    kind: Kind
    storage: np.dtype | None
    coded: bool = False

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return self.name

    @property
    def itemsize(self) -> int:
        """Bytes per element; of a 4-bit type those of a pair: `bytes_of` counts elements."""
        return max(self.bits // 8, 1)

    def bytes_of(self, count: int) -> int:
        """Bytes of `count` elements that follow each other; two of 4 bits share a byte."""
        return -(-count * self.bits // 8)

    @property
    def is_float(self) -> bool:
        """True for every floating-point type."""
        return self.kind is Kind.FLOAT

    @property
    def is_integer(self) -> bool:
        """True for every integer type."""
        return self.kind is not Kind.FLOAT

    @property
    def np(self) -> "np.dtype[np.generic]":
        """The numpy type that holds one element; an error where there is none."""
        if self.storage is None:
            raise ValueError(f"{self.name} has no numpy storage type")
        return self.storage


def _row(
    name: str, bits: int, kind: Kind, storage: type | None, aliases: str, *, coded: bool = False
) -> tuple[DType, str]:
    held = None if storage is None else np.dtype(storage)
    return DType(name, bits, kind, held, coded), aliases


_F, _S, _U = Kind.FLOAT, Kind.SIGNED, Kind.UNSIGNED
# name, bits, kind, numpy storage, other spellings (compared without regard to case)
_TABLE = (
    _row("f32", 32, _F, np.float32, "float fp32 float32"),
    _row("f16", 16, _F, np.float16, "half fp16 float16"),
    _row("bf16", 16, _F, ml_dtypes.bfloat16, "bfloat16 bfloat16_t"),
    _row("i8", 8, _S, np.int8, "s8 int8 int8_t si8"),
    _row("i16", 16, _S, np.int16, "s16 int16 int16_t si16"),
    _row("i32", 32, _S, np.int32, "s32 int32 int32_t si32"),
    _row("i64", 64, _S, np.int64, "s64 int64 int64_t si64"),
    _row("u8", 8, _U, np.uint8, "uint8 uint8_t ui8"),
    _row("u16", 16, _U, np.uint16, "uint16 uint16_t ui16"),
    _row("u32", 32, _U, np.uint32, "uint32 uint32_t ui32"),
    _row("u64", 64, _U, np.uint64, "uint64 uint64_t ui64"),
    _row("f8e4m3", 8, _F, ml_dtypes.float8_e4m3fn, "f8e4m3fn float8e4m3 float8_e4m3fn"),
    _row("f8e5m2", 8, _F, ml_dtypes.float8_e5m2, "float8e5m2 float8_e5m2"),
    _row("hif8", 8, _F, np.uint8, "hfloat8", coded=True),
    _row("f4e2m1", 4, _F, np.uint8, "float4e2m1", coded=True),
    _row("f4e1m2", 4, _F, np.uint8, "float4e1m2", coded=True),
)
DTYPES: dict[str, DType] = {dtype.name: dtype for dtype, _ in _TABLE}
SPELLINGS: dict[str, DType] = {
    spelling: dtype for dtype, aliases in _TABLE for spelling in (dtype.name, *aliases.split())
}

F32, F16, BF16 = DTYPES["f32"], DTYPES["f16"], DTYPES["bf16"]
I8, I16, I32, I64 = DTYPES["i8"], DTYPES["i16"], DTYPES["i32"], DTYPES["i64"]
F4E2M1, F4E1M2 = DTYPES["f4e2m1"], DTYPES["f4e1m2"]
F8E4M3, F8E5M2, HIF8 = DTYPES["f8e4m3"], DTYPES["f8e5m2"], DTYPES["hif8"]
U8, U16, U32, U64 = DTYPES["u8"], DTYPES["u16"], DTYPES["u32"], DTYPES["u64"]


def dtype_named(spelling: str) -> DType | None:
    """The type of any accepted spelling (`half`, `float32`, `int8_t`, ...), or None."""
    return SPELLINGS.get(spelling.lower())
