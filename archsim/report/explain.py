"""`archsim explain`: why one instruction started when it did, back to cycle 0."""

from archsim.analysis.reasons import Reason, reasons
from archsim.analysis.run import Run
from archsim.base.errors import Diagnostic, InputError
from archsim.trace.records import Record

EXPLAIN_SCHEMA = "archsim.explain/1"
_WHAT = {
    "flag": "the signal of a flag took its time",
    "barrier": "a barrier held it until earlier work was complete",
    "floor": "the front end of the pipe held it",
    "issue": "the scalar unit issued up to it",
    "queue_full": "the scalar unit waited for room in a queue",
}


def explain_json(run: Run, id: int) -> dict[str, object]:
    """The chain as data: latest first, each step with its cycles."""
    steps = [
        {
            "kind": step.kind,
            "id": step.record.id if step.record else None,
            "op": step.record.op if step.record else None,
            "pipe": step.record.pipe.value if step.record else None,
            "where": _where(step.record),
            "from": step.start,
            "to": step.end,
        }
        for step in chain(run, id)
    ]
    return {"schema": EXPLAIN_SCHEMA, "program": run.program.name, "id": id, "steps": steps}


def explain_text(run: Run, id: int) -> str:
    """The chain in sentences, a step a line; equal steps of a long chain are told once."""
    steps = chain(run, id)
    first, rest = steps[0], steps[1:]
    lines = [f"{_name(first.record)} ran {_span(first)}."]
    lines += [f"  {line}" for line in _folded([_sentence(step) for step in rest])]
    lines.append("  0: the program started." if steps[-1].start == 0 else "")
    return "\n".join(lines).rstrip()


def chain(run: Run, id: int) -> list[Reason]:
    """The reasons of an instruction. Raises `InputError` for an id that no instruction has."""
    try:
        return reasons(run.log, id)
    except KeyError:
        ids = [record.id for record in run.log.records]
        known = f"{min(ids)} to {max(ids)}" if ids else "none: nothing ran"
        message = f"no instruction has the id {id}; known are {known}"
        raise InputError([Diagnostic(message, None, file=run.program.name)]) from None


def _sentence(step: Reason) -> str:
    if step.kind == "run":
        return f"{_span(step)}: {_name(step.record)} ran."
    about = f" ({_name(step.record)})" if step.record else ""
    return f"{_span(step)}: {_WHAT.get(step.kind, step.kind)}{about}."


def _folded(lines: list[str], shown: int = 40) -> list[str]:
    """A chain of thousands of steps: its beginning and its end."""
    if len(lines) <= shown:
        return lines
    left = len(lines) - shown
    return [*lines[: shown // 2], f"... {left} more steps; --json tells all", *lines[-shown // 2 :]]


def _span(step: Reason) -> str:
    cycles = step.end - step.start
    return f"{step.start:,}..{step.end:,} ({cycles:,} cycle{'s' if cycles != 1 else ''})"


def _name(record: Record | None) -> str:
    if record is None:
        return "nothing"
    place = _where(record)
    return f"[{record.id}] {record.op} on {record.pipe.value}" + (f", {place}" if place else "")


def _where(record: Record | None) -> str | None:
    return record.span.where if record is not None and record.span is not None else None
