"""CSV tables of a run; the columns are documented here and stay as they are."""

import csv
import io

from archsim.analysis.basis import main_basis
from archsim.analysis.run import Run
from archsim.analysis.waits import wait_of
from archsim.isa.moves import Move
from archsim.isa.pipes import Pipe
from archsim.lower import Lowered
from archsim.report.summary import instructions

# id, op, pipe, where (file:line), queued, start, end, cycles, uops as in the summary; wait_cycles
# in the queue while its pipe ran nothing, wait_cause what it waited for last and producer the
# instruction that let it go; bytes moved; basis what most of its time rests on; critical 1 on the
# critical path.
INSTRUCTION_COLUMNS = (
    "id",
    "op",
    "pipe",
    "where",
    "queued",
    "start",
    "end",
    "cycles",
    "uops",
    "wait_cycles",
    "wait_cause",
    "producer",
    "bytes",
    "basis",
    "critical",
)
PIPE_COLUMNS = (
    "pipe",
    "busy_cycles",
    "stall_cycles",
    "idle_cycles",
    "utilisation",
    "window_start",
    "window_end",
    "instructions",
    "stalls",
)


def instructions_csv(run: Run) -> str:
    """One row a dynamic instruction, in program order, times in cycles."""
    records = sorted(run.log.records, key=lambda record: record.id)
    on_path = {step.id for step in run.path if step.kind == "run"}
    facts: dict[int, tuple[str, str]] = {}  # bytes and basis by identity of what loops share
    rows = instructions(run)
    ends: dict[Pipe, int] = {}  # of the latest instruction of each pipe
    for row, record in zip(rows, records, strict=True):
        wait = wait_of(record)
        work = run.lowered[record.id][0]
        if id(record.uops) not in facts:
            facts[id(record.uops)] = (_bytes(work), main_basis(record.uops))
        moved, basis = facts[id(record.uops)]
        start, free = run.log.cycles(record.start), ends.get(record.pipe, 0)
        ends[record.pipe] = max(free, run.log.cycles(record.end))
        row |= {
            "wait_cycles": max(0, start - max(run.log.cycles(record.queued), free)),
            "wait_cause": wait.cause,
            "producer": "" if wait.producer is None else wait.producer,
            "bytes": moved,
            "basis": basis,
            "critical": int(record.id in on_path),
        }
    return _csv(INSTRUCTION_COLUMNS, rows)


def _bytes(work: Lowered) -> str:
    """Payload of its transfers; empty for an instruction that moves nothing between memories."""
    moves = [move.bytes_moved for move in work.uops if isinstance(move, Move)]
    return str(sum(moves)) if moves else ""


def pipes_csv(run: Run) -> str:
    """One row a pipe; busy + stall + idle cycles = total cycles; `stalls` splits by cause."""
    rows: list[dict[str, object]] = [
        {
            "pipe": pipe.value,
            "busy_cycles": use.busy,
            "stall_cycles": sum(use.stalls.values()),
            "idle_cycles": use.idle,
            "utilisation": f"{use.busy / run.total_cycles:.4f}" if run.total_cycles else "",
            "window_start": use.window[0] if use.window else "",
            "window_end": use.window[1] if use.window else "",
            "instructions": use.instructions,
            "stalls": " ".join(f"{cause}={cycles}" for cause, cycles in use.stalls.items()),
        }
        for pipe, use in run.pipes.items()
    ]
    return _csv(PIPE_COLUMNS, rows)


def _csv(columns: tuple[str, ...], rows: list[dict[str, object]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
