"""Tile instructions on tiles of any shape: numpy in the valid region, nothing outside it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from bench import Bench
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from archsim.base.dtypes import DTYPES

CORES = ["a2a3", "a5"]
Array = NDArray[Any]
Shape = tuple[int, int]


@st.composite
def shapes(draw: st.DrawFn) -> tuple[Shape, Shape, bool]:
    """Declared shape, valid shape, whether it is known to the compiler."""
    rows, cols = draw(st.integers(1, 9)), draw(st.integers(1, 300))
    whole = draw(st.booleans())
    valid = (rows, cols) if whole else (draw(st.integers(1, rows)), draw(st.integers(1, cols)))
    return (rows, cols), valid, draw(st.booleans())


def numbers(rng: np.random.Generator, dtype: str, shape: Shape) -> Array:
    if DTYPES[dtype].is_float:
        return rng.normal(0, 3, shape).astype(DTYPES[dtype].np)
    info = np.iinfo(DTYPES[dtype].np)
    return rng.integers(info.min, info.max, shape, endpoint=True).astype(DTYPES[dtype].np)


class Stage:
    """Tiles of one shape on one core, and a destination full of a mark."""

    def __init__(self, arch: str, shape: Shape, valid: Shape, dynamic: bool) -> None:
        self.bench = Bench(arch)
        self.rng = np.random.default_rng(11)
        self.shape, self.valid, self.dynamic = shape, valid, dynamic

    def source(self, dtype: str) -> tuple[Any, Array]:
        values = numbers(self.rng, dtype, self.shape)
        tile = self.bench.tile(dtype, self.shape, self.valid, dynamic=self.dynamic)
        return self.bench.put(tile, values), values

    def target(self, dtype: str) -> Any:
        tile = self.bench.tile(dtype, self.shape, self.valid, dynamic=self.dynamic)
        return self.bench.put(tile, np.full((tile.rows, tile.cols), 9))

    def check(self, dst: Any, want: Array) -> None:
        """`want` in the valid region, the mark everywhere else, padding columns included."""
        whole = np.full((dst.rows, dst.cols), 9, dst.dtype.np)
        rows, cols = self.valid
        whole[:rows, :cols] = want[:rows, :cols]
        got = self.bench.get(dst, dst.rows, dst.cols)
        assert got.tobytes() == whole.tobytes()


BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "tadd": np.add,
    "tsub": np.subtract,
    "tmul": np.multiply,
    "tmax": np.maximum,
    "tmin": np.minimum,
}


@settings(max_examples=60, deadline=None)
@given(
    where=shapes(),
    name=st.sampled_from(sorted(BINARY)),
    dtype=st.sampled_from(["f32", "f16", "i32", "i16"]),
    in_place=st.booleans(),
)
@pytest.mark.parametrize("arch", CORES)
def test_two_inputs(
    arch: str, where: tuple[Shape, Shape, bool], name: str, dtype: str, in_place: bool
) -> None:
    stage = Stage(arch, *where)
    (a, x), (b, y) = stage.source(dtype), stage.source(dtype)
    want = BINARY[name](x, y)
    if in_place:
        stage.bench.run(name, a, a, b)
        rows, cols = stage.valid
        assert (stage.bench.get(a, *stage.valid) == want[:rows, :cols]).all()
    else:
        dst = stage.target(dtype)
        stage.bench.run(name, dst, a, b)
        stage.check(dst, want)


SCALAR: dict[str, Callable[[Array, Any], Array]] = {
    "tadds": np.add,
    "tmuls": np.multiply,
    "tmaxs": np.maximum,
}


@settings(max_examples=40, deadline=None)
@given(
    where=shapes(),
    name=st.sampled_from(sorted(SCALAR)),
    dtype=st.sampled_from(["f32", "f16", "i32", "i16"]),
    value=st.integers(-5, 5),
)
@pytest.mark.parametrize("arch", CORES)
def test_a_tile_and_a_scalar(
    arch: str, where: tuple[Shape, Shape, bool], name: str, dtype: str, value: int
) -> None:
    stage = Stage(arch, *where)
    a, x = stage.source(dtype)
    dst = stage.target(dtype)
    stage.bench.run(name, dst, a, value)
    stage.check(dst, SCALAR[name](x, DTYPES[dtype].np.type(value)))


@settings(max_examples=30, deadline=None)
@given(where=shapes(), dtype=st.sampled_from(["f32", "f16", "i32", "u16", "bf16"]))
@pytest.mark.parametrize("arch", CORES)
def test_a_scalar_fills_the_valid_region(
    arch: str, where: tuple[Shape, Shape, bool], dtype: str
) -> None:
    stage = Stage(arch, *where)
    dst = stage.target(dtype)
    stage.bench.run("texpands", dst, 3)
    stage.check(dst, np.full(stage.shape, 3, DTYPES[dtype].np))


COMPARE = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def wide_mask(stage: Stage) -> Any:
    """A mask tile with room for whole repeats of every row."""
    return stage.bench.tile("u8", (stage.shape[0], 64), (stage.valid[0], 64))


@settings(max_examples=50, deadline=None)
@given(
    where=shapes(),
    mode=st.sampled_from(sorted(COMPARE)),
    dtype=st.sampled_from(["f32", "f16", "i32"]),
)
@pytest.mark.parametrize("arch", CORES)
def test_a_comparison_packs_its_bits_row_by_row(
    arch: str, where: tuple[Shape, Shape, bool], mode: str, dtype: str
) -> None:
    stage = Stage(arch, *where)
    a, x = stage.source(dtype)
    rows, cols = stage.valid
    value = x[0, 0].item()
    mask = wide_mask(stage)
    stage.bench.run("tcmps", mask, a, value, mode=mode)
    packed = stage.bench.get(mask, rows, -(-cols // 8))
    got = np.unpackbits(packed, axis=1, bitorder="little")[:, :cols].astype(bool)
    only_equality = arch == "a2a3" and dtype == "i32" and mode != "ne"
    want = COMPARE["eq" if only_equality else mode](x, x[0, 0])
    assert (got == want[:rows, :cols]).all()


@settings(max_examples=50, deadline=None)
@given(where=shapes(), dtype=st.sampled_from(["f32", "f16", "i32", "i16"]))
@pytest.mark.parametrize("arch", CORES)
def test_a_selection_takes_lanes_by_bits(
    arch: str, where: tuple[Shape, Shape, bool], dtype: str
) -> None:
    stage = Stage(arch, *where)
    (a, x), (b, y) = stage.source(dtype), stage.source(dtype)
    bits = stage.rng.integers(0, 2, (stage.shape[0], 512)).astype(bool)
    mask = wide_mask(stage)
    stage.bench.put(mask, np.packbits(bits, axis=1, bitorder="little"))
    dst, tmp = stage.target(dtype), stage.bench.tile("u8", (1, 32))
    stage.bench.run("tsel", dst, mask, a, b, tmp=tmp)
    stage.check(dst, np.where(bits[:, : stage.shape[1]], x, y))


PAIRS = ["f32>f16", "f32>i32", "f32>i16", "f16>f32", "f16>i32", "f16>i16", "f16>i8", "f16>u8"]
PAIRS += ["i16>f16", "i16>f32", "i32>f32", "i32>i16", "u8>f16", "i8>f16", "f32>f32"]


def rounded_to(x: Array, dtype: str) -> Array:
    """Nearest even, what does not fit clamped; no value here is special."""
    kind = DTYPES[dtype].np
    if x.dtype.kind == "f" and (x.dtype == kind or kind.kind != "f"):
        x = np.rint(x.astype(np.float64))
    if kind.kind in "iu":
        info = np.iinfo(kind)
        x = np.clip(x.astype(np.float64), info.min, info.max)
    return x.astype(kind)


@settings(max_examples=80, deadline=None)
@given(
    where=shapes(),
    pair=st.sampled_from(PAIRS),
    flavour=st.sampled_from(["DEFAULT", "2D_NO_POST_UPDATE", "1D_NO_POST_UPDATE"]),
)
@pytest.mark.parametrize("arch", CORES)
def test_a_conversion_of_every_pair(
    arch: str, where: tuple[Shape, Shape, bool], pair: str, flavour: str
) -> None:
    source, to = pair.split(">")
    stage = Stage(arch, *where)
    a, x = stage.source(source)
    dst = stage.target(to)
    # With a scratch tile A2A3 clamps every pair that asks for it.
    tmp = stage.bench.tile("u8", (1, 256))
    attrs = {"rmode": "rint", "sat": "on", "vf_impl": flavour}
    stage.bench.run("tcvt", dst, a, tmp=tmp, **attrs)
    stage.check(dst, rounded_to(x, to))


WRAPPING = [("f32", "i16"), ("f16", "i16"), ("f16", "i8"), ("i32", "i16"), ("f16", "u8")]


@settings(max_examples=60, deadline=None)
@given(where=shapes(), pair=st.sampled_from(WRAPPING), scratch=st.booleans())
@pytest.mark.parametrize("arch", CORES)
def test_a_conversion_without_saturation_keeps_low_bits(
    arch: str, where: tuple[Shape, Shape, bool], pair: tuple[str, str], scratch: bool
) -> None:
    source, to = pair
    stage = Stage(arch, *where)
    a, x = stage.source(source)
    x = (x.astype(np.float64) * 10000 % 60000 - 30000).astype(DTYPES[source].np)
    stage.bench.put(a, x)
    dst = stage.target(to)
    tmp = stage.bench.tile("u8", (300, 256)) if scratch else None
    stage.bench.run("tcvt", dst, a, tmp=tmp, rmode="trunc", sat="off")
    stage.check(dst, np.trunc(x.astype(np.float64)).astype(np.int64).astype(DTYPES[to].np))


def torch_infinity(arch: str, to: str, scratch: bool, shape: Shape) -> list[int]:
    """What +inf and -inf become in a tile that is full (flat) or not (nested)."""
    stage = Stage(arch, shape, (shape[0], 2), dynamic=False)
    values = np.zeros(shape, np.float16)
    values[:, 0], values[:, 1] = np.inf, -np.inf
    a = stage.bench.put(stage.bench.tile("f16", shape, stage.valid), values)
    dst = stage.target(to)
    tmp = stage.bench.tile("u8", (1, 256)) if scratch else None
    stage.bench.run("tcvt", dst, a, tmp=tmp, rmode="rint", sat="off")
    return stage.bench.get(dst, 1, 2)[0].tolist()


def test_infinities_depend_on_the_way_that_the_low_bits_are_kept() -> None:
    assert torch_infinity("a2a3", "i8", False, (2, 32)) == [127, -128], "the plain micro-op"
    assert torch_infinity("a2a3", "i8", True, (2, 32)) == [-1, 0], "through i32"
    assert torch_infinity("a2a3", "i16", True, (2, 32)) == [-1, 0]
    assert torch_infinity("a5", "i8", False, (1, 2)) == [-1, 0], "flat: through i16"
    assert torch_infinity("a5", "i8", False, (2, 32)) == [127, -128], "nested: the plain one"
    assert torch_infinity("a5", "i16", False, (1, 2)) == [-1, 0]


@settings(max_examples=25, deadline=None)
@given(where=shapes(), dtype=st.sampled_from(["f32", "u16", "i8"]))
@pytest.mark.parametrize("arch", CORES)
def test_a_copy_moves_the_valid_region(
    arch: str, where: tuple[Shape, Shape, bool], dtype: str
) -> None:
    stage = Stage(arch, *where)
    a, x = stage.source(dtype)
    dst = stage.target(dtype)
    stage.bench.run("tmov", dst, a)
    rows, cols = stage.valid
    assert (stage.bench.get(dst, rows, cols) == x[:rows, :cols]).all()
