"""Overlap of regions, against the bytes themselves."""

from hypothesis import given
from hypothesis import strategies as st

from archsim.isa.operands import Region
from archsim.schedule.footprints import Footprints


def touched(region: Region) -> set[int]:
    return {
        region.addr + row * region.pitch + byte
        for row in range(region.rows)
        for byte in range(region.row_bytes)
    }


@st.composite
def regions(draw: st.DrawFn, pitch: int | None = None) -> Region:
    step = draw(st.integers(1, 24)) if pitch is None else pitch
    width = draw(st.integers(1, step))
    return Region("UB", draw(st.integers(0, 90)), draw(st.integers(1, 5)), width, step)


@given(st.integers(1, 24).flatmap(lambda p: st.tuples(regions(p), regions(p))))
def test_overlap_is_exact_for_equal_pitch(pair: tuple[Region, Region]) -> None:
    a, b = pair
    assert a.overlaps(b) == bool(touched(a) & touched(b))


@given(regions(), regions())
def test_overlap_never_misses_a_shared_byte(a: Region, b: Region) -> None:
    if touched(a) & touched(b):
        assert a.overlaps(b)
        assert b.overlaps(a)


@given(regions(), st.integers(0, 120), st.integers(1, 40))
def test_overlap_is_exact_for_a_single_run(a: Region, addr: int, size: int) -> None:
    run = Region("UB", addr, 1, size, size)
    assert a.overlaps(run) == run.overlaps(a) == bool(touched(a) & touched(run))


def test_other_memories_never_overlap() -> None:
    assert not Region("UB", 0, 1, 64, 64).overlaps(Region("L1", 0, 1, 64, 64))


@given(st.lists(regions(), min_size=1, max_size=8))
def test_a_cell_knows_every_cell_that_overlaps_it(all_regions: list[Region]) -> None:
    index = Footprints()
    cells = [index.cell(region, 0) for region in all_regions]
    for cell in cells:
        expected = {
            (o.region.addr, o.region.rows, o.region.row_bytes, o.region.pitch)
            for o in cells
            if cell.region.overlaps(o.region)
        }
        found = {
            (o.region.addr, o.region.rows, o.region.row_bytes, o.region.pitch)
            for o in cell.overlapping
        }
        assert found == expected


def test_a_window_offset_moves_global_memory_only() -> None:
    index = Footprints()
    gm = Region("GM", 0, 1, 64, 64)
    assert index.cell(gm, 0) is index.cell(gm, 0)
    assert index.cell(gm, 64) is not index.cell(gm, 0)
    ub = Region("UB", 0, 1, 64, 64)
    assert index.cell(ub, 64) is index.cell(ub, 0)
