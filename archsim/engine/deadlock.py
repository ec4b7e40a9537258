"""The story of a stuck run: who waits for what, where, and why nothing can set it."""

from collections.abc import Container

from archsim.engine.core import Core
from archsim.engine.jobs import Job
from archsim.engine.pipe import PipeUnit
from archsim.isa.pipes import Pipe
from archsim.trace.records import Finding


def deadlock(core: Core, setters: dict[str, list[str]], issued: Container[str] = ()) -> Finding:
    """Tell why nothing can move: one line for each blocked unit.

    `setters` names, for each flag, the places of the statements that set it; `issued` are the
    flags that a set was issued for.
    """
    lines = [f"nothing can move after cycle {core.machine.log.cycles(core.machine.env.now)}"]
    where = []
    for unit in core.units.values():
        if unit.current is not None:
            lines.append(_blocked(unit, unit.current, core, setters, issued))
            if unit.current.span is not None:
                where.append(unit.current.span.where)
    scalar = core.scalar
    if not scalar.done and scalar.blocked is not None:
        job = scalar.blocked
        lines.append(f"the scalar unit cannot issue {_place(job)}: the queue of {job.pipe} is full")
    return Finding("deadlock", "error", "\n".join(lines), tuple(where))


def _blocked(
    unit: PipeUnit, job: Job, core: Core, setters: dict[str, list[str]], issued: Container[str]
) -> str:
    if job.kind == "all":
        missing = [pipe.value for pipe in Pipe if pipe not in core.meeting.round.arrived]
        return (
            f"{unit.pipe} waits at {_place(job)} in a barrier not reached by {', '.join(missing)}"
        )
    flag = job.flag
    story = f"{unit.pipe} waits at {_place(job)} for flag {flag.name}"
    places = setters.get(flag.name, [])
    if not places:
        return f"{story}, which no statement sets"
    behind = _holding(core, flag.name)
    if behind is not None:
        other, queued = behind
        assert other.current is not None
        return (
            f"{story}; it would be set at {_place(queued)}, which is queued on {other.pipe} "
            f"behind the wait at {_place(other.current)}"
        )
    scalar = core.scalar
    if flag.name not in issued and not scalar.done and scalar.blocked is not None:
        return (
            f"{story}; it would be set at {', '.join(places)}, "
            f"which is not issued: {_place(scalar.blocked)} in front of it finds a full queue"
        )
    return f"{story}; it is set only at {', '.join(places)}, and every set so far was used up"


def _holding(core: Core, name: str) -> tuple[PipeUnit, Job] | None:
    """The blocked pipe in whose queue a set of this flag stands, and that set."""
    for unit in core.units.values():
        for job in unit.queue:
            if job.kind == "set" and job.flag.name == name:
                return unit, job
    return None


def _place(job: Job) -> str:
    return job.span.brief if job.span is not None else "?"
