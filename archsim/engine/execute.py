"""A whole program on a core: what the processes, the values and the watchers leave behind."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from archsim.arch import ArchConfig
from archsim.base.errors import Faults
from archsim.engine.build import pipe_models, streaming_pipes
from archsim.engine.core import Core
from archsim.engine.deadlock import deadlock
from archsim.engine.feed import INSTR, Feed, Steps, setters
from archsim.engine.jobs import Job
from archsim.engine.machine import Observer
from archsim.engine.workshop import Workshop
from archsim.isa.operands import MEMORY
from archsim.isa.pipes import Pipe
from archsim.lower import Lowered
from archsim.numerics.memory import GM, Memory
from archsim.program.ir import Instr, Program, WindowArg
from archsim.program.tensors import GmLayout, initial_values
from archsim.program.views import WalkFault
from archsim.program.walk import Step, leaves, runtime_scalars, walk
from archsim.schedule.derive import Derivation
from archsim.schedule.placement import Placement
from archsim.trace.records import Finding, RunLog

KEPT_STEPS = 500_000  # of a survey, for the run
PROGRESS_EVERY = 2000  # instructions between two reports of progress


@dataclass(slots=True)
class Outcome:
    """The log of a run, what was found, the tensors after it, and each instruction's micro-ops with
    the address of its tensor window."""

    log: RunLog
    findings: list[Finding]
    initial: Mapping[str, NDArray[Any]]
    tensors: Mapping[str, NDArray[Any]]
    lowered: Mapping[int, tuple[Lowered, int]]
    complete: bool  # False: the run was stuck, or stopped in front of an instruction


class Kept:
    """The steps of a walk, for a second pass."""

    def __init__(self, steps: list[Step], fault: WalkFault | None) -> None:
        self.steps, self.fault = steps, fault

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def tell(self, name: str, value: int | float) -> None:
        """Nothing in kept steps rests on a number that the run reads."""


def survey(program: Program, arch: ArchConfig, placement: Placement) -> Steps:
    """Walk the program without time and refuse what its text already shows to be wrong.

    The steps serve the run itself; a long program is walked again instead.
    """
    shop = Workshop(arch, placement, program.place, None)
    steps = walk(program, placements=placement.addresses)
    kept: list[Step] = []
    faults = Faults()
    for step in steps:
        if step.kind is INSTR and step.bound is not None:
            shop.survey(step.bound, faults)
        if len(kept) < KEPT_STEPS:
            kept.append(step)
    fault = steps.fault
    if fault is not None and fault.kind == "bounds" and not fault.iteration:
        faults.add(fault.message, fault.span)
    faults.raise_if_any()
    if len(kept) < KEPT_STEPS and not runtime_scalars(program):
        return Kept(kept, fault)
    return walk(program, placements=placement.addresses)


def _shared_tensors(program: Program) -> frozenset[str]:
    """Tensors that instructions of several pipes touch."""
    pipes: dict[str, set[Pipe]] = {}
    for statement in leaves(program):
        if isinstance(statement, Instr):
            for arg in (*statement.outs, *statement.ins):
                if isinstance(arg, WindowArg):
                    pipes.setdefault(arg.name, set()).add(statement.op.pipe)
    return frozenset(name for name, users in pipes.items() if len(users) > 1)


def execute(
    program: Program,
    arch: ArchConfig,
    placement: Placement,
    steps: Steps,
    *,
    numerics: bool,
    observer: Observer | None,
    progress: Callable[[int], None] | None,
) -> Outcome:
    """Run `program` to its end, or until it is stuck or refused."""
    models, ticks = pipe_models(arch)
    layout = GmLayout.of(program.tensors.values())
    initial = _initial(program) if numerics else {}
    memory = _memory(program, arch, layout, initial) if numerics else None
    shop = Workshop(arch, placement, program.place, memory, _shared_tensors(program))
    derivation = Derivation(streaming_pipes(arch), arch.events.ids) if program.auto_sync else None
    feed = Feed(steps, shop, arch.events.ids, derivation)
    log = RunLog(ticks, pipes=tuple(Pipe))
    core = Core(
        models,
        {pipe: arch.pipes[pipe.value].queue_depth for pipe in Pipe},
        arch.scalar.issue_cycles * ticks,
        arch.events.latency_cycles * ticks,
        log,
        numerics=numerics,
        tokens=program.auto_sync,
        observer=observer,
    )
    core.run(feed if progress is None else _reporting(feed, progress))
    findings = [*shop.findings.values(), *feed.findings, *log.findings]
    findings += _endings(core, feed, program, derivation, arch)
    tensors = _tensors(program, layout, memory) if memory is not None else {}
    complete = not (core.stuck or feed.stopped)
    return Outcome(log, findings, initial, tensors, feed.lowered, complete)


def _reporting(feed: Feed, progress: Callable[[int], None]) -> Iterator[Job]:
    for job in feed:
        if job.id % PROGRESS_EVERY == 0:
            progress(job.id)
        yield job


def _endings(
    core: Core, feed: Feed, program: Program, derivation: Derivation | None, arch: ArchConfig
) -> list[Finding]:
    if feed.stopped:  # its cause is told; what then waits or stays set is no fault of its own
        return []
    if core.stuck:
        return [deadlock(core, setters(program, feed.flags), feed.raised)]
    findings = feed.left_set()
    short = [] if derivation is None else derivation.exhausted()
    spans = {record.id: record.span for record in core.machine.log.records} if short else {}
    for source, pipe, need, id in short:
        span = spans.get(id)
        message = (
            f"{need} events from {source} to {pipe} are needed at once; "
            f"{arch.name} has {arch.events.ids}"
        )
        where = (span.where,) if span is not None else ()
        findings.append(Finding("ids_exhausted", "error", message, where))
    return findings


def _initial(program: Program) -> dict[str, NDArray[Any]]:
    faults = Faults()
    values = {}
    for name, decl in program.tensors.items():
        with faults.collecting():
            values[name] = initial_values(decl, program.directory)
    faults.raise_if_any()
    return values


def _memory(
    program: Program, arch: ArchConfig, layout: GmLayout, initial: Mapping[str, NDArray[Any]]
) -> Memory:
    sizes = {name: getattr(arch.memory, name.lower()).size_bytes for name in MEMORY.values()}
    memory = Memory(sizes, layout.size_bytes)
    for name, values in initial.items():
        layout.write(memory.bytes_of(GM), program.tensors[name], values)
    return memory


def _tensors(program: Program, layout: GmLayout, memory: Memory) -> dict[str, NDArray[Any]]:
    content = memory.bytes_of(GM)
    return {name: layout.read(content, decl) for name, decl in program.tensors.items()}
