"""The memories of one core as bytes, poisoned at the start, and what was ever written to them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from archsim.isa.operands import Region

GM = "GM"
# Start contents of on-chip memory: all ones is NaN in every float type and -1 in every signed one.
POISON = 0xFF
# Vector reads take whole repeats, so the last ones of a memory may run past its end.
_SLACK_BYTES = 4096


class OutsideMemory(Exception):
    """An access that no part of a memory answers: from byte `start` of `memory` to `end`."""

    def __init__(self, memory: str, start: int, end: int, size: int) -> None:
        self.memory, self.start, self.end, self.size = memory, start, end, size
        super().__init__(
            f"bytes {start:#x} to {end:#x} of {memory} are touched, must lie in 0x0 to {size:#x}"
        )


class IndexOutside(OutsideMemory):
    """An index in memory that names no element: `value`, at `element` of `row` of the indices."""

    def __init__(self, what: str, value: int, row: int, element: int, rule: str) -> None:
        self.value, self.row, self.element = value, row, element
        Exception.__init__(
            self, f"{what} {value} in element {element} of row {row} is outside, must be {rule}"
        )


class Memory:
    """Global memory, zero at the start, and the on-chip memories, poisoned at the start.

    `sizes_bytes` names the on-chip memories. Views are windows on the bytes, not copies.
    """

    def __init__(self, sizes_bytes: Mapping[str, int], gm_bytes: int) -> None:
        self.sizes = {GM: gm_bytes, **sizes_bytes}
        self._bytes = {
            name: np.full(size + _SLACK_BYTES, POISON, np.uint8)
            for name, size in sizes_bytes.items()
        }
        self._bytes[GM] = np.zeros(gm_bytes, np.uint8)
        self._written = {name: np.zeros(size, np.bool_) for name, size in sizes_bytes.items()}

    def view(
        self,
        memory: str,
        addr: int,
        dtype: "np.dtype[Any]",
        shape: tuple[int, ...],
        strides: tuple[int, ...],
    ) -> NDArray[Any]:
        """A window on `memory` to read from; element (i, j, ...) is at addr + i*s0 + j*s1 + ...

        `OutsideMemory` where a byte lies outside, but for the slack that vector reads may touch.
        """
        if addr < 0:
            raise OutsideMemory(memory, addr, _end(addr, dtype, shape, strides), self.sizes[memory])
        try:
            return np.ndarray(shape, dtype, self._bytes[memory], addr, strides)
        except (TypeError, ValueError):
            end = _end(addr, dtype, shape, strides)
            raise OutsideMemory(memory, addr, end, self.sizes[memory]) from None

    def target(
        self,
        memory: str,
        addr: int,
        dtype: "np.dtype[Any]",
        shape: tuple[int, ...],
        strides: tuple[int, ...],
    ) -> "Target":
        """A window on `memory` to write to; it has no slack."""
        end = _end(addr, dtype, shape, strides)
        if end > self.sizes[memory]:
            raise OutsideMemory(memory, addr, end, self.sizes[memory])
        view = self.view(memory, addr, dtype, shape, strides)
        if memory == GM:
            return Target(view, None)
        marks = np.ndarray(
            (*shape, dtype.itemsize), np.bool_, self._written[memory], addr, (*strides, 1)
        )
        return Target(view, marks)

    def bytes_of(self, memory: str) -> NDArray[np.uint8]:
        """All bytes of a memory, as they are: a window, not a copy."""
        return self._bytes[memory][: self.sizes[memory]]

    def read(self, region: Region) -> NDArray[np.uint8]:
        """The bytes of a region, copied; shape (rows, row_bytes)."""
        shape = (region.rows, region.row_bytes)
        return self.view(region.memory, region.addr, _BYTE, shape, (region.pitch, 1)).copy()

    def write(self, region: Region, data: NDArray[np.uint8]) -> None:
        """Put `data`, shape (rows, row_bytes), into a region at once."""
        shape = (region.rows, region.row_bytes)
        self.target(region.memory, region.addr, _BYTE, shape, (region.pitch, 1)).put(data)

    def written(self, region: Region) -> NDArray[np.bool_]:
        """Which bytes of an on-chip region were ever written; shape (rows, row_bytes)."""
        shape, strides = (region.rows, region.row_bytes), (region.pitch, 1)
        return np.ndarray(shape, np.bool_, self._written[region.memory], region.addr, strides)

    def first_unwritten(self, region: Region) -> tuple[int, int] | None:
        """Row and byte of the first byte of a region that nothing ever wrote; None where all is.

        Global memory counts as written.
        """
        if region.memory == GM or (marks := self.written(region)).all():
            return None
        row, byte = np.unravel_index(int(np.argmin(marks)), marks.shape)
        return int(row), int(byte)


class Target:
    """A window that a micro-op writes, with the marks that remember it."""

    __slots__ = ("marks", "view")

    def __init__(self, view: NDArray[Any], marks: NDArray[np.bool_] | None) -> None:
        self.view = view
        self.marks = marks

    def put(self, values: NDArray[Any]) -> None:
        """Write the values and remember that they were written."""
        self.view[...] = values
        if self.marks is not None:
            self.marks[...] = True


_BYTE = np.dtype(np.uint8)


def _end(
    addr: int, dtype: "np.dtype[Any]", shape: tuple[int, ...], strides: tuple[int, ...]
) -> int:
    steps = sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True))
    return addr + steps + dtype.itemsize
