"""All definitions by name; `op.form` where the forms of an instruction differ."""

from definitions import (
    compare,
    convert,
    division,
    elementwise,
    expand,
    fill,
    gather,
    moves,
    part,
    quantise,
    reduce,
)
from definitions.call import Definition, Law

DEFINITIONS: Law = {
    name: law
    for module in (
        elementwise,
        division,
        compare,
        convert,
        reduce,
        expand,
        fill,
        part,
        quantise,
        gather,
        moves,
    )
    for name, law in module.LAW.items()
}


def definition(mnemonic: str, form: str) -> Definition | None:
    """The definition of a form, or that of the instruction."""
    return DEFINITIONS.get(f"{mnemonic}.{form}", DEFINITIONS.get(mnemonic))
