"""Lane functions that mix lanes: orders, masked lanes, indices, interleaving."""

from dataclasses import replace

import numpy as np
import pytest

from archsim.base.dtypes import F16, F32, I16, I32, U8, U16
from archsim.isa.lanes.state import How, NumericState
from archsim.isa.lanes.tables import SIMD, VREG


def simd(name, lanes, dtype=F32, width=8, to=None, words=(), scalar=None):
    how = How(dtype, to or dtype, NumericState(), scalar, words, width)
    return SIMD[name].function(how, np.array(lanes, dtype.np)).tolist()


def vreg(name, *lanes, dtype=F32, to=None, on=None, words=()):
    how = How(dtype, to or dtype, NumericState(), None, words, len(lanes[0]))
    if on is not None:
        how = replace(how, on=np.array(on))
    found = VREG[name].function(how, *(np.array(part, dtype.np) for part in lanes))
    return [part.tolist() for part in found] if isinstance(found, tuple) else found.tolist()


def test_a_sum_adds_neighbours_first():
    big = 2.0**24
    assert simd("vcadd", [big, 1, 1, -big, 0, 0, 0, 0]) == [1]  # from left to right it is 0
    assert simd("vcadd", [2048, 1, 1, 1, 1, 1, 1, 1], F16) == [2054]


def test_lanes_that_are_off_count_as_zero_in_sums_and_not_at_all_in_extremes():
    assert simd("vcadd", [1, 2, 3]) == [6]
    assert np.signbit(simd("vcadd", [-0.0] * 8)[0])
    assert not np.signbit(simd("vcadd", [-0.0] * 7)[0])
    assert simd("vcmax", [-5, -7]) == [-5]
    assert simd("vcmin", [5, 7]) == [5]
    assert simd("vcmax", [-5, -7], I16) == [-5]
    assert vreg("VCADD", [1, 2, 3, 4], on=[True, False, True, False]) == [4, 0, 0, 0]
    assert vreg("VCMIN", [1, 2, 3, 4], on=[False, False, True, True])[0] == 3


def test_sums_of_short_integers_widen_on_request():
    lanes = [30000, 30000, 30000, 30000]
    assert vreg("VCADD", lanes, dtype=I16, to=I32) == [120000, 0]
    assert simd("vcadd", lanes, I16, 4) == [120000 - 2 * 65536]


def test_blocks_and_pairs():
    lanes = list(range(16))
    assert simd("vcgadd", lanes, width=16) == [28, 92]
    assert simd("vcgmax", lanes, width=16) == [7, 15]
    assert simd("vcgmin", lanes, width=16) == [0, 8]
    assert simd("vcpadd", lanes, width=16) == [1, 5, 9, 13, 17, 21, 25, 29]
    assert simd("vbrcb", [1, 2], I32, 16) == [1] * 8 + [2] * 8


@pytest.mark.parametrize(("name", "value", "at"), [("vcmax", 9.0, 1), ("vcmin", -3.0, 2)])
def test_the_first_of_equal_extremes_is_indexed(name, value, at):
    found = simd(name, [0, 9, -3, 9, -3], words=("index",))
    assert found[0] == value
    assert np.float32(found[1]).view(np.uint32) == at
    half = simd(name, [0, 9, -3, 9, -3], F16, words=("index",))
    assert np.float16(half[1]).view(np.uint16) == at


def test_the_first_nan_is_an_extreme():
    value, at = simd("vcmax", [1, np.nan, 5, np.nan], words=("index",))
    assert np.isnan(value)
    assert np.float32(at).view(np.uint32) == 1


def test_the_scalar_unit_goes_from_left_to_right():
    big = 2.0**24
    assert simd("scalar_fold_add", [big, 1, 1, -big]) == [0]
    assert simd("scalar_fold_mul", [2, 3, 4]) == [24]
    assert simd("scalar_fold_max", [2, 3, -4]) == [3]
    bits = np.array([3, 1], np.uint32).view(np.float32)
    pairs = [5, bits[0], 7, bits[1]]
    assert simd("scalar_pick_max", pairs, to=I32, scalar=np.float32(64)) == [65]
    assert simd("scalar_pick_min", pairs, to=I32, scalar=np.float32(64)) == [3]


def test_duplicated_elements():
    assert simd("vector_dup", [7], F32) == [7]
    assert simd("vector_dup", [0xFE], U8, to=U16) == [0xFEFE]
    assert vreg("VDUP", [4, 5, 6]) == [4]
    assert vreg("VBR", [4, 5, 6]) == [4]


def test_interleaving_and_its_inverse():
    a, b = [0, 1, 2, 3], [4, 5, 6, 7]
    mixed = vreg("VINTLV", a, b)
    assert mixed == [[0, 4, 1, 5], [2, 6, 3, 7]]
    assert vreg("VDINTLV", *mixed) == [a, b]
