"""Loops of a vector function as axes of arrays: windows, counts and predicates along them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from archsim.isa.lanes.state import Lanes
from archsim.isa.vreg import Tail, VregMem
from archsim.numerics.vreg_irregular import Reach


@dataclass(frozen=True, slots=True)
class Axis:
    """An enclosing loop: all its iterations together, or the one at `index`."""

    iters: int
    index: int | None = None


Axes = tuple[Axis, ...]


def loop_depth(axes: Axes) -> int:
    return sum(axis.index is None for axis in axes)


def loop_window(
    mem: VregMem, axes: Axes, dtype: "np.dtype[Any]", lanes: int
) -> tuple[int, "np.dtype[Any]", tuple[int, ...], tuple[int, ...]]:
    placed = list(zip(axes, mem.steps, strict=True))
    addr = mem.addr + sum(axis.index * step for axis, step in placed if axis.index is not None)
    shape = tuple(axis.iters for axis in axes if axis.index is None)
    strides = tuple(step for axis, step in placed if axis.index is None)
    return addr, dtype, (*shape, lanes), (*strides, dtype.itemsize)


def reach_of(mem: VregMem, axes: Axes) -> Reach:
    """What an access reaches by index, and how far from its start the indices count."""
    shape = tuple(axis.iters for axis in axes if axis.index is None)
    ahead = np.zeros((*shape, 1), np.int64)
    free = 0
    for axis, step in zip(axes, mem.steps, strict=True):
        if axis.index is not None:
            ahead += axis.index * step
        else:
            along = np.arange(axis.iters) * step
            ahead += along.reshape(-1, *(1,) * (len(shape) - free))
            free += 1
    return Reach(mem, ahead, shape, tuple(axis.index for axis in axes))


def lanes_on(pred: Tail | str | None, lanes: int, axes: Axes) -> Lanes:
    """Lanes that are on at each index of the innermost loop, or at the one it stands at."""
    innermost = axes[-1] if axes else Axis(1)
    indices = np.arange(innermost.iters) if innermost.index is None else np.array([innermost.index])
    if not isinstance(pred, Tail):
        return np.full(indices.shape, lanes)
    left = pred.total - pred.offset - indices * pred.step
    counts: Lanes = np.maximum(np.minimum(left, pred.lanes), 0)
    return counts


def lane_mask(pred: Tail | str | None, axes: Axes) -> Lanes | None:
    """The lanes that are on, to broadcast against registers; None where all of them are."""
    if not isinstance(pred, Tail):
        return None
    counts = lanes_on(pred, pred.lanes, axes)
    if (counts == pred.lanes).all():
        return None
    mask: Lanes = np.arange(pred.lanes) < counts[:, np.newaxis]
    return mask if axes and axes[-1].index is None else mask[0]
