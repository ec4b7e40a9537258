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
