"""Broadcasts of rows and columns on memory against numpy, with what lies around them."""

from typing import Any

import numpy as np
import pytest
from bench import Bench
from numpy.typing import NDArray

from archsim.base.dtypes import DTYPES
from archsim.isa.operands import TileView

Array = NDArray[Any]
CORES = ["a2a3", "a5"]
OPERATIONS = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}


def numbers(dtype: str, shape: tuple[int, int], seed: int = 6) -> Array:
    rng = np.random.default_rng(seed)
    if DTYPES[dtype].is_float:
        return rng.normal(1, 2, shape).astype(DTYPES[dtype].np)
    info = np.iinfo(DTYPES[dtype].np)
    return rng.integers(info.min, info.max, shape, endpoint=True).astype(DTYPES[dtype].np)


class Stage:
    """A destination of valid `rows` x `cols` in a wider tile full of sevens."""

    def __init__(
        self, arch: str, dtype: str, rows: int, cols: int, *, spare: int = 8, dynamic: bool = False
    ) -> None:
        self.bench, self.dtype, self.rows, self.cols = Bench(arch), dtype, rows, cols
        self.spare, self.dynamic = spare, dynamic
        self.dst = self.whole(np.full((rows, cols), 7))
        self.bench.put(self.dst, np.full((rows, self.dst.cols), 7))

    def whole(self, x: Array) -> TileView:
        shape, valid = (self.rows, self.cols + self.spare), (self.rows, self.cols)
        tile = self.bench.tile(self.dtype, shape, valid, dynamic=self.dynamic)
        return self.bench.put(tile, x)

    def column(self, x: Array) -> TileView:
        return self.bench.put(self.bench.column(self.dtype, self.rows), x)

    def blocks(self, x: Array) -> TileView:
        per_block = 32 // DTYPES[self.dtype].itemsize
        return self.bench.put(
            self.bench.tile(self.dtype, (self.rows, per_block)), np.repeat(x, per_block, axis=1)
        )

    def row(self, x: Array) -> TileView:
        tile = self.bench.tile(self.dtype, (1, self.cols + self.spare), (1, self.cols))
        return self.bench.put(tile, x)

    def check(self, want: Array, *, may_fill_block: bool = False) -> None:
        got = self.bench.get(self.dst, self.rows, self.dst.cols)
        assert got[:, : self.cols].tobytes() == np.ascontiguousarray(want).tobytes()
        per_block = 32 // self.dst.dtype.itemsize
        end = -(-self.cols // per_block) * per_block if may_fill_block else self.cols
        assert (got[:, end:] == 7).all()


SHAPES = [(1, 5), (3, 64), (9, 40), (16, 130), (2, 300), (260, 17), (256, 66)]


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("kind", OPERATIONS)
@pytest.mark.parametrize("dtype", ["f32", "f16", "i32", "i16"])
def test_operations_with_one_value_a_row(arch: str, kind: str, dtype: str) -> None:
    for rows, cols in SHAPES:
        x, values = numbers(dtype, (rows, cols)), numbers(dtype, (rows, 1), 7)
        want = OPERATIONS[kind](x, values)
        for spread in ("column", "blocks"):
            stage = Stage(arch, dtype, rows, cols)
            source = getattr(stage, spread)(values)
            stage.bench.run(f"trowexpand{kind}", stage.dst, stage.whole(x), source)
            stage.check(want)


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("kind", OPERATIONS)
@pytest.mark.parametrize("dtype", ["f32", "f16", "i32", "i16"])
def test_operations_with_one_value_a_column(arch: str, kind: str, dtype: str) -> None:
    for rows, cols in SHAPES:
        x, values = numbers(dtype, (rows, cols)), numbers(dtype, (1, cols), 7)
        for spare in (0, 8):
            stage = Stage(arch, dtype, rows, cols, spare=spare)
            stage.bench.run(f"tcolexpand{kind}", stage.dst, stage.whole(x), stage.row(values))
            stage.check(OPERATIONS[kind](x, values))


@pytest.mark.parametrize("kind", OPERATIONS)
@pytest.mark.parametrize("dtype", ["i8", "u8", "u16", "u32", "bf16"])
def test_further_types_of_a5(kind: str, dtype: str) -> None:
    x, column, row = (numbers(dtype, shape) for shape in ((7, 300), (7, 1), (1, 300)))
    stage = Stage("a5", dtype, 7, 300)
    stage.bench.run(f"trowexpand{kind}", stage.dst, stage.whole(x), stage.column(column))
    stage.check(OPERATIONS[kind](x, column))
    stage = Stage("a5", dtype, 7, 300)
    stage.bench.run(f"tcolexpand{kind}", stage.dst, stage.whole(x), stage.row(row))
    stage.check(OPERATIONS[kind](x, row))


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_quotients_and_exponentials_of_differences(arch: str, dtype: str) -> None:
    element = DTYPES[dtype].np
    for rows, cols in SHAPES:
        x, column, row = (numbers(dtype, s) for s in ((rows, cols), (rows, 1), (1, cols)))
        for along, values in (("row", column), ("col", row)):
            stage = Stage(arch, dtype, rows, cols)
            source = stage.column(values) if along == "row" else stage.row(values)
            whole = stage.whole(x)
            stage.bench.run(f"t{along}expanddiv", stage.dst, whole, source)
            stage.check(flushed(arch, (x / values).astype(element)))
            stage.bench.run(f"t{along}expandexpdif", stage.dst, whole, source)
            exact = np.exp((x - values).astype(np.float64))
            stage.check(flushed(arch, np.minimum(exact, np.finfo(element).max).astype(element)))


def flushed(arch: str, x: Array) -> Array:
    """Subnormal quotients and exponentials become zeros on a5."""
    if arch == "a2a3":
        return x
    return np.where(np.abs(x) < np.finfo(x.dtype).tiny, np.copysign(x.dtype.type(0), x), x)


@pytest.mark.parametrize("arch", CORES)
def test_the_whole_tile_is_the_left_operand_wherever_it_is_written(arch: str) -> None:
    x, values = numbers("f32", (9, 40)), numbers("f32", (9, 1), 7)
    stage = Stage(arch, "f32", 9, 40)
    stage.bench.run("trowexpandsub", stage.dst, stage.column(values), stage.whole(x))
    stage.check(x - values)


@pytest.mark.parametrize("with_tmp", [False, True])
def test_a2a3_makes_blocks_in_scratch(with_tmp: bool) -> None:
    x, values = numbers("f32", (20, 40)), numbers("f32", (20, 1), 7)
    stage = Stage("a2a3", "f32", 20, 40)
    tmp = stage.bench.tile("f32", (1, 192)) if with_tmp else None
    stage.bench.run("trowexpandmul", stage.dst, stage.whole(x), stage.column(values), tmp=tmp)
    stage.check(x * values)
    held = stage.bench.memory.view(
        "UB", tmp.addr if tmp else 184 * 1024, np.dtype(np.float32), (20, 8), (32, 4)
    )
    assert (held == values).all()


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("dtype", ["f32", "f16", "i32", "i8", "u16"])
def test_one_value_a_row_to_whole_rows(arch: str, dtype: str) -> None:
    for rows, cols in SHAPES:
        values = numbers(dtype, (rows, 1))
        for spread in ("column", "blocks"):
            stage = Stage(arch, dtype, rows, cols)
            if spread == "blocks" and arch == "a5":
                source = stage.bench.put(stage.bench.tile(dtype, (rows, 1)), values)
            else:
                source = getattr(stage, spread)(values)
            stage.bench.run("trowexpand", stage.dst, source)
            stage.check(np.repeat(values, cols, axis=1), may_fill_block=dtype == "i8")


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_one_value_a_row_to_one_block(arch: str, dtype: str) -> None:
    rows, cols = 48, 32 // DTYPES[dtype].itemsize
    values = numbers(dtype, (rows, 1))
    stage = Stage(arch, dtype, rows, cols, spare=0)
    stage.bench.run("trowexpand", stage.dst, stage.column(values))
    stage.check(np.repeat(values, cols, axis=1))


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("dtype", ["f32", "f16", "u8"])
def test_one_value_a_column_to_whole_columns(arch: str, dtype: str) -> None:
    for rows, cols in SHAPES:
        values = numbers(dtype, (1, cols))
        stage = Stage(arch, dtype, rows, cols)
        stage.bench.run("tcolexpand", stage.dst, stage.row(values))
        stage.check(np.repeat(values, rows, axis=0), may_fill_block=arch == "a2a3")
