"""The command line: `main` is the entry point, `app` the commands behind it."""

import gc
import os
import sys
from typing import cast

import typer

from archsim.base.errors import Diagnostic
from archsim.cli.app import EXIT_FINDING, EXIT_INPUT, app, reports_errors
from archsim.cli.explaining import explain, timeline
from archsim.cli.looking_up import cycles, isa, schema
from archsim.cli.output import print_errors
from archsim.cli.running import check, lower, run

__all__ = ["app", "main"]

COMMANDS = (run, check, timeline, explain, lower, cycles, isa, schema)  # as the help lists them
for _command in COMMANDS:
    app.command()(reports_errors(_command))

EXIT_BUG, EXIT_INTERRUPTED = 70, 130
# What a command line that cannot be read raises; typer exports only its children.
UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__base__)


def main() -> None:
    """Entry point; a fault of our own is exit 70 with what to report, never mistaken for input."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # chips use none
    gc.disable()  # a short life with ever more records: a collection would find nothing
    try:
        code = app(standalone_mode=False)
    except SystemExit:
        raise
    except (KeyboardInterrupt, typer.Abort):
        raise SystemExit(EXIT_INTERRUPTED) from None
    except UsageError as error:
        code = EXIT_INPUT
        if "--json" in sys.argv:
            print_errors((Diagnostic(error.format_message()),), True)
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
