"""Micro-op records of data movement."""

from dataclasses import dataclass


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
    """

    name: str
    path: str  # a row of `paths:`
    src: Burst
    dst: Burst
    pad: bytes = b""
    pad_bytes: int = 0
    chained: bool = False

    @property
    def bytes_moved(self) -> int:
        """Payload bytes: gaps and padding do not count."""
        return self.src.count * self.src.bytes_each
