"""The run as a Chrome trace, which Perfetto opens: a track a pipe, micro-ops inside, flag arrows.

One cycle is written as one nanosecond, so that the ruler reads cycles (`ts` counts microseconds).
Viewers drop a slice that overlaps another of its track without lying inside it. Such slices (the
micro-ops of a streaming pipe, instructions that overlap) go to further tracks of their pipe.
"""

from archsim.analysis.run import Run
from archsim.isa.pipes import Pipe
from archsim.trace.records import Record

Event = dict[str, object]
CYCLE = 0.001
TRACKS_PER_PIPE = 1000  # numbers reserved; a pipe has a handful
STALLS = TRACKS_PER_PIPE - 1  # the last track of a pipe


def perfetto_trace(run: Run) -> dict[str, object]:
    """Slices of every instruction with its micro-ops, stall slices, and record -> wait arrows."""
    tracks: dict[int, int] = {}  # of every instruction
    names = [_meta("process_name", 0, {"name": f"core {run.arch.name}"})]
    events: list[Event] = []
    for pipe in run.pipes:
        lanes, base = Lanes(), _base(pipe)
        for record in _of_pipe(run, pipe):
            events += _slices(run, record, base, lanes, tracks)
        names += _names(pipe, base, lanes)
    events += _stalls(run, tracks)
    return {
        "displayTimeUnit": "ns",
        "otherData": {"program": run.program.name, "arch": run.arch.name, "unit": "1 ns = 1 cycle"},
        "traceEvents": [*names, *events],
    }


def _of_pipe(run: Run, pipe: Pipe) -> list[Record]:
    return sorted((r for r in run.log.records if r.pipe is pipe), key=lambda record: record.id)


class Lanes:
    """Tracks of one pipe, each with the time up to which it is taken."""

    def __init__(self) -> None:
        self.ends: list[int] = []

    def take(self, start: int, end: int) -> int:
        """The first track that is free from `start` on; it is taken until `end`."""
        lane = next((i for i, taken in enumerate(self.ends) if taken <= start), len(self.ends))
        self.ends[lane:] = [end, *self.ends[lane + 1 :]]
        return lane


def _names(pipe: Pipe, base: int, lanes: Lanes) -> list[Event]:
    names = [pipe.value, *(f"{pipe.value} overlapping {i}" for i in range(1, len(lanes.ends)))]
    tracks = [*enumerate(names), (STALLS, f"{pipe.value} stalls")]
    found = []
    for track, name in tracks:
        found.append(_meta("thread_name", base + track, {"name": name}))
        found.append(_meta("thread_sort_index", base + track, {"sort_index": base + track}))
    return found


def _meta(name: str, track: int, args: Event) -> Event:
    return {"ph": "M", "pid": 0, "tid": track, "name": name, "args": args}


def _base(pipe: Pipe) -> int:
    return TRACKS_PER_PIPE * (list(Pipe).index(pipe) + 1)


def _slices(
    run: Run, record: Record, base: int, lanes: Lanes, tracks: dict[int, int]
) -> list[Event]:
    """The slice of an instruction, and those of its micro-ops: inside it as far as they fit."""
    cycles = run.log.cycles
    start, end = cycles(record.start), cycles(record.end)
    args: Event = {
        "id": record.id,
        "where": record.span.where if record.span else None,
        "queued": cycles(record.queued),
        "cycles": end - start,
    }
    own = tracks[record.id] = base + lanes.take(start, end)
    events = [_slice(record.op, own, start, end, args)]
    inside = start  # up to where the instruction's own track is taken by micro-ops
    for uop in sorted(record.uops, key=lambda uop: uop.start):
        low, high = cycles(record.ready + uop.start), cycles(record.ready + uop.end)
        high = min(high, end)
        detail: Event = {"of": record.id, "repeat": uop.repeat, "count": uop.count}
        track = own if low >= inside else base + lanes.take(low, high)
        inside = high if track == own else inside
        events.append(_slice(uop.name, track, low, high, {**detail, "basis": uop.basis}))
    return events


def _slice(name: str, track: int, start: int, end: int, args: Event) -> Event:
    return {
        "ph": "X",
        "pid": 0,
        "tid": track,
        "name": name,
        "ts": _microseconds(start),
        "dur": _microseconds(end - start),
        "args": args,
    }


def _microseconds(cycles: int) -> float:
    return round(cycles * CYCLE, 3)


def _stalls(run: Run, tracks: dict[int, int]) -> list[Event]:
    events: list[Event] = []
    ends = {record.id: run.log.cycles(record.end) for record in run.log.records}
    for number, stall in enumerate(run.log.stalls):
        start, end = run.log.cycles(stall.start), run.log.cycles(stall.end)
        track = _base(stall.pipe) + STALLS
        args: Event = {"producer": stall.producer, "flag": stall.flag}
        events.append(_slice(f"stall: {stall.cause}", track, start, end, args))
        if stall.cause == "flag" and stall.producer in ends and end > start:
            sent = ends[stall.producer]
            events += _arrow(number, tracks[stall.producer], sent, track, end)
    return events


def _arrow(number: int, source: int, sent: int, target: int, got: int) -> list[Event]:
    """From the last cycle of the producer to the last one of the wait: inside both slices."""
    common: Event = {"pid": 0, "cat": "flag", "name": "flag", "id": number}
    return [
        {**common, "ph": "s", "tid": source, "ts": _microseconds(sent - 1)},
        {**common, "ph": "f", "bp": "e", "tid": target, "ts": _microseconds(got - 1)},
    ]
