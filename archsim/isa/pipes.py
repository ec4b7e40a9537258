"""The in-order pipes of one core and the event classes that name them."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class Pipe(StrEnum):
    """The in-order pipes of one core, in hardware order."""

    S = "S"
    MTE2 = "MTE2"
    MTE1 = "MTE1"
    V = "V"
    M = "M"
    FIX = "FIX"
    MTE3 = "MTE3"


EVENT_CLASSES: Mapping[str, Pipe] = MappingProxyType(
    {
        "tload": Pipe.MTE2,
        "tstore": Pipe.MTE3,
        "vec": Pipe.V,
        "tmov_m2l": Pipe.MTE1,
        "cube": Pipe.M,
        "fix": Pipe.FIX,
        "scalar": Pipe.S,
    }
)


def pipe_named(spelling: str) -> Pipe | None:
    """The pipe of a class (`tload`, `vec`) or of a pipe's own name (`V`, `PIPE_V`), or None."""
    found = EVENT_CLASSES.get(spelling.lower())
    if found is not None:
        return found
    name = spelling.upper().removeprefix("PIPE_")
    return next((pipe for pipe in Pipe if pipe.value == name), None)
