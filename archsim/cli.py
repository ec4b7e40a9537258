"""The command line. Heavy imports happen inside the command that needs them."""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from archsim import __version__
from archsim.base.errors import Diagnostic, InputError

EXIT_FINDING, EXIT_INPUT, EXIT_BUG = 1, 2, 70

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Cycle-approximate simulator of NPU cores that run PTO tile instructions.",
)


class Sync(StrEnum):
    """How a program is synchronised."""

    AUTO = "auto"
    EXPLICIT = "explicit"


class SchemaKind(StrEnum):
    """The schemas that can be printed."""

    TRACE = "trace"
    ARCH = "arch"


Programs = Annotated[list[str], typer.Argument(metavar="PROGRAM...", help="Trace files.")]
OneProgram = Annotated[str, typer.Argument(metavar="PROGRAM", help="A trace file.")]
ArchOption = Annotated[
    str | None,
    typer.Option("--arch", metavar="NAME|FILE", help="Chip; default: the program's own."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Change one value of the chip (repeatable)."),
]
SyncOption = Annotated[
    Sync | None, typer.Option("--sync", help="Take synchronisation literally, or derive it.")
]
ArgOption = Annotated[
    list[str] | None,
    typer.Option("--arg", metavar="NAME=VALUE", help="Value of a program scalar (repeatable)."),
]
InputOption = Annotated[
    list[str] | None,
    typer.Option("--input", metavar="TENSOR=FILE", help="Contents of a tensor (repeatable)."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
NumericsOption = Annotated[
    bool, typer.Option("--no-numerics", help="Time only: compute and check no values.")
]
StrictOption = Annotated[bool, typer.Option("--strict", help="A warning fails, too.")]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"archsim {__version__}")
        raise typer.Exit


def reports_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Turn wrong input into its message and exit 2, and our own faults into exit 70."""

    @wraps(command)
    def guarded(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except InputError as error:
            _print_errors(error.diagnostics, bool(kwargs.get("json_")))
            raise typer.Exit(EXIT_INPUT) from None

    return guarded


def _print_errors(diagnostics: tuple[Diagnostic, ...], as_json: bool) -> None:
    if as_json:
        errors = [diagnostic.as_json() for diagnostic in diagnostics]
        _print_json({"schema": "archsim.error/1", "errors": errors})
        return
    for diagnostic in diagnostics:
        typer.echo(diagnostic.render(), err=True)
    count = len(diagnostics)
    typer.echo(f"{count} error{'s' if count != 1 else ''}", err=True)


def _print_json(value: object) -> None:
    import json

    typer.echo(json.dumps(value, allow_nan=False))


@app.command()
@reports_errors
def run(
    programs: Programs,
    arch: ArchOption = None,
    set_: SetOption = None,
    sync: SyncOption = None,
    arg: ArgOption = None,
    input_: InputOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write the report files here.")
    ] = None,
    json_: JsonOption = False,
    no_numerics: NumericsOption = False,
    strict: StrictOption = False,
    quiet: QuietOption = False,
) -> None:
    """Simulate programs: cycles, values, a performance report."""
    from archsim.report.files import write_run
    from archsim.report.summary import program_stem, summary
    from archsim.report.text import first_screen

    failed = False
    for program in programs:
        with progress(quiet or json_) as advance:
            result = _simulate(program, arch, set_, sync, arg, input_, no_numerics, advance)
        failed |= result.failed(strict)
        if out is not None:
            write_run(result, out if len(programs) == 1 else out / program_stem(result))
        if json_:
            _print_json(summary(result))
        elif not quiet:
            typer.echo(first_screen(result))
            if out is not None:
                typer.echo(f"FILES   {out}/")
    if failed:
        raise typer.Exit(EXIT_FINDING)


@app.command()
@reports_errors
def check(
    programs: Programs,
    arch: ArchOption = None,
    set_: SetOption = None,
    sync: SyncOption = None,
    arg: ArgOption = None,
    input_: InputOption = None,
    json_: JsonOption = False,
    no_numerics: NumericsOption = False,
    strict: StrictOption = False,
    quiet: QuietOption = False,
) -> None:
    """Find everything that can be wrong with programs, without a performance report."""
    from archsim.report.text import finding_lines

    failed = False
    for program in programs:
        with progress(quiet or json_) as advance:
            result = _simulate(program, arch, set_, sync, arg, input_, no_numerics, advance)
        failed |= result.failed(strict)
        if json_:
            findings = [finding.as_json() for finding in result.findings]
            _print_json(
                {
                    "schema": "archsim.check/1",
                    "program": program,
                    "arch": result.arch.name,
                    "findings": findings,
                }
            )
        elif not quiet:
            verdict = "FAILED" if result.failed(strict) else "ok"
            typer.echo(f"{program} on {result.arch.name}: {verdict}")
            for line in finding_lines(result.findings):
                typer.echo(f"  {line}")
    if failed:
        raise typer.Exit(EXIT_FINDING)


@app.command()
@reports_errors
def lower(
    program: OneProgram,
    arch: ArchOption = None,
    set_: SetOption = None,
    sync: SyncOption = None,
    arg: ArgOption = None,
    json_: JsonOption = False,
) -> None:
    """Show a program's micro-ops, with addresses, repeats, masks and cycles."""
    from archsim.report.lowered import lowered_json, lowered_text

    result = _simulate(program, arch, set_, sync, arg, None, True, None)
    if json_:
        _print_json({"schema": "archsim.lower/1", "instructions": lowered_json(result)})
    else:
        typer.echo(lowered_text(result))


@app.command()
@reports_errors
def cycles(
    op: Annotated[str, typer.Argument(metavar="OP", help="A tile instruction, such as tadd.")],
    keys: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KEY=VALUE]...", help="Such as precision=high, scale=0.5."),
    ] = None,
    dtype: Annotated[
        str, typer.Option("--dtype", metavar="SRC[,DST]", help="Element types.")
    ] = "f32",
    shape: Annotated[
        str, typer.Option("--shape", metavar="ROWSxCOLS", help="Tile shape.")
    ] = "16x64",
    valid: Annotated[
        str | None, typer.Option("--valid", metavar="ROWSxCOLS", help="Valid region.")
    ] = None,
    arch: Annotated[str, typer.Option("--arch", metavar="NAME|FILE", help="Chip.")] = "a2a3",
    set_: SetOption = None,
    json_: JsonOption = False,
) -> None:
    """Time one instruction alone on an idle core."""
    from archsim.api import instruction_cycles
    from archsim.report.lowered import cycles_json, cycles_text

    answer = instruction_cycles(
        op, dtype, shape, valid, keys or [], arch, pairs(set_, "--set", "path=value")
    )
    if json_:
        _print_json(cycles_json(answer))
    else:
        typer.echo(cycles_text(answer))


@app.command()
@reports_errors
def isa(
    op: Annotated[str | None, typer.Argument(metavar="[OP]", help="One instruction.")] = None,
    json_: JsonOption = False,
) -> None:
    """List the instructions, or describe one."""
    from archsim.report.isa import isa_json, isa_text

    if json_:
        _print_json(isa_json(op))
    else:
        typer.echo(isa_text(op))


@app.command()
@reports_errors
def schema(
    kind: Annotated[SchemaKind, typer.Argument(help="Which schema.")],
) -> None:
    """Print the JSON Schema of trace files or chip files."""
    import json

    if kind is SchemaKind.ARCH:
        from archsim.arch import json_schema as made
    else:
        from archsim.program.schema import trace_schema as made
    typer.echo(json.dumps(made(), indent=2, sort_keys=True))


def _simulate(
    program: str,
    arch: str | None,
    set_: list[str] | None,
    sync: Sync | None,
    arg: list[str] | None,
    input_: list[str] | None,
    no_numerics: bool,
    advance: Callable[[int], None] | None,
) -> Any:
    from archsim.api import simulate

    return simulate(
        program,
        arch=arch,
        overrides=pairs(set_, "--set", "path=value"),
        sync=sync.value if sync else None,
        arguments=dict(pairs(arg, "--arg", "name=value")),
        inputs=dict(pairs(input_, "--input", "tensor=file.npy")),
        numerics=not no_numerics,
        progress=advance,
    )


def pairs(texts: list[str] | None, option: str, form: str) -> list[tuple[str, str]]:
    """Split `name=value` options; an option of another form is wrong input."""
    found, faults = [], []
    for text in texts or []:
        name, equals, value = text.partition("=")
        if equals and name:
            found.append((name, value))
        else:
            faults.append(Diagnostic(f'{option} is "{text}", must be {form}'))
    if faults:
        raise InputError(faults)
    return found


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


def main() -> None:
    """Entry point; a fault of our own is exit 70 with what to report, never mistaken for input."""
    gc.disable()  # a short life with ever more records: a collection would find nothing
    try:
        app()
    except (SystemExit, KeyboardInterrupt):
        raise
    except BrokenPipeError:
        raise SystemExit(EXIT_FINDING) from None
    except Exception as error:
        import traceback

        traceback.print_exc()
        print(f"archsim: a fault of ours, please report it: {error!r}", file=sys.stderr)
        raise SystemExit(EXIT_BUG) from None
