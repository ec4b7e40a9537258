"""CSV tables of a run; the columns are documented here and stay as they are."""

import csv
import io

from archsim.analysis.run import Run
from archsim.report.summary import instructions

INSTRUCTION_COLUMNS = ("id", "op", "pipe", "where", "queued", "start", "end", "cycles", "uops")
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
    return _csv(INSTRUCTION_COLUMNS, instructions(run))


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
