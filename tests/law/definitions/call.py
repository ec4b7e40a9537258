"""What a definition is given, and what it gives: one instruction's operands and its results."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
TYPES: Mapping[str, "np.dtype[Any]"] = {
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f8e4m3": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "hif8": np.dtype(np.uint8),  # by its bits
    **{f"{k}{n}": np.dtype(f"{k}{n // 8}") for k in "iu" for n in (8, 16, 32, 64)},
}
FLOATS = ("f32", "f16", "bf16")


@dataclass(frozen=True)
class Shape:
    """The declared extent of a tile and what the compiler knew of its valid region."""

    rows: int
    cols: int
    valid_rows: int
    valid_cols: int
    stride: int  # elements from row to row
    static_cols: bool
    row_major: bool
    pad: str = "null"
    static_rows: bool = True


@dataclass(frozen=True)
class Call:
    """One instruction on one core: its operands as they are before it runs.

    `valid[name]` is the valid region of a tile operand or a window of global memory, `whole[name]`
    its whole declared extent, both (rows, columns). `infnan`: the profile in which half keeps
    infinities and NaN. `swapped`: the scalar was written before the tile.
    """

    core: str
    src: str
    dst: str
    valid: Mapping[str, Array]
    whole: Mapping[str, Array]
    shapes: Mapping[str, Shape]
    scalars: Mapping[str, int | float]
    keys: Mapping[str, str]
    infnan: bool = False
    swapped: bool = False

    def __getitem__(self, name: str) -> Array:
        return self.valid[name]

    def has(self, name: str) -> bool:
        """Whether a tile operand was given."""
        return name in self.valid

    def scalar(self, name: str = "scalar", dtype: str = "") -> Any:
        """A scalar operand as one element of `dtype` (default: the source type)."""
        return element(self.scalars[name], dtype or self.src)

    @property
    def dst_type(self) -> "np.dtype[Any]":
        """The numpy type of the destination."""
        return TYPES[self.dst]

    @property
    def on_a2a3(self) -> bool:
        """Whether the core is of the A2A3 generation."""
        return self.core == "a2a3"

    @property
    def rows(self) -> int:
        """Valid rows of the first destination."""
        return self.valid["dst"].shape[0]

    @property
    def cols(self) -> int:
        """Valid columns of the first destination."""
        return self.valid["dst"].shape[1]


def element(value: int | float, dtype: str) -> Any:
    """A scalar operand as an element: integers by their low bits, floats to the nearest."""
    to = TYPES[dtype]
    if dtype in FLOATS:
        with np.errstate(all="ignore"):
            if dtype == "bf16":
                return np.float32(value).astype(to)
            return to.type(value)
    bits = int(value) & ((1 << 8 * to.itemsize) - 1)
    return np.array([bits], f"u{to.itemsize}").view(to)[0]


@dataclass(frozen=True)
class Lanes:
    """Results of which only some lanes are defined; `defined` broadcasts to `values`."""

    values: Array
    defined: Array


@dataclass(frozen=True)
class Bits:
    """Packed bits, rows of bytes, least significant bit first; `count` of a row are defined."""

    rows: Array  # of bool, (rows, count)

    @property
    def packed(self) -> tuple[Array, Array]:
        """The bytes and the bits of them that are defined."""
        care = np.ones_like(self.rows)
        return tuple(np.packbits(x, axis=1, bitorder="little") for x in (self.rows, care))  # type: ignore[return-value]


@dataclass(frozen=True)
class Clobbered:
    """A source that holds something unsaid afterwards, in its valid region or all of it."""


@dataclass(frozen=True)
class Turned:
    """A source that comes back from another type: only values that it cannot hold differ."""

    values: Array


READ = "read"  # instead of an operand: the bytes that the scalar unit reads
Result = Array | Lanes | Bits | Clobbered | Turned
Results = Mapping[str, Result]
Definition = Callable[[Call], Results]
Law = Mapping[str, Definition]


def everywhere(function: Callable[[Call], Array]) -> Definition:
    """A definition that says every valid lane of dst and touches nothing else."""
    return lambda call: {"dst": function(call)}
