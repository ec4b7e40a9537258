"""TDEQUANT and TQUANT on memory against numpy written by hand, on both cores."""

from dataclasses import replace

import numpy as np
import pytest
from bench import Bench
from hypothesis import given, settings
from hypothesis import strategies as st

from archsim.isa.operands import BoundInstr
from archsim.isa.tile_ops import FORMS
from archsim.lower import lower
from archsim.numerics.execute import execute

CORES = ["a2a3", "a5"]
shapes = st.tuples(st.integers(1, 6), st.integers(1, 300))
LIMITS = {"i8": (-128, 127), "i16": (-32768, 32767), "u8": (0, 255)}


def per_row(bench, values):
    """A row-major tile whose first column are `values`."""
    tile = bench.tile("f32", (len(values), 1))
    return bench.put(tile, values.reshape(-1, 1))


def marked(bench, dtype, shape, valid):
    tile = bench.tile(dtype, shape, valid)
    return bench.put(tile, np.full((tile.rows, tile.cols), 9))


def is_in_place(bench, dst, want):
    """`want` in the valid region, the mark everywhere else."""
    whole = np.full((dst.rows, dst.cols), 9, dst.dtype.np)
    whole[: want.shape[0], : want.shape[1]] = want
    return bench.get(dst, dst.rows, dst.cols).tobytes() == whole.tobytes()


@settings(max_examples=60, deadline=None)
@given(
    dtype=st.sampled_from(["i8", "i16"]),
    shape=shapes,
    spare=st.integers(0, 20),
    seed=st.integers(0, 99),
    values_of=st.sampled_from(["rows", "column"]),
)
@pytest.mark.parametrize("arch", CORES)
def test_dequantised_values_are_rounded_twice(arch, dtype, shape, spare, seed, values_of):
    bench, rng = Bench(arch), np.random.default_rng(seed)
    rows, cols = shape
    values = rng.integers(*LIMITS[dtype], shape, endpoint=True)
    src = bench.put(bench.tile(dtype, (rows, cols + spare), shape), values)
    scale, offset = (rng.normal(0, 3, rows).astype(np.float32) for _ in range(2))
    dst = bench.tile("f32", (rows, cols + spare), shape)
    made = per_row if values_of == "rows" else column
    bench.run("tdequant", dst, src, made(bench, scale), made(bench, offset))
    want = (values.astype(np.float32) - offset[:, None]) * scale[:, None]
    assert bench.get(dst, rows, cols).tobytes() == want.tobytes()


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("dtype", ["i8", "i16"])
def test_dequantised_edges(arch, dtype):
    bench = Bench(arch)
    least, greatest = LIMITS[dtype]
    row = np.array([[least, -1, 0, 1, greatest]])
    values = np.repeat(row, 4, axis=0)
    src = bench.put(bench.tile(dtype, (4, 32), (4, 5)), values)
    scale = np.array([1, np.inf, np.nan, -0.0], np.float32)
    offset = np.array([-0.0, 0, 0, 0], np.float32)
    dst = bench.tile("f32", (4, 32), (4, 5))
    bench.run("tdequant", dst, src, per_row(bench, scale), per_row(bench, offset))
    with np.errstate(all="ignore"):
        want = (values.astype(np.float32) - offset[:, None]) * scale[:, None]
    got = bench.get(dst, 4, 5)
    assert np.array_equal(got, want, equal_nan=True)
    assert (np.signbit(got) == np.signbit(want))[[0, 1, 3]].all()


def column(bench, values):
    """A column-major tile of one column."""
    rows = -(-len(values) // 8) * 8
    tile = bench.tile("f32", (rows, 8))
    tile = replace(
        tile, cols=1, valid_cols=1, valid_rows=len(values), row_stride=1, row_major=False
    )
    return bench.put(tile, values.reshape(-1, 1))


def quantised(bench, dst, src, *per_row):
    op = FORMS["tquant"][len(per_row) - 1]
    tmp = None
    if bench.arch.isa == "a2a3":
        tmp = bench.tile("i32", (-(-src.rows // 8) * 8, max(src.cols, 8)))
    instr = BoundInstr(op, (dst,), (src, *per_row), tmp)
    lowered = lower(instr, bench.arch)
    execute(lowered.uops, bench.memory, 0, bench.state).apply()
    return lowered


@settings(max_examples=60, deadline=None)
@given(
    shape=st.one_of(
        st.tuples(st.integers(1, 9), st.integers(1, 300)),
        st.tuples(st.just(260), st.integers(1, 20)),
    ),
    spare=st.integers(0, 20),
    with_offset=st.booleans(),
    seed=st.integers(0, 99),
)
@pytest.mark.parametrize("arch", CORES)
def test_quantised_values(arch, shape, spare, with_offset, seed):
    bench, rng = Bench(arch), np.random.default_rng(seed)
    rows, cols = shape
    values = rng.normal(0, 40, shape).astype(np.float32)
    values[0, :1] = 1e9
    src = bench.put(bench.tile("f32", (rows, cols + spare), shape), values)
    per_row = [rng.normal(1, 1, rows).astype(np.float32)]
    if with_offset:
        per_row.append(rng.normal(100, 30, rows).astype(np.float32))
    dtype = "u8" if with_offset else "i8"
    dst = marked(bench, dtype, (rows, cols + spare), shape)
    quantised(bench, dst, src, *(column(bench, v) for v in per_row))
    want = values * per_row[0][:, None]
    if with_offset:
        want = want + per_row[1][:, None]
    assert is_in_place(bench, dst, np.clip(np.rint(want), *LIMITS[dtype]))


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("profile", ["reset", "infnan"])
def test_quantised_edges(arch, profile):
    bench = Bench(arch, profile=profile)
    row = [np.nan, np.inf, -np.inf, -0.0, 0.5, 1.5, 2.5, -0.5, 126.5, 127.5, -128.5, -129, 70000]
    src = bench.put(bench.tile("f32", (1, 13)), np.array([row], np.float32))
    one = np.ones(1, np.float32)
    signed = marked(bench, "i8", (1, 13), (1, 13))
    quantised(bench, signed, src, column(bench, one))
    want = [[0, 127, -128, 0, 0, 2, 2, 0, 126, 127, -128, -128, 127]]
    assert is_in_place(bench, signed, np.array(want))
    src = bench.put(bench.tile("f32", (1, 13)), np.array([row], np.float32))
    unsigned = marked(bench, "u8", (1, 13), (1, 13))
    quantised(bench, unsigned, src, column(bench, one), column(bench, 0 * one))
    want = [[0, 255, 0, 0, 0, 2, 2, 0, 126, 128, 0, 0, 255]]
    assert is_in_place(bench, unsigned, np.array(want))


def test_the_source_is_left_overwritten_on_a2a3_only():
    for arch in CORES:
        bench = Bench(arch)
        src = bench.put(bench.tile("f32", (2, 64)), np.full((2, 64), 3))
        dst = marked(bench, "i8", (2, 64), (2, 64))
        lowered = quantised(bench, dst, src, column(bench, np.array([2, 2], np.float32)))
        kept = (bench.get(src, 2, 64) == 3).all()
        notes = [(note.severity, note.message) for note in lowered.notes]
        if arch == "a5":
            assert (kept, lowered.destroyed, notes) == (True, (), [])
            continue
        assert lowered.destroyed == (src.valid_region(),)
        assert not kept
        message = (
            "tquant leaves src and tmp overwritten on a2a3: src with halves, tmp with integers"
        )
        assert notes == [("note", message)]
