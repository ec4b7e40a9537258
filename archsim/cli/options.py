"""The options that commands share, and what they mean to the rest."""

from typing import Annotated, Any

import typer

from archsim.base.errors import Diagnostic, InputError, did_you_mean

SYNC = ("auto", "explicit")
SCHEMAS = ("trace", "arch")

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


def options(
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
        "sync": None if sync is None else one_of("--sync", sync, SYNC),
        "arguments": dict(pairs(arg, "--arg", "name=value")),
        "inputs": dict(pairs(input_, "--input", "tensor=file.npy")),
        "numerics": not no_numerics,
    }


def one_of(what: str, word: str, known: tuple[str, ...]) -> str:
    """`word`, which must be one of the known ones."""
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
