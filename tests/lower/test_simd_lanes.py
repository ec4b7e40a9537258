"""Simd lowering covers the valid lanes, once, from the right sources, within the core's limits."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instrs import A2A3, bind, tile
from lane_model import region_bytes, simd_lanes, simd_uops, simd_written_bytes

from archsim.base.dtypes import DTYPES
from archsim.isa.operands import TileView
from archsim.lower import lower

PROPERTY = settings(max_examples=25, deadline=None)
GAP = 1 << 24  # tiles never meet


@st.composite
def extents(draw):
    """Declared rows, valid rows, valid columns; tall and thin or short and wide."""
    tall = draw(st.booleans())
    rows = draw(st.integers(254, 258) if tall else st.integers(1, 5))
    valid_rows = draw(st.one_of(st.just(rows), st.integers(1, rows)))
    valid_cols = draw(st.integers(1, 3 if tall else 200))
    return rows, valid_rows, valid_cols


@st.composite
def tiles(draw, dtypes, rows=None):
    """Tiles of one valid shape, one a type; pitches that agree or not, some beyond the limit."""
    declared, valid_rows, valid_cols = draw(extents())
    dynamic = draw(st.sampled_from(["", "cols", "both"]))
    per_block = 32 // min(DTYPES[name].itemsize for name in dtypes)
    fitting = -(-valid_cols // per_block) * per_block
    wider = st.sampled_from([0, 0, 1, 3, 8, 300])
    common = fitting + per_block * draw(wider)
    agree = draw(st.booleans())
    found = []
    for k, name in enumerate(dtypes):
        cols = common if agree else fitting + per_block * draw(wider)
        shape, valid = f"{declared}x{cols}", f"{valid_rows}x{valid_cols}"
        found.append(tile(name, shape, valid, addr=k * GAP, dynamic=dynamic))
    return found


def place(t: TileView, row: int, col: int) -> tuple[int, int]:
    return t.addr + row * t.row_bytes + col * t.dtype.itemsize, -1


def lanes_of(lowered):
    return Counter(lanes for uop, row in simd_uops(lowered) for lanes in simd_lanes(uop, row))


def valid_lanes(operands):
    dst = operands[0]
    return Counter(
        tuple(place(t, row, col) for t in operands)
        for row, col in product(range(dst.valid_rows), range(dst.valid_cols))
    )


def within_limits(lowered):
    vector = A2A3.vector
    for uop, _ in simd_uops(lowered):
        in_count_mode = uop.mask.mode == "count"
        limit = vector.repeat_max
        if "cmp" in uop.name:
            limit = min(limit, vector.compare_repeat_max)
        assert in_count_mode or 0 <= uop.repeat <= limit
        assert uop.mask.mode != "partial" or 0 < uop.mask.lanes < uop.lanes
        assert not in_count_mode or uop.repeat == -(-uop.mask.lanes // uop.lanes)
        if uop.repeat > 1:
            for access in (uop.dst, *uop.srcs):
                assert access.repeat_stride <= vector.repeat_stride_max * vector.block_bytes
                assert access.bits or access.repeat_stride % vector.block_bytes == 0


@PROPERTY
@given(data=st.data(), dtype=st.sampled_from(["f32", "f16", "i32", "i16"]))
def test_two_input_lanes(data, dtype):
    dst, src0, src1 = data.draw(tiles([dtype] * 3))
    lowered = lower(bind("tadd", dst, src0, src1), A2A3)
    assert lanes_of(lowered) == valid_lanes([dst, src0, src1])
    within_limits(lowered)


@PROPERTY
@given(data=st.data(), dtype=st.sampled_from(["f32", "f16"]))
def test_tile_scalar_lanes(data, dtype):
    dst, src = data.draw(tiles([dtype] * 2))
    lowered = lower(bind("tmaxs", dst, src, 3), A2A3)
    assert lanes_of(lowered) == valid_lanes([dst, src])
    within_limits(lowered)


@PROPERTY
@given(data=st.data(), dtype=st.sampled_from(["f32", "f16"]))
def test_one_input_lanes(data, dtype):
    dst, src = data.draw(tiles([dtype] * 2))
    lowered = lower(bind("texp", dst, src), A2A3)
    assert lanes_of(lowered) == valid_lanes([dst, src])
    within_limits(lowered)


@PROPERTY
@given(data=st.data(), dtype=st.sampled_from(["f32", "bf16", "i16"]))
def test_expanded_lanes(data, dtype):
    (dst,) = data.draw(tiles([dtype]))
    lowered = lower(bind("texpands", dst, 1), A2A3)
    assert lanes_of(lowered) == valid_lanes([dst])
    within_limits(lowered)


@PROPERTY
@given(data=st.data())
def test_expanded_bytes_go_in_pairs(data):
    (dst,) = data.draw(tiles(["i8"]))
    lowered = lower(bind("texpands", dst, -2), A2A3)
    assert {uop.scalar for uop, _ in simd_uops(lowered)} == {0xFEFE}
    assert simd_written_bytes(lowered) == region_bytes(lowered.writes)
    assert region_bytes(lowered.writes) >= region_bytes([dst.valid_region()])
    per_row = -(-dst.valid_cols // 2) * 2
    assert len(region_bytes(lowered.writes)) == dst.valid_rows * per_row


CONVERSIONS = ["f32 f16", "f16 f32", "f16 i8", "u8 f16", "i32 f32", "i32 f16", "f32 i16", "f16 i16"]


@PROPERTY
@given(data=st.data(), pair=st.sampled_from(CONVERSIONS))
def test_conversion_lanes(data, pair):
    source, to = pair.split()
    dst, src = data.draw(tiles([to, source]))
    lowered = lower(bind("tcvt", dst, src), A2A3)
    assert lanes_of(lowered) == valid_lanes([dst, src])
    within_limits(lowered)


@PROPERTY
@given(data=st.data(), pair=st.sampled_from(["f32 f16", "f16 i8", "i16 i8"]))
def test_fused_conversion_lanes(data, pair):
    source, to = pair.split()
    dst, src0, src1 = data.draw(tiles([to, source, source]))
    lowered = lower(bind("taddreluconv", dst, src0, src1), A2A3)
    assert lanes_of(lowered) == valid_lanes([dst, src0, src1])
    within_limits(lowered)


@PROPERTY
@given(data=st.data(), pair=st.sampled_from(["f32 i16", "f16 i16", "f16 i8"]))
def test_wrapping_conversions_write_dst_and_the_scratch_they_name(data, pair):
    source, to = pair.split()
    dst, src = data.draw(tiles([to, source]))
    tmp = tile("i32", "255x64", addr=5 * GAP)
    lowered = lower(bind("tcvt", dst, src, tmp=tmp), A2A3)
    written, scratch = simd_written_bytes(lowered), lowered.writes[1]
    assert written <= region_bytes(lowered.writes)
    assert {byte for byte in written if byte < 4 * GAP} == region_bytes([dst.valid_region()])
    assert scratch.addr == tmp.addr
    assert scratch.end <= tmp.addr + tmp.size_bytes
    last = [uop.name for uop, _ in simd_uops(lowered)][-1]
    final = Counter(
        lanes[0] for u, row in simd_uops(lowered) if u.name == last for lanes in simd_lanes(u, row)
    )
    assert final == Counter(key for (key, _) in valid_lanes([dst, src]))
    within_limits(lowered)


@PROPERTY
@given(data=st.data())
def test_tadddeqrelu_lanes_of_every_step(data):
    dst, src0, src1, tmp = data.draw(tiles(["f16", "i32", "i32", "i32"]))
    lowered = lower(bind("tadddeqrelu", dst, src0, src1, 0.5, tmp=tmp), A2A3)
    steps: dict[str, Counter] = {}
    for uop, row in simd_uops(lowered):
        steps.setdefault(uop.name, Counter()).update(simd_lanes(uop, row))
    assert steps["vadd"] == valid_lanes([tmp, src0, src1])
    assert steps["vconv_s322f32"] == valid_lanes([src0, tmp])
    assert set(steps["vmuls"]) == set(valid_lanes([src0, src0]))
    assert steps["vector_dup"] == valid_lanes([tmp])
    assert steps["vmax"] == valid_lanes([src1, src0, tmp])
    assert steps["vconv_f322f16"] == valid_lanes([dst, src1])
    assert simd_written_bytes(lowered) == region_bytes(lowered.writes)
    assert lowered.destroyed == (src0.valid_region(), src1.valid_region())
    within_limits(lowered)


@PROPERTY
@given(data=st.data(), dtype=st.sampled_from(["f32", "f16", "i32", "u16"]))
def test_compared_bits(data, dtype):
    (src,) = data.draw(tiles([dtype]))
    dst = tile("u8", f"{src.rows}x96", f"{src.valid_rows}x96", addr=4 * GAP)
    lowered = lower(bind("tcmps", dst, src, 0, mode="eq"), A2A3)
    found = lanes_of(lowered)
    for row, col in product(range(src.valid_rows), range(src.valid_cols)):
        bit = (dst.addr + row * dst.row_bytes + col // 8, col % 8)
        assert found[bit, place(src, row, col)] == 1
    lanes = 256 // src.dtype.itemsize
    assert sum(found.values()) == src.valid_rows * -(-src.valid_cols // lanes) * lanes
    assert simd_written_bytes(lowered) == region_bytes(lowered.writes)
    within_limits(lowered)


@pytest.mark.parametrize("stride", [0, 64])
def test_ne_inverts_whole_rows_of_the_mask(stride):
    src = tile("f32", "3x72", "3x70", addr=GAP)
    dst = tile("u8", "4x32", addr=0, stride=stride, valid="3x32")
    lowered = lower(bind("tcmps", dst, src, 0, mode="ne"), A2A3)
    inverted = [u for u in simd_uops(lowered) if u[0].name == "vnot"]
    touched = {a + k for u, row in inverted for (a, _), _ in simd_lanes(u, row) for k in range(2)}
    rows = {row * dst.row_bytes + k for row in range(3) for k in range(32)}
    assert touched == rows == region_bytes(lowered.writes)


@PROPERTY
@given(data=st.data(), dtype=st.sampled_from(["f32", "f16", "i16", "u32"]))
def test_selected_lanes_and_mask_addresses(data, dtype):
    dst, src0, src1 = data.draw(tiles([dtype] * 3))
    mask = tile("u8", f"{dst.rows}x64", f"{dst.valid_rows}x64", addr=4 * GAP)
    tmp = tile("u8", "1x32", addr=5 * GAP)
    lowered = lower(bind("tsel", dst, mask, src0, src1, tmp=tmp), A2A3)
    picks = Counter()
    for uop, row in simd_uops(lowered):
        if uop.name == "vsel":
            picks.update(simd_lanes(uop, row))
        else:
            assert uop.scalar + row * uop.scalar_step == mask.addr + row * 64
    expected = Counter()
    for row, col in product(range(dst.valid_rows), range(dst.valid_cols)):
        bit = (mask.addr + row * 64 + col // 8, col % 8)
        expected[place(dst, row, col), bit, place(src0, row, col), place(src1, row, col)] = 1
    assert picks == expected
    assert simd_written_bytes(lowered) == region_bytes(lowered.writes)
    assert region_bytes(lowered.sources[:1]) == {bit[0] for _, bit, _, _ in expected}
    within_limits(lowered)


@PROPERTY
@given(data=st.data(), dtype=st.sampled_from(["f32", "f16"]))
def test_tprelu_writes_dst_masks_and_address_words(data, dtype):
    dst, src0, src1 = data.draw(tiles([dtype] * 3))
    tmp = tile("u8", f"{dst.rows + 1}x64", addr=4 * GAP)
    lowered = lower(bind("tprelu", dst, src0, src1, tmp=tmp), A2A3)
    assert simd_written_bytes(lowered) == region_bytes(lowered.writes)
    words = {
        lanes[0][0]
        for u, row in simd_uops(lowered)
        if u.name == "vector_dup"
        for lanes in simd_lanes(u, row)
    }
    assert min(words) == tmp.addr + dst.valid_rows * tmp.row_bytes
    products = Counter(
        lanes for u, row in simd_uops(lowered) if u.name == "vmul" for lanes in simd_lanes(u, row)
    )
    assert products == valid_lanes([dst, src0, src1])


@PROPERTY
@given(data=st.data(), dtype=st.sampled_from(["f32", "i8"]))
def test_copied_bytes_are_the_valid_ones_in_whole_blocks(data, dtype):
    dst, src = data.draw(tiles([dtype] * 2))
    lowered = lower(bind("tmov", dst, src), A2A3)
    found = lanes_of(lowered)
    assert set(found.values()) == {1}
    assert set(found) >= set(valid_lanes([dst, src]))
    blocks = -(-dst.valid_cols * dst.dtype.itemsize // 32)
    assert sum(found.values()) == dst.valid_rows * blocks * 32 // dst.dtype.itemsize
    assert simd_written_bytes(lowered) == region_bytes(lowered.writes)


def test_a_view_of_part_of_a_tile_keeps_the_parents_pitch():
    view = tile("f32", "4x32", stride=128)
    lowered = lower(bind("tmuls", view, view, 2), A2A3)
    assert simd_written_bytes(lowered) == region_bytes([view.valid_region()])
    lowered = lower(bind("tadd", view, view, view), A2A3)
    assert simd_written_bytes(lowered) == region_bytes([view.valid_region()])
