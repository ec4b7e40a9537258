"""TPART* and TCONCAT on memory against numpy written by hand, on both cores."""

import numpy as np
import pytest
from bench import Bench
from hypothesis import given, settings
from hypothesis import strategies as st

from archsim.base.dtypes import DTYPES
from archsim.isa.operands import BoundInstr
from archsim.isa.tile_ops import TILE_OPS
from archsim.lower import lower
from archsim.numerics.execute import execute

CORES = ["a2a3", "a5"]
OPS = {
    "tpartadd": np.add,
    "tpartmul": np.multiply,
    "tpartmax": np.maximum,
    "tpartmin": np.minimum,
}


def numbers(seed, dtype, shape):
    rng = np.random.default_rng(seed)
    kind = DTYPES[dtype]
    if kind.is_float:
        return rng.normal(0, 3, shape).astype(kind.np)
    info = np.iinfo(kind.np)
    return rng.integers(info.min, info.max, shape, endpoint=True).astype(kind.np)


def run(bench, name, dsts, srcs, **attrs):
    instr = BoundInstr(TILE_OPS[name], tuple(dsts), tuple(srcs), None, attrs)
    execute(lower(instr, bench.arch).uops, bench.memory, 0, bench.state).apply()


def marked(bench, dst, want):
    """`want` in the valid region, the mark 9 everywhere else."""
    whole = np.full((dst.rows, dst.cols), 9, dst.dtype.np)
    whole[: want.shape[0], : want.shape[1]] = want
    assert bench.get(dst, dst.rows, dst.cols).tobytes() == whole.tobytes()


@settings(max_examples=50, deadline=None)
@given(
    name=st.sampled_from(sorted(OPS)),
    dtype=st.sampled_from(["f32", "f16", "i32", "i16"]),
    whole=st.tuples(st.integers(1, 6), st.integers(1, 200)),
    share=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    swapped=st.booleans(),
    dynamic=st.booleans(),
)
@pytest.mark.parametrize("arch", CORES)
def test_parts(arch, name, dtype, whole, share, swapped, dynamic):
    bench = Bench(arch)
    part = (round(whole[0] * share[0]), round(whole[1] * share[1]))
    shape = (whole[0] + 1, whole[1] + 9)
    valids = (part, whole) if swapped else (whole, part)
    values = [numbers(seed, dtype, shape) for seed in (1, 2)]
    srcs = [
        bench.put(bench.tile(dtype, shape, valid, dynamic=dynamic), value)
        for valid, value in zip(valids, values, strict=True)
    ]
    dst = bench.tile(dtype, shape, whole, dynamic=dynamic)
    bench.put(dst, np.full((dst.rows, dst.cols), 9))
    run(bench, name, [dst], srcs)
    want = values[1 if swapped else 0][: whole[0], : whole[1]].copy()
    area = (slice(0, part[0]), slice(0, part[1]))
    want[area] = OPS[name](values[0][area], values[1][area])
    marked(bench, dst, want)


def test_the_lesser_source_may_be_the_destination_where_rows_are_missing():
    for arch in CORES:
        bench = Bench(arch)
        shape = (4, 64)
        x, y = numbers(1, "f32", shape), numbers(2, "f32", shape)
        a = bench.put(bench.tile("f32", shape), x)
        b = bench.put(bench.tile("f32", shape, (2, 64)), y)
        run(bench, "tpartadd", [a], [a, b])
        want = np.concatenate([x[:2] + y[:2], x[2:]])
        assert (bench.get(a, 4, 64) == want).all()


@settings(max_examples=40, deadline=None)
@given(
    name=st.sampled_from(["tpartargmax", "tpartargmin"]),
    dtype=st.sampled_from(["f32", "f16"]),
    index=st.sampled_from(["i32", "u32"]),
    whole=st.tuples(st.integers(1, 5), st.integers(1, 150)),
    share=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    swapped=st.booleans(),
)
@pytest.mark.parametrize("arch", CORES)
def test_parts_with_indices(arch, name, dtype, index, whole, share, swapped):
    bench = Bench(arch)
    part = (round(whole[0] * share[0]), round(whole[1] * share[1]))
    valids = (part, whole) if swapped else (whole, part)
    values = [np.round(numbers(s, dtype, whole)).astype(DTYPES[dtype].np) for s in (1, 2)]  # ties
    values[0][0, 0] = np.nan
    indices = [numbers(s, index, whole) for s in (3, 4)]
    srcs = [bench.put(bench.tile(dtype, whole, v), x) for v, x in zip(valids, values, strict=True)]
    srcs += [
        bench.put(bench.tile(index, whole, v), x) for v, x in zip(valids, indices, strict=True)
    ]
    dst, where = bench.tile(dtype, whole), bench.tile(index, whole)
    for tile in (dst, where):
        bench.put(tile, np.full((tile.rows, tile.cols), 9))
    run(bench, name, [dst, where], srcs)
    first = values[0] >= values[1] if name == "tpartargmax" else values[0] <= values[1]
    overlap = np.zeros(whole, bool)
    overlap[: part[0], : part[1]] = True
    takes_first = np.where(overlap, first, not swapped)
    marked(bench, dst, np.where(takes_first, *values))
    marked(bench, where, np.where(takes_first, *indices))


@settings(max_examples=40, deadline=None)
@given(
    dtype=st.sampled_from(["f32", "bf16", "i32", "u16"]),
    rows=st.integers(1, 5),
    left=st.integers(0, 150),
    right=st.integers(0, 150),
)
@pytest.mark.parametrize("arch", CORES)
def test_columns_behind_each_other(arch, dtype, rows, left, right):
    if left + right == 0:
        return
    bench = Bench(arch)
    x, y = (numbers(seed, dtype, (rows, 160)) for seed in (1, 2))
    a = bench.put(bench.tile(dtype, (rows, 160), (rows, left)), x)
    b = bench.put(bench.tile(dtype, (rows, 160), (rows, right)), y)
    dst = bench.tile(dtype, (rows, left + right + 3), (rows, left + right))
    bench.put(dst, np.full((dst.rows, dst.cols), 9))
    run(bench, "tconcat", [dst], [a, b])
    marked(bench, dst, np.concatenate([x[:, :left], y[:, :right]], axis=1))
