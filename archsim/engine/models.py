"""How each pipe spends time, behind one face: the cost models with their caches on the work."""

from collections.abc import Callable
from typing import Any

from archsim.cost.simd import SimdPipe, StreamState
from archsim.engine.jobs import Issued, Work
from archsim.isa.timing import UopSlice

Duration = Callable[[Any], tuple[int, tuple[UopSlice, ...]]]


class SerialModel:
    """A pipe that does one instruction after the other: data movement, scalar, A5 vector."""

    def __init__(self, duration: Duration) -> None:
        self._duration = duration

    def initial(self) -> None:
        """Nothing is remembered between instructions."""

    def issue(self, work: Work, state: None, ready: int) -> tuple[Issued, None]:
        """Start at once, hold the pipe for the whole duration."""
        issued = work.timings.get(0)
        if issued is None:
            ticks, uops = self._duration(work.lowered)
            issued = work.timings[0] = Issued(0, 0, ticks, ticks, uops)
        return issued, None

    def barrier(self, state: None, now: int) -> None:
        """In order and serial: every barrier is met already."""


class SimdModel:
    """The streaming vector pipe: what an instruction costs depends on what streams before it."""

    def __init__(self, pipe: SimdPipe) -> None:
        self._pipe = pipe

    def initial(self) -> StreamState:
        """An idle pipe."""
        return self._pipe.initial()

    def issue(self, work: Work, state: StreamState, ready: int) -> tuple[Issued, StreamState]:
        """Cached by the stream as seen from `ready`: a periodic loop meets few of them."""
        seen = state.seen_from(ready)
        found = work.timings.get(seen)
        if found is None:
            timing, after = self._pipe.issue(work.lowered.uops, seen, 0)
            reads = min(max(timing.start, seen.release), timing.free)
            issued = Issued(timing.start, reads, timing.free, timing.end, timing.uops, timing.held)
            found = work.timings[seen] = (issued, after)
        issued, after = found
        return issued, after.shifted(ready)

    def barrier(self, state: StreamState, now: int) -> StreamState:
        """The next micro-op waits for the release."""
        return self._pipe.barrier(state, now)
