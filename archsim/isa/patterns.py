"""Patterns that keep some columns: P0101, ... Bit 0 is written last and stands for column 0."""

from collections.abc import Mapping
from types import MappingProxyType

# Name -> (columns of one period, the column of it that is kept).
PATTERNS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "P0101": (2, 0),
        "P1010": (2, 1),
        "P0001": (4, 0),
        "P0010": (4, 1),
        "P0100": (4, 2),
        "P1000": (4, 3),
        "P1111": (1, 0),
    }
)


def kept(pattern: str, cols: int) -> int:
    """How many of `cols` columns a pattern keeps."""
    period, first = PATTERNS[pattern]
    return len(range(first, cols, period))
