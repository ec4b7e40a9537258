"""timeline, explain: why a program takes its time. Heavy imports happen inside the command."""

from typing import Annotated

import typer

from archsim.base.errors import Diagnostic, InputError
from archsim.cli.app import simulated
from archsim.cli.options import (
    ArchOption,
    ArgOption,
    InputOption,
    JsonOption,
    OneProgram,
    SetOption,
    SyncOption,
    options,
)
from archsim.cli.output import print_json, terminal_width


def timeline(
    program: OneProgram,
    window: Annotated[
        str, typer.Option("--window", metavar="FROM:TO", help="Cycles to show.")
    ] = ":",
    pipe: Annotated[
        list[str] | None, typer.Option("--pipe", metavar="PIPE", help="Pipes (repeatable).")
    ] = None,
    rows: Annotated[int, typer.Option("--rows", min=1, help="Instructions at most.")] = 60,
    width: Annotated[int | None, typer.Option("--width", min=40, help="Columns.")] = None,
    arch: ArchOption = None,
    set_: SetOption = None,
    sync: SyncOption = None,
    arg: ArgOption = None,
    input_: InputOption = None,
) -> None:
    """Draw when each instruction waited and ran, and for what it waited."""
    from archsim.report.timeline import View, parse_window, pipes_named
    from archsim.report.timeline import timeline as drawn

    try:
        first, last = parse_window(window)
    except ValueError:
        rule = "must be FROM:TO in cycles, such as 100:200 or 100:"
        raise InputError([Diagnostic(f'--window is "{window}", {rule}')]) from None
    try:
        pipes = pipes_named(pipe or [])
    except KeyError as error:
        raise InputError([Diagnostic(f"--pipe is {error}, must be a pipe such as V")]) from None
    run = simulated(program, options(arch, set_, sync, arg, input_, True), False)
    columns = width or terminal_width() or 120
    typer.echo(drawn(run, View(first, last, pipes, columns, rows)))


def explain(
    program: OneProgram,
    id: Annotated[int, typer.Argument(metavar="ID", help="An instruction, as reports number it.")],
    arch: ArchOption = None,
    set_: SetOption = None,
    sync: SyncOption = None,
    arg: ArgOption = None,
    input_: InputOption = None,
    json_: JsonOption = False,
) -> None:
    """Say why an instruction started when it did, back to cycle 0."""
    from archsim.report.explain import explain_json, explain_text

    run = simulated(program, options(arch, set_, sync, arg, input_, True), json_)
    if json_:
        print_json(explain_json(run, id))
    else:
        typer.echo(explain_text(run, id))
