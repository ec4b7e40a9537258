"""What commands print: JSON, errors, progress."""

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from archsim.base.errors import Diagnostic


def print_errors(diagnostics: tuple[Diagnostic, ...], as_json: bool) -> None:
    """Wrong input: the error object on stdout, or its messages on stderr."""
    if as_json:
        errors = [diagnostic.as_json() for diagnostic in diagnostics]
        print_json({"schema": "archsim.error/1", "errors": errors})
        return
    for diagnostic in diagnostics:
        typer.echo(diagnostic.render(), err=True)
    count = len(diagnostics)
    typer.echo(f"{count} error{'s' if count != 1 else ''}", err=True)


def print_json(value: object) -> None:
    """One object on one line of stdout."""
    typer.echo(json.dumps(value, allow_nan=False))


def terminal_width() -> int | None:
    """Columns of the terminal that stdout is; None where it is none, and lines stay whole."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def echo_errors(result: Any) -> None:
    """The findings that made a run fail, on stderr: where stdout is for something else."""
    from archsim.report.text import finding_lines

    errors = tuple(finding for finding in result.findings if finding.severity == "error")
    if errors:
        typer.echo(f"{result.program.name} on {result.arch.name}:", err=True)
        for line in finding_lines(errors):
            typer.echo(f"  {line}", err=True)


@contextmanager
def progress(silent: bool) -> Iterator[Callable[[int], None] | None]:
    """A counter of instructions on stderr, for a run that takes longer than a second."""
    if silent or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.completed:,} instructions"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("simulate", total=None)
        yield lambda done: bar.update(task, completed=done)
