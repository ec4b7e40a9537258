"""A whole program on a core: what the processes, the values and the watchers leave behind."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from archsim.arch import ArchConfig
from archsim.base.errors import Faults
from archsim.engine.build import pipe_models
from archsim.engine.core import Core, Observer
from archsim.engine.deadlock import deadlock
from archsim.engine.feed import Feed, setters
from archsim.engine.jobs import Job
from archsim.engine.models import SimdModel
from archsim.engine.workshop import Workshop
from archsim.isa.operands import MEMORY
from archsim.isa.pipes import Pipe
from archsim.lower import Lowered
from archsim.numerics.memory import GM, Memory
from archsim.program.ir import Program
from archsim.program.tensors import GmLayout, initial_values
from archsim.program.walk import StepKind, walk
from archsim.schedule.derive import Derivation
from archsim.schedule.placement import Placement
from archsim.trace.records import Finding, RunLog

PROGRESS_EVERY = 2000  # instructions between two reports of progress


@dataclass(slots=True)
class Outcome:
    """The log of a run, what was found, the tensors after it, and each instruction's micro-ops."""

    log: RunLog
    findings: list[Finding]
    initial: Mapping[str, NDArray[Any]]
    tensors: Mapping[str, NDArray[Any]]
    lowered: dict[int, Lowered] = field(default_factory=dict)


def streaming_pipes(arch: ArchConfig) -> frozenset[Pipe]:
    """Pipes that take an instruction before the one in front of it is complete."""
    models, _ = pipe_models(arch)
    return frozenset(pipe for pipe, model in models.items() if isinstance(model, SimdModel))


def survey(program: Program, arch: ArchConfig, placement: Placement) -> None:
    """Walk the program without time and refuse what its text already shows to be wrong."""
    shop = Workshop(arch, placement, program.place, None)
    steps = walk(program, placements=placement.addresses)
    faults = Faults()
    for step in steps:
        if step.kind is StepKind.INSTR:
            assert step.bound is not None
            shop.survey(step.bound, faults)
    fault = steps.fault
    if fault is not None and fault.kind == "bounds" and not fault.iteration:
        faults.add(fault.message, fault.span)
    faults.raise_if_any()


def execute(
    program: Program,
    arch: ArchConfig,
    placement: Placement,
    *,
    numerics: bool,
    observer: Callable[[Job, int, list[int]], None] | None,
    progress: Callable[[int], None] | None,
) -> Outcome:
    """Run `program` to its end, or until it is stuck or refused."""
    models, ticks = pipe_models(arch)
    layout = GmLayout.of(program.tensors.values())
    initial = _initial(program) if numerics else {}
    memory = _memory(program, arch, layout, initial) if numerics else None
    shop = Workshop(arch, placement, program.place, memory)
    steps = walk(program, placements=placement.addresses, bases=layout.bases)
    derivation = Derivation(streaming_pipes(arch), arch.events.ids) if program.auto_sync else None
    feed = Feed(steps, shop, arch.events.ids, derivation)
    log = RunLog(ticks, pipes=tuple(Pipe))
    core = _core(arch, models, ticks, log, observer)
    lowered: dict[int, Lowered] = {}
    core.run(_watched(feed, lowered, progress))
    findings = [*shop.findings.values(), *feed.findings, *log.findings]
    findings += _endings(core, feed, program, derivation, arch)
    tensors = _tensors(program, layout, memory) if memory is not None else {}
    return Outcome(log, findings, initial, tensors, lowered)


def _core(
    arch: ArchConfig, models: Any, ticks: int, log: RunLog, observer: Observer | None
) -> Core:
    depths = {pipe: _depth(arch, pipe) for pipe in Pipe}
    issue = arch.scalar.issue_cycles * ticks
    latency = arch.events.latency_cycles * ticks
    return Core(models, depths, issue, latency, log, observer)


def _depth(arch: ArchConfig, pipe: Pipe) -> int:
    return arch.pipes[pipe.value].queue_depth


def _watched(
    feed: Feed, lowered: dict[int, Lowered], progress: Callable[[int], None] | None
) -> Iterator[Job]:
    for job in feed:
        if job.kind == "instr":
            assert job.work is not None
            lowered[job.id] = job.work.lowered
            if progress is not None and job.id % PROGRESS_EVERY == 0:
                progress(job.id)
        yield job


def _endings(
    core: Core, feed: Feed, program: Program, derivation: Derivation | None, arch: ArchConfig
) -> list[Finding]:
    if core.stuck:
        return [deadlock(core, setters(program, feed.flags))]
    findings = feed.left_set()
    if derivation is not None:
        findings += [
            Finding(
                "ids_exhausted",
                "error",
                f"{need} events from {source} to {pipe} are needed at once; "
                f"{arch.name} has {arch.events.ids}",
            )
            for source, pipe, need in derivation.exhausted()
        ]
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
