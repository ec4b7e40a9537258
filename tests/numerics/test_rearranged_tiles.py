"""Turned, gathered, scattered and interleaved tiles on memory against numpy written by hand."""

from dataclasses import replace

import numpy as np
import pytest
from bench import Bench
from hypothesis import given, settings
from hypothesis import strategies as st

from archsim.base.dtypes import DTYPES
from archsim.check import scratch_tile
from archsim.isa.operands import BoundInstr, Loc, TileView
from archsim.isa.tile_ops import FORMS
from archsim.lower import lower
from archsim.numerics.execute import execute
from archsim.numerics.memory import IndexOutside

CORES = ["a2a3", "a5"]
NAN, INF = np.nan, np.inf


def bits(dtype, shape, seed=0):
    """Any bits at all, as elements."""
    kind = DTYPES[dtype].np
    raw = np.random.default_rng(seed).integers(0, 256, (*shape, kind.itemsize), np.uint8)
    return raw.view(kind)[..., 0]


def run(bench, name, dsts, srcs, form="", omitted=(), **attrs):
    """One instruction of a form, with scratch behind all tiles where it needs some."""
    op = next(f for f in FORMS[name] if f.form == form)
    instr = BoundInstr(op, tuple(dsts), tuple(srcs), None, attrs, omitted=omitted)
    need = scratch_tile(instr, bench.arch) if op.scratch else None
    if need is not None:
        dtype, rows, cols = need
        tmp = TileView("tmp", Loc.VEC, dtype, rows, cols, rows, cols, 0x30000 - 0x8000, cols)
        instr = replace(instr, tmp=tmp)
    lowered = lower(instr, bench.arch)
    execute(lowered.uops, bench.memory, 0, bench.state).apply()
    return lowered


def same_bits(got, want):
    assert np.ascontiguousarray(got).tobytes() == np.ascontiguousarray(want).tobytes()


@settings(max_examples=40, deadline=None)
@given(
    dtype=st.sampled_from(["f32", "i32", "f16", "bf16", "i8"]),
    rows=st.integers(1, 70),
    cols=st.integers(1, 70),
    dynamic=st.booleans(),
)
@pytest.mark.parametrize("arch", CORES)
def test_turned(arch, dtype, rows, cols, dynamic):
    bench = Bench(arch)
    x = bits(dtype, (rows, cols))
    src = bench.put(bench.tile(dtype, (rows + 1, cols + 3), (rows, cols), dynamic=dynamic), x)
    dst = bench.tile(dtype, (cols + 2, rows + 5), (cols, rows), dynamic=dynamic)
    run(bench, "ttrans", [dst], [src])
    same_bits(bench.get(dst, cols, rows), x.T)


def test_element_by_element_turning_touches_the_valid_lanes_alone():
    bench = Bench("a2a3")
    src = bench.put(bench.tile("f32", (5, 8)), np.arange(40.0).reshape(5, 8))
    dst = bench.tile("f32", (8, 8), (8, 5))
    bench.put(dst, np.full((8, 8), 9.0))
    run(bench, "ttrans", [dst], [src])
    want = np.full((8, 8), 9.0, np.float32)
    want[:, :5] = np.arange(40.0).reshape(5, 8).T
    same_bits(bench.get(dst, 8, 8), want)


@settings(max_examples=30, deadline=None)
@given(
    dtype=st.sampled_from(["f32", "u32", "f16", "i16"]),
    rows=st.integers(1, 5),
    cols=st.integers(1, 150),
    seed=st.integers(0, 99),
)
@pytest.mark.parametrize("arch", CORES)
def test_gathered_by_index(arch, dtype, rows, cols, seed):
    bench = Bench(arch)
    x = bits(dtype, (7, 40), seed)
    src = bench.put(bench.tile(dtype, (7, 40)), x)
    flat = np.zeros((src.rows, src.cols), x.dtype)
    flat[:, :40] = x
    bench.put(src, flat)
    index = np.random.default_rng(seed).integers(0, flat.size, (rows, cols))
    indices = bench.put(bench.tile("i32", (rows, cols + 4), (rows, cols)), index)
    dst = bench.tile(dtype, (rows, cols + 1), (rows, cols))
    run(bench, "tgather", [dst], [src, indices], form="index")
    same_bits(bench.get(dst, rows, cols), flat.reshape(-1)[index])


@pytest.mark.parametrize("dtype", ["i8", "f16", "f32"])
def test_short_indices_on_a5(dtype):
    bench = Bench("a5")
    x = bits(dtype, (4, 64))
    src = bench.put(bench.tile(dtype, (4, 64)), x)
    index = np.random.default_rng(1).integers(0, 256, (3, 130))
    indices = bench.put(bench.tile("u16", (3, 130)), index)
    dst = bench.tile(dtype, (3, 130))
    run(bench, "tgather", [dst], [src, indices], form="index")
    same_bits(bench.get(dst, 3, 130), x.reshape(-1)[index])


@pytest.mark.parametrize("arch", CORES)
def test_gather_over_its_own_indices(arch):
    bench = Bench(arch)
    x = bits("f32", (2, 64))
    src = bench.put(bench.tile("f32", (2, 64)), x)
    index = np.random.default_rng(2).integers(0, 128, (2, 64))
    indices = bench.put(bench.tile("i32", (2, 64)), index)
    run(bench, "tgather", [replace(indices, dtype=DTYPES["f32"])], [src, indices], form="index")
    same_bits(bench.get(indices, 2, 64, "f32"), x.reshape(-1)[index])


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("dtype", ["f16", "f32"])
@pytest.mark.parametrize("bad", [128, -1, 2**30, 2**31 - 1])
def test_an_index_outside_is_an_error_that_names_its_place(arch, dtype, bad):
    bench = Bench(arch)
    src = bench.put(bench.tile(dtype, (2, 64)), bits(dtype, (2, 64)))
    index = np.zeros((3, 70), np.int32)
    index[1, 66] = bad
    indices = bench.put(bench.tile("i32", (3, 72), (3, 70)), index)
    dst = bench.put(bench.tile(dtype, (3, 96), (3, 70)), np.full((3, 96), 3.0))
    before = bench.memory.bytes_of("UB").copy()
    with pytest.raises(IndexOutside) as caught:
        run(bench, "tgather", [dst], [src, indices], form="index")
    assert str(caught.value) == (f"index {bad} in element 66 of row 1 is outside, must be 0 to 127")
    assert (bench.memory.bytes_of("UB") == before).all()


@pytest.mark.parametrize("arch", CORES)
def test_the_last_index_is_inside_and_what_masks_turn_off_is_not_looked_at(arch):
    bench = Bench(arch)
    src = bench.put(bench.tile("f32", (2, 64)), np.arange(128.0).reshape(2, 64))
    index = np.full((1, 72), -5, np.int32)
    index[0, :70] = 127
    indices = bench.put(bench.tile("i32", (1, 72), (1, 70)), index)
    dst = bench.tile("f32", (1, 72), (1, 70))
    run(bench, "tgather", [dst], [src, indices], form="index")
    same_bits(bench.get(dst, 1, 70), np.full((1, 70), 127, np.float32))


PATTERNS = {
    "P0101": slice(0, None, 2),
    "P1010": slice(1, None, 2),
    "P0001": slice(0, None, 4),
    "P0010": slice(1, None, 4),
    "P0100": slice(2, None, 4),
    "P1000": slice(3, None, 4),
    "P1111": slice(0, None, 1),
}


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("dtype", ["i16", "f32"])
@pytest.mark.parametrize("cols", [64, 192])
def test_patterns(arch, pattern, dtype, cols):
    bench = Bench(arch)
    x = bits(dtype, (3, cols))
    kept = x[:, PATTERNS[pattern]]
    whole = bench.put(bench.tile(dtype, (3, cols)), x)
    packed = bench.tile(dtype, kept.shape)
    run(bench, "tgather", [packed], [whole], form="pattern", maskPattern=pattern)
    same_bits(bench.get(packed, *kept.shape), kept)
    back = bench.tile(dtype, (4, cols), (3, cols))
    run(bench, "tscatter", [back], [packed], form="pattern", maskPattern=pattern)
    want = np.zeros((4, cols), x.dtype)
    want[:3, PATTERNS[pattern]] = kept
    same_bits(bench.get(back, 4, cols), want)


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("mode", ["gt", "eq"])
@pytest.mark.parametrize("dtype", ["f16", "f32"])
def test_gathered_by_comparison(arch, mode, dtype):
    bench = Bench(arch)
    x = np.random.default_rng(3).integers(-2, 3, (4, 130)).astype(DTYPES[dtype].np)
    x[0, :6] = [NAN, INF, -INF, 0.0, -0.0, 1.0]
    x[2] = 1 if mode == "gt" else 5  # a row with all lanes and one with none
    x[3] = -2
    src = bench.put(bench.tile(dtype, (4, 136), (4, 130)), x)
    dst = bench.put(bench.tile("u32", (4, 136), (4, 130)), np.full((4, 136), 77))
    counts = bench.tile("i32", (1, 8))
    column = replace(counts, rows=8, cols=1, valid_rows=4, valid_cols=1, row_stride=1)
    column = replace(column, row_major=False)
    run(bench, "tgather", [dst, column], [src, 0.0], form="compare", mode=mode)
    want, found = np.full((4, 136), 77, np.uint32), []
    for row in range(4):
        where = [c for c in range(130) if (x[row, c] > 0 if mode == "gt" else x[row, c] == 0)]
        want[row, : len(where)] = where
        found.append(len(where))
    same_bits(bench.get(dst, 4, 136), want)
    assert bench.get(counts, 1, 4)[0].tolist() == found


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize(("dtype", "cols"), [("f16", 160), ("f32", 44), ("i32", 200)])
def test_gathered_blocks(arch, dtype, cols):
    bench = Bench(arch)
    x = bits(dtype, (6, 64))
    src = bench.put(bench.tile(dtype, (6, 64)), x)
    each = 32 // x.itemsize
    blocks = -(-cols // each)
    chosen = np.random.default_rng(4).integers(0, x.size // each, (2, blocks))
    offsets = bench.put(bench.tile("u32", (2, blocks)), chosen * 32)
    dst = bench.put(bench.tile(dtype, (2, cols)), np.zeros((2, cols)))
    run(bench, "tgatherb", [dst], [src, offsets])
    want = x.reshape(-1, each)[chosen].reshape(2, -1)[:, :cols]
    same_bits(bench.get(dst, 2, cols), want)


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("bad", [16, 1536, 0xFFFFFFE0])
def test_a_block_that_is_none_is_an_error(arch, bad):
    bench = Bench(arch)
    src = bench.put(bench.tile("f32", (6, 64)), bits("f32", (6, 64)))
    offset = np.zeros((2, 8), np.uint32)
    offset[1, 3] = bad
    offsets = bench.put(bench.tile("u32", (2, 8)), offset)
    with pytest.raises(IndexOutside) as caught:
        run(bench, "tgatherb", [bench.tile("f32", (2, 64))], [src, offsets])
    assert str(caught.value) == (
        f"byte offset {bad} in element 3 of row 1 is outside,"
        " must be a multiple of 32 from 0 to 1504"
    )


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize(("dtype", "index"), [("i8", "u16"), ("bf16", "i16"), ("f32", "i32")])
def test_scattered(arch, dtype, index):
    bench = Bench(arch)
    x = bits(dtype, (3, 50))
    src = bench.put(bench.tile(dtype, (3, 64), (3, 50)), x)
    places = np.random.default_rng(5).permutation(6 * 64)[:150].reshape(3, 50)
    indices = bench.put(bench.tile(index, (3, 64), (3, 50)), places)
    dst = bench.put(bench.tile(dtype, (6, 64), (2, 10)), np.full((6, 64), 7))
    run(bench, "tscatter", [dst], [src, indices], form="index")
    want = np.zeros(6 * 64, x.dtype)
    want[places] = x
    same_bits(bench.get(dst, 6, 64), want.reshape(6, 64))


@pytest.mark.parametrize(("arch", "stays"), [("a2a3", 69.0), ("a5", 64.0)])
def test_of_equal_indices_the_cores_keep_different_ones(arch, stays):
    """In order on A2A3; on A5 the lowest lane of the last vector (64 to 69)."""
    bench = Bench(arch)
    src = bench.put(bench.tile("f32", (1, 70)), np.arange(70.0)[np.newaxis])
    indices = bench.put(bench.tile("i32", (1, 70)), np.full((1, 70), 3))
    dst = bench.tile("f32", (1, 8))
    run(bench, "tscatter", [dst], [src, indices], form="index")
    assert bench.get(dst, 1, 8)[0].tolist() == [0, 0, 0, stays, 0, 0, 0, 0]


@pytest.mark.parametrize("arch", CORES)
def test_a_scatter_outside_leaves_memory_alone(arch):
    bench = Bench(arch)
    src = bench.put(bench.tile("f32", (2, 64)), bits("f32", (2, 64)))
    index = np.arange(128).reshape(2, 64)
    index[1, 5] = 256
    indices = bench.put(bench.tile("i32", (2, 64)), index)
    dst = bench.put(bench.tile("f32", (4, 64)), np.full((4, 64), 7.0))
    before = bench.memory.bytes_of("UB").copy()
    with pytest.raises(IndexOutside, match=r"^index 256 in element 5 of row 1 is outside"):
        run(bench, "tscatter", [dst], [src, indices], form="index")
    assert (bench.memory.bytes_of("UB") == before).all()


@settings(max_examples=40, deadline=None)
@given(
    dtype=st.sampled_from(["f32", "i16", "u8"]),
    rows=st.integers(1, 4),
    cols=st.integers(1, 300),
)
def test_interleaved_and_back(dtype, rows, cols):
    bench = Bench("a5")
    a, b = bits(dtype, (rows, cols), 1), bits(dtype, (rows, cols), 2)
    srcs = [bench.put(bench.tile(dtype, (rows, cols)), x) for x in (a, b)]
    mixed = [bench.tile(dtype, (rows, cols)) for _ in range(2)]
    run(bench, "tinterleave", mixed, srcs)
    want = np.empty((rows, 2 * cols), a.dtype)
    want[:, 0::2], want[:, 1::2] = a, b
    same_bits(bench.get(mixed[0], rows, cols), want[:, :cols])
    same_bits(bench.get(mixed[1], rows, cols), want[:, cols:])
    back = [bench.tile(dtype, (rows, cols)) for _ in range(2)]
    run(bench, "tdeinterleave", back, mixed)
    for tile, x in zip(back, (a, b), strict=True):
        same_bits(bench.get(tile, rows, cols), x)
