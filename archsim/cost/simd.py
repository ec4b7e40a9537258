"""Time of the simd vector pipe: head, slots, tail, floor, streams and barriers.

A micro-op has head H, slope S a repeat, tail T and a floor F. It issues at
max(end of the slots before it + F, barrier release); one that finds the pipe idle pays H first;
each repeat holds the pipe S cycles; the result is complete T after its last slot. Alone that is
H + F + S * repeat + T; streamed it pays no head. Everything here counts in integer ticks: the
smallest part of a cycle in which every slope of the chip is whole.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from typing import NamedTuple

from archsim.arch import SimdArch
from archsim.cost.banks import BankMap, conflicts
from archsim.isa.simd import Barrier, Control, RowLoop, SimdItem, SimdUop
from archsim.isa.timing import Timing, UopSlice

IDLE = -1
# Register writes of the scalar unit: no V time in any model.
SCALAR_CONTROLS = frozenset({"set_ctrl"})


class StreamState(NamedTuple):
    """What the pipe remembers between micro-ops, in ticks.

    `slot_end`: when the last slot ends. `complete`: when every micro-op so far is complete.
    `release`: of the last barrier. `head_due`: the next micro-op pays its head wherever it starts
    (after a paid barrier or a draining mask write).
    """

    slot_end: int = IDLE
    complete: int = IDLE
    release: int = IDLE
    head_due: bool = True

    def seen_from(self, ready: int) -> "StreamState":
        """The same state counted from `ready`; what lies before it no longer matters."""
        if self.slot_end < ready and self.complete < ready and self.release < ready:
            return QUIET
        return StreamState(
            max(self.slot_end - ready, IDLE),
            max(self.complete - ready, IDLE),
            max(self.release - ready, IDLE),
            self.head_due,
        )

    def shifted(self, by: int) -> "StreamState":
        """The same state, `by` ticks later."""
        return StreamState(self.slot_end + by, self.complete + by, self.release + by, self.head_due)


QUIET = StreamState()


@dataclass(frozen=True, slots=True)
class _Slots:
    """One micro-op's share of the pipe, in ticks."""

    head: int
    floor: int
    slots: int
    tail: int
    basis: str
    uncertainty: float


class SimdPipe:
    """The vector pipe of one simd chip. Stateless: a `StreamState` goes in and comes out."""

    def __init__(self, arch: SimdArch) -> None:
        self._arch = arch
        self._vector = arch.vector
        self.ticks_per_cycle = _resolution(arch)
        ub = arch.memory.ub
        self._banks = BankMap(ub.bank_groups, ub.size_bytes // ub.banks_per_group)
        self._control = arch.vector.control_cycles * self.ticks_per_cycle
        self._drains = arch.vector.mask_write == "drains"
        self._paid = arch.vector.barrier_head == "paid"
        self._release = self._ticks(arch.vector.barrier_release_cycles)
        self._slots_of: dict[tuple[object, ...], _Slots] = {}

    def initial(self) -> StreamState:
        """A pipe that has done nothing."""
        return StreamState()

    def issue(
        self, loops: Iterable[RowLoop], state: StreamState, ready: int
    ) -> tuple[Timing, StreamState]:
        """Run one instruction's micro-ops on the pipe, not before `ready`."""
        run = _Run(self, state, ready)
        for loop in loops:
            for row in range(loop.rows):
                for item in loop.body:
                    run.step(item, row)
        return run.timing(), run.state()

    def barrier(self, state: StreamState, now: int) -> StreamState:
        """pipe_barrier(V) between instructions, reached at `now`."""
        release = max(state.complete, state.release, now) + self._release
        return state._replace(release=release, head_due=state.head_due or self._paid)

    def slots(self, uop: SimdUop, row: int) -> _Slots:
        """Head, floor, slots and tail of one micro-op at its addresses."""
        key = (uop, row if _moves(uop) else 0)
        found = self._slots_of.get(key)
        if found is None:
            found = self._slots_of[key] = self._measure(uop, row)
        return found

    def _measure(self, uop: SimdUop, row: int) -> _Slots:
        cost = self._arch.uop(uop.name, uop.dtype.name)
        floor = {"full": Fraction(0), "partial": cost.floor_partial, "count": cost.floor_count}
        head, tail = self._ticks(cost.head), self._ticks(cost.tail)
        if self._vector.start_up == "head_and_tail":
            head, tail = head + tail, 0
        if uop.argument is not None and not self._vector.count_mode_slope:
            uop = replace(uop, repeat=uop.argument)
        cycles = self._slot_cycles(uop, row, cost.slope, cost.conflict_slope)
        slots = self._ticks(max(cycles, Fraction(self._vector.min_slot_cycles)))
        return _Slots(
            head,
            self._ticks(floor[uop.mask.mode]),
            slots,
            tail,
            cost.basis,
            float(cost.uncertainty),
        )

    def _slot_cycles(
        self, uop: SimdUop, row: int, slope: Fraction, conflict_slope: Fraction | None
    ) -> Fraction:
        """slope * quiet repeats + conflict slope * repeats with two reads in one bank group,
        plus write conflicts and whole bank cycles."""
        worst = slope if conflict_slope is None else conflict_slope
        mode = self._vector.bank_conflicts
        if mode == "always":
            return worst * uop.repeat
        if mode == "off":
            return slope * uop.repeat
        met = conflicts(uop, row, self._banks)
        return (
            slope * (uop.repeat - met.reads)
            + worst * met.reads
            + self._vector.write_conflict_cycles * met.writes
            + met.extra_cycles
        )

    def _ticks(self, cycles: Fraction | int) -> int:
        ticks = cycles * self.ticks_per_cycle
        assert ticks == int(ticks), f"{cycles} cycles are not whole ticks"
        return int(ticks)


class _Run:
    """The pipe while one instruction's micro-ops pass."""

    def __init__(self, pipe: SimdPipe, state: StreamState, ready: int) -> None:
        self.pipe, self.ready = pipe, ready
        self.slot_end, self.complete = state.slot_end, state.complete
        self.release = state.release
        # A pipe whose slots ended before this instruction came is idle: the head is due.
        self.head_due = state.head_due or ready > state.slot_end
        self.start: int | None = None
        self.held = ""
        self.last = ready
        self.uops: list[UopSlice] = []

    def step(self, item: SimdItem, row: int) -> None:
        if isinstance(item, SimdUop):
            self._uop(item, row)
        elif isinstance(item, Barrier):
            self._barrier()
        else:
            self._set_up(item)

    def _uop(self, uop: SimdUop, row: int) -> None:
        cost = self.pipe.slots(uop, row)
        front = max(self.slot_end, self.ready)
        if self.head_due:
            begin = max(front, self.release) if self.pipe._paid else front
            issue = max(begin + cost.head + cost.floor, self.release)
        else:
            issue = begin = max(front + cost.floor, self.release)
        end = issue + cost.slots
        self._started(begin)
        self.slot_end, self.head_due = end, False
        self.complete = max(self.complete, end + cost.tail)
        self.last = max(self.last, end + cost.tail)
        self.uops.append(
            UopSlice(
                uop.name,
                uop.repeat,
                begin - self.ready,
                end + cost.tail - self.ready,
                cost.slots,
                cost.basis,
                cost.uncertainty,
            )
        )

    def _barrier(self) -> None:
        self.release = max(self.complete, self.release) + self.pipe._release
        self.head_due = self.head_due or self.pipe._paid
        if self.pipe._control:
            self._occupy(self.release)

    def _set_up(self, item: Control) -> None:
        if item.name in SCALAR_CONTROLS:
            return
        if item.name == "wait_flag":
            # The scalar unit reads what V wrote, then V goes on: all before it is complete.
            self.release = max(self.release, self.complete)
            self.head_due = self.head_due or self.pipe._paid
        if self.pipe._drains:
            # The board stream: a mask write waits for everything before it, then a head follows.
            self.release = max(self.release, self.complete)
            self.slot_end = max(self.slot_end, self.complete)
            self.head_due = True
        if self.pipe._control:
            begin = max(self.slot_end, self.ready, self.release)
            self._started(begin)
            self._occupy(begin + self.pipe._control)

    def _occupy(self, until: int) -> None:
        self.slot_end = max(self.slot_end, until)
        self.complete = max(self.complete, until)
        self.last = max(self.last, until)

    def _started(self, at: int) -> None:
        if self.start is None:
            self.start = at
            if at > self.ready:
                self.held = "barrier" if at == self.release else "floor"

    def timing(self) -> Timing:
        start = self.ready if self.start is None else self.start
        free = max(self.slot_end, start)
        end = max(self.last, start)
        return Timing(self.ready, start, free, end, tuple(self.uops), self.held)

    def state(self) -> StreamState:
        return StreamState(self.slot_end, self.complete, self.release, self.head_due)


def _moves(uop: SimdUop) -> bool:
    """Whether rows can meet the banks differently: their operands step apart modulo 512 bytes."""
    steps = {a.row_stride % 512 for a in (uop.dst, *uop.srcs) if not a.bits}
    return len(steps) > 1


def _resolution(arch: SimdArch) -> int:
    """Ticks per cycle: the least number in which every cost of the chip is whole."""
    parts = [Fraction(arch.vector.write_conflict_cycles).denominator]
    parts += [cycles.denominator for row in arch.uops.values() for cycles in row.all_cycles()]
    return lcm(*parts)
