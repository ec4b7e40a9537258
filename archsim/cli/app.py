"""The command line itself: its name, its version, and how wrong input ends a command."""

from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from archsim import __version__
from archsim.base.errors import InputError
from archsim.cli.output import print_errors, progress

EXIT_FINDING, EXIT_INPUT = 1, 2

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


def simulated(program: str, given: dict[str, Any], silent: bool) -> Any:
    """The run of a program, with progress on stderr."""
    from archsim.api import simulate

    with progress(silent) as advance:
        return simulate(program, progress=advance, **given)
