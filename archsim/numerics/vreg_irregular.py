"""Loads and stores of vector registers whose places come from registers: gathers and scatters."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from archsim.isa.lanes.state import Lanes
from archsim.isa.vreg import VregMem, VregUop
from archsim.numerics.effects import Write
from archsim.numerics.irregular import (
    BLOCK_BYTES,
    block_is_inside,
    blocks_rule,
    check_indices,
    elements_rule,
)
from archsim.numerics.memory import Memory

_UB = "UB"


@dataclass(frozen=True, slots=True)
class Reach:
    """The elements of `mem`, counted from `ahead` bytes behind its start at each iteration.

    `shape` are the loops that run as one; `positions` the index at which every loop stands, None
    for those that do.
    """

    mem: VregMem
    ahead: Lanes
    shape: tuple[int, ...]
    positions: Sequence[int | None]

    def place(self, lanes: int, at: int) -> tuple[int, int]:
        """Row and element of a flat position among index lanes."""
        found = iter(np.unravel_index(at, (*self.shape, lanes)))
        where = [int(next(found)) if p is None else p for p in self.positions]
        lane = int(next(found))
        return (where[0] if where else 0), (where[-1] * lanes if len(where) > 1 else 0) + lane

    def offsets(self, indices: Lanes, on: Lanes | None) -> Lanes:
        """Byte offsets into the memory of element indices; 0 where a lane is off."""
        size, lanes = self.mem.dtype.itemsize, indices.shape[-1]
        wide = np.broadcast_to(indices.astype(np.int64), (*self.shape, lanes))
        places = wide * size + self.ahead
        inside = (places >= 0) & (places + size <= self.mem.lanes * size)
        good = inside if on is None else inside | ~on
        rule = elements_rule(self.mem.lanes)
        check_indices("index", wide, good, rule, lambda at: self.place(lanes, at))
        return np.where(good & inside, places, 0)

    def blocks(self, offsets: Lanes, on: Lanes | None) -> Lanes:
        """Byte offsets of blocks, checked; 0 where the first lane of a block is off."""
        lanes, size = offsets.shape[-1], self.mem.lanes * self.mem.dtype.itemsize
        wide = np.broadcast_to(offsets.astype(np.int64), (*self.shape, lanes))
        inside = block_is_inside(wide, size)
        good = inside
        if on is not None:
            good = inside | ~on[..., :: BLOCK_BYTES // self.mem.dtype.itemsize]
        rule = blocks_rule(size)
        check_indices("byte offset", wide, good, rule, lambda at: self.place(lanes, at))
        return np.where(good & inside, wide, 0)


def gathered(uop: VregUop, reach: Reach, memory: Memory, indices: Lanes, on: Lanes | None) -> Lanes:
    """The lanes that a gather loads: elements at indices, or blocks at byte offsets."""
    mem, element = reach.mem, reach.mem.dtype.np
    whole = memory.view(_UB, mem.addr, np.dtype(np.uint8), (mem.lanes * element.itemsize,), (1,))
    if uop.op == "VGATHERB":
        starts, width = reach.blocks(indices.view(np.uint32), on), BLOCK_BYTES
    else:
        starts, width = reach.offsets(indices, on), element.itemsize
    found = whole[starts[..., np.newaxis] + np.arange(width)]
    return found.reshape(*starts.shape[:-1], -1).view(element)


def scattered(
    reach: Reach, memory: Memory, values: Lanes, indices: Lanes, on: Lanes | None
) -> list[Write]:
    """What a scatter of one register writes: of equal indices the lowest lane stays."""
    mem, element = reach.mem, reach.mem.dtype.np
    places = reach.offsets(indices, on) // element.itemsize
    target = memory.target(_UB, mem.addr, element, (mem.lanes,), (element.itemsize,))
    out = target.view.copy()
    active = np.ones(places.shape, np.bool_) if on is None else np.broadcast_to(on, places.shape)
    values = np.broadcast_to(values[..., : places.shape[-1]], places.shape)
    # The last of several assignments stays, so the lowest lane comes last.
    out[places[active][::-1]] = values[active][::-1]
    return [(target, out)]


def packed_behind(
    mem: VregMem, addr: int, memory: Memory, values: Lanes, on: Lanes, before: int
) -> tuple[list[Write], int]:
    """The lanes of a compaction, `before` elements behind `addr`, and how many are there then."""
    count = int(np.count_nonzero(on))
    size = mem.dtype.itemsize
    if not count:
        return [], before
    start = addr + before * size
    target = memory.target(_UB, start, mem.dtype.np, (count,), (size,))
    return [(target, values[..., :count].reshape(-1))], before + count
