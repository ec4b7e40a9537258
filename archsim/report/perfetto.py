"""The run as a Chrome trace, which Perfetto opens: a track a pipe, micro-ops inside, flag arrows.

One cycle is written as one nanosecond, so that the ruler reads cycles (`ts` counts microseconds).
"""

from archsim.analysis.run import Run
from archsim.isa.pipes import Pipe
from archsim.trace.records import Record

Event = dict[str, object]
CYCLE = 0.001


def perfetto_trace(run: Run) -> dict[str, object]:
    """Slices of every instruction with its micro-ops, stall slices, and record -> wait arrows."""
    events = _names(run)
    starts = {record.id: record for record in run.log.records}
    for record in sorted(run.log.records, key=lambda r: r.id):
        events.extend(_slices(run, record))
    for number, stall in enumerate(run.log.stalls):
        start, end = run.log.cycles(stall.start), run.log.cycles(stall.end)
        args: Event = {"producer": stall.producer, "flag": stall.flag}
        events.append(_slice(f"stall: {stall.cause}", _stall_track(stall.pipe), start, end, args))
        producer = starts.get(stall.producer) if stall.producer is not None else None
        if stall.cause == "flag" and producer is not None:
            events.extend(_arrow(run, number, producer, stall.pipe, end))
    return {
        "displayTimeUnit": "ns",
        "otherData": {"program": run.program.name, "arch": run.arch.name, "unit": "1 ns = 1 cycle"},
        "traceEvents": events,
    }


def _names(run: Run) -> list[Event]:
    events: list[Event] = [_meta("process_name", 0, {"name": f"core {run.arch.name}"})]
    for pipe in run.pipes:
        for track, name in (
            (_track(pipe), pipe.value),
            (_stall_track(pipe), f"{pipe.value} stalls"),
        ):
            events.append(_meta("thread_name", track, {"name": name}))
            events.append(_meta("thread_sort_index", track, {"sort_index": track}))
    return events


def _meta(name: str, track: int, args: Event) -> Event:
    return {"ph": "M", "pid": 0, "tid": track, "name": name, "args": args}


def _track(pipe: Pipe) -> int:
    return 2 * list(Pipe).index(pipe) + 1


def _stall_track(pipe: Pipe) -> int:
    return _track(pipe) + 1


def _slices(run: Run, record: Record) -> list[Event]:
    cycles = run.log.cycles
    start, end = cycles(record.start), cycles(record.end)
    args: Event = {
        "id": record.id,
        "where": record.span.where if record.span else None,
        "queued": cycles(record.queued),
        "cycles": end - start,
    }
    events = [_slice(record.op, _track(record.pipe), start, end, args)]
    for uop in record.uops:
        low, high = cycles(record.ready + uop.start), cycles(record.ready + uop.end)
        detail: Event = {"repeat": uop.repeat, "count": uop.count, "basis": uop.basis}
        events.append(_slice(uop.name, _track(record.pipe), low, min(high, end), detail))
    return events


def _slice(name: str, track: int, start: int, end: int, args: Event) -> Event:
    return {
        "ph": "X",
        "pid": 0,
        "tid": track,
        "name": name,
        "ts": round(start * CYCLE, 3),
        "dur": round((end - start) * CYCLE, 3),
        "args": args,
    }


def _arrow(run: Run, number: int, producer: Record, pipe: Pipe, end: int) -> list[Event]:
    common: Event = {"pid": 0, "cat": "flag", "name": "flag", "id": number}
    sent = round(run.log.cycles(producer.end) * CYCLE, 3)
    return [
        {**common, "ph": "s", "tid": _track(producer.pipe), "ts": sent},
        {**common, "ph": "f", "bp": "e", "tid": _stall_track(pipe), "ts": round(end * CYCLE, 3)},
    ]
