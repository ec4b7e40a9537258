"""Lanes of registers: spread, taken, masked, read as another type."""

from typing import Any

import numpy as np

from archsim.isa.lanes.state import How, Lanes
from archsim.isa.vreg import Tail, VregMem


def distributed(lanes: Lanes, mem: VregMem) -> Lanes:
    """The elements of a load over the lanes of its register."""
    if mem.dist == "blk":
        return np.tile(lanes, mem.lanes // mem.elements)
    return np.repeat(lanes, mem.lanes // mem.elements, axis=-1) if mem.dist == "e2b" else lanes


def register_lanes(pred: Tail | str | None, on: Lanes | None, sources: list[Lanes]) -> int:
    """Lanes of a register: a broadcast one has a single value that stands for all of them."""
    known = [int(lanes.shape[-1]) for lanes in (*sources, on) if lanes is not None]
    return max(*known, pred.lanes if isinstance(pred, Tail) else 1)


def filled(lanes: Lanes, count: int) -> Lanes:
    """A single value in all lanes; other registers as they are: of several types, or read short."""
    return np.broadcast_to(lanes, (*lanes.shape[:-1], count)) if lanes.shape[-1] == 1 else lanes


def taken(lanes: Lanes, words: tuple[str, ...]) -> Lanes:
    """Every other lane, where a widening conversion takes the even or the odd ones."""
    if lanes.shape[-1] == 1:
        return lanes  # one value that fills a register
    if "from_even" in words:
        return lanes[..., 0::2]
    return lanes[..., 1::2] if "from_odd" in words else lanes


def masked(lanes: Lanes, on: Lanes | None, kept: Lanes | None = None) -> Lanes:
    """Result lanes; where the predicate is off those of `kept`, or 0."""
    if on is None:
        return lanes
    return np.where(on, lanes, np.zeros((), lanes.dtype) if kept is None else kept)


def with_axes(lanes: Lanes, depth: int) -> Lanes:
    """Lanes with an axis for each of `depth` loops."""
    return lanes.reshape((1,) * (depth + 1 - lanes.ndim) + lanes.shape)


def as_type(lanes: Lanes, dtype: "np.dtype[Any]") -> Lanes:
    """Register bits read as another element type; predicates stay what they are."""
    if lanes.dtype in (dtype, np.bool_):
        return lanes
    if lanes.dtype.itemsize != dtype.itemsize:
        lanes = np.ascontiguousarray(lanes)
    seen: Lanes = lanes.view(dtype)
    return seen


def spread(lanes: Lanes, how: How) -> Lanes:
    """Results of a narrowing conversion in every other lane, where it fills one part only."""
    parts = [word for word in how.words if word.startswith("part_")]
    if not parts:
        return lanes
    ratio = how.dtype.bits // how.to.bits
    spread = np.zeros((*lanes.shape[:-1], lanes.shape[-1] * ratio), lanes.dtype)
    spread[..., parts == ["part_odd"] :: ratio] = lanes
    return spread
