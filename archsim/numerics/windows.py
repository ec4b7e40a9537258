"""Strided numpy windows on the operands of simd micro-ops, packed masks included."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from archsim.base.dtypes import U8
from archsim.isa.lanes.compare import pack, unpack
from archsim.isa.lanes.state import Lanes
from archsim.isa.simd import Access
from archsim.numerics.effects import Write
from archsim.numerics.memory import Memory

_UB = "UB"
_BLOCK_BYTES = 32

Reader = Callable[[], Lanes]
Writer = Callable[[Lanes], list[Write]]


@dataclass(frozen=True, slots=True)
class Grid:
    """What one numpy call covers: rows, repeats from `first` on, and lanes in each of them."""

    rows: int
    first: int
    repeats: int
    lanes: int

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of the lanes that lane functions see."""
        return self.rows, self.repeats, self.lanes

    def seen_by(self, access: Access) -> "Grid":
        """The same repeats with the lanes of one operand."""
        return replace(self, lanes=access.lanes) if access.lanes else self


def width_bytes(access: Access, lanes: int) -> int:
    """Bytes from the first lane of a repeat to one past its last, `lanes` of the mask being on."""
    lanes = access.lanes or lanes
    if access.bits:
        return -(-lanes // 8)
    blocks, rest = divmod(lanes - 1, _per_block(access))
    return blocks * access.block_stride + (rest + 1) * access.dtype.itemsize


def reader(access: Access, grid: Grid, memory: Memory) -> Reader:
    """Gives the lanes of a source, shape `grid.shape`, as they are when it is called.

    The last axis has as many lanes as the operand has by itself, if it says so.
    """
    grid = grid.seen_by(access)
    if access.bits:
        packed = memory.view(_UB, *_window(access, grid, 0, (-(-grid.lanes // 8),)))
        return lambda: unpack(packed, grid.lanes)
    if access.block_stride == _BLOCK_BYTES:
        lanes = memory.view(_UB, *_window(access, grid, 0, (grid.lanes,)))
        return lambda: lanes
    per_block = _per_block(access)
    count = -(-grid.lanes // per_block)
    blocks = memory.view(_UB, *_window(access, grid, 0, (count, per_block)))
    flat = (grid.rows, grid.repeats, count * per_block)
    return lambda: blocks.reshape(flat)[..., : grid.lanes]


def writer(access: Access, grid: Grid, memory: Memory) -> Writer:
    """Takes result lanes that broadcast to `grid.shape` and says what they write where.

    The last axis has as many lanes as the operand has by itself, if it says so.
    """
    grid = grid.seen_by(access)
    if access.bits:
        return _bit_writer(access, grid, memory)
    if access.block_stride == _BLOCK_BYTES:
        target = memory.target(_UB, *_window(access, grid, 0, (grid.lanes,)))
        if access.lanes:  # results may be those of a whole repeat
            return lambda values: [(target, values[..., : grid.lanes])]
        return lambda values: [(target, values)]
    per_block = _per_block(access)
    whole, rest = divmod(grid.lanes, per_block)
    cut = whole * per_block
    # (window, its lanes): whole blocks, then what is left of the last one.
    parts = [
        (memory.target(_UB, *_window(access, grid, first, shape)), lanes)
        for first, shape, lanes in (
            (0, (whole, per_block), slice(0, cut)),
            (whole, (1, rest), slice(cut, None)),
        )
        if shape[0] * shape[1]
    ]

    def write(values: Lanes) -> list[Write]:
        own = values[..., : grid.lanes] if access.lanes else values
        lanes = np.broadcast_to(own, grid.shape)
        return [(t, lanes[..., part].reshape(t.view.shape)) for t, part in parts]

    return write


def _bit_writer(access: Access, grid: Grid, memory: Memory) -> Writer:
    target = memory.target(_UB, *_window(access, grid, 0, (-(-grid.lanes // 8),)))
    kept = 0xFF << grid.lanes % 8 & 0xFF if grid.lanes % 8 else 0

    def write(values: Lanes) -> list[Write]:
        packed = pack(np.broadcast_to(values, grid.shape))
        if kept:  # the last byte is shared with bits that are not written
            packed[..., -1] |= target.view[..., -1] & kept
        return [(target, packed)]

    return write


def _window(
    access: Access, grid: Grid, first_block: int, shape: tuple[int, ...]
) -> tuple[int, "np.dtype[Any]", tuple[int, ...], tuple[int, ...]]:
    dtype = U8.np if access.bits else access.dtype.np
    inner = (access.block_stride, dtype.itemsize)[-len(shape) :]
    addr = access.addr + grid.first * access.repeat_stride + first_block * access.block_stride
    strides = (access.row_stride, access.repeat_stride, *inner)
    return addr, dtype, (grid.rows, grid.repeats, *shape), strides


def _per_block(access: Access) -> int:
    return _BLOCK_BYTES // access.dtype.itemsize
