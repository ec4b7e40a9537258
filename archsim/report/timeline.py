"""`archsim timeline`: a row an instruction, a character so many cycles, a glyph for each cause."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from archsim.analysis.run import Run
from archsim.isa.pipes import Pipe
from archsim.trace.records import Record, Stall

# What a cycle of a row is spent on, and how it is drawn; a character shows what holds most of it.
GLYPHS = {
    "run": "#",
    "busy": "b",
    "flag": "e",
    "barrier": "r",
    "floor": "f",
    "queue_full": "q",
    "queued": ".",
}
LEGEND = {
    "run": "executing",
    "busy": "its pipe runs earlier work",
    "flag": "waits for a flag",
    "barrier": "waits for a barrier",
    "floor": "held by the front end",
    "queue_full": "scalar unit waits for room in a queue",
    "queued": "in the queue",
}
ROWS = 60
NARROWEST = 24


@dataclass(frozen=True, slots=True)
class View:
    """What to draw: cycles `first` to `last`, the pipes (none: all), how many columns and rows."""

    first: int = 0
    last: int | None = None
    pipes: tuple[Pipe, ...] = ()
    width: int = 100
    rows: int = ROWS


def timeline(run: Run, view: View) -> str:
    """The rows of the instructions that a window shows, with a legend and the critical path."""
    last = run.total_cycles if view.last is None else min(view.last, run.total_cycles)
    records = [r for r in _sorted(run) if _shown(run, r, view, last)]
    shown = records[: view.rows]
    names = [f"[{r.id}] {r.op:<6} {r.pipe.value:<5}" for r in shown]
    prefix = max((len(name) for name in names), default=10)
    columns = max(NARROWEST, view.width - prefix - 4)
    per = max(1, -(-max(1, last - view.first) // columns))
    columns = -(-max(1, last - view.first) // per)
    on_path = {step.id for step in run.path if step.kind == "run"}
    stalls = _by_pipe(run)
    lines = [_scale(prefix, view.first, columns, per)]
    for name, record in zip(names, shown, strict=True):
        spans = _spans(run, record, stalls)
        cells = _draw(spans, view.first, columns, per)
        star = "*" if record.id in on_path else " "
        lines.append(f"{name:<{prefix}} {star}|{cells}| {_note(run, record)}".rstrip())
    if len(records) > len(shown):
        left = len(records) - len(shown)
        lines.append(f"{left:,} more instructions; --window FROM:TO or --rows shows them")
    lines.append(_legend(per))
    return "\n".join(lines)


def _sorted(run: Run) -> list[Record]:
    return sorted(run.log.records, key=lambda record: record.id)


def _shown(run: Run, record: Record, view: View, last: int) -> bool:
    if view.pipes and record.pipe not in view.pipes:
        return False
    return run.log.cycles(record.start) < last and run.log.cycles(record.end) > view.first


def _by_pipe(run: Run) -> dict[Pipe, list[Stall]]:
    found: dict[Pipe, list[Stall]] = {}
    for stall in run.log.stalls:
        found.setdefault(stall.pipe, []).append(stall)
    return {pipe: sorted(stalls, key=lambda s: s.start) for pipe, stalls in found.items()}


Spans = list[tuple[int, int, str]]


def _spans(run: Run, record: Record, stalls: dict[Pipe, list[Stall]]) -> Spans:
    """What the instruction's time from queue to end went on; later entries cover earlier ones."""
    cycles = run.log.cycles
    queued, start, end = cycles(record.queued), cycles(record.start), cycles(record.end)
    spans: Spans = [(queued, start, "busy"), (start, end, "run")]
    waits = stalls.get(record.pipe, [])
    # A pipe's stalls do not overlap: only the one before the first inside may reach into it.
    at = max(0, bisect_left(waits, record.queued, key=lambda s: s.start) - 1)
    for stall in waits[at:]:
        if stall.start >= record.start:
            break
        low, high = max(queued, cycles(stall.start)), min(start, cycles(stall.end))
        if high > low:
            spans.append((low, high, stall.cause))
    return spans


def _draw(spans: Spans, first: int, columns: int, per: int) -> str:
    """Each character shows the span that covers most of its cycles, the later of equals."""
    cells = [" "] * columns
    held = [0] * columns
    for start, end, kind in spans:
        low, high = max(0, start - first), min(columns * per, end - first)
        for column in range(low // per, -(-high // per) if high > low else 0):
            share = min(high, (column + 1) * per) - max(low, column * per)
            if share >= held[column] or kind not in ("busy", "queued"):
                cells[column], held[column] = GLYPHS.get(kind, "?"), share
    return "".join(cells)


def _note(run: Run, record: Record) -> str:
    """Why it started when it did, where that was not just its turn."""
    edge = record.why
    if edge.kind == "flag":
        sender = f" <- [{edge.ref}]" if edge.ref is not None else ""
        return f"flag{sender}"
    return {"barrier": "barrier", "queue_full": "queue full"}.get(edge.kind, "")


def _scale(prefix: int, first: int, columns: int, per: int) -> str:
    """Cycle numbers above the columns, as many as fit."""
    line = [" "] * columns
    text_end = 0
    for column in range(0, columns, 10):
        label = f"{first + column * per:,}"
        if column >= text_end and column + len(label) <= columns:
            line[column : column + len(label)] = label
            text_end = column + len(label) + 2
    return f"{'cycle':<{prefix}}  |{''.join(line)}|".rstrip()


def _legend(per: int) -> str:
    what = ", ".join(f"{GLYPHS[kind]} {text}" for kind, text in LEGEND.items() if kind in _DRAWN)
    each = "1 cycle" if per == 1 else f"{per} cycles"
    return f"A character is {each}: {what}; * on the critical path."


_DRAWN: Iterable[str] = ("run", "busy", "flag", "barrier", "floor")


def parse_window(text: str) -> tuple[int, int | None]:
    """`100:200`, `100:` or `:200` in cycles. `ValueError` for anything else."""
    low, colon, high = text.partition(":")
    first, last = int(low or 0), int(high) if high else None
    if not colon or first < 0 or (last is not None and last <= first):
        raise ValueError(text)
    return first, last


def pipes_named(words: Sequence[str]) -> tuple[Pipe, ...]:
    """Pipes by their names. `KeyError` for a word that is none."""
    by_name = {pipe.value: pipe for pipe in Pipe}
    return tuple(by_name[word.upper()] for word in words)
