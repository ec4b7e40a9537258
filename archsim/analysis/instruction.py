"""One instruction alone: how long it takes, how sure that is, and what it is made of."""

from collections.abc import Sequence
from dataclasses import dataclass

from archsim.analysis.basis import interval
from archsim.arch import ArchConfig, load
from archsim.base.errors import Faults, InputError
from archsim.check import check
from archsim.engine.build import pipe_models
from archsim.engine.jobs import Issued, Work, no_values
from archsim.isa.operands import BoundInstr
from archsim.isa.timing import half_up
from archsim.lower import Lowered, lower
from archsim.schedule.alone import Question, bind_alone, question


@dataclass(frozen=True, slots=True)
class InstructionCycles:
    """One instruction alone on an idle core: its time, the uncertainty of it, its micro-ops."""

    op: str
    arch: ArchConfig
    cycles: int
    interval: tuple[int, int]
    ticks_per_cycle: int
    issued: Issued
    lowered: Lowered
    bound: BoundInstr


def instruction_cycles(
    op: str,
    dtype: str,
    shape: str,
    valid: str | None,
    keys: Sequence[str],
    arch: str,
    overrides: Sequence[tuple[str, str]] = (),
) -> InstructionCycles:
    """Time one instruction on idle pipes, in a fresh stream, each tile at a base of its own.

    `dtype` is src[,dst], `shape` and `valid` ROWSxCOLS, `keys` words of the form key=value.
    Raises `InputError` for a question that makes no sense or that the core refuses.
    """
    asked = question(op, dtype, shape, valid, _split(keys))
    return time_alone(asked, load(arch, overrides))


def time_alone(asked: Question, chip: ArchConfig) -> InstructionCycles:
    """The answer to a question. Raises `InputError` where the core refuses it."""
    bound = bind_alone(asked, chip)
    _refuse(bound, chip)
    lowered = lower(bound, chip)
    models, ticks = pipe_models(chip)
    model = models[bound.op.pipe]
    work = Work(bound.op.name, bound.op.pipe, lowered, no_values)
    issued, _ = model.issue(work, model.initial(), 0)
    cycles = half_up(issued.end - issued.start, ticks)
    span = interval(issued.uops, cycles)
    return InstructionCycles(bound.op.name, chip, cycles, span, ticks, issued, lowered, bound)


def _split(keys: Sequence[str]) -> dict[str, str]:
    faults = Faults()
    found = {}
    for word in keys:
        key, equals, value = word.partition("=")
        if not equals:
            faults.add(f'"{word}" must be key=value')
        found[key] = value
    faults.raise_if_any()
    return found


def _refuse(bound: BoundInstr, chip: ArchConfig) -> None:
    errors = [d for d in check(bound, chip, may_allocate=True) if d.severity == "error"]
    if errors:
        raise InputError(errors)
