"""Time of reductions and broadcasts: fitted board lines, and the published cost model's totals."""

from itertools import pairwise
from pathlib import Path

import pytest

from archsim.api import instruction_cycles
from archsim.base.dtypes import F32
from archsim.cost.banks import BankMap, Conflicts, conflicts
from archsim.isa.simd import FULL, Access, SimdUop

OVERLAY = str(Path(__file__).parent / "data" / "coherent.yaml")

# Cycles = slope * elements + fixed of whole f32 instructions, lines fitted to 910B3 runs and
# published with the A2A3 cost model; the last figure is how far this project is off.
LINES = [
    ("trowsum", "16x64", (), 156, 0.0),
    ("trowsum", "64x64", (), 492, 0.0),
    ("trowmax", "16x64", (), 144, 0.0),
    ("trowmax", "64x64", (), 480, 0.0),
    ("tcolmax", "16x64", (), 297, 0.004),
    ("tcolsum", "64x64", ("binary=true",), 1263, 0.082),
    ("trowexpand", "16x64", (), 261, 0.05),
    ("trowexpand", "64x64", (), 933, 0.014),
]


@pytest.mark.parametrize(("op", "shape", "keys", "cycles", "tolerance"), LINES)
def test_fitted_lines(
    op: str, shape: str, keys: tuple[str, ...], cycles: int, tolerance: float
) -> None:
    answer = instruction_cycles(op, "f32", shape, None, keys, "a2a3")
    assert answer.cycles == pytest.approx(cycles, rel=tolerance)


def test_copies_stream_as_on_the_board() -> None:
    """Eight blocks of 32 bytes a cycle: average of copies of 1 to 35 KiB in a stream, 910B1."""
    short, long = (
        instruction_cycles("tmov", "f32", shape, None, (), "a2a3").cycles
        for shape in ("8x128", "64x128")
    )
    assert long - short == (64 - 8) * 128 * 4 // 256


# Totals of the published cost model (commit f35e7f60), run by its authors' recipe.
COHERENT = [
    ("trowsum", "f32", "16x32", (), 161),
    ("trowmax", "f32", "16x32", (), 41),
    ("trowmax", "f32", "64x128", (), 241),
    ("trowsum", "f32", "64x128", (), 255),
    ("tcolmax", "f32", "16x32", (), 649),
    ("trowexpand", "f32", "16x64", (), 452),
    ("trowexpandmul", "f32", "16x64", (), 76),
    ("trowsum", "f32", "16x64", (), 51),
    ("trowmax", "f32", "16x64", (), 11),
    ("trowsum", "f16", "16x128", (), 51),
    ("trowmax", "f16", "16x128", (), 11),
    ("trowsum", "f32", "64x128", ("dynamic=both",), 96),
    ("trowmax", "f32", "64x128", ("dynamic=both",), 56),
    ("tcolsum", "f32", "16x64", ("binary=true",), 360),
    ("tcolsum", "f32", "16x32", ("binary=true",), 360),
    ("tcolmax", "f32", "16x64", (), 621),
]


@pytest.mark.parametrize(("op", "dtype", "shape", "keys", "total"), COHERENT)
def test_totals_of_the_published_model(
    op: str, dtype: str, shape: str, keys: tuple[str, ...], total: int
) -> None:
    big = (("memory.ub.size_bytes", "1 MiB"),)  # its checks ask for no room in UB
    assert instruction_cycles(op, dtype, shape, None, keys, OVERLAY, big).cycles == total


@pytest.mark.parametrize("op", ["trowsum", "trowmax", "trowmin"])
def test_a_row_more_is_a_repeat_more_in_one_reduction(op: str) -> None:
    """At a repeat a row 7 cycles, whatever the addresses of results a few bytes apart."""
    times = [
        instruction_cycles(op, "f32", f"{rows}x64", None, (), "a2a3").cycles
        for rows in (16, 24, 32)
    ]
    assert [b - a for a, b in pairwise(times)] == [56, 56]


def test_operands_with_lanes_of_their_own_meet_no_bank_they_do_not_touch() -> None:
    """A row of 64 lanes against one result, eight elements against eight blocks."""
    banks = BankMap(16, 65536)
    wide, one = Access(0, F32), Access(0, F32, repeat_stride=4, lanes=1)
    eight = Access(0x10000, F32, repeat_stride=32, lanes=8)
    quiet = Conflicts(0, 0, 0)
    for name, dst, src in (("vcadd", one, wide), ("vbrcb", wide, eight)):
        assert conflicts(SimdUop(name, F32, 64, 16, FULL, dst, (src,)), 0, banks) == quiet
    # The second source is one block in group 0, over and over: it meets the first's blocks 0 to 7.
    spread = Access(0x20000, F32, block_stride=0, repeat_stride=0)
    uop = SimdUop("vmul", F32, 64, 16, FULL, Access(0x28000, F32), (wide, spread))
    assert conflicts(uop, 0, banks).reads == 8
