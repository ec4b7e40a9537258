"""run, check, lower: what a program does. Heavy imports happen inside the command."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from archsim.base.errors import InputError
from archsim.cli.app import EXIT_FINDING, EXIT_INPUT, simulated
from archsim.cli.options import (
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
    options,
)
from archsim.cli.output import echo_errors, print_errors, print_json, terminal_width


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
        result = simulated(program, given, quiet or json_)
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
        result = simulated(program, given, quiet or json_)
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

    result = simulated(program, options(arch, set_, sync, arg, None, True), json_)
    if json_:
        print_json({"schema": "archsim.lower/1", "instructions": lowered_json(result)})
    else:
        typer.echo(lowered_text(result))
    if result.failed():
        echo_errors(result)
        raise typer.Exit(EXIT_FINDING)


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
