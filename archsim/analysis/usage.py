"""Where each pipe's time went. The law: busy + stalls + idle = total, checked on every run."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from archsim.isa.pipes import Pipe
from archsim.trace.records import RunLog

Interval = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PipeUsage:
    """One pipe over the run, in cycles. `window` spans its first start to its last end."""

    pipe: Pipe
    busy: int
    stalls: dict[str, int]
    idle: int
    window: Interval | None
    instructions: int


def total_cycles(log: RunLog) -> int:
    """The last completion of the run, in cycles."""
    return log.cycles(log.last.at)


def pipe_usage(log: RunLog) -> dict[Pipe, PipeUsage]:
    """Usage of every pipe that ran or waited, in hardware order.

    Busy is the union of an instruction's start to end. A stall counts where the pipe was neither
    busy with earlier work nor stalled already; idle is the rest: nothing was queued.
    """
    total = total_cycles(log)
    runs: dict[Pipe, list[Interval]] = {}
    waits: dict[Pipe, list[tuple[int, int, str]]] = {}
    for record, span in zip(log.records, log.spans, strict=True):
        runs.setdefault(record.pipe, []).append(span)
    for stall in log.stalls:
        start, end = log.cycles(stall.start), min(log.cycles(stall.end), total)
        waits.setdefault(stall.pipe, []).append((start, end, stall.cause))
    return {
        pipe: _usage(pipe, runs.get(pipe, []), waits.get(pipe, []), total)
        for pipe in Pipe
        if pipe in runs or pipe in waits
    }


def _usage(
    pipe: Pipe, runs: list[Interval], waits: list[tuple[int, int, str]], total: int
) -> PipeUsage:
    busy = union(runs)
    held = sum(end - start for start, end in busy)
    stalls: dict[str, int] = {}
    reached = 0  # on S a full queue and a wait of its own may come together: the first one counts
    for begun, end, cause in sorted(waits):
        start, reached = max(begun, reached), max(end, reached)
        free = (end - start) - overlap((start, end), busy) if end > start else 0
        if free:
            stalls[cause] = stalls.get(cause, 0) + free
    idle = total - held - sum(stalls.values())
    assert idle >= 0, f"pipe {pipe}: busy {held} + stalls {stalls} exceed {total} cycles"
    window = (busy[0][0], busy[-1][1]) if busy else None
    return PipeUsage(pipe, held, dict(sorted(stalls.items())), idle, window, len(runs))


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """Merge intervals that touch or overlap; sorted."""
    merged: list[Interval] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            if end > merged[-1][1]:
                merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged


def overlap(interval: Interval, merged: list[Interval]) -> int:
    """How much of `interval` lies in a sorted list of disjoint intervals."""
    start, end = interval
    at = max(0, bisect_right(merged, (start, start)) - 1)
    shared = 0
    while at < len(merged) and merged[at][0] < end:
        low, high = merged[at]
        shared += max(0, min(high, end) - max(low, start))
        at += 1
    return shared
