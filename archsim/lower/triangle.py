"""Where a row of a triangular tile changes from one value to the other."""


def left_lanes(row: int, diagonal: int, cols: int, *, upper: bool) -> int:
    """Lanes of a row before the change: ones of a lower triangle, zeros of an upper one."""
    return min(max(row + diagonal + (0 if upper else 1), 0), cols)
