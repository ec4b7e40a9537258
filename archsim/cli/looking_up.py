"""cycles, isa, schema: what there is. Heavy imports happen inside the command."""

from typing import Annotated

import typer

from archsim.base.errors import Diagnostic, InputError
from archsim.cli.options import (
    SCHEMAS,
    JsonOption,
    SetOption,
    one_of,
    pairs,
)
from archsim.cli.output import print_json

SHIPPED = ["a2a3", "a5"]


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
