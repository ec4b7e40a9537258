"""The first screen: how long, what bounds it, is it right - at most 30 lines."""

import textwrap
from collections.abc import Sequence

from archsim import __version__
from archsim.analysis.critical_path import Step
from archsim.analysis.run import Run
from archsim.analysis.usage import PipeUsage
from archsim.trace.records import Finding

SCREEN_LINES = 30
SHOWN_EXPECTS = 4
SEVERITIES = ("error", "warning", "note")
CAUSES = ("shape", "bounds", "deadlock", "race")
STALL_NAMES = {
    "flag": "flag wait",
    "barrier": "barrier",
    "queue_full": "queue full",
}


def first_screen(run: Run, width: int | None = None) -> str:
    """The report that `run` prints; on a terminal `width` columns wide."""
    lines = [
        _head(run),
        _time(run),
        _bound(run),
        *_pipes(run),
        *_traffic(run),
        _path(run),
        *_checks(run),
    ]
    room = SCREEN_LINES - 1 - len(lines)  # one line is for where the files are
    return "\n".join(lines + finding_lines(run.findings, room, width))


def _head(run: Run) -> str:
    changed = len(run.arch.overrides)
    overrides = f", {changed} override{'s' if changed != 1 else ''}" if changed else ""
    return (
        f"archsim {__version__}  {run.arch.name}@{run.arch.digest[:8]}{overrides}"
        f"  {run.program.name}  {len(run.log.records):,} instructions  sync {run.sync}"
    )


def _time(run: Run) -> str:
    clock = f"{run.arch.frequency_hz / 1e9:g} GHz"
    mix = ", ".join(f"{name} {_percent(share)}" for name, share in _largest(run.basis))
    warning = "  PLACEHOLDERS: do not trust" if run.basis.get("placeholder") else ""
    return (
        f"TIME    {run.total_cycles:,} cycles  {run.time_us:g} us @{clock}  "
        f"rests on {mix or 'nothing'}{warning}"
    )


def _largest(shares: object) -> list[tuple[str, float]]:
    assert isinstance(shares, dict)
    return sorted(shares.items(), key=lambda item: (-item[1], item[0]))


def _bound(run: Run) -> str:
    shares = path_shares(run)
    if not shares:
        return "BOUND   nothing ran"
    name, cycles = shares[0]
    busiest = max(run.pipes.values(), key=lambda use: use.busy)
    return (
        f"BOUND   {name} holds {_percent(cycles / run.total_cycles)} of the critical path; "
        f"busiest pipe {busiest.pipe.value}, {_percent(busiest.busy / run.total_cycles)} busy"
    )


def _pipes(run: Run) -> list[str]:
    lines = ["PIPE        busy   util  active window        stalls and idle, cycles"]
    return lines + [_pipe(use, run.total_cycles) for use in run.pipes.values()]


def _pipe(use: PipeUsage, total: int) -> str:
    window = f"{use.window[0]:,}..{use.window[1]:,}" if use.window else "-"
    parts = [f"{STALL_NAMES.get(c, c)} {n:,}" for c, n in _largest(use.stalls)]
    parts.append(f"idle {use.idle:,}")
    share = _percent(use.busy / total) if total else "-"
    return f" {use.pipe.value:<6}{use.busy:>10,}  {share:>5}  {window:<20} {', '.join(parts)}"


def _traffic(run: Run) -> list[str]:
    """A line a data path: how much went over it, how fast while it ran, and of what peak."""
    return [
        f"TRAFFIC {use.path.replace('_to_', ' -> ').upper()}  {use.bytes:,} bytes in "
        f"{use.transfers:,} transfer{'s' if use.transfers != 1 else ''}, "
        f"{use.gigabytes_per_second:g} GB/s while busy, {_percent(use.share)} of its peak"
        for use in run.paths
    ]


def path_shares(run: Run) -> list[tuple[str, int]]:
    """Cycles of the critical path by what they were spent on, most first."""
    pipes = {record.id: record.pipe.value for record in run.log.records}
    spent: dict[str, int] = {}
    for step in run.path:
        name = _spent_on(step, pipes)
        spent[name] = spent.get(name, 0) + step.end - step.start
    return sorted(spent.items(), key=lambda item: (-item[1], item[0]))


def _spent_on(step: Step, pipes: dict[int, str]) -> str:
    if step.kind == "run" and step.id is not None:
        return pipes[step.id]
    return {"issue": "issue", "queue_full": "queue full", "flag": "flag latency"}.get(
        step.kind, step.kind
    )


def _path(run: Run) -> str:
    parts = [f"{n} {_percent(c / run.total_cycles)}" for n, c in path_shares(run)[:6]]
    rests = ", ".join(f"{name} {_percent(share)}" for name, share in _largest(run.path_basis))
    told = f"; rests on {rests}" if rests else ""
    return f"CRITICAL PATH  {len(run.path)} steps: {', '.join(parts) or 'empty'}{told}"


def _checks(run: Run) -> list[str]:
    lines = []
    for name, result in list(run.expect.items())[:SHOWN_EXPECTS]:
        verdict = "ok" if result["ok"] else "WRONG"
        lines.append(f"EXPECT  {name} {verdict}, max abs error {_number(result['max_abs_err'])}")
    hidden = len(run.expect) - SHOWN_EXPECTS
    if hidden > 0:
        failed = sum(not result["ok"] for result in list(run.expect.values())[SHOWN_EXPECTS:])
        lines.append(f"EXPECT  {hidden} more, {failed} wrong")
    return lines


def _number(value: object) -> str:
    return "infinite or NaN" if value is None else f"{value:g}"


def finding_lines(
    findings: Sequence[Finding], room: int | None = None, width: int | None = None
) -> list[str]:
    """Findings, worst first, causes before what they lead to.

    With `room` as many as fit into so many lines, and one at least; with `width` long messages go
    on in indented lines.
    """
    lines: list[str] = []
    for shown, finding in enumerate(sorted(findings, key=_rank)):
        block = _finding(finding, width)
        left = len(findings) - shown
        if room is not None and lines and len(lines) + len(block) + (left > 1) > room:
            return [*lines, f"        and {left} more; `archsim check` shows all"]
        lines += block
    return lines or ["FINDINGS none"]


def _rank(finding: Finding) -> tuple[int, int]:
    """A missing wait shows as wrong flags, unwritten lanes and wrong results, too."""
    kind = CAUSES.index(finding.kind) if finding.kind in CAUSES else len(CAUSES)
    return SEVERITIES.index(finding.severity), kind + (finding.kind == "expect")


def _finding(finding: Finding, width: int | None) -> list[str]:
    head = f"{finding.severity.upper():<8}{finding.kind}  {', '.join(finding.where)}".rstrip()
    lines = _wrapped(head, width, "")
    for line in finding.message.splitlines():
        lines += _wrapped(line, width, " " * 8)
    return lines


def _wrapped(line: str, width: int | None, indent: str) -> list[str]:
    if width is None or len(indent) + len(line) <= width:
        return [indent + line]
    return textwrap.wrap(
        line,
        width,
        initial_indent=indent,
        subsequent_indent=" " * 10,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
