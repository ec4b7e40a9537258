"""One core: a scalar unit that issues, and pipes that take, wait, run and signal.

Each is one SimPy process. A queue is a deque, a flag a bare event, an instruction one timeout:
its micro-ops are timed by a pure function. The scalar unit runs ahead of the clock by as much as
the queues allow: an entry carries the time at which it was queued, and its pipe does not look at
it before.
"""

from collections.abc import Iterable, Mapping

from archsim.engine.jobs import Job, PipeModel
from archsim.engine.machine import Machine, Observer
from archsim.engine.meeting import Meeting
from archsim.engine.pipe import PipeUnit
from archsim.engine.scalar import ScalarUnit
from archsim.isa.pipes import Pipe
from archsim.trace.records import RunLog


class Core:
    """The units of one core, wired together."""

    def __init__(
        self,
        models: Mapping[Pipe, PipeModel],
        depths: Mapping[Pipe, int],
        issue_ticks: int,
        flag_ticks: int,
        log: RunLog,
        *,
        numerics: bool = True,
        tokens: bool = True,
        observer: Observer | None = None,
    ) -> None:
        self.machine = Machine(log, flag_ticks, numerics, tokens, observer)
        self.meeting = Meeting(self.machine.env)
        self.units = {
            pipe: PipeUnit(self.machine, self.meeting, pipe, models[pipe], depths[pipe])
            for pipe in Pipe
        }
        self.scalar = ScalarUnit(self.machine, self.units, issue_ticks)

    def run(self, jobs: Iterable[Job]) -> None:
        """Run a program's jobs to the end, or until nothing can move any more."""
        env = self.machine.env
        for unit in self.units.values():
            env.process(unit.run())
        env.process(self.scalar.run(jobs))
        env.run()
        self.machine.settle(None)

    @property
    def stuck(self) -> bool:
        """Whether something is left that can never go on."""
        return not self.scalar.done or any(unit.busy for unit in self.units.values())
