"""Splits of time, against a cycle-by-cycle count."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from archsim.analysis.usage import overlap, pipe_usage, total_cycles, union
from archsim.isa.pipes import Pipe
from archsim.trace.records import START, Edge, Record, RunLog, Stall

intervals = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 12)).map(lambda p: (p[0], p[0] + p[1])), max_size=8
)


def cells(spans: list[tuple[int, int]]) -> set[int]:
    return {t for start, end in spans for t in range(start, end)}


@given(intervals)
def test_union_covers_the_same_cycles_once(spans: list[tuple[int, int]]) -> None:
    merged = union(spans)
    assert cells(merged) == cells(spans)
    assert all(a[1] < b[0] for a, b in itertools.pairwise(merged))


@given(intervals, st.integers(0, 40), st.integers(0, 12))
def test_overlap_counts_shared_cycles(spans: list[tuple[int, int]], start: int, size: int) -> None:
    shared = overlap((start, start + size), union(spans))
    assert shared == len(cells(spans) & set(range(start, start + size)))


def record(id: int, pipe: Pipe, start: int, end: int) -> Record:
    return Record(id, "OP", pipe, None, 0, start, end, start, (), START)


def log_of(records: list[Record], stalls: list[Stall], ticks: int = 1) -> RunLog:
    end = max((r.end for r in records), default=0)
    return RunLog(ticks, records, stalls, [], Edge(end, "run", None, START))


def test_busy_stalls_and_idle_add_up() -> None:
    log = log_of(
        [record(0, Pipe.V, 10, 20), record(1, Pipe.V, 18, 30), record(2, Pipe.MTE3, 35, 50)],
        [
            Stall(Pipe.V, "flag", 3, 10, None, "f", None),
            Stall(Pipe.V, "flag", 25, 33, 2, "f", None),
        ],
    )
    use = pipe_usage(log)[Pipe.V]
    assert (use.busy, use.stalls, use.idle) == (20, {"flag": 7 + 3}, 20)
    assert use.window == (10, 30)
    assert total_cycles(log) == 50


def test_moments_are_rounded_once_half_up() -> None:
    log = log_of([record(0, Pipe.V, 0, 150), record(1, Pipe.V, 150, 249)], [], ticks=100)
    assert [log.cycles(t) for t in (49, 50, 149, 150, 249, 250)] == [0, 1, 1, 2, 2, 3]
    assert pipe_usage(log)[Pipe.V].busy == 2


@given(intervals, intervals)
def test_the_law_holds_for_any_log(
    runs: list[tuple[int, int]], waits: list[tuple[int, int]]
) -> None:
    records = [record(i, Pipe.V, a, b) for i, (a, b) in enumerate(runs)]
    total = max((b for _, b in runs), default=0)
    stalls = [Stall(Pipe.V, "flag", a, b, None, "", None) for a, b in union(waits)]
    for use in pipe_usage(log_of(records, stalls)).values():
        assert use.busy + sum(use.stalls.values()) + use.idle == total
