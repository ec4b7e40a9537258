"""The commands. Heavy imports happen inside the command that needs them."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from archsim import __version__
from archsim.base.errors import Diagnostic, InputError
from archsim.cli.options import (
    SCHEMAS,
    ArchOption,
    ArgOption,
    InputOption,
    JsonOption,
    NumericsOption,
    OneProgram,
    Programs,
    QuietOption,
    SetOption,
    StrictOption,
    SyncOption,
    one_of,
    options,
    pairs,
)
from archsim.cli.output import echo_errors, print_errors, print_json, progress, terminal_width

EXIT_FINDING, EXIT_INPUT = 1, 2
SHIPPED = ["a2a3", "a5"]

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Cycle-approximate simulator of NPU cores that run PTO tile instructions.",
)


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
            print_errors(error.diagnostics, bool(kwargs.get("json_")))
            raise typer.Exit(EXIT_INPUT) from None

    return guarded


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

    given = options(arch, set_, sync, arg, input_, no_numerics)
    homes = folders(out, programs)

    def one(program: str) -> bool:
        folder = homes.get(program)
        if folder is not None:
            check_folder(folder)
        result = _simulate(program, given, quiet or json_)
        if folder is not None:
            write_run(result, folder)
        if json_:
            print_json(summary(result))
        elif not quiet:
            typer.echo(first_screen(result, terminal_width()))
            if folder is not None:
                typer.echo(f"FILES   {folder}/")
        else:
            echo_errors(result)
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

    given = options(arch, set_, sync, arg, input_, no_numerics)

    def one(program: str) -> bool:
        result = _simulate(program, given, quiet or json_)
        failed = bool(result.failed(strict))
        if json_:
            print_json(verdict(result))
        elif not quiet:
            typer.echo(f"{program} on {result.arch.name}: {'FAILED' if failed else 'ok'}")
            for line in finding_lines(result.findings, width=terminal_width()):
                typer.echo(line)
        else:
            echo_errors(result)
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

    result = _simulate(program, options(arch, set_, sync, arg, None, True), json_)
    if json_:
        print_json({"schema": "archsim.lower/1", "instructions": lowered_json(result)})
    else:
        typer.echo(lowered_text(result))
    if result.failed():
        echo_errors(result)
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
    arch: Annotated[
        list[str] | None,
        typer.Option(
            "--arch", metavar="NAME|FILE", help="Chip (default a2a3); `all` takes several."
        ),
    ] = None,
    set_: SetOption = None,
    json_: JsonOption = False,
) -> None:
    """Time one instruction alone on an idle core; `all`: every one, as a table."""
    overrides = pairs(set_, "--set", "path=value")
    if op == "all":
        if valid or keys:
            raise InputError([Diagnostic("`cycles all` takes no --valid and no keys", None)])
        _cycles_of_all(dtype, shape, arch or SHIPPED, overrides, json_)
        return
    from archsim.analysis.instruction import instruction_cycles
    from archsim.report.uops import cycles_json, cycles_text

    chip = (arch or SHIPPED)[0]
    answer = instruction_cycles(op, dtype, shape, valid, keys or [], chip, overrides)
    if json_:
        print_json(cycles_json(answer))
    else:
        typer.echo(cycles_text(answer))


def _cycles_of_all(
    dtype: str, shape: str, archs: list[str], overrides: list[tuple[str, str]], as_json: bool
) -> None:
    from archsim.arch import load
    from archsim.report.cycles_table import cycles_rows, cycles_table
    from archsim.schedule.alone import element_type, extent

    liked = element_type(dtype).name
    rows = cycles_rows([load(name, overrides) for name in archs], extent(shape), liked)
    if as_json:
        print_json(rows)
    else:
        typer.echo(cycles_table(rows))


@app.command()
@reports_errors
def isa(
    op: Annotated[str | None, typer.Argument(metavar="[OP]", help="One instruction.")] = None,
    arch: Annotated[
        list[str] | None,
        typer.Option("--arch", metavar="NAME|FILE", help="Chips to show it on (repeatable)."),
    ] = None,
    json_: JsonOption = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="The reference page of all instructions.")
    ] = False,
) -> None:
    """List the instructions, or describe one with its micro-ops on each core."""
    from archsim.arch import load
    from archsim.report.isa import isa_json, isa_list, isa_text
    from archsim.report.isa_page import isa_page

    archs = [load(name) for name in arch or SHIPPED] if op or markdown else []
    if json_:
        print_json(isa_json(op, archs))
    elif markdown:
        typer.echo(isa_page(archs), nl=False)
    else:
        typer.echo(isa_text(op, archs) if op else isa_list())


@app.command()
@reports_errors
def schema(
    kind: Annotated[str, typer.Argument(metavar="trace|arch", help="Which schema.")],
) -> None:
    """Print the JSON Schema of trace files or chip files."""
    import json

    if one_of("schema", kind, SCHEMAS) == "arch":
        from archsim.arch import json_schema as made
    else:
        from archsim.program.schema import trace_schema as made
    typer.echo(json.dumps(made(), indent=2, sort_keys=True))


def _simulate(program: str, given: dict[str, Any], silent: bool) -> Any:
    from archsim.api import simulate

    with progress(silent) as advance:
        return simulate(program, progress=advance, **given)


def _each(programs: list[str], as_json: bool, one: Callable[[str], bool]) -> None:
    """Do `one`, which tells whether it failed, for every program, wrong ones among them or not."""
    code = 0
    for program in programs:
        try:
            failed = one(program)
            code = max(code, EXIT_FINDING if failed else 0)
        except InputError as error:
            print_errors(error.diagnostics, as_json)
            code = EXIT_INPUT
    if code:
        raise typer.Exit(code)
