"""Lanes picked out: by a pattern, by a predicate, counted."""

import numpy as np

from archsim.isa.lanes.state import How, LaneOp, Lanes
from archsim.isa.patterns import PATTERNS


def squeezed(how: How, a: Lanes) -> Lanes:
    """The lanes that a pattern (a word) keeps; without one, those that are on, then zeros."""
    named = [PATTERNS[word] for word in how.words if word in PATTERNS]
    if named:
        period, first = named[0]
        return a[..., first::period]
    if how.on is None:
        return a
    on = np.broadcast_to(how.on[..., : a.shape[-1]], a.shape)
    order = np.argsort(~on, axis=-1, kind="stable")
    kept = np.take_along_axis(a, order, axis=-1)
    ordered = np.take_along_axis(on, order, axis=-1)
    return np.where(ordered, kept, np.zeros((), a.dtype))


def bits_set(how: How, mask: Lanes) -> Lanes:
    """How many lanes of a mask are set, in one lane."""
    return np.asarray(mask.sum(axis=-1, keepdims=True, dtype=how.to.np))


def nothing_stored(how: How) -> Lanes:
    """The count of lanes that a chain of unaligned stores has written, at its start."""
    return np.zeros(1, np.int32)


SIMD: dict[str, LaneOp] = {
    "scalar_count": LaneOp(bits_set, mixes=True),
    "vreducev2": LaneOp(squeezed, mixes=True),
}
VREG: dict[str, LaneOp] = {
    "SPRCLR": LaneOp(nothing_stored),
    "VSQZ": LaneOp(squeezed, mixes=True),
}
