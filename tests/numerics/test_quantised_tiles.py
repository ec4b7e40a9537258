"""TDEQUANT and TQUANT on memory against numpy written by hand, on both cores."""

import numpy as np
import pytest
from bench import Bench
from hypothesis import given, settings
from hypothesis import strategies as st

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
)
@pytest.mark.parametrize("arch", CORES)
def test_dequantised_values_are_rounded_twice(arch, dtype, shape, spare, seed):
    bench, rng = Bench(arch), np.random.default_rng(seed)
    rows, cols = shape
    values = rng.integers(*LIMITS[dtype], shape, endpoint=True)
    src = bench.put(bench.tile(dtype, (rows, cols + spare), shape), values)
    scale, offset = (rng.normal(0, 3, rows).astype(np.float32) for _ in range(2))
    dst = bench.tile("f32", (rows, cols + spare), shape)
    bench.run("tdequant", dst, src, per_row(bench, scale), per_row(bench, offset))
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
