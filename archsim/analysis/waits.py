"""What held each instruction back before it started, and by whom."""

from dataclasses import dataclass

from archsim.trace.records import Record


@dataclass(frozen=True, slots=True)
class Wait:
    """The last thing that an instruction waited for.

    `cause`: flag, barrier, floor, queue_full, busy (its pipe ran earlier work) or issue (nothing:
    it started as soon as it was issued). `producer`: the instruction that let it go, if one did.
    """

    cause: str
    producer: int | None


_CAUSES = {"run": "busy", "start": "issue"}


def wait_of(record: Record) -> Wait:
    """Read off the edge that the record keeps: the latest of all that had to happen before."""
    edge = record.why
    cause = _CAUSES.get(edge.kind, edge.kind)
    if cause in ("flag", "busy"):
        return Wait(cause, edge.ref)
    if cause == "barrier" and edge.prev is not None:
        return Wait(cause, edge.prev.ref)
    return Wait(cause, None)
