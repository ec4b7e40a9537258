"""How far a window reaches in each dimension of its tensor, so that it fills a tile."""

from collections.abc import Sequence


def window_shape(tensor: Sequence[int], layout: str, rows: int, cols: int) -> tuple[int, ...]:
    """The extents of the window of `rows` x `cols` elements, one a dimension of `tensor`.

    nd: the last dimension is the columns; rows fill the dimensions before it, the innermost first:
    one that they fill a whole number of times is taken whole, and the next outer one goes on. dn:
    the last but one dimension is the rows, columns fill the others likewise. nz (blocks of 16 rows
    of 32 bytes innermost): rows fill dimension -3, columns -4 and then -5.
    """
    rank = len(tensor)
    shape = [1] * rank
    if layout == "nz":
        height, width = tensor[-2:]
        shape[-2:] = height, width
        shape[-3] = -(-rows // height)
        _fill(shape, tensor, range(rank - 4, -1, -1), -(-cols // width))
    elif layout == "dn" and rank > 1:
        shape[-2] = rows
        _fill(shape, tensor, (rank - 1, *range(rank - 3, -1, -1)), cols)
    else:
        shape[-1] = cols
        _fill(shape, tensor, range(rank - 2, -1, -1), rows)
    return tuple(shape)


def _fill(shape: list[int], tensor: Sequence[int], axes: Sequence[int], count: int) -> None:
    for axis in axes:
        extent = tensor[axis]
        if axis == axes[-1] or count <= extent or count % extent:
            shape[axis] = count
            return
        shape[axis] = extent
        count //= extent
