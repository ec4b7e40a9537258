"""Micro-op records of data movement."""

from dataclasses import dataclass

from archsim.base.dtypes import DType

BLOCK_BYTES = 32


@dataclass(frozen=True, slots=True)
class Burst:
    """One side of a move: `count` runs of `bytes_each`, `pitch` bytes apart, from `addr`.

    On the GM side `addr` is relative to the window's origin: the engine adds the window's address,
    so that one lowered record serves every iteration of a loop.
    """

    memory: str  # GM, UB, L1, ...
    addr: int
    count: int
    bytes_each: int
    pitch: int


@dataclass(frozen=True, slots=True)
class Move:
    """One DMA transfer. `pad` fills `pad_bytes` behind every destination run with this element.

    `chained`: part of the same DMA instruction as the move before it, with no start-up of its own.
    `add`: elements of this type are added to what the destination holds. `hint`: it takes its time
    but leaves no data behind (a prefetch).
    """

    name: str
    path: str  # a row of `paths:`
    src: Burst
    dst: Burst
    pad: bytes = b""
    pad_bytes: int = 0
    chained: bool = False
    add: DType | None = None
    hint: bool = False

    @property
    def bytes_moved(self) -> int:
        """Payload bytes: gaps and padding do not count."""
        return self.src.count * self.src.bytes_each

    @property
    def runs(self) -> int:
        """How many runs of bytes it has."""
        return self.src.count


@dataclass(frozen=True, slots=True)
class IndexedMove:
    """Elements of GM that index lanes name, to `data` or (`scatter`) from there.

    Lane (r, c) of `data` belongs to the element of the tensor that lane (r, c) of `index` names,
    counted from the window's origin; `elements` is how many there are. Of two lanes that name one
    element the later one is stored. `data` and `index` have the same rows, and as many lanes.
    """

    name: str
    path: str
    data: Burst
    index: Burst
    dtype: DType
    index_dtype: DType
    elements: int
    scatter: bool = False
    chained: bool = False

    @property
    def lanes(self) -> int:
        """Elements of a row."""
        return self.data.bytes_each // self.dtype.itemsize

    @property
    def runs(self) -> int:
        """How many runs of bytes it has: one an element."""
        return self.data.count * self.lanes

    @property
    def bytes_moved(self) -> int:
        """Bytes on the path: a block for each element (assumed: nothing is known)."""
        return self.runs * BLOCK_BYTES


@dataclass(frozen=True, slots=True)
class ScalarAccess:
    """The scalar unit writes `value` to one element of UB or, None, reads it into a register."""

    name: str
    memory: str
    addr: int
    dtype: DType
    value: int | float | None = None


Transfer = Move | IndexedMove
