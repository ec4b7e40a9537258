"""Groups of elements with one exponent (MX): OCP Microscaling Formats v1.0, section 5."""

from collections.abc import Mapping
from types import MappingProxyType

GROUP_COLUMNS = 32
GREATEST_EXPONENT: Mapping[str, int] = MappingProxyType({"f8e4m3": 8})
"""By element type: the exponent of its greatest power of two."""


def groups(cols: int) -> int:
    """How many groups a row of `cols` columns has; the last one may be short."""
    return -(-cols // GROUP_COLUMNS)
