"""TSORT32 and TMRGSORT on memory against records sorted and merged one by one."""

import struct
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

CORES = ["a2a3", "a5"]
NAN, INF = float("nan"), float("inf")


def run(bench, name, dsts, srcs, form="", omitted=(), **attrs):
    op = next(f for f in FORMS[name] if f.form == form)
    instr = BoundInstr(op, tuple(dsts), tuple(srcs), None, attrs, omitted=omitted)
    need = scratch_tile(instr, bench.arch)
    if need is not None:
        dtype, rows, cols = need
        tmp = TileView("tmp", Loc.VEC, dtype, rows, cols, rows, cols, 0x26000, cols)
        instr = replace(instr, tmp=tmp)
    execute(lower(instr, bench.arch).uops, bench.memory, 0, bench.state).apply()


def record(dtype, value, index):
    """Eight bytes as the vendor describes them."""
    return struct.pack(
        "<fI" if dtype == "f32" else "<eHI", *([value] if dtype == "f32" else [value, 0]), index
    )


def by_group(dtype, values, indices):
    """Falling; +0 and -0 alike; NaN last in the order that they stand in; ties by index."""
    out = b""
    for start in range(0, len(values), 32):
        group = list(zip(values[start : start + 32], indices[start : start + 32], strict=True))
        numbers = [pair for pair in group if pair[0] == pair[0]]
        others = [pair for pair in group if pair[0] != pair[0]]
        for value, index in sorted(numbers, key=lambda pair: (-pair[0], pair[1])) + others:
            out += record(dtype, value, index)
    return out


def sort(bench, dtype, values, indices):
    """What TSORT32 makes of rows of values, as bytes of the valid records of each row."""
    rows, cols = values.shape
    src = bench.put(bench.tile(dtype, (rows, cols)), values)
    idx = bench.put(bench.tile("u32", indices.shape), indices)
    size = 8 // DTYPES[dtype].itemsize
    whole = -(-cols // 32) * 32
    dst = bench.tile(dtype, (rows, whole * size), (rows, cols * size))
    run(bench, "tsort32", [dst], [src, idx])
    return [row.tobytes() for row in bench.get(dst, rows, cols * size)]


@settings(max_examples=40, deadline=None)
@given(
    dtype=st.sampled_from(["f32", "f16"]),
    rows=st.integers(1, 3),
    cols=st.integers(1, 100),
    seed=st.integers(0, 99),
    one_row=st.booleans(),
)
@pytest.mark.parametrize("arch", CORES)
def test_groups_are_sorted(arch, dtype, rows, cols, seed, one_row):
    rng = np.random.default_rng(seed)
    values = rng.choice([NAN, INF, -INF, 0.0, -0.0, 1.0, 1.5, -7.0], (rows, cols))
    indices = rng.integers(0, 2**32, (1 if one_row else rows, cols), np.uint32)
    found = sort(Bench(arch), dtype, values, indices)
    for row in range(rows):
        own = indices[0 if one_row else row]
        assert found[row] == by_group(dtype, values[row].tolist(), own.tolist())


@pytest.mark.parametrize("arch", CORES)
def test_minus_infinity_comes_before_what_fills_the_last_group(arch):
    values = np.full((1, 33), -INF)
    found = sort(Bench(arch), "f32", values, np.arange(33, dtype=np.uint32)[np.newaxis])
    assert found[0][-8:] == record("f32", -INF, 32)


@pytest.mark.parametrize("cols", [8160, 8161, 8192 + 5])
def test_long_rows_take_their_last_group_alone_through_scratch(cols):
    """255 groups are the most that one sort takes from scratch."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(1, cols)).astype(np.float32)
    indices = np.arange(cols, dtype=np.uint32)[np.newaxis]
    bench = Bench("a2a3")
    src = bench.put(bench.tile("f32", (1, cols)), values)
    idx = bench.put(bench.tile("u32", (1, cols)), indices)
    dst = bench.tile("f32", (1, -(-cols // 32) * 64), (1, 2 * cols))
    run(bench, "tsort32", [dst], [src, idx])
    want = by_group("f32", values[0].tolist(), indices[0].tolist())
    assert bench.get(dst, 1, 2 * cols).tobytes() == want


def words(dtype, pairs):
    return np.frombuffer(b"".join(record(dtype, v, i) for v, i in pairs), np.uint32)


def merge(lists, exhausted=False):
    """The greatest head first, the earlier list where heads are equal."""
    heads, out, counts = [list(pairs) for pairs in lists], [], [0] * 4
    while any(heads):
        at = max((k for k in range(len(heads)) if heads[k]), key=lambda k: (heads[k][0][0], -k))
        out.append(heads[at].pop(0))
        counts[at] += 1
        if exhausted and not heads[at]:
            break
    return out, counts


def falling(rng, count, first):
    values = sorted(rng.integers(-4, 5, count).tolist(), reverse=True)
    return [(float(value), first + k) for k, value in enumerate(values)]


@settings(max_examples=25, deadline=None)
@given(
    dtype=st.sampled_from(["f32", "f16"]),
    lengths=st.lists(st.integers(1, 40), min_size=2, max_size=4),
    exhausted=st.booleans(),
    is_sorted=st.booleans(),
    seed=st.integers(0, 99),
)
@pytest.mark.parametrize("arch", CORES)
def test_lists_are_merged(arch, dtype, lengths, exhausted, is_sorted, seed):
    rng, bench = np.random.default_rng(seed), Bench(arch)
    lists = [falling(rng, count, 1000 * k) for k, count in enumerate(lengths)]
    if not is_sorted:
        lists = [[pairs[i] for i in rng.permutation(len(pairs))] for pairs in lists]
    size = 8 // DTYPES[dtype].itemsize
    srcs = []
    for pairs in lists:
        tile = bench.tile(dtype, (1, size * len(pairs)))
        srcs.append(bench.put(tile, words(dtype, pairs).view(DTYPES[dtype].np)[np.newaxis]))
    dst = bench.tile(dtype, (1, size * sum(lengths)))
    counts = bench.tile("u16", (1, 16), (1, 4))
    omitted = tuple(f"src{k}" for k in range(len(lists), 4))
    attrs = {"exhausted": "true"} if exhausted else {}
    run(bench, "tmrgsort", [dst, counts], srcs, form="lists", omitted=omitted, **attrs)
    want, taken = merge(lists, exhausted)
    got = bench.get(dst, 1, size * len(want)).tobytes()
    assert got == words(dtype, want).tobytes()
    assert bench.get(counts, 1, 4)[0].tolist() == taken


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize(("dtype", "length"), [("f32", 64), ("f16", 64), ("f32", 128)])
def test_four_blocks_become_one(arch, dtype, length):
    rng, bench = np.random.default_rng(7), Bench(arch)
    size = 8 // DTYPES[dtype].itemsize
    each = length // size
    blocks = [falling(rng, each, 100 * k) for k in range(8)]
    flat = [pair for block in blocks for pair in block]
    src = bench.tile(dtype, (1, size * len(flat)))
    bench.put(src, words(dtype, flat).view(DTYPES[dtype].np)[np.newaxis])
    dst = bench.tile(dtype, (1, size * len(flat)))
    run(bench, "tmrgsort", [dst], [src, float(length)], form="single")
    want = [*merge(blocks[:4])[0], *merge(blocks[4:])[0]]
    assert bench.get(dst, 1, size * len(flat)).tobytes() == words(dtype, want).tobytes()
