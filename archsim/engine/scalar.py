"""The scalar unit: walks the program in order and puts each entry into its pipe's queue."""

from collections.abc import Iterable, Mapping

from archsim.engine.jobs import READS, Job
from archsim.engine.machine import Machine, Process
from archsim.engine.pipe import PipeUnit
from archsim.isa.pipes import Pipe
from archsim.trace.records import START, Edge, Stall


class ScalarUnit:
    """Walks the program in order and puts each entry into the queue of its pipe.

    Each entry takes the issue time; a full queue stalls everything behind it.
    """

    def __init__(self, core: Machine, units: Mapping[Pipe, PipeUnit], issue_ticks: int) -> None:
        self.core = core
        self.units = units
        self.issue_ticks = issue_ticks
        self.done = False
        self.blocked: Job | None = None

    def run(self, jobs: Iterable[Job]) -> Process:
        units, issue, env = self.units, self.issue_ticks, self.core.env
        now, cause = 0, START
        for job in jobs:
            unit = units[job.pipe]
            if job.kind != "all" or job.pipe is Pipe.S:  # one instruction reaches every queue
                now += issue
            if len(unit.queue) >= unit.depth:
                self.blocked = job
                room = START
                while len(unit.queue) >= unit.depth:
                    unit.space = env.event()
                    room = yield unit.space  # why the pipe could take an entry
                if env.now > now:
                    self._stalled(now, job, unit)
                    now = env.now
                    cause = Edge(now, "queue_full", job.id, room)
                self.blocked = None
            job.queued, job.cause = now, cause
            unit.queue.append(job)
            if unit.asleep is not None:
                unit.asleep.succeed()
                unit.asleep = None
            if job.done is READS:  # what comes next depends on its number
                job.done = env.event()
                cause = yield job.done
                now = env.now
        self.done = True

    def _stalled(self, since: int, job: Job, unit: PipeUnit) -> None:
        self.core.log.stalls.append(
            Stall(Pipe.S, "queue_full", since, self.core.env.now, unit.last_id, "", job.span)
        )
