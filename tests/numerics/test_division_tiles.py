"""Division, remainders, roots, logarithms and powers on tiles, against numpy written by hand."""

import numpy as np
import pytest
from bench import Bench

INF, NAN = np.inf, np.nan
SUBNORMAL = 2.0**-140
CORES = ["a2a3", "a5"]


def computed(arch, op, dtype, *sources, dst=None, tmp=None, state=None, **attrs):
    """The results of one row; sources that are lists become tiles, numbers stay."""
    bench = Bench(arch, **(state or {}))
    columns = max(len(source) for source in sources if isinstance(source, list))
    made = bench.tile(dtype, (1, columns))
    operands = []
    for source in sources:
        if isinstance(source, list):
            values = np.array([source], made.dtype.np)
            operands.append(bench.put(bench.tile(dtype, (1, columns)), values))
        else:
            operands.append(source)
    scratch = bench.tile(tmp or dtype, (40, 64)) if tmp else None
    with np.errstate(all="ignore"):
        bench.run(op, made, *operands, tmp=scratch, **attrs)
    after = [bench.get(t, 1, columns)[0] for t in operands if not isinstance(t, int | float)]
    return bench.get(made, 1, columns)[0], after


def same(got, want):
    want = np.array(want, got.dtype)
    nan = np.isnan(want) if want.dtype.kind == "f" else np.zeros(want.shape, bool)
    assert np.isnan(got[nan]).all() if nan.any() else True
    assert got[~nan].tobytes() == want[~nan].tobytes(), (got, want)


@pytest.mark.parametrize("arch", CORES)
def test_quotients_of_f32(arch):
    a = [1.0, -1.0, 0.0, INF, INF, NAN, 1.0, 3.0, -0.0]
    b = [0.0, 0.0, 0.0, INF, 2.0, 1.0, 3.0, -INF, 5.0]
    got, _ = computed(arch, "tdiv", "f32", a, b)
    same(got, [INF, -INF, NAN, NAN, INF, NAN, np.float32(1) / np.float32(3), -0.0, -0.0])


@pytest.mark.parametrize(
    ("profile", "expected"),
    [("reset", [65504, -65504, 0, 65504]), ("infnan", [INF, -INF, NAN, INF])],
)
@pytest.mark.parametrize("arch", CORES)
def test_quotients_of_half_follow_the_profile(arch, profile, expected):
    a, b = [1.0, -1.0, 0.0, 65504.0], [0.0, 0.0, 0.0, 0.5]
    got, _ = computed(arch, "tdiv", "f16", a, b, state={"profile": profile})
    same(got, expected)


@pytest.mark.parametrize("op", ["tdiv", "tsqrt", "tlog"])
def test_subnormals_are_flushed_on_a5_unless_precision_is_high(op):
    x = [SUBNORMAL, 1.0]
    sources = (x, [1.0, 2.0**127]) if op == "tdiv" else (x,)
    exact = {
        "tdiv": [SUBNORMAL, 2.0**-127],
        "tsqrt": [2.0**-70, 1.0],
        "tlog": [np.log(SUBNORMAL), 0.0],
    }[op]
    flushed = {"tdiv": [0.0, 0.0], "tsqrt": [0.0, 1.0], "tlog": [-INF, 0.0]}[op]
    same(computed("a2a3", op, "f32", *sources)[0], exact)
    same(computed("a5", op, "f32", *sources)[0], flushed)
    got, _ = computed("a5", op, "f32", *sources, precision="high")
    np.testing.assert_allclose(got, exact, rtol=3e-7)


@pytest.mark.parametrize("arch", CORES)
def test_roots_and_logarithms_at_the_edges(arch):
    x = [0.0, -0.0, -1.0, INF, NAN, 4.0, 1.0]
    same(computed(arch, "tsqrt", "f32", x)[0], [0.0, -0.0, NAN, INF, NAN, 2.0, 1.0])
    got, _ = computed(arch, "tlog", "f32", x)
    same(got, [-INF, -INF, NAN, INF, NAN, np.log(4.0), 0.0])
    same(computed(arch, "trsqrt", "f32", x)[0], [INF, -INF, NAN, 0.0, NAN, 0.5, 1.0])
    same(computed(arch, "trecip", "f32", x)[0], [INF, -INF, -1.0, 0.0, NAN, 0.25, 1.0])


def test_three_results_of_a_reciprocal_root():
    # The least double rounding among small whole numbers, found by search.
    x = next(
        float(n)
        for n in range(2, 1000)
        if np.float32(1 / np.sqrt(np.float64(n))) != np.float32(1) / np.sqrt(np.float32(n))
    )
    once, twice = np.float32(1 / np.sqrt(x)), np.float32(1) / np.sqrt(np.float32(x))
    same(computed("a2a3", "trsqrt", "f32", [x])[0], [once])
    same(computed("a2a3", "trsqrt", "f32", [x], tmp="f32")[0], [twice])
    same(computed("a5", "trsqrt", "f32", [x])[0], [twice])
    tiny = 2.0**-140  # read as 0 on a5
    same(computed("a2a3", "trsqrt", "f32", [tiny], tmp="f32")[0], [2.0**70])
    same(computed("a5", "trsqrt", "f32", [tiny])[0], [INF])


@pytest.mark.parametrize("dtype", ["i32", "i16", "u32", "u16"])
def test_integers_are_cut_towards_zero_on_a5(dtype):
    least, greatest = np.iinfo(dtype.replace("i", "int").replace("u", "uint")).min, 0xFFFF // 2
    a, b = [7, greatest, 6, 5], [2, 2, 3, 0]
    want = [3, greatest // 2, 2, -1 if dtype[0] == "i" else 2 ** int(dtype[1:]) - 1]
    same(computed("a5", "tdiv", dtype, a, b)[0], want)
    if dtype[0] == "i":
        got, _ = computed("a5", "tdiv", dtype, [-7, 7, -7, int(least)], [2, -2, -2, -1])
        same(got, [-3, -3, 3, int(least)])


@pytest.mark.parametrize("scalar_first", [False, True])
@pytest.mark.parametrize(("dtype", "through"), [("i32", np.float32), ("i16", np.float16)])
def test_integers_by_a_scalar_leave_float_bits_in_the_source_on_a2a3(dtype, through, scalar_first):
    held = [7, -7, 100, 1]
    operands = (1000, held) if scalar_first else (held, 3)
    got, (src,) = computed("a2a3", "tdivs", dtype, *operands)
    same(got, [142, -142, 10, 1000] if scalar_first else [2, -2, 33, 0])
    assert src.tobytes() == np.array(held, through).tobytes()


def test_an_i32_beyond_2_24_is_divided_as_f32_on_a2a3():
    got, _ = computed("a2a3", "tdivs", "i32", [16777217, 2147483647], 1)
    same(got, [16777216, 2147483647])  # 2^31 does not fit and is clamped
    same(computed("a5", "tdivs", "i32", [16777217, 2147483647], 1)[0], [16777217, 2147483647])


@pytest.mark.parametrize("arch", CORES)
def test_remainders_of_f32_have_the_sign_of_the_divisor_and_a_modulo_that_of_the_dividend(arch):
    a, b = [7.5, -7.5, 7.5, -7.5, 1e8, 1.0, NAN], [2.0, 2.0, -2.0, -2.0, 3.0, 0.0, 1.0]
    tmp = "f32" if arch == "a2a3" else None
    got, _ = computed(arch, "trem", "f32", a, b, tmp=tmp)
    # 1e8 is 1 more than 3 * 33333333: the quotient is rounded, so that the device says 0
    same(got, [1.5, 0.5, -0.5, -1.5, 0.0, NAN, NAN])
    got, _ = computed(arch, "tfmod", "f32", a, b)
    same(got, [1.5, -1.5, 1.5, -1.5, 0.0, NAN, NAN])
    same(computed(arch, "trems", "f32", a[:4], -2.0, tmp=tmp)[0], [-0.5, -1.5, -0.5, -1.5])
    same(computed(arch, "tfmods", "f32", a[:4], -2.0)[0], [1.5, -1.5, 1.5, -1.5])


def test_high_precision_finds_the_remainder_of_large_quotients():
    same(computed("a5", "tfmod", "f32", [1e8], [3.0], precision="high")[0], [1.0])


@pytest.mark.parametrize(("profile", "none"), [("reset", 0.0), ("infnan", NAN)])
def test_an_exact_half_remainder_that_is_none_follows_the_profile(profile, none):
    for precision in ("default", "high"):
        got, _ = computed(
            "a5", "tfmod", "f16", [INF, 5.0, 7.0], [2.0, 0.0, 4.0],
            state={"profile": profile}, precision=precision,
        )  # fmt: skip
        same(got, [none, none, 3.0])


def test_half_remainders_go_through_f32_on_a5():
    # 2049 is no half; 60000 / 7 = 8571.4 is inexact in half, so that f16 steps would be off
    got, _ = computed("a5", "tfmod", "f16", [60000.0, -60000.0], [7.0, 7.0])
    same(got, [float(60000 % 7), -float(60000 % 7)])
    same(computed("a5", "trem", "f16", [-60000.0], [7.0])[0], [float(-60000 % 7)])


def test_i32_remainders_rewrite_their_sources_through_f32_on_a2a3():
    got, sources = computed("a2a3", "trem", "i32", [-7, 16777217], [3, 16777219], tmp="i32")
    same(got, [2, 16777216])
    same(sources[0], [-7, 16777216])
    same(sources[1], [3, 16777220])


@pytest.mark.parametrize(("sign", "expected"), [("dividend", [-1, 1]), ("divisor", [2, -2])])
@pytest.mark.parametrize("op", ["trem", "tfmod"])
def test_a_switch_decides_the_sign_of_integer_remainders_on_a5(op, sign, expected):
    got, _ = computed("a5", op, "i32", [-7, 7], [3, -3], state={"vmod_sign": sign})
    same(got, expected)


@pytest.mark.parametrize("arch", CORES)
def test_special_cases_of_a_power(arch):
    a = [2.0, -2.0, -2.0, 0.0, 0.0, -1.0, -1.0, 5.0, NAN, -8.0]
    b = [10.0, 3.0, 2.0, 2.0, -1.0, INF, -INF, 0.0, 0.0, 0.0]
    tmp = "f32" if arch == "a2a3" else None
    got, _ = computed(arch, "tpow", "f32", a, b, tmp=tmp)
    np.testing.assert_allclose(got, [1024, -8, 4, 0, INF, 1, 1, 1, 1, 1], rtol=3e-6)
    got, _ = computed(arch, "tpows", "f32", [2.0, -2.0, 0.0, 9.0], 3.0, tmp=tmp)
    np.testing.assert_allclose(got, [8, -8, 0, 729], rtol=3e-6)


@pytest.mark.parametrize("dtype", ["i32", "i16"])
def test_whole_powers_wrap_and_negative_exponents_vanish(dtype):
    bits = int(dtype[1:])
    a = [3, -3, 2, 0, 0, -1, -1, 1, 7, 10]
    b = [5, 3, bits - 1, 0, 3, -3, -2, -9, -1, 9]
    wrapped = (10**9 + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)
    want = [243, -27, -(2 ** (bits - 1)), 1, 0, -1, 1, 1, 0, wrapped]
    same(computed("a5", "tpow", dtype, a, b)[0], want)
    same(computed("a5", "tpows", dtype, [2, -2, 3], 7)[0], [128, -128, 2187])


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_only_the_valid_region_is_written(arch, dynamic, dtype):
    rng = np.random.default_rng(5)
    bench = Bench(arch)
    dst, a, b = (bench.tile(dtype, (5, 200), (3, 150), dynamic=dynamic) for _ in range(3))
    x, y = (rng.uniform(1, 4, (5, dst.cols)).astype(dst.dtype.np) for _ in range(2))
    bench.put(a, x), bench.put(b, y)
    for op, operands, want in (
        ("tdiv", (a, b), x / y),
        ("tdivs", (a, 3.0), x / x.dtype.type(3)),
        ("tdivs", (3.0, a), x.dtype.type(3) / x),
        ("trecip", (a,), x.dtype.type(1) / x),
        ("tsqrt", (a,), np.sqrt(x)),
    ):
        bench.put(dst, np.full((5, dst.cols), 9.0))
        bench.run(op, dst, *operands)
        whole = np.full((5, dst.cols), 9, dst.dtype.np)
        whole[:3, :150] = want[:3, :150]
        assert bench.get(dst, 5, dst.cols).tobytes() == whole.tobytes(), op
