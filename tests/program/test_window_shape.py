"""How far windows reach: nd folds rows outwards, dn columns, nz blocks."""

import pytest

from archsim.program.window_shape import window_shape


@pytest.mark.parametrize(
    ("tensor", "layout", "rows", "cols", "shape"),
    [
        ((128, 64), "nd", 16, 64, (16, 64)),
        ((128, 64), "nd", 256, 64, (256, 64)),  # past its end: told elsewhere
        ((100,), "nd", 1, 50, (50,)),
        ((2, 3, 4, 64), "nd", 3, 64, (1, 1, 3, 64)),
        ((2, 3, 4, 64), "nd", 8, 64, (1, 2, 4, 64)),
        ((2, 3, 4, 64), "nd", 24, 64, (2, 3, 4, 64)),
        ((2, 3, 4, 64), "nd", 6, 64, (1, 1, 6, 64)),  # no whole dimension
        ((16, 40), "dn", 16, 6, (16, 6)),
        ((2, 1, 1, 10, 3), "dn", 10, 6, (2, 1, 1, 10, 3)),
        ((2, 2, 2, 16, 16), "nz", 32, 64, (2, 2, 2, 16, 16)),
        ((4, 2, 16, 8), "nz", 16, 24, (3, 1, 16, 8)),
        ((4, 2, 16, 8), "nz", 17, 25, (4, 2, 16, 8)),
    ],
)
def test_extents(tensor, layout, rows, cols, shape):
    assert window_shape(tensor, layout, rows, cols) == shape
