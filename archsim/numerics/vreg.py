"""Runs vector functions: registers are numpy arrays, a loop is an axis of them where it may be.

The meaning is sequential: iteration by iteration, micro-op by micro-op. A loop whose iterations
touch nothing of each other runs as one numpy call a micro-op; any other one at a time.

A register holds logical lanes, shape (*loops, lanes): one axis for every enclosing loop that runs
as one, of length 1 where nothing depends on it. A predicate is a register of booleans.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from archsim.isa.lanes.compare import pack, unpack
from archsim.isa.lanes.narrow import as_element
from archsim.isa.lanes.state import How, Lanes, NumericState
from archsim.isa.lanes.tables import VREG
from archsim.isa.vreg import VectorFunction, VregLoop, VregMem, VregNode, VregUop
from archsim.numerics.effects import Step, Write
from archsim.numerics.memory import Memory, Target
from archsim.numerics.vreg_axes import (
    Axes,
    Axis,
    lane_mask,
    lanes_on,
    loop_depth,
    loop_window,
    reach_of,
)
from archsim.numerics.vreg_irregular import gathered, packed_behind, scattered
from archsim.numerics.vreg_lanes import (
    as_type,
    distributed,
    filled,
    masked,
    register_lanes,
    spread,
    taken,
    with_axes,
)
from archsim.numerics.vreg_order import GATHERS, iterations_are_independent

_UB = "UB"
_BYTE = np.dtype(np.uint8)
_SHUFFLES = frozenset({"PINTLV", "PDINTLV", "PUNPACK"})


def vreg_steps(function: VectorFunction, memory: Memory, state: NumericState) -> list[Step]:
    """The micro-ops of a vector function, ready to run."""
    return list(_Unit(memory, state).steps(function.nodes, ()))


@dataclass(slots=True)
class _Unit:
    """The vector unit while a function is prepared and run: memory, control state, registers."""

    memory: Memory
    state: NumericState
    registers: dict[str, Lanes] = field(default_factory=dict)

    def steps(
        self, nodes: Sequence[VregNode], axes: Axes, behind: tuple[VregNode, ...] = ()
    ) -> Iterator[Step]:
        """The steps of `nodes`; `behind` runs after them, the next iteration included."""
        for position, node in enumerate(nodes):
            if isinstance(node, VregUop):
                yield self.step(node, axes)
                continue
            later = (*nodes[position + 1 :], *behind)
            after = (*node.body, *later)
            if iterations_are_independent(node, tuple(axis.iters for axis in axes), later):
                yield from self.steps(node.body, (*axes, Axis(node.iters)), after)
                if later:
                    yield self.last_iteration(node, loop_depth(axes))
            else:
                for index in range(node.iters):
                    yield from self.steps(node.body, (*axes, Axis(node.iters, index)), after)

    def step(self, uop: VregUop, axes: Axes) -> Step:
        if uop.op == "VLDS":
            return self.load(uop, _mem(uop), axes)
        if uop.op == "PLDS":
            return self.load_mask(uop, _mem(uop), axes)
        if uop.op == "VSTUR" and uop.dst:
            return self.store_behind(uop, _mem(uop), axes)
        if uop.op in ("VSTS", "VSTUS", "VSTUR", "SPRSTI"):
            return self.store(uop, _mem(uop), axes)
        if uop.op == "PSTS":
            return self.store_mask(uop, _mem(uop), axes)
        if uop.op in GATHERS:
            return self.gather(uop, _mem(uop), axes)
        if uop.op == "VSCATTER":
            return self.scatter(uop, _mem(uop), axes)
        if uop.op in _SHUFFLES:
            return self.rename(uop, axes)
        if uop.op in ("MEM_BAR", "VSTAR"):
            return Step(_nothing, writes=False)
        return self.compute(uop, axes)

    def last_iteration(self, loop: VregLoop, depth: int) -> Step:
        """What a loop leaves in registers: the values of its last iteration."""
        names = list(_written(loop.body))

        def left(gm_addr: int) -> tuple[Write, ...]:
            for name in names:
                lanes = self.registers[name]
                if lanes.ndim - 1 > depth:
                    self.registers[name] = lanes[..., -1, :]
            return ()

        return Step(left, writes=False)

    def load(self, uop: VregUop, mem: VregMem, axes: Axes) -> Step:
        view = self.memory.view(_UB, *loop_window(mem, axes, mem.dtype.np, mem.elements))
        count = len(uop.dst)  # 2 where a load deinterleaves

        def loaded(gm_addr: int) -> tuple[Write, ...]:
            copied = distributed(view.copy(), mem)
            for part, name in enumerate(uop.dst):
                self.registers[name] = copied[..., part::count]
            return ()

        return Step(loaded, writes=False)

    def load_mask(self, uop: VregUop, mem: VregMem, axes: Axes) -> Step:
        view = self.memory.view(_UB, *loop_window(mem, axes, _BYTE, -(-mem.lanes // 8)))
        share = mem.lanes // len(uop.dst)

        def loaded(gm_addr: int) -> tuple[Write, ...]:
            bits = unpack(view, mem.lanes)
            for part, name in enumerate(uop.dst):
                self.registers[name] = bits[..., part * share : (part + 1) * share]
            return ()

        return Step(loaded, writes=False)

    def gather(self, uop: VregUop, mem: VregMem, axes: Axes) -> Step:
        mask, depth, reach = lane_mask(uop.pred, axes), loop_depth(axes), reach_of(mem, axes)

        def loaded(gm_addr: int) -> tuple[Write, ...]:
            indices = self.expanded(uop.src[0], depth)
            self.registers[uop.dst[0]] = gathered(uop, reach, self.memory, indices, mask)
            return ()

        return Step(loaded, writes=False)

    def scatter(self, uop: VregUop, mem: VregMem, axes: Axes) -> Step:
        mask, depth, reach = lane_mask(uop.pred, axes), loop_depth(axes), reach_of(mem, axes)

        def stored(gm_addr: int) -> list[Write]:
            values, indices = (self.expanded(name, depth) for name in uop.src)
            return scattered(reach, self.memory, as_type(values, mem.dtype.np), indices, mask)

        return Step(stored)

    def store_behind(self, uop: VregUop, mem: VregMem, axes: Axes) -> Step:
        """The lanes that a compaction kept (src: lanes, predicate, count so far), and the count."""
        addr = loop_window(mem, axes, mem.dtype.np, mem.lanes)[0]

        def stored(gm_addr: int) -> list[Write]:
            values, on, count = (self.registers[name] for name in uop.src)
            lanes = as_type(values, mem.dtype.np)
            writes, now = packed_behind(mem, addr, self.memory, lanes, on, int(count.flat[0]))
            self.registers[uop.dst[0]] = np.array([now], np.int32)
            return writes

        return Step(stored)

    def rename(self, uop: VregUop, axes: Axes) -> Step:
        """A mask shuffle: predicates hold logical lanes here, so that it only names them anew."""

        def renamed(gm_addr: int) -> tuple[Write, ...]:
            masks = [self.expanded(name, loop_depth(axes)) for name in uop.src]
            self.registers.update(zip(uop.dst, masks, strict=True))
            return ()

        return Step(renamed, writes=False)

    def store(self, uop: VregUop, mem: VregMem, axes: Axes) -> Step:
        parts = list(self.store_parts(uop, mem, axes))
        shape = (*(axis.iters for axis in axes if axis.index is None), mem.lanes)

        def stored(gm_addr: int) -> list[Write]:
            lanes = as_type(self.expanded(uop.src[0], loop_depth(axes)), mem.dtype.np)
            if mem.dist == "pk" and lanes.shape[-1] > mem.lanes:
                lanes = lanes[..., :: lanes.shape[-1] // mem.lanes]
            else:  # the lowest lanes of the register, one of them where a point is stored
                lanes = lanes[..., : mem.lanes]
            whole = np.broadcast_to(lanes, shape)
            return [(target, whole[part]) for target, part in parts]

        return Step(stored)

    def store_parts(
        self, uop: VregUop, mem: VregMem, axes: Axes
    ) -> Iterator[tuple[Target, tuple[Any, ...]]]:
        """Windows with all lanes on and, behind them, the one with some; and which lanes each gets.

        Windows without a lane on are left out: they keep their bytes.
        """
        assert not isinstance(uop.pred, str), "stores are limited by a count only"
        counts = lanes_on(uop.pred, mem.lanes, axes)
        addr, dtype, shape, strides = loop_window(mem, axes, mem.dtype.np, mem.lanes)
        if not axes or axes[-1].index is not None:
            if counts[0]:
                on = int(counts[0])
                target = self.memory.target(_UB, addr, dtype, (*shape[:-1], on), strides)
                yield target, (..., slice(0, on))
            return
        full = int(np.count_nonzero(counts == mem.lanes))
        if full:
            whole = (*shape[:-2], full, mem.lanes)
            target = self.memory.target(_UB, addr, dtype, whole, strides)
            yield target, (..., slice(0, full), slice(None))
        for index in np.flatnonzero((counts > 0) & (counts < mem.lanes)):
            on, offset = int(counts[index]), int(index) * strides[-2]
            rest = ((*shape[:-2], on), (*strides[:-2], strides[-1]))
            target = self.memory.target(_UB, addr + offset, dtype, *rest)
            yield target, (..., int(index), slice(0, on))

    def store_mask(self, uop: VregUop, mem: VregMem, axes: Axes) -> Step:
        window = loop_window(mem, axes, _BYTE, -(-mem.lanes // 8))
        target = self.memory.target(_UB, *window)
        share = (*window[2][:-1], mem.lanes // len(uop.src))

        def stored(gm_addr: int) -> list[Write]:
            masks = [
                np.broadcast_to(self.expanded(name, loop_depth(axes)), share) for name in uop.src
            ]
            return [(target, pack(np.concatenate(masks, axis=-1)))]

        return Step(stored)

    def compute(self, uop: VregUop, axes: Axes) -> Step:
        op = VREG[uop.op]
        words = tuple(uop.effect.split())
        scalar = None if uop.scalar is None else as_element(uop.scalar, uop.dtype)
        how = How(uop.dtype, uop.to or uop.dtype, self.state, scalar, words)
        mask = lane_mask(uop.pred, axes)
        depth = loop_depth(axes)

        def computed(gm_addr: int) -> tuple[Write, ...]:
            sources = [as_type(self.expanded(name, depth), uop.dtype.np) for name in uop.src]
            on = self.expanded(uop.pred, depth) if isinstance(uop.pred, str) else mask
            if op.mixes:
                lanes = register_lanes(uop.pred, on, sources)
                results = op.function(
                    replace(how, on=on, lanes=lanes), *(filled(s, lanes) for s in sources)
                )
                on = None
            else:
                results = op.function(how, *(taken(source, words) for source in sources))
            for name, out in zip(uop.dst, results if len(uop.dst) > 1 else (results,), strict=True):
                kept = sources[0] if "merge" in words else None
                self.registers[name] = with_axes(spread(masked(out, on, kept), how), depth)
            return ()

        return Step(computed, writes=False)

    def expanded(self, name: str, depth: int) -> Lanes:
        """A register with an axis for each of the `depth` loops around its reader."""
        lanes = self.registers[name]
        missing = depth + 1 - lanes.ndim
        return lanes.reshape(*lanes.shape[:-1], *(1,) * missing, lanes.shape[-1])


def _nothing(gm_addr: int) -> tuple[Write, ...]:
    """A barrier orders accesses in time; here they are in order anyway."""
    return ()


def _mem(uop: VregUop) -> VregMem:
    assert uop.mem is not None, f"{uop.op} has no memory operand"
    return uop.mem


def _written(nodes: Sequence[VregNode]) -> Iterator[str]:
    for node in nodes:
        yield from _written(node.body) if isinstance(node, VregLoop) else node.dst
