"""TFILLPAD* on memory: the valid region, and the pad value in all the rest of the tile."""

from dataclasses import replace

import numpy as np
import pytest
from bench import Bench
from hypothesis import given, settings
from hypothesis import strategies as st

from archsim.base.dtypes import DTYPES

CORES = ["a2a3", "a5"]


def pad_value(pad, dtype):
    kind = DTYPES[dtype]
    if pad == "zero":
        return kind.np.type(0)
    if kind.is_float:
        return kind.np.type(np.inf if pad == "max" else -np.inf)
    info = np.iinfo(kind.np)
    return kind.np.type(info.max if pad == "max" else info.min)


@settings(max_examples=80, deadline=None)
@given(
    dtype=st.sampled_from(["f32", "f16", "bf16", "i32", "u16", "i8", "u8"]),
    pad=st.sampled_from(["zero", "max", "min"]),
    shape=st.tuples(st.integers(1, 6), st.integers(1, 300)),
    share=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    form=st.sampled_from(["tfillpad", "tfillpad_expand", "tfillpad_inplace"]),
)
@pytest.mark.parametrize("arch", CORES)
def test_everything_behind_the_valid_region_is_padding(arch, dtype, pad, shape, share, form):
    bench = Bench(arch)
    valid = (round(shape[0] * share[0]), round(shape[1] * share[1]))
    src = bench.tile(dtype, shape, valid)
    values = np.arange(src.rows * src.cols).reshape(src.rows, src.cols) % 100
    bench.put(src, values)
    more = (3, 40) if form == "tfillpad_expand" else (0, 0)
    dst = replace(bench.tile(dtype, (shape[0] + more[0], shape[1] + more[1])), pad=pad)
    if form == "tfillpad_inplace":
        dst = replace(src, pad=pad, valid_rows=src.rows, valid_cols=src.cols)
    else:
        bench.put(dst, np.full((dst.rows, dst.cols), 9))
    bench.run(form, dst, src)
    want = np.full((dst.rows, dst.cols), pad_value(pad, dtype))
    if min(valid):
        want[: valid[0], : valid[1]] = values[: valid[0], : valid[1]]
    assert bench.get(dst, dst.rows, dst.cols).tobytes() == want.tobytes()


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("dtype", ["f32", "u8"])
def test_rows_of_a_view_are_padded_to_its_own_width(arch, dtype):
    bench = Bench(arch)
    outer = bench.put(bench.tile(dtype, (4, 128)), np.full((4, 128), 7))
    src = bench.put(bench.tile(dtype, (4, 64), (3, 21)), np.full((4, 64), 5))
    view = replace(outer, cols=64, valid_cols=64, pad="zero")
    bench.run("tfillpad", view, src)
    want = np.full((4, 128), 7)
    want[:, :64] = 0
    want[:3, :21] = 5
    assert (bench.get(outer, 4, 128).astype(int) == want).all()


@pytest.mark.parametrize("arch", CORES)
def test_row_pitches_beyond_the_repeat_stride(arch):
    bench = Bench(arch)
    src = bench.put(bench.tile("f32", (3, 2100), (2, 2051)), np.full((3, 2100), 5))
    dst = replace(bench.tile("f32", (3, 2100)), pad="max")
    bench.run("tfillpad", dst, src)
    got = bench.get(dst, dst.rows, dst.cols)
    assert (got[:2, :2051] == 5).all()
    assert np.isinf(got[:2, 2051:]).all()
    assert np.isinf(got[2:]).all()
