"""Elementwise instructions on memory against numpy written by hand, on both cores."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from bench import Bench
from hypothesis import given, settings
from hypothesis import strategies as st

from archsim.base.dtypes import DTYPES

CORES = ["a2a3", "a5"]
INTS = ["i32", "u32", "i16", "u16", "i8", "u8"]
MARK = 0x5A
PROPERTY = settings(max_examples=25, deadline=None)
INF, NAN = math.inf, math.nan


def whole_numbers(seed, dtype, shape):
    info = np.iinfo(DTYPES[dtype].np)
    rng = np.random.default_rng(seed)
    edges = np.array([info.min, info.max, 0, 1, info.max - 1], DTYPES[dtype].np)
    drawn = rng.integers(info.min, info.max, shape, endpoint=True).astype(DTYPES[dtype].np)
    return np.where(rng.random(shape) < 0.3, rng.choice(edges, shape), drawn)


def floats(seed, dtype, shape):
    rng = np.random.default_rng(seed)
    edges = np.array([0.0, -0.0, 1.0, -1.0, 65504.0, -65504.0, 6e-8, INF, -INF, NAN])
    drawn = rng.normal(0, 1, shape) * 2.0 ** rng.integers(-8, 9, shape)
    mixed = np.where(rng.random(shape) < 0.3, rng.choice(edges, shape), drawn)
    return mixed.astype(DTYPES[dtype].np)


@st.composite
def layouts(draw):
    """Declared shape, valid region, what a row has beyond its columns, static or dynamic."""
    rows, blocks = draw(st.integers(1, 5)), draw(st.sampled_from([1, 2, 3, 8, 9, 17]))
    valid = (draw(st.integers(1, rows)), draw(st.floats(0, 1)))
    return rows, blocks, valid, draw(st.sampled_from([0, 0, 32, 256])), draw(st.booleans())


class Table:
    """Tiles of one layout on a bench, full of marks around their valid regions."""

    def __init__(self, core, layout, **numerics):
        self.bench = Bench(core, **numerics)
        self.rows, self.blocks, (self.valid_rows, self.share), self.gap, self.dynamic = layout

    def tile(self, dtype):
        size, gap = DTYPES[dtype].itemsize, self.gap
        stride = self.cols_of + gap // size
        t = self.bench.tile(
            dtype, (self.rows, stride), (self.valid_rows, self.valid_cols), dynamic=self.dynamic
        )
        marks = np.full((t.rows, t.row_stride), MARK, t.dtype.np)
        return replace(self.bench.put(t, marks), cols=self.cols_of)

    def run(self, name, to, sources, *, tmp=None, held=None):
        """The valid region of dst after `name`; what lies around it must be what it was."""
        types = [to, *(s.dtype.name for s in sources if isinstance(s, np.ndarray))]
        smallest = min(DTYPES[_name(t)].itemsize for t in types)
        self.cols_of = 32 * self.blocks // smallest
        self.valid_cols = max(1, round(self.share * self.cols_of))
        shape = (self.valid_rows, self.valid_cols)
        operands, sent = [], []
        for source in sources:
            if isinstance(source, np.ndarray):
                part = np.resize(source, shape)
                operands.append(self.bench.put(self.tile(_name(source.dtype.name)), part))
                sent.append(part)
            else:
                operands.append(source)
        dst = self.tile(to)
        if held is not None:
            held = np.resize(held, shape)
            self.bench.put(dst, held)
        scratch = self.tile(to) if tmp else None
        self.bench.run(name, dst, *operands, tmp=scratch)
        got = self.bench.get(dst, dst.rows, dst.row_stride)
        # A lane of 16 bits ends on an even byte: the byte behind an odd count may change.
        even = self.valid_cols + (DTYPES[to].itemsize == 1 and self.valid_cols % 2)
        assert (got[:, even:] == MARK).all()
        assert (got[self.valid_rows :] == MARK).all()
        return got[:, : self.valid_cols][: self.valid_rows], sent, held, (scratch, shape)


NAMES = {"float32": "f32", "float16": "f16"} | {str(DTYPES[name].np): name for name in INTS}


def _name(numpy_name):
    return NAMES.get(numpy_name, numpy_name)


def same(got, want):
    """Equal bits, NaN of any payload aside."""
    if got.dtype.kind == "f":
        assert (np.isnan(got) == np.isnan(want)).all()
        got, want = np.nan_to_num(got, nan=1), np.nan_to_num(want, nan=1)
    assert got.tobytes() == np.ascontiguousarray(want).tobytes()


BITWISE = {"tand": np.bitwise_and, "tor": np.bitwise_or, "txor": np.bitwise_xor}


@PROPERTY
@given(
    name=st.sampled_from(sorted(BITWISE)),
    dtype=st.sampled_from(INTS),
    layout=layouts(),
    scalar=st.integers(-128, 127),
    by_scalar=st.booleans(),
)
@pytest.mark.parametrize("core", CORES)
def test_logic(core, name, dtype, layout, scalar, by_scalar):
    a, b = (whole_numbers(seed, dtype, (5, 200)) for seed in (1, 2))
    needs = name == "txor" and core == "a2a3"
    if by_scalar:
        got, (x,), _, (tmp, shape) = Table(core, layout).run(
            name + "s", dtype, [a, scalar], tmp=needs
        )
        y = np.full(shape, scalar).astype(x.dtype)
    else:
        got, (x, y), _, (tmp, shape) = (table := Table(core, layout)).run(
            name, dtype, [a, b], tmp=needs
        )
        if needs:
            same(table.bench.get(tmp, *shape), x | y)
    same(got, BITWISE[name](x, y))


@PROPERTY
@given(dtype=st.sampled_from(INTS), layout=layouts())
@pytest.mark.parametrize("core", CORES)
def test_not(core, dtype, layout):
    got, (x,), *_ = Table(core, layout).run("tnot", dtype, [whole_numbers(1, dtype, (5, 200))])
    same(got, ~x)


@PROPERTY
@given(dtype=st.sampled_from(INTS), layout=layouts(), left=st.booleans())
@pytest.mark.parametrize("core", CORES)
def test_shifts_of_two_tiles(core, dtype, layout, left):
    bits = DTYPES[dtype].bits
    counts = np.random.default_rng(3).integers(0, bits, (5, 200)).astype(DTYPES[dtype].np)
    values = whole_numbers(1, dtype, (5, 200))
    name = "tshl" if left else "tshr"
    got, (x, n), *_ = Table(core, layout).run(name, dtype, [values, counts])
    exact = x.astype(object) << n.astype(object) if left else x.astype(object) >> n.astype(object)
    same(got, low_bits(exact, dtype))


def low_bits(exact, dtype):
    size = DTYPES[dtype].itemsize
    cut = np.vectorize(lambda v: int(v) & ((1 << 8 * size) - 1), otypes=[np.uint64])(exact)
    return cut.astype(f"u{size}").view(DTYPES[dtype].np)


@PROPERTY
@given(dtype=st.sampled_from(INTS[:4]), layout=layouts(), left=st.booleans(), data=st.data())
@pytest.mark.parametrize("core", CORES)
def test_shifts_by_a_scalar(core, dtype, layout, left, data):
    count = data.draw(st.integers(0, DTYPES[dtype].bits - 1))
    values = whole_numbers(1, dtype, (5, 200))
    got, (x,), *_ = Table(core, layout).run("tshls" if left else "tshrs", dtype, [values, count])
    if left:
        exact = x.astype(object) << count
    elif core == "a2a3":  # zeros come in, whatever the type
        exact = x.view(f"u{x.dtype.itemsize}").astype(object) >> count
    else:
        exact = x.astype(object) >> count
    same(got, low_bits(exact, dtype))


@PROPERTY
@given(dtype=st.sampled_from(["i32", "i16"]), layout=layouts(), scalar=st.integers(-9, 9))
@pytest.mark.parametrize("core", CORES)
def test_integers_wrap(core, dtype, layout, scalar):
    a, b, c = (whole_numbers(seed, dtype, (5, 200)) for seed in (1, 2, 3))
    scalar = np.iinfo(a.dtype).min if scalar == 9 else scalar

    def wrapped(name, sources, meaning):
        got, sent, *_ = Table(core, layout).run(name, dtype, sources)
        same(got, low_bits(meaning(*(x.astype(object) for x in sent)), dtype))

    wrapped("taddc", [a, b, c], lambda x, y, z: x + y + z)
    wrapped("tsubc", [a, b, c], lambda x, y, z: x - y + z)
    wrapped("taddsc", [a, scalar, b], lambda x, y: x + int(scalar) + y)
    wrapped("tsubsc", [a, int(scalar), b], lambda x, y: x - int(scalar) + y)
    wrapped("tsubs", [a, int(scalar)], lambda x: x - int(scalar))
    wrapped("tneg", [a], lambda x: -x)


def halves(x, infnan):
    """What a half becomes under the default profile: no infinity, no NaN."""
    if infnan:
        return x
    with np.errstate(all="ignore"):
        kept = np.where(np.isnan(x), np.float16(0), np.clip(x, -65504, 65504))
    return kept.astype(np.float16)


@PROPERTY
@given(
    dtype=st.sampled_from(["f32", "f16"]),
    layout=layouts(),
    scalar=st.sampled_from([0.0, -0.0, 1.5, -3.0, 0, 65504.0, INF]),
    infnan=st.booleans(),
)
@pytest.mark.parametrize("core", CORES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_floats_are_rounded_at_every_step(core, dtype, layout, scalar, infnan):
    a, b, c = (floats(seed, dtype, (5, 200)) for seed in (1, 2, 3))
    s = DTYPES[dtype].np.type(scalar)
    settled = (lambda x: halves(x, infnan)) if dtype == "f16" else (lambda x: x)

    def holds(name, sources, meaning):
        table = Table(core, layout, profile="infnan" if infnan else "reset")
        got, sent, *_ = table.run(name, dtype, sources)
        same(got, meaning(*sent))

    holds("taddc", [a, b, c], lambda x, y, z: settled(settled(x + y) + z))
    holds("tsubc", [a, b, c], lambda x, y, z: settled(settled(x - y) + z))
    holds("taddsc", [a, scalar, b], lambda x, y: settled(settled(x + s) + y))
    holds("tsubsc", [a, scalar, b], lambda x, y: settled(settled(x - s) + y))
    holds("tsubs", [a, scalar], lambda x: settled(x - s))
    holds("tneg", [a], lambda x: settled(-x))
    holds("tlrelu", [a, scalar], lambda x: np.where(x > 0, x, settled(x * s)))
    holds("tsubrelu", [a, b], lambda x, y: positive(settled(x - y)))
    holds("trelu", [a], positive)
    holds("tabs", [a], lambda x: np.copysign(x, x.dtype.type(1)))


def positive(x):
    return np.where(np.isnan(x), x, np.where(x > 0, x, x.dtype.type(0)))


@pytest.mark.parametrize("core", CORES)
def test_edges_of_signs(core):
    layout = (1, 1, (1, 1.0), 0, False)
    x = np.array([0.0, -0.0, INF, -INF, NAN, -1.0, 1e-40, -3.4e38], np.float32)
    got, *_ = Table(core, layout).run("tneg", "f32", [x])
    assert got.view(np.uint32)[0, :4].tolist() == [0x80000000, 0, 0xFF800000, 0x7F800000]
    got, *_ = Table(core, layout).run("tabs", "f32", [x])
    assert got.view(np.uint32)[0, :4].tolist() == [0, 0, 0x7F800000, 0x7F800000]
    assert got[0, 6] == np.float32(1e-40)
    got, *_ = Table(core, layout).run("trelu", "f32", [x])
    assert got.view(np.uint32)[0, :4].tolist() == [0, 0, 0x7F800000, 0]
    assert np.isnan(got[0, 4])
    got, *_ = Table(core, layout).run("tlrelu", "f32", [x, 0.5])
    assert got.view(np.uint32)[0, :4].tolist() == [0, 0x80000000, 0x7F800000, 0xFF800000]
    got, *_ = Table(core, layout).run("trelu", "i32", [np.array([-5, 7, 0], np.int32)])
    assert got[0, :3].tolist() == [0, 7, 0]


@pytest.mark.parametrize("dtype", ["i8", "i16", "i32"])
def test_the_least_integer_has_no_magnitude_on_a5(dtype):
    info = np.iinfo(DTYPES[dtype].np)
    x = np.array([info.min, info.max, -1, 0], DTYPES[dtype].np)
    got, *_ = Table("a5", (1, 1, (1, 1.0), 0, False)).run("tabs", dtype, [x])
    assert got[0, :4].tolist() == [info.min, info.max, 1, 0]


def rounded_once(exact, dtype):
    """A Fraction to the nearest f16 or f32, ties to even, by search among neighbours."""
    to = DTYPES[dtype].np.type
    with np.errstate(all="ignore"):
        near = to(float(exact))
        if not np.isfinite(near):
            near = np.copysign(np.finfo(to).max, near)
        around = [near, np.nextafter(near, to(INF)), np.nextafter(near, to(-INF))]
    finite = [v for v in around if np.isfinite(v)]
    best = min(abs(Fraction(float(v)) - exact) for v in finite)
    nearest = [v for v in finite if abs(Fraction(float(v)) - exact) == best]
    even = [v for v in nearest if not int(np.asarray(v).view(f"u{v.itemsize}")) & 1]
    return (even or nearest)[0]


@settings(max_examples=25, deadline=None)
@given(
    pair=st.sampled_from([("f32", "f32"), ("f16", "f16"), ("f16", "f32")]),
    layout=layouts(),
    seed=st.integers(0, 99),
    scalar=st.sampled_from([1 / 3, -2.0, 3.0000002, 1e-3, 0.1]),
)
@pytest.mark.parametrize("core", CORES)
def test_multiply_and_add_rounds_once(core, pair, layout, seed, scalar):
    source, to = pair
    rng = np.random.default_rng(seed)
    # The addend nearly cancels the product, or is far below its last bit.
    a = rng.normal(0, 1, (2, 90)).astype(DTYPES[source].np)
    b = rng.normal(0, 1, (2, 90)).astype(DTYPES[source].np)
    factor = DTYPES[source].np.type(scalar)
    d = (-a.astype(np.float64) * float(factor)).astype(DTYPES[to].np)
    d = np.where(rng.random(d.shape) < 0.3, d * DTYPES[to].np.type(2.0**-7), d)

    def holds(name, sources, meaning):
        got, sent, held, _ = Table(core, layout).run(name, to, sources, held=d)
        wide = [[Fraction(float(v)) for v in x.flat] for x in (held, *sent)]
        want = [rounded_once(meaning(*values), to) for values in zip(*wide, strict=True)]
        assert (got.ravel() == np.array(want, got.dtype)).all()

    holds("taxpy", [a, scalar], lambda dst, x: dst + x * Fraction(float(factor)))
    if source == to:
        holds("tmuladddst", [a, b], lambda dst, x, y: dst + x * y)
        holds("tfusedmuladd", [a, b], lambda dst, x, y: dst * x + y)
        holds("tfusedmuladdrelu", [a, b], lambda dst, x, y: max(dst * x + y, Fraction(0)))


@pytest.mark.parametrize("core", CORES)
def test_a_second_rounding_would_show(core):
    """(1 + 2^-12)^2 less 1: the last bit of the product survives only in a fused operation."""
    layout = (1, 1, (1, 1.0), 0, False)
    x, minus = np.full(8, 1 + 2.0**-12, np.float32), np.full(8, -1, np.float32)
    got, *_ = Table(core, layout).run("tmuladddst", "f32", [x, x], held=minus)
    assert set(got.ravel().tolist()) == {2.0**-11 + 2.0**-24}
    got, *_ = Table(core, layout).run("taxpy", "f32", [x, float(x[0])], held=minus)
    assert set(got.ravel().tolist()) == {2.0**-11 + 2.0**-24}


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize(("profile", "want"), [("reset", [65504, 0]), ("infnan", [INF, NAN])])
def test_fused_halves_are_settled(core, profile, want):
    layout = (1, 1, (1, 1.0), 0, False)
    table = Table(core, layout, profile=profile)
    x = np.array([60000, INF] * 8, np.float16)
    y = np.array([2, 0] * 8, np.float16)
    got, *_ = table.run("tmuladddst", "f16", [x, y], held=np.zeros(16, np.float16))
    np.testing.assert_array_equal(got[0, :2].astype(float), want)


@pytest.mark.parametrize("core", CORES)
def test_the_scalar_of_taxpy_has_the_type_of_the_source(core):
    layout = (1, 1, (1, 1.0), 0, False)
    ones, zeros = np.ones(16, np.float16), np.zeros(16, np.float32)
    got, *_ = Table(core, layout).run("taxpy", "f32", [ones, 0.1], held=zeros)
    assert set(got.ravel().tolist()) == {float(np.float16(0.1))}


@PROPERTY
@given(pair=st.sampled_from([("f32", "f16"), ("f16", "i8"), ("i16", "i8")]), layout=layouts())
@pytest.mark.parametrize("core", CORES)
def test_a_difference_is_narrowed_with_saturation(core, pair, layout):
    source, to = pair
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-300, 300, (5, 200)).astype(DTYPES[source].np) for _ in range(2))
    got, (x, y), *_ = Table(core, layout).run("tsubreluconv", to, [a, b])
    difference = np.maximum(x.astype(np.int64) - y, 0)
    same(got, np.minimum(difference, 127 if to == "i8" else 65504).astype(DTYPES[to].np))


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("op", ["tfusedmuladd", "tmuladddst"])
def test_dst_may_be_a_source_too(core, op):
    bench = Bench(core)
    values = np.arange(128, dtype=np.float32).reshape(2, 64)
    t = bench.put(bench.tile("f32", (2, 64)), values)
    bench.run(op, t, t, t)
    assert (bench.get(t, 2, 64) == values + values * values).all()
