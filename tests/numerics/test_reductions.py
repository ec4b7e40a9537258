"""Reductions on memory, bit by bit, against orders of addition written by hand in numpy."""

from typing import Any

import numpy as np
import pytest
from bench import Bench
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from archsim.base.dtypes import DTYPES
from archsim.check.scratch import scratch_tile
from archsim.isa.operands import BoundInstr, TileView
from archsim.isa.tile_ops import TILE_OPS

Array = NDArray[Any]
CORES = ["a2a3", "a5"]
FLOATS = ["f32", "f16"]
# Valid columns around whole repeats of 64 f32 and 128 f16 lanes, several of them, odd and even.
WIDTHS = [1, 7, 63, 64, 65, 100, 127, 128, 129, 192, 255, 256, 257, 320, 450, 640, 1000]


def adjacent(x: Array) -> Array:
    """A balanced tree of adjacent pairs along the last axis."""
    while x.shape[-1] > 1:
        x = x[..., 0::2] + x[..., 1::2]
    return x[..., 0]


def filled(x: Array, width: int) -> Array:
    return np.concatenate([x, np.zeros((x.shape[0], width - x.shape[1]), x.dtype)], axis=1)


def a2a3_sum(x: Array) -> Array:
    """Groups of two repeats; odd one and rest to group 0; groups in pairs; one tree."""
    lanes = 256 // x.dtype.itemsize
    whole, rest = divmod(x.shape[1], lanes)
    if x.shape[1] <= lanes:
        return adjacent(filled(x, lanes))
    repeat = [x[:, k * lanes : (k + 1) * lanes] for k in range(whole)]
    groups = [repeat[2 * i] + repeat[2 * i + 1] for i in range(whole // 2)] or [repeat[0].copy()]
    if whole % 2 and whole > 1:
        groups[0] = groups[0] + repeat[-1]
    if rest:
        groups[0][:, :rest] = groups[0][:, :rest] + x[:, -rest:]
    while len(groups) > 1:
        halved = [groups[2 * i] + groups[2 * i + 1] for i in range(len(groups) // 2)]
        if len(groups) % 2:
            halved[-1] = halved[-1] + groups[-1]
        groups = halved
    return adjacent(groups[0])


def a5_sum(x: Array) -> Array:
    """Every vector by a tree, the vectors from left to right, from +0 on."""
    lanes = 256 // x.dtype.itemsize
    total = np.zeros(x.shape[0], x.dtype)
    for start in range(0, x.shape[1], lanes):
        total = total + adjacent(filled(x[:, start : start + lanes], lanes))
    return total


ROW_SUM = {"a2a3": a2a3_sum, "a5": a5_sum}


def run(bench: Bench, op: str, dst: TileView, *src: TileView, **attrs: str) -> None:
    """The instruction with the smallest scratch that it may have."""
    bound = BoundInstr(TILE_OPS[op], (dst,), src, None, attrs)
    tmp = None
    if (need := scratch_tile(bound, bench.arch)) is not None:
        dtype, rows, cols = need
        tmp = bench.tile(dtype.name, (rows, cols))
    bench.run(op, dst, *src, tmp=tmp, **attrs)


def reduced(
    arch: str, op: str, x: Array, dtype: str, out: str = "", column: bool = True, **attrs: str
) -> Array:
    """One value a row; what lies around it in a row-major destination stays."""
    bench = Bench(arch)
    rows, cols = x.shape
    src = bench.put(bench.tile(dtype, (rows, cols + 9), (rows, cols)), x)
    if column:
        dst = bench.column(out or dtype, rows)
        run(bench, op, dst, src, **attrs)
        return bench.get(dst, rows, 1)[:, 0]
    dst = bench.tile(out or dtype, (rows, 8), (rows, 1))
    bench.put(dst, np.full((rows, dst.cols), 7))
    run(bench, op, dst, src, **attrs)
    got = bench.get(dst, rows, dst.cols)
    assert (got[:, 1:] == 7).all()
    return got[:, 0]


def numbers(dtype: str, shape: tuple[int, int], seed: int = 5) -> Array:
    rng = np.random.default_rng(seed)
    element = DTYPES[dtype]
    if element.is_float:
        return rng.normal(0, 3, shape).astype(element.np)
    info = np.iinfo(element.np)
    return rng.integers(info.min, info.max, shape, endpoint=True).astype(element.np)


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("cols", WIDTHS)
def test_row_sums_in_the_order_of_the_core(arch: str, dtype: str, cols: int) -> None:
    x = numbers(dtype, (5, cols))
    got = reduced(arch, "trowsum", x, dtype, column=cols % 2 == 0)
    assert got.tobytes() == ROW_SUM[arch](x).tobytes()


@pytest.mark.parametrize(("rows", "cols"), [(64, 128), (32, 256), (16, 512), (8, 1024)], ids=str)
def test_full_f32_tiles_into_a_column_are_summed_by_blocks(rows: int, cols: int) -> None:
    x = numbers("f32", (rows, cols))
    blocks = adjacent(x.reshape(rows, cols // 8, 8))  # one element a block
    if cols >= 512:
        blocks = adjacent(blocks.reshape(rows, -1, 8))
    while blocks.shape[1] > 8:  # neighbouring blocks of eight, lane by lane
        pairs = blocks.reshape(rows, -1, 2, 8)
        blocks = (pairs[:, :, 0] + pairs[:, :, 1]).reshape(rows, -1)
    bench = Bench("a2a3")
    src, dst = bench.put(bench.tile("f32", (rows, cols)), x), bench.column("f32", rows)
    for op, want in (("trowsum", adjacent(blocks)), ("trowmax", x.max(1)), ("trowmin", x.min(1))):
        run(bench, op, dst, src)
        assert bench.get(dst, rows, 1)[:, 0].tobytes() == want.tobytes()


def test_half_sums_stay_in_half() -> None:
    x = np.ones((1, 16), np.float16)
    x[0, 0] = 2048
    for arch in CORES:
        assert reduced(arch, "trowsum", x, "f16").tolist() == [
            2062
        ]  # a tree: sequential gives 2048


@pytest.mark.parametrize("arch", CORES)
def test_every_node_of_a_half_sum_is_settled(arch: str) -> None:
    x = np.array([[65504, 65504, -65504, -65504]], np.float16)
    assert reduced(arch, "trowsum", x, "f16").tolist() == [0]  # clamped on both sides

    bench = Bench(arch, profile="infnan")
    src, dst = bench.put(bench.tile("f16", (1, 16), (1, 4)), x), bench.column("f16", 1)
    run(bench, "trowsum", dst, src)
    assert np.isnan(bench.get(dst, 1, 1)).all()  # +inf and -inf


@pytest.mark.parametrize("arch", CORES)
def test_sums_of_negative_zeros_are_positive_where_a_lane_is_masked(arch: str) -> None:
    def is_negative(cols: int) -> bool:
        got = reduced(arch, "trowsum", np.full((1, cols), -0.0, np.float32), "f32")
        return bool(np.signbit(got[0]))

    assert not is_negative(63)
    assert is_negative(64) == (arch == "a2a3")  # a5 starts from +0


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("cols", [3, 64, 65, 128, 130, 200, 330])
def test_row_extremes(arch: str, dtype: str, cols: int) -> None:
    x = numbers(dtype, (4, cols))
    x[1, -1] = np.nan
    x[2, :] = -0.0
    x[2, cols // 2] = 0.0
    x[3, 0] = np.inf
    greatest = reduced(arch, "trowmax", x, dtype)
    least = reduced(arch, "trowmin", x, dtype, column=False)
    assert np.array_equal(greatest, x.max(axis=1), equal_nan=True)
    assert np.array_equal(least, x.min(axis=1), equal_nan=True)
    assert not np.signbit(greatest[2])
    assert np.signbit(least[2])


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("dtype", ["i32", "i16"])
@pytest.mark.parametrize("cols", [1, 8, 13, 64, 150])
def test_integer_rows_wrap(arch: str, dtype: str, cols: int) -> None:
    x = numbers(dtype, (3, cols))
    want = x.sum(axis=1, dtype=x.dtype)
    assert reduced(arch, "trowsum", x, dtype).tolist() == want.tolist()
    assert reduced(arch, "trowprod", x, dtype).tolist() == x.prod(1, dtype=x.dtype).tolist()
    assert reduced(arch, "trowmax", x, dtype, column=False).tolist() == x.max(1).tolist()
    assert reduced(arch, "trowmin", x, dtype).tolist() == x.min(1).tolist()


@pytest.mark.parametrize("dtype", ["i8", "u8"])
@pytest.mark.parametrize("cols", [1, 2, 31, 256, 300])
def test_rows_of_bytes(dtype: str, cols: int) -> None:
    x = numbers(dtype, (4, cols))
    assert reduced("a5", "trowmax", x, dtype).tolist() == x.max(1).tolist()
    assert reduced("a5", "trowmin", x, dtype).tolist() == x.min(1).tolist()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("cols", [1, 5, 8, 20, 64, 70, 129])
def test_products_of_rows(dtype: str, cols: int) -> None:
    x = np.exp2(numbers("f32", (3, cols)) / 8).astype(DTYPES[dtype].np)
    lanes, block = 256 // x.dtype.itemsize, 32 // x.dtype.itemsize

    def merged(width: int) -> Array:
        found = np.ones((3, width), x.dtype)
        for start in range(0, cols, width):
            part = x[:, start : start + width]
            found[:, : part.shape[1]] = found[:, : part.shape[1]] * part
        return found

    by_lane = merged(block)  # a2a3: the lanes of a block, from left to right
    want = by_lane[:, 0]
    for lane in range(1, block):
        want = want * by_lane[:, lane]
    assert reduced("a2a3", "trowprod", x, dtype).tobytes() == want.tobytes()
    halves = merged(lanes)  # a5: halves by halves
    while halves.shape[1] > 1:
        middle = halves.shape[1] // 2
        halves = halves[:, :middle] * halves[:, middle:]
    assert reduced("a5", "trowprod", x, dtype).tobytes() == halves[:, 0].tobytes()


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("cols", [1, 63, 64, 65, 128, 129, 300])
def test_places_of_row_extremes(arch: str, dtype: str, cols: int) -> None:
    x = np.random.default_rng(3).integers(-4, 4, (6, cols)).astype(DTYPES[dtype].np)  # many ties
    x[5, :] = 1
    assert reduced(arch, "trowargmax", x, dtype, "i32").tolist() == x.argmax(1).tolist()
    found = reduced(arch, "trowargmin", x, dtype, "u32", column=False)
    assert found.tolist() == x.argmin(1).tolist()


@pytest.mark.parametrize("arch", CORES)
def test_more_rows_than_repeats(arch: str) -> None:
    for rows in (255, 256, 257):
        for cols in (20, 64, 90, 130):
            x = numbers("f32", (rows, cols))
            assert reduced(arch, "trowsum", x, "f32").tobytes() == ROW_SUM[arch](x).tobytes()


def column(arch: str, op: str, x: Array, dtype: str, out: str = "", **attrs: str) -> Array:
    """One value a column; columns behind stay, but for what a copy of whole blocks brings."""
    bench = Bench(arch)
    rows, cols = x.shape
    src = bench.put(bench.tile(dtype, (rows, cols + 40), (rows, cols)), x)
    dst = bench.tile(out or dtype, (1, cols + 40), (1, cols))
    bench.put(dst, np.full((1, dst.cols), 7))
    run(bench, op, dst, src, **attrs)
    block = 32 // dst.dtype.itemsize
    behind = bench.get(dst, 1, dst.cols)[0, -(-cols // block) * block :]
    assert (behind == 7).all()
    return bench.get(dst, 1, cols)[0]


def sequential(x: Array) -> Array:
    total = x[0]
    for row in x[1:]:
        total = total + row
    return total


def a5_columns(x: Array) -> Array:
    """acc = r0, then acc + (r1 + r2), ..., an odd row last."""
    total = x[0]
    for k in range((len(x) - 1) // 2):
        total = total + (x[2 * k + 1] + x[2 * k + 2])
    return total + x[-1] if len(x) % 2 == 0 else total


def binary(x: Array, odd_onto: int) -> Array:
    """Pairs of rows; an odd last one onto the first (0) or last (-1) pair of its level."""
    rows = list(x)
    while len(rows) > 1:
        halved = [rows[2 * i] + rows[2 * i + 1] for i in range(len(rows) // 2)]
        if len(rows) % 2:
            halved[odd_onto] = halved[odd_onto] + rows[-1]
        rows = halved
    return rows[0]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 6, 7, 11, 16])
@pytest.mark.parametrize("cols", [5, 64, 200])
def test_column_sums(dtype: str, rows: int, cols: int) -> None:
    x = numbers(dtype, (rows, cols))

    def got(arch: str, **attrs: str) -> bytes:
        return column(arch, "tcolsum", x, dtype, **attrs).tobytes()

    assert got("a2a3") == sequential(x).tobytes()
    assert got("a2a3", binary="true") == binary(x, 0).tobytes()
    assert got("a5") == a5_columns(x).tobytes()
    assert got("a5", vf_impl="1D_POST_UPDATE") == a5_columns(x).tobytes()
    assert got("a5", vf_impl="1D_NO_POST_UPDATE") == sequential(x).tobytes()
    assert got("a5", binary="true") == binary(x, -1).tobytes()


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("dtype", ["f32", "f16", "i32", "i16"])
@pytest.mark.parametrize("rows", [1, 2, 3, 8])
def test_column_extremes_and_products(arch: str, dtype: str, rows: int) -> None:
    for cols in (3, 64, 129, 200):
        x = numbers(dtype, (rows, cols))
        assert (column(arch, "tcolmax", x, dtype) == x.max(0)).all()
        assert (column(arch, "tcolmin", x, dtype) == x.min(0)).all()
        if not DTYPES[dtype].is_float:
            assert (column(arch, "tcolprod", x, dtype) == x.prod(0, dtype=x.dtype)).all()
            assert (column(arch, "tcolsum", x, dtype) == x.sum(0, dtype=x.dtype)).all()


def test_column_products_in_order() -> None:
    x = numbers("f32", (6, 70))
    want = x[0]
    for row in x[1:]:
        want = want * row
    assert column("a2a3", "tcolprod", x, "f32").tobytes() == want.tobytes()
    want = x[0] * (x[1] * x[2]) * (x[3] * x[4]) * x[5]
    assert column("a5", "tcolprod", x, "f32").tobytes() == want.tobytes()


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("rows", [1, 2, 9])
def test_places_of_column_extremes(arch: str, dtype: str, rows: int) -> None:
    for cols in (5, 64, 100, 128, 200):
        x = np.random.default_rng(4).integers(-3, 3, (rows, cols)).astype(DTYPES[dtype].np)
        assert (column(arch, "tcolargmax", x, dtype, "i32") == x.argmax(0)).all()
        assert (column(arch, "tcolargmin", x, dtype, "u32") == x.argmin(0)).all()


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("cols", [2, 60, 64, 128, 130, 300])
def test_sums_of_pairs(arch: str, dtype: str, cols: int) -> None:
    x = numbers(dtype, (5, cols))
    bench = Bench(arch)
    src = bench.put(bench.tile(dtype, (5, cols + 8), (5, cols)), x)
    dst = bench.tile(dtype, (5, cols // 2 + 8), (5, cols // 2))
    bench.put(dst, np.full((5, dst.cols), 7))
    bench.run("tpairreducesum", dst, src)
    got = bench.get(dst, 5, dst.cols)
    assert got[:, : cols // 2].tobytes() == (x[:, 0::2] + x[:, 1::2]).tobytes()
    assert (got[:, cols // 2 :] == 7).all()


@settings(max_examples=40, deadline=None)
@given(
    rows=st.integers(1, 20),
    cols=st.integers(1, 700),
    dtype=st.sampled_from(FLOATS),
    arch=st.sampled_from(CORES),
    seed=st.integers(0, 99),
)
def test_any_row_sum(rows: int, cols: int, dtype: str, arch: str, seed: int) -> None:
    x = numbers(dtype, (rows, cols), seed)
    got = reduced(arch, "trowsum", x, dtype, column=seed % 2 == 0)
    assert got.tobytes() == ROW_SUM[arch](x).tobytes()
