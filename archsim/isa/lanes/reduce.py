"""Lanes that mix: reductions of a repeat, a register or its blocks, and broadcasts of elements.

A sum is a balanced binary tree of adjacent pairs, each node rounded to the element type, lanes
that are masked off giving 0; the tree spans all lanes, masked or not. Source: vendor documentation
of the reductions ("binary-tree pairwise").
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from archsim.isa.lanes import arith
from archsim.isa.lanes.narrow import integer_range
from archsim.isa.lanes.state import How, LaneFunction, LaneOp, Lanes

_BLOCK_BYTES = 32
Pairwise = Callable[[How, Lanes, Lanes], Lanes]


def tree(how: How, lanes: Lanes, op: Pairwise) -> Lanes:
    """Adjacent pairs, then pairs of those, ... along the last axis (a power of two) down to one."""
    while lanes.shape[-1] > 1:
        lanes = op(how, lanes[..., 0::2], lanes[..., 1::2])
    return lanes


def whole(how: How, lanes: Lanes, rest: Any) -> Lanes:
    """All `how.lanes` lanes; `rest` where they are masked off or were not read."""
    if how.on is not None:
        lanes = np.where(how.on, lanes, rest)
    missing = how.lanes - lanes.shape[-1]
    if missing <= 0:
        return lanes
    filled = np.full((*lanes.shape[:-1], missing), rest, lanes.dtype)
    return np.concatenate([lanes, filled], axis=-1)


def lowest(how: How) -> Any:
    """What a masked lane gives to a maximum."""
    if how.dtype.is_float:
        return how.dtype.np.type(-np.inf)
    return integer_range(how.dtype)[0]


def highest(how: How) -> Any:
    """What a masked lane gives to a minimum."""
    if how.dtype.is_float:
        return how.dtype.np.type(np.inf)
    return integer_range(how.dtype)[1]


def zero(how: How) -> Any:
    """What a masked lane gives to a sum."""
    return how.dtype.np.type(0)


def total(op: Pairwise, rest: Callable[[How], Any]) -> LaneFunction:
    """One lane: all lanes of a repeat or register by `op`."""

    def reduced(how: How, a: Lanes) -> Lanes:
        return tree(how, whole(how, a, rest(how)), op)

    return reduced


def by_block(op: Pairwise, rest: Callable[[How], Any]) -> LaneFunction:
    """One lane for each block of 32 bytes."""

    def reduced(how: How, a: Lanes) -> Lanes:
        lanes = whole(how, a, rest(how))
        blocks = lanes.reshape(*lanes.shape[:-1], -1, _BLOCK_BYTES // how.dtype.itemsize)
        return np.asarray(tree(how, blocks, op)[..., 0])

    return reduced


def pairs(how: How, a: Lanes) -> Lanes:
    """One lane for each pair of neighbours: their sum."""
    lanes = whole(how, a, zero(how))
    return arith.add(how, lanes[..., 0::2], lanes[..., 1::2])


def broadcast_blocks(how: How, a: Lanes) -> Lanes:
    """Every element to all lanes of a block of its own."""
    return np.repeat(a, _BLOCK_BYTES // how.to.itemsize, axis=-1)


def widening_sum(how: How, a: Lanes) -> Lanes:
    """The sum of all lanes in the lowest lane of a register; of 16-bit integers in 32 bits."""
    lanes = whole(how, a, zero(how))
    if how.to is how.dtype:
        return _in_register(how, tree(how, lanes, arith.add))
    return _in_register(how, lanes.sum(axis=-1, keepdims=True, dtype=how.to.np))


def _in_register(how: How, found: Lanes) -> Lanes:
    """Result lanes at the bottom of a register, the others 0."""
    size = how.to.itemsize * 8
    lanes = how.lanes * how.dtype.bits // size
    register = np.zeros((*found.shape[:-1], lanes), found.dtype)
    register[..., : found.shape[-1]] = found
    return register


def in_register(function: LaneFunction) -> LaneFunction:
    """The form of a reduction that leaves its result in the lowest lanes of a register."""

    def reduced(how: How, a: Lanes) -> Lanes:
        return _in_register(how, function(how, a))

    return reduced


def _position(how: How, lanes: Lanes, greatest: bool) -> Lanes:
    """Index of the first greatest (least) lane; the first NaN where there is one."""
    comparable = lanes.astype(np.float64)
    at = np.argmax(comparable, axis=-1) if greatest else np.argmin(comparable, axis=-1)
    return np.asarray(at)[..., np.newaxis]


def extreme(greatest: bool) -> LaneFunction:
    """One lane: the greatest (least) of all; with the word `index` the index of its first lane
    behind it, as bits of the same width."""
    op, rest = (arith.maximum, lowest) if greatest else (arith.minimum, highest)

    def reduced(how: How, a: Lanes) -> Lanes:
        lanes = whole(how, a, rest(how))
        if "index" not in how.words:
            return tree(how, lanes, op)
        at = _position(how, lanes, greatest)
        value = np.take_along_axis(lanes, at, axis=-1)
        bits = at.astype(f"u{how.dtype.itemsize}").view(how.dtype.np)
        return np.concatenate([value, bits], axis=-1)

    return reduced


def pick(greatest: bool) -> LaneFunction:
    """One lane: where in a row the first extreme value is, from the value and index of each of its
    repeats of `how.scalar` lanes."""

    def picked(how: How, a: Lanes) -> Lanes:
        at = _position(how, a[..., 0::2], greatest)
        index = a[..., 1::2].view(f"u{how.dtype.itemsize}")
        within = np.take_along_axis(index, at, axis=-1)
        return np.asarray((within + at * int(how.scalar)).astype(how.to.np))

    return picked


def fold(op: Pairwise) -> LaneFunction:
    """One lane: all lanes from left to right, as the scalar unit goes over them."""

    def reduced(how: How, a: Lanes) -> Lanes:
        found = a[..., :1]
        for lane in range(1, a.shape[-1]):
            found = op(how, found, a[..., lane : lane + 1])
        return found

    return reduced


def dup(how: How, *source: Lanes) -> Lanes:
    """The scalar in every lane: a number, or an element that the scalar unit read from UB.

    A byte fills both halves of a lane of 16 bits.
    """
    if not source:
        return np.asarray(how.scalar)
    value = source[0][..., :1]
    if how.dtype.itemsize < how.to.itemsize:
        bits = value.view(np.uint8)  # a negative byte must not fill the upper half with its sign
        return np.asarray(bits.astype(how.to.np) * how.to.np.type(0x0101))
    return value


def lowest_lane(how: How, *source: Lanes) -> Lanes:
    """The scalar, or the lowest lane of a register, in every lane."""
    return source[0][..., :1] if source else np.asarray(how.scalar)


def interleave(how: How, a: Lanes, b: Lanes) -> Any:
    """a0 b0 a1 b1 ...: the first half of it, and the second."""
    a, b = np.broadcast_arrays(a, b)
    mixed = np.stack([a, b], axis=-1).reshape(*a.shape[:-1], -1)
    half = a.shape[-1]
    return mixed[..., :half], mixed[..., half:]


def deinterleave(how: How, a: Lanes, b: Lanes) -> Any:
    """The even lanes of a and b behind each other, and the odd ones."""
    joined = np.concatenate(np.broadcast_arrays(a, b), axis=-1)
    return joined[..., 0::2], joined[..., 1::2]


def exp_of_difference(how: How, a: Lanes, b: Lanes) -> Lanes:
    """R(e^R(a - b)): two roundings."""
    return arith.exp(how, arith.sub(how, a, b))


_REDUCTIONS: Mapping[str, tuple[Pairwise, Callable[[How], Any]]] = {
    "add": (arith.add, zero),
    "max": (arith.maximum, lowest),
    "min": (arith.minimum, highest),
}
_FOLDS: Mapping[str, Pairwise] = {
    "add": arith.add,
    "max": arith.maximum,
    "min": arith.minimum,
    "mul": arith.mul,
}
SIMD: Mapping[str, LaneOp] = {
    "vcadd": LaneOp(total(arith.add, zero), mixes=True),
    "vcmax": LaneOp(extreme(True), mixes=True),
    "vcmin": LaneOp(extreme(False), mixes=True),
    **{f"vcg{name}": LaneOp(by_block(*way), mixes=True) for name, way in _REDUCTIONS.items()},
    **{f"scalar_fold_{name}": LaneOp(fold(op), mixes=True) for name, op in _FOLDS.items()},
    "scalar_pick_max": LaneOp(pick(True), mixes=True),
    "scalar_pick_min": LaneOp(pick(False), mixes=True),
    "vcpadd": LaneOp(pairs, mixes=True),
    "vbrcb": LaneOp(broadcast_blocks, mixes=True),
    "vector_dup": LaneOp(dup),
}
VREG: Mapping[str, LaneOp] = {
    "VCADD": LaneOp(widening_sum, mixes=True),
    "VCMAX": LaneOp(in_register(extreme(True)), mixes=True),
    "VCMIN": LaneOp(in_register(extreme(False)), mixes=True),
    **{
        f"VCG{name.upper()}": LaneOp(in_register(by_block(*way)), mixes=True)
        for name, way in _REDUCTIONS.items()
    },
    "VCPADD": LaneOp(in_register(pairs), mixes=True),
    "VBR": LaneOp(lowest_lane),
    "VDUP": LaneOp(lowest_lane),
    "VINTLV": LaneOp(interleave, mixes=True),
    "VDINTLV": LaneOp(deinterleave, mixes=True),
    "VEXPDIF": LaneOp(exp_of_difference),
}
