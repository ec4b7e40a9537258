"""TLOAD and TSTORE as DMA transfers: runs, gaps, outer dimensions, padding."""

from itertools import product

import numpy as np
import pytest
from instrs import A2A3, A5, bind, tile, window
from lane_model import region_bytes

from archsim.isa.moves import Burst, Move
from archsim.isa.operands import Region
from archsim.lower import lower


def test_rows_of_a_two_dimensional_window():
    t = tile("f32", "16x64", "10x40", addr=0x1000)
    (move,) = lower(bind("tload", t, window("f32", (10, 40), (128, 1))), A2A3).uops
    assert move == Move(
        "copy_gm_to_ubuf_align_b32",
        "gm_to_ub",
        Burst("GM", 0, 10, 160, 512),
        Burst("UB", 0x1000, 10, 160, 256),
    )
    assert move.bytes_moved == 1600


def test_a_store_is_the_mirror_of_a_load():
    t = tile("f16", "16x64", "10x40", addr=0x1000)
    lowered = lower(bind("tstore", window("f16", (10, 40), (128, 1)), t), A2A3)
    (move,) = lowered.uops
    assert (move.name, move.path) == ("copy_ubuf_to_gm_align_b16", "ub_to_gm")
    assert move.src == Burst("UB", 0x1000, 10, 80, 128)
    assert move.dst == Burst("GM", 0, 10, 80, 256)
    assert lowered.reads == lowered.sources == (t.valid_region(),)
    assert lowered.writes == (Region("GM", 0, 10, 80, 256),)


@pytest.mark.parametrize(
    ("dtype", "unit"), [("i8", "b8"), ("bf16", "b16"), ("u32", "b32"), ("i64", "b32")]
)
def test_micro_ops_are_named_by_element_size(dtype, unit):
    t = tile(dtype, "2x32")
    (move,) = lower(bind("tload", t, window(dtype, (2, 32))), A2A3).uops
    assert move.name == f"copy_gm_to_ubuf_align_{unit}"


@pytest.mark.parametrize("arch", [A2A3, A5])
def test_outer_dimensions_fold_into_rows(arch):
    shape, strides = (2, 1, 3, 4, 16), (10000, 5000, 1000, 100, 1)
    t = tile("f32", "24x16", addr=0x2000)
    moves = lower(bind("tload", t, window("f32", shape, strides)), arch).uops
    places = {}
    for move in moves:
        for run in range(move.src.count):
            places[move.dst.addr + run * move.dst.pitch] = move.src.addr + run * move.src.pitch
    outer = product(range(2), range(1), range(3), range(4))
    expected = {
        0x2000 + row * 64: 4 * sum(i * s for i, s in zip(index, strides, strict=False))
        for row, index in enumerate(outer)
    }
    assert places == expected
    assert {move.src.bytes_each for move in moves} == {64}
    # A5 walks the second and third dimension inside one instruction.
    chained = [move.chained for move in moves]
    assert chained == ([False, True, True] * 2 if arch is A5 else [False] * 6)


@pytest.mark.parametrize(
    ("valid_cols", "pad_elements"), [(64, 0), (63, 1), (57, 7), (56, 0), (41, 7), (40, 0)]
)
def test_padding_fills_the_block_that_was_begun(valid_cols, pad_elements):
    t = tile("f32", "4x64", f"4x{valid_cols}", pad="max")
    lowered = lower(bind("tload", t, window("f32", (4, valid_cols))), A2A3)
    (move,) = lowered.uops
    assert move.pad_bytes == 4 * pad_elements
    assert region_bytes(lowered.writes) == {
        row * 256 + k for row in range(4) for k in range(4 * (valid_cols + pad_elements))
    }


@pytest.mark.parametrize(
    ("pad", "dtype", "element"),
    [
        ("zero", "f16", np.float16(0)),
        ("max", "f32", np.float32("inf")),
        ("min", "f16", np.float16("-inf")),
        ("max", "i8", np.int8(127)),
        ("min", "i32", np.int32(-(2**31))),
        ("max", "u16", np.uint16(65535)),
        ("min", "u8", np.uint8(0)),
    ],
)
def test_padding_elements(pad, dtype, element):
    t = tile(dtype, "2x32", "2x31", pad=pad)
    (move,) = lower(bind("tload", t, window(dtype, (2, 31))), A2A3).uops
    assert move.pad == element.tobytes()


def test_a_tile_without_pad_value_keeps_the_rest_of_its_rows():
    t = tile("f32", "2x32", "2x31")
    (move,) = lower(bind("tload", t, window("f32", (2, 31))), A2A3).uops
    assert (move.pad, move.pad_bytes) == (b"", 0)


def test_a_window_of_one_dimension_is_one_row():
    t = tile("f32", "1x64", "1x50")
    (move,) = lower(bind("tload", t, window("f32", (50,))), A2A3).uops
    assert (move.src.count, move.src.bytes_each) == (1, 200)
