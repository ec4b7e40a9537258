"""The command line. Heavy imports happen inside the command that needs them."""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from archsim import __version__
from archsim.base.errors import Diagnostic, InputError, did_you_mean

EXIT_FINDING, EXIT_INPUT, EXIT_BUG = 1, 2, 70

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Cycle-approximate simulator of NPU cores that run PTO tile instructions.",
)


SYNC = ("auto", "explicit")
SCHEMAS = ("trace", "arch")
# What a command line that cannot be read raises; typer exports only its children.
UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__base__)

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
    str | None,
    typer.Option(
        "--sync", metavar="auto|explicit", help="Derive synchronisation, or take it literally."
    ),
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
    """Turn wrong input into its message and exit 2."""

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
    from archsim.report.files import check_folder, folders, write_run
    from archsim.report.summary import summary
    from archsim.report.text import first_screen

    options = _options(arch, set_, sync, arg, input_, no_numerics)
    homes = folders(out, programs)

    def one(program: str) -> bool:
        folder = homes.get(program)
        if folder is not None:
            check_folder(folder)
        result = _simulate(program, options, quiet or json_)
        if folder is not None:
            write_run(result, folder)
        if json_:
            _print_json(summary(result))
        elif not quiet:
            typer.echo(first_screen(result))
            if folder is not None:
                typer.echo(f"FILES   {folder}/")
        else:
            _echo_errors(result)
        return bool(result.failed(strict))

    _each(programs, json_, one)


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
    from archsim.report.summary import verdict
    from archsim.report.text import finding_lines

    options = _options(arch, set_, sync, arg, input_, no_numerics)

    def one(program: str) -> bool:
        result = _simulate(program, options, quiet or json_)
        failed = bool(result.failed(strict))
        if json_:
            _print_json(verdict(result))
        elif not quiet:
            typer.echo(f"{program} on {result.arch.name}: {'FAILED' if failed else 'ok'}")
            for line in finding_lines(result.findings):
                typer.echo(f"  {line}")
        else:
            _echo_errors(result)
        return failed

    _each(programs, json_, one)


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

    result = _simulate(program, _options(arch, set_, sync, arg, None, True), json_)
    if json_:
        _print_json({"schema": "archsim.lower/1", "instructions": lowered_json(result)})
    else:
        typer.echo(lowered_text(result))
    if result.failed():
        _echo_errors(result)
        raise typer.Exit(EXIT_FINDING)


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
    from archsim.analysis.instruction import instruction_cycles
    from archsim.report.uops import cycles_json, cycles_text

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
    kind: Annotated[str, typer.Argument(metavar="trace|arch", help="Which schema.")],
) -> None:
    """Print the JSON Schema of trace files or chip files."""
    import json

    if _one_of("schema", kind, SCHEMAS) == "arch":
        from archsim.arch import json_schema as made
    else:
        from archsim.program.schema import trace_schema as made
    typer.echo(json.dumps(made(), indent=2, sort_keys=True))


def _options(
    arch: str | None,
    set_: list[str] | None,
    sync: str | None,
    arg: list[str] | None,
    input_: list[str] | None,
    no_numerics: bool,
) -> dict[str, Any]:
    """What `simulate` takes beside the program."""
    return {
        "arch": arch,
        "overrides": pairs(set_, "--set", "path=value"),
        "sync": None if sync is None else _one_of("--sync", sync, SYNC),
        "arguments": dict(pairs(arg, "--arg", "name=value")),
        "inputs": dict(pairs(input_, "--input", "tensor=file.npy")),
        "numerics": not no_numerics,
    }


def _simulate(program: str, options: dict[str, Any], silent: bool) -> Any:
    from archsim.api import simulate

    with progress(silent) as advance:
        return simulate(program, progress=advance, **options)


def _each(programs: list[str], as_json: bool, one: Callable[[str], bool]) -> None:
    """Do `one`, which tells whether it failed, for every program, wrong ones among them or not."""
    code = 0
    for program in programs:
        try:
            failed = one(program)
            code = max(code, EXIT_FINDING if failed else 0)
        except InputError as error:
            _print_errors(error.diagnostics, as_json)
            code = EXIT_INPUT
    if code:
        raise typer.Exit(code)


def _echo_errors(result: Any) -> None:
    """The findings that made a run fail, on stderr: where stdout is for something else."""
    from archsim.report.text import finding_lines

    errors = tuple(finding for finding in result.findings if finding.severity == "error")
    if errors:
        typer.echo(f"{result.program.name} on {result.arch.name}:", err=True)
        for line in finding_lines(errors):
            typer.echo(f"  {line}", err=True)


def _one_of(what: str, word: str, known: tuple[str, ...]) -> str:
    if word not in known:
        message = f'{what} is "{word}", must be {" or ".join(known)}'
        raise InputError([Diagnostic(message, None, did_you_mean(word, known))])
    return word


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
        code = app(standalone_mode=False)
    except (SystemExit, KeyboardInterrupt):
        raise
    except UsageError as error:
        code = EXIT_INPUT
        if "--json" in sys.argv:
            _print_errors((Diagnostic(error.format_message()),), True)
        else:
            error.show()
    except BrokenPipeError:
        raise SystemExit(EXIT_FINDING) from None
    except Exception as error:
        import traceback

        traceback.print_exc()
        print(f"archsim: a fault of ours, please report it: {error!r}", file=sys.stderr)
        code = EXIT_BUG
    raise SystemExit(code)
