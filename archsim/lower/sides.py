"""Sources that may be valid in a part of the destination only."""

from collections.abc import Sequence

from archsim.isa.operands import TileView


def sides(dst: TileView, srcs: Sequence[TileView]) -> tuple[TileView, TileView]:
    """The source that is valid wherever dst is, and the other one."""
    first, second = srcs
    return (first, second) if same_valid(first, dst) else (second, first)


def overlap(small: TileView) -> tuple[int, int]:
    """Rows and columns of a valid region; none of either where it is empty."""
    if small.valid_rows < 1 or small.valid_cols < 1:
        return 0, 0
    return small.valid_rows, small.valid_cols


def same_valid(own: TileView, other: TileView) -> bool:
    """Equal valid regions."""
    return (own.valid_rows, own.valid_cols) == (other.valid_rows, other.valid_cols)
