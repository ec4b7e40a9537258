"""Regions of bytes: their ends, and when two of them share a byte."""

from hypothesis import given
from hypothesis import strategies as st

from archsim.isa.operands import Region


@st.composite
def regions(draw):
    width = draw(st.integers(1, 6))
    rows, gap = draw(st.integers(1, 5)), draw(st.integers(0, 6))
    return Region("UB", draw(st.integers(0, 40)), rows, width, width + gap)


def members(region):
    return {
        region.addr + row * region.pitch + k
        for row in range(region.rows)
        for k in range(region.row_bytes)
    }


@given(one=regions(), other=regions())
def test_regions_overlap_where_they_share_a_byte(one, other):
    assert one.overlaps(other) is bool(members(one) & members(other))
    assert one.end == max(members(one)) + 1


def test_regions_of_two_memories_do_not_overlap():
    assert not Region("UB", 0, 1, 8, 8).overlaps(Region("L1", 0, 1, 8, 8))
