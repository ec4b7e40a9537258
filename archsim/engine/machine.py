"""What the units of one core share: the clock, the log, and results in flight."""

import heapq
from collections.abc import Callable, Generator
from typing import Any

import simpy

from archsim.engine.jobs import Job
from archsim.isa.pipes import Pipe
from archsim.trace.records import RunLog

Process = Generator[simpy.Event, Any, None]
# Called when an instruction starts: the job, its number on its pipe, and how much of every pipe's
# work (in hardware order) is known to be complete.
Observer = Callable[[Job, int, list[int]], None]
ORDER = {pipe: i for i, pipe in enumerate(Pipe)}


class Clock(simpy.Environment):
    """Simulated time in integer ticks."""

    @property
    def now(self) -> int:
        """The current tick."""
        return self._now  # type: ignore[return-value]  # only whole delays are ever scheduled


class Machine:
    """The clock and the log of a run, its settings, and the results that have yet to appear.

    `numerics`: instructions carry values. `tokens`: pipes may wait for the end of single
    instructions. `flag_ticks`: from a set to the wait that it lets go.
    """

    def __init__(
        self,
        log: RunLog,
        flag_ticks: int,
        numerics: bool,
        tokens: bool,
        observer: Observer | None,
    ) -> None:
        self.env = Clock()
        self.log = log
        self.flag_ticks = flag_ticks
        self.numerics = numerics
        self.tokens = tokens
        self.observer = observer
        self._in_flight: list[tuple[int, int, Callable[[], None]]] = []

    def later(self, at: int, id: int, apply: Callable[[], None]) -> None:
        """Let results appear at `at`; at one tick in program order."""
        heapq.heappush(self._in_flight, (at, id, apply))

    def settle(self, now: int | None) -> None:
        """Make every result visible that has appeared by `now` (None: all of them)."""
        while self._in_flight and (now is None or self._in_flight[0][0] <= now):
            heapq.heappop(self._in_flight)[2]()
