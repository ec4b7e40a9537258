"""The program as jobs: each dynamic step bound, worked out, and given its flags."""

from collections.abc import Iterator
from typing import Protocol

from archsim.base.source import Span
from archsim.engine.jobs import READS, Flag, Job
from archsim.engine.workshop import Refused, Workshop
from archsim.isa.pipes import Pipe
from archsim.lower import Lowered
from archsim.program.ir import Flag as FlagStatement
from archsim.program.ir import Instr, Program, Record
from archsim.program.views import WalkFault
from archsim.program.walk import FlagKey, Step, StepKind, leaves
from archsim.schedule.derive import Derivation
from archsim.schedule.destroyed import Destroyed
from archsim.trace.records import Finding

INSTR = StepKind.INSTR


class Steps(Protocol):
    """A walk, or what was kept of one: the steps, and then what stopped it early."""

    fault: WalkFault | None

    def __iter__(self) -> Iterator[Step]:
        """The steps in program order."""

    def tell(self, name: str, value: int | float) -> None:
        """What a run read for the scalar `name`."""


class Feed:
    """Iterates over the jobs of a walk.

    With a `derivation` the program's own synchronisation is left out, and what the derivation asks
    for is put in: a derived wait or barrier takes an issue slot and a queue entry as a written one
    does; the set that a compiler would put behind the producer is not charged.
    """

    def __init__(
        self, walk: Steps, workshop: Workshop, event_ids: int, derivation: Derivation | None
    ) -> None:
        self.flags: dict[FlagKey, Flag] = {}
        self.raised: set[str] = set()  # names of flags that a set was issued for
        self.findings: list[Finding] = []
        self.lowered: dict[int, tuple[Lowered, int]] = {}  # and window address, by instruction id
        self.count = 0
        self.stopped = False  # in front of what only the run shows to be wrong
        self._walk = walk
        self._workshop = workshop
        self._event_ids = event_ids
        self._derivation = derivation
        self._destroyed = Destroyed()
        self._instrs: dict[int, Job] = {}
        self._signals: dict[int, tuple[str, Flag, Step]] = {}

    def __iter__(self) -> Iterator[Job]:
        try:
            for step in self._walk:
                if step.kind is INSTR:
                    job = self._instruction(step)
                    if self._derivation is not None:
                        yield from self._derived(job)
                    self.count += 1
                    yield job
                    if step.result:
                        self._walk.tell(step.result, self._workshop.number_read(step.bound))
                elif self._derivation is None:
                    if step.kind is StepKind.BARRIER:
                        yield from self._barrier(step)
                    else:
                        yield self._signal(step)
        except Refused:
            self.stopped = True
            return
        fault = self._walk.fault
        if fault is not None:
            self.stopped = True
            at = f" (at {fault.iteration})" if fault.iteration else ""
            where = (fault.span.where,)
            self.findings.append(Finding(fault.kind, "error", fault.message + at, where))

    def _instruction(self, step: Step) -> Job:
        assert step.bound is not None
        work = self._workshop.work(step.bound)
        job = Job("instr", work.pipe, step.span, self.count)
        job.work, job.gm_addr = work, step.gm_addr
        if step.result:
            job.done = READS
        self.lowered[self.count] = (work.lowered, step.gm_addr)
        if self._destroyed.any or work.lowered.destroyed:
            self.findings += self._destroyed.passed(step.bound, work.lowered, step.span)
        return job

    def _derived(self, job: Job) -> Iterator[Job]:
        """The waits and the barrier that stand in front of an instruction."""
        assert self._derivation is not None
        work, span = job.work, job.span
        needs = self._derivation.needs(job.id, job.pipe, work.reads, work.writes, job.gm_addr)
        for _, producer in needs.waits:
            wait = Job("token", job.pipe, span, job.id)
            wait.token = self._instrs[producer]
            yield wait
        if needs.barrier:
            yield Job("barrier", job.pipe, span, job.id)
        self._instrs[job.id] = job

    def _barrier(self, step: Step) -> Iterator[Job]:
        if step.pipe is not None:
            yield Job("barrier", step.pipe, step.span, self.count)
            return
        yield from (Job("all", pipe, step.span, self.count) for pipe in Pipe)

    def _signal(self, step: Step) -> Job:
        """A set or a wait. Steps of named events are the same objects in every iteration."""
        known = self._signals.get(id(step))
        if known is None:
            assert step.flag is not None
            self._within(step.flag, step.span)
            flag = self.flags.get(step.flag)
            if flag is None:
                flag = self.flags[step.flag] = Flag(flag_name(step.flag))
            kind = "wait" if step.kind is StepKind.WAIT else "set"
            if kind == "set":
                self.raised.add(flag.name)
            # The step is kept: while it lives, its id stands for nothing else.
            known = self._signals[id(step)] = (kind, flag, step)
        job = Job(known[0], step.pipe or Pipe.S, step.span, self.count)
        job.flag = known[1]
        return job

    def _within(self, key: FlagKey, span: Span) -> None:
        """A plain id that a run computes must be one that the core has."""
        if not key.name and not 0 <= key.slot < self._event_ids:
            message = (
                f"event id is {key.slot}, must be 0 to {self._event_ids - 1} "
                f"from {key.src} to {key.dst}"
            )
            self.findings.append(Finding("ids_exhausted", "error", message, (span.where,)))
            raise Refused

    def left_set(self) -> list[Finding]:
        """Flags that are up at the end: the next program would find them set."""
        return [
            Finding(
                "flag_left_set",
                "error",
                f"flag {flag.name} is left set at the end; every set needs a wait",
                (flag.up.span.where,) if flag.up.span else (),
            )
            for flag in self.flags.values()
            if flag.up is not None
        ]


def flag_name(key: FlagKey) -> str:
    """A flag as messages name it."""
    if key.name:
        return f"{key.name}[{key.slot}] ({key.src} -> {key.dst})"
    return f"{key.src} -> {key.dst} id {key.slot}"


def setters(program: Program, flags: dict[FlagKey, Flag]) -> dict[str, list[str]]:
    """For every flag, the places of the statements that may set it."""
    events: dict[str, list[str]] = {}
    pairs: dict[tuple[Pipe, Pipe], list[str]] = {}
    for statement in leaves(program):
        if isinstance(statement, Record):
            events.setdefault(statement.event.name, []).append(statement.span.brief)
        elif isinstance(statement, Instr) and statement.result is not None:
            events.setdefault(statement.result.name, []).append(statement.span.brief)
        elif isinstance(statement, FlagStatement) and statement.set:
            pairs.setdefault((statement.src, statement.dst), []).append(statement.span.brief)
    return {
        flag.name: events.get(key.name, []) if key.name else pairs.get((key.src, key.dst), [])
        for key, flag in flags.items()
    }
