"""Where the elements of a tile lie, by its layout: against published examples and a naive count."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instrs import tile

from archsim.isa.operands import Loc


def laid(dtype, shape, layout, *, fractal=512, valid="", **more):
    row_major = layout in ("nd", "zn", "zz")
    inner = {"nd": "none_box", "dn": "none_box"}.get(
        layout, "row_major" if layout[1] == "z" else "col_major"
    )
    made = tile(dtype, shape, valid, row_major=row_major, **more)
    return replace(made, slayout=inner, fractal=fractal)


@pytest.mark.parametrize(
    ("dtype", "shape", "layout", "fractal", "place", "elements"),
    [
        ("f16", "32x32", "nz", 512, (17, 20), 788),
        ("f16", "32x64", "zz", 512, (17, 20), 1300),
        ("f16", "32x32", "zn", 512, (17, 20), 833),
        ("f32", "32x32", "nz", 1024, (17, 20), 788),
        ("i8", "32x64", "nz", 512, (17, 40), 1576),
        ("f32", "16x8", "dn", 512, (5, 3), 53),
        ("f32", "16x8", "nd", 512, (5, 3), 43),
    ],
)
def test_published_addresses(dtype, shape, layout, fractal, place, elements):
    t = laid(dtype, shape, layout, fractal=fractal)
    assert t.layout == layout
    assert t.offset(*place) == elements * t.dtype.itemsize


@settings(deadline=None, max_examples=20)
@given(
    st.sampled_from(["nd", "dn", "nz", "zn", "zz", "nn"]),
    st.sampled_from(["i8", "f16", "f32"]),
    st.integers(1, 3),
    st.integers(1, 3),
)
def test_every_element_has_a_place_of_its_own(layout, dtype, down, across):
    t = laid(dtype, f"{32 * down}x{32 * across}", layout)
    size = t.dtype.itemsize
    places = {t.offset(r, c) for r in range(t.rows) for c in range(t.cols)}
    assert places == set(range(0, t.rows * t.cols * size, size))
    assert t.size_bytes == t.rows * t.cols * size


@pytest.mark.parametrize("layout", ["nd", "dn", "nz"])
@pytest.mark.parametrize("valid", ["32x32", "7x16", "20x32"])
def test_the_valid_region_holds_the_valid_elements(layout, valid):
    t = laid("f16", "32x48", layout, valid=valid, addr=64)
    places = {
        64 + t.offset(r, c) + byte
        for r in range(t.valid_rows)
        for c in range(t.valid_cols)
        for byte in range(2)
    }
    region = t.valid_region()
    runs = {
        region.addr + run * region.pitch + byte
        for run in range(region.rows)
        for byte in range(region.row_bytes)
    }
    assert runs == places


def test_a_column_of_one_is_a_run():
    t = tile("f32", "64x1", "50x1", row_major=False, loc=Loc.VEC)
    region = t.valid_region()
    assert (region.rows, region.row_bytes) == (1, 200)
    assert t.size_bytes == 256
