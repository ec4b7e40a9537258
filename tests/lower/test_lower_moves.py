"""TLOAD and TSTORE as DMA transfers: runs, gaps, outer dimensions, padding."""

from dataclasses import replace
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


def _bytes_of(move, base=0):
    """Where each byte of the source goes, by running along both sides' runs."""
    sides = [
        [
            burst.addr + run * burst.pitch + byte
            for run in range(burst.count)
            for byte in range(burst.bytes_each)
        ]
        for burst in (move.src, move.dst)
    ]
    return dict(zip(*sides, strict=True))


def _places(instr, arch):
    places = {}
    for move in lower(instr, arch).uops:
        if isinstance(move, Move):
            places.update(_bytes_of(move))
    return places


@pytest.mark.parametrize("arch", [A2A3, A5])
def test_a_column_major_tile_takes_runs_of_columns(arch):
    t = tile("f16", "16x6", "10x6", addr=0x100, row_major=False)
    gm = replace(window("f16", (2, 1, 1, 10, 3), (500, 500, 500, 1, 20)), layout="dn")
    expected = {}
    for block, row, col in product(range(2), range(10), range(3)):
        source = 2 * (block * 500 + row + col * 20)
        target = 0x100 + 2 * ((block * 3 + col) * 16 + row)
        expected.update({source + byte: target + byte for byte in range(2)})
    assert _places(bind("tload", t, gm), arch) == expected


@pytest.mark.parametrize("arch", [A2A3, A5])
def test_an_nz_tile_takes_runs_of_column_groups(arch):
    t = replace(tile("f16", "48x64", "32x64", addr=0x400, row_major=False), slayout="row_major")
    strides = (5000, 2000, 256, 16, 1)
    gm = replace(window("f16", (2, 2, 2, 16, 16), strides), layout="nz")
    expected = {}
    for a, b, c, d, e in product(range(2), range(2), range(2), range(16), range(16)):
        source = 2 * sum(i * s for i, s in zip((a, b, c, d, e), strides, strict=True))
        row, col = c * 16 + d, (a * 2 + b) * 16 + e
        target = 0x400 + 2 * (col // 16 * 48 * 16 + row * 16 + col % 16)
        expected.update({source + byte: target + byte for byte in range(2)})
    assert _places(bind("tload", t, gm), arch) == expected
    stored = _places(bind("tstore", gm, t), arch)
    assert {target: source for source, target in stored.items()} == expected


def test_padding_of_a_column_fills_its_block():
    t = tile("f32", "16x2", "13x2", row_major=False, pad="zero")
    gm = replace(window("f32", (13, 2), (1, 13)), layout="dn")
    lowered = lower(bind("tload", t, gm), A2A3)
    assert [move.pad_bytes for move in lowered.uops] == [12]
    assert region_bytes(lowered.writes) == {*range(64), *range(64, 128)}


def test_an_atomic_store_stands_between_its_controls():
    t = tile("f32", "2x8")
    lowered = lower(bind("tstore", window("f32", (2, 8)), t, atomic="add"), A2A3)
    names = [item.name for item in lowered.uops]
    assert names == [
        "set_atomic_f32",
        "set_atomic_add",
        "copy_ubuf_to_gm_align_b32",
        "set_atomic_none",
    ]
    assert lowered.uops[2].add.name == "f32"
    assert lowered.reads == (t.valid_region(), *lowered.writes)
    assert lowered.sources == (t.valid_region(),)
