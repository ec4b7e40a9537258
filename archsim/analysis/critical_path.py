"""The critical path: a walk back along causes from the last completion to cycle 0."""

from dataclasses import dataclass

from archsim.trace.records import Edge, RunLog, stretches


@dataclass(frozen=True, slots=True)
class Step:
    """Cycles `start` to `end` of the path. `id`: the instruction that ran or was issued; `cause`:
    what let this step begin."""

    id: int | None
    kind: str
    start: int
    end: int
    cause: str


def critical_path(log: RunLog) -> list[Step]:
    """The steps in time order. The law: they tile 0 to the total, checked on every run."""
    steps: list[Step] = []
    for edge, start, end in stretches(log.last, log.cycles):
        assert edge.prev is not None
        _add(steps, Step(edge.ref, edge.kind, start, end, _cause(edge.prev, log)))
    steps.reverse()
    covered = sum(step.end - step.start for step in steps)
    total = log.cycles(log.last.at)
    assert covered == total, f"critical path covers {covered} of {total} cycles"
    return steps


def _add(steps: list[Step], step: Step) -> None:
    """Issue of many entries in a row is one step, named by the last one."""
    if steps and steps[-1].kind == step.kind == "issue" and steps[-1].start == step.end:
        later = steps.pop()
        step = Step(later.id, "issue", step.start, later.end, step.cause)
    steps.append(step)


def _cause(edge: Edge, log: RunLog) -> str:
    if edge.kind == "start":
        return "program start"
    if edge.kind == "run":
        return f"pipe free <- {edge.ref}"
    if edge.kind == "flag":
        return f"flag ready <- {edge.ref}" if edge.ref is not None else "flag ready"
    if edge.kind == "barrier":
        return "barrier released"
    if edge.kind == "queue_full":
        return "queue has room"
    return "issued"
