"""Why an instruction started when it did: the chain of causes from it back to cycle 0."""

from dataclasses import dataclass

from archsim.trace.records import Record, RunLog, stretches


@dataclass(frozen=True, slots=True)
class Reason:
    """Cycles `start` to `end` went by on `kind` (run, flag, barrier, floor, issue, queue_full).

    `record` is the instruction that ran, waited or was issued; None where none did.
    """

    kind: str
    record: Record | None
    start: int
    end: int


def reasons(log: RunLog, id: int) -> list[Reason]:
    """From the end of instruction `id` back to 0, latest first; times in cycles, without gaps.

    Raises `KeyError` for an instruction that never ran.
    """
    by_id = {record.id: record for record in log.records}
    record = by_id[id]
    found = [Reason("run", record, log.cycles(record.start), log.cycles(record.end))]
    for edge, start, end in stretches(record.why, log.cycles):
        ref = by_id.get(edge.ref) if edge.ref is not None else None
        found.append(Reason(edge.kind, ref, start, end))
    return found
