"""Edge values of the four seed instructions on both cores, in both profiles, to the bit.

One row a lane; results are bit patterns, None is any NaN. `reset` is the profile that saturates.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from bench import Bench
from numpy.typing import NDArray

CORES = ["a2a3", "a5"]
PROFILES = ["reset", "infnan"]
INF, NAN = float("inf"), float("nan")
H_MAX, H_INF = 0x7BFF, 0x7C00
F_INF, F_MINUS = 0x7F800000, 0x80000000
LEAST, MOST = -(2**31), 2**31 - 1
Array = NDArray[Any]


def fits(got: Array, want: Sequence[int | None]) -> bool:
    bits = got.view(f"u{got.dtype.itemsize}").ravel().tolist()
    nan = np.isnan(got.ravel()).tolist() if got.dtype.kind == "f" else [False] * len(bits)
    return all(n if w is None else b == w for b, n, w in zip(bits, nan, want, strict=True))


def assert_fits(got: Array, want: Sequence[int | None]) -> None:
    assert fits(got, want), [hex(int(b)) for b in got.view(f"u{got.dtype.itemsize}").ravel()]


def binary(bench: Bench, op: str, types: tuple[str, str], a: Any, b: Any, *more: float) -> Array:
    """One row of lanes through a two-input instruction."""
    source, to = types
    shape = (1, len(a))
    srcs = [bench.put(bench.tile(source, shape), np.array([x])) for x in (a, b)]
    dst = bench.tile(to, shape)
    scratch = {
        "tprelu": lambda: bench.tile("u8", (2, 64)),
        "tadddeqrelu": lambda: bench.tile("i32", shape),
    }
    tmp = scratch[op]() if op in scratch else None
    bench.run(op, dst, *srcs, *more, tmp=tmp)
    return bench.get(dst, *shape)


DEQUANT = [
    # a, b, scale, reset, infnan
    (MOST, 1, 1e-5, 0, 0),  # the sum wraps to the least integer
    (LEAST, LEAST, 1.0, 0, 0),
    (65519, 0, 1.0, H_MAX, H_MAX),
    (65520, 0, 1.0, H_MAX, H_INF),
    (1000000, 0, 1.0, H_MAX, H_INF),
    (MOST, 0, 1e30, H_MAX, H_INF),  # 2^17 * x * 2^-17 overflows f32
    (-100, 0, -0.5, 0x5240, 0x5240),  # the relu comes after the scale
    (100, 0, -0.5, 0, 0),
    (5, -5, -1.0, 0, 0),  # -0 becomes +0
    (1, 0, NAN, 0, None),
    (0, 0, INF, 0, None),
    (1, 0, INF, H_MAX, H_INF),
    (-1, 0, INF, 0, 0),
    (-1, 0, -INF, H_MAX, H_INF),
    (1, 0, 2.0**-25, 0, 0),  # half of the least half: a tie to even
    (3, 0, 2.0**-26, 0x0001, 0x0001),
    (1, 0, 2.0**-24, 0x0001, 0x0001),
    (16777217, 0, 1e-3, 0x7419, 0x7419),  # 16777216 in f32, then the product
    (10, 0, 0.1, 0x3C00, 0x3C00),  # the scale is f32, not half: 0.1h * 10 is 0x3BFF
    (4097, 0, 0.1, 0x5E67, 0x5E67),
    (2, 1, 2.0**-140, 0, 0),  # a subnormal f32 on the way
]


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("a", "b", "scale", "reset", "infnan"), DEQUANT)
def test_add_dequantise_relu(
    arch: str, profile: str, a: int, b: int, scale: float, reset: int | None, infnan: int | None
) -> None:
    bench = Bench(arch, profile=profile)
    got = binary(bench, "tadddeqrelu", ("i32", "f16"), [a], [b], scale)
    assert_fits(got, [reset if profile == "reset" else infnan])


def test_a_half_scale_would_differ() -> None:
    got = binary(Bench("a5"), "tadddeqrelu", ("i32", "f16"), [4097], [0], 0.1)
    as_half = np.float16(np.float32(4097) * np.float32(np.float16(0.1)))
    assert got[0, 0] != as_half


PRELU = [
    # x, slope, f32 on every core and profile
    (0.0, 2.0, 0),
    (0.0, -2.0, F_MINUS),
    (-0.0, 2.0, F_MINUS),
    (-0.0, -2.0, 0),
    (0.0, INF, None),
    (-0.0, NAN, None),
    (NAN, 1.0, None),
    (INF, 0.0, F_INF),
    (INF, NAN, F_INF),
    (-INF, 0.0, None),
    (-INF, 2.0, F_MINUS | F_INF),
    (-INF, -2.0, F_INF),
    (3.0, NAN, 0x40400000),
    (1e-45, 5.0, 0x00000001),
    (-1e-45, 0.5, F_MINUS),
    (-1e-45, 3.0, F_MINUS | 3),
    (-2.0, 0.25, 0xBF000000),
    (-3e38, 10.0, F_MINUS | F_INF),
]
PRELU_HALF = [
    # x, slope, reset, infnan
    (0x0000, 0xC000, 0x8000, 0x8000),
    (0x8000, 0xC000, 0x0000, 0x0000),
    (0x0000, H_INF, 0x0000, None),
    (0x7E00, 0x3C00, 0x0000, None),
    (H_INF, 0x0000, H_INF, H_INF),  # selection is no arithmetic: it does not saturate
    (0xFC00, 0x0000, 0x0000, None),
    (0xFC00, 0x4000, 0xFBFF, 0xFC00),
    (0xFBFF, 0x4000, 0xFBFF, 0xFC00),
    (0xFBFF, 0xC000, H_MAX, H_INF),
    (0x3C00, 0x7E00, 0x3C00, 0x3C00),
    (0x8001, 0x3800, 0x8000, 0x8000),  # a tie at half of the least half
    (0x8003, 0x3800, 0x8002, 0x8002),
    (0x8401, 0x3800, 0x8200, 0x8200),
]


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("profile", PROFILES)
def test_prelu_of_f32(arch: str, profile: str) -> None:
    x, slope, want = zip(*PRELU, strict=True)
    assert_fits(binary(Bench(arch, profile=profile), "tprelu", ("f32", "f32"), x, slope), want)


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("profile", PROFILES)
def test_prelu_of_half(arch: str, profile: str) -> None:
    x, slope, reset, infnan = zip(*PRELU_HALF, strict=True)
    a, b = (np.array(v, np.uint16).view(np.float16) for v in (x, slope))
    got = binary(Bench(arch, profile=profile), "tprelu", ("f16", "f16"), a, b)
    assert_fits(got, reset if profile == "reset" else infnan)


def test_prelu_may_keep_zero_on_a5() -> None:
    bench = Bench("a5", prelu_zero_keeps=True)
    got = binary(bench, "tprelu", ("f32", "f32"), [0.0, -0.0, 0.0, -1.0], [-2.0, 2.0, INF, 2.0])
    assert_fits(got, [0, F_MINUS, 0, 0xC0000000])


ADD_RELU_CONV = [
    # types, a, b, reset, infnan
    (("f32", "f16"), 1 + 2.0**-11, 2.0**-40, 0x3C00, 0x3C00),
    (("f32", "f16"), 60000.0, 5520.0, H_MAX, H_INF),
    (("f32", "f16"), INF, 1.0, H_MAX, H_INF),
    (("f32", "f16"), INF, -INF, 0, None),
    (("f32", "f16"), NAN, 1.0, 0, None),
    (("f32", "f16"), -1.0, 0.25, 0, 0),
    (("f32", "f16"), -0.0, -0.0, 0, 0),
    (("f32", "f16"), 2.0**-24, 0.0, 0x0001, 0x0001),
    (("f32", "f16"), 2.0**-26, 2.0**-26, 0, 0),
    (("f16", "i8"), 64.5, 0.01, 64, 64),
    (("f16", "i8"), 2.5, 0.0, 2, 2),
    (("f16", "i8"), 3.5, 0.0, 4, 4),
    (("f16", "i8"), 127.4, 0.0, 127, 127),
    (("f16", "i8"), 65504.0, 65504.0, 127, 127),
    (("f16", "i8"), INF, 0.0, 127, 127),
    (("f16", "i8"), NAN, 0.0, 0, 0),
    (("f16", "i8"), -100.0, 1.0, 0, 0),
    (("i16", "i8"), 20000, 20000, 0, 0),
    (("i16", "i8"), -20000, -20000, 127, 127),
    (("i16", "i8"), 100, 27, 127, 127),
    (("i16", "i8"), 100, 28, 127, 127),
    (("i16", "i8"), -32768, -32768, 0, 0),
    (("i16", "i8"), 60, 3, 63, 63),
]


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("types", "a", "b", "reset", "infnan"), ADD_RELU_CONV)
def test_add_relu_convert(
    arch: str,
    profile: str,
    types: tuple[str, str],
    a: float,
    b: float,
    reset: int | None,
    infnan: int | None,
) -> None:
    got = binary(Bench(arch, profile=profile), "taddreluconv", types, [a], [b])
    assert_fits(got, [reset if profile == "reset" else infnan])


@pytest.mark.parametrize("arch", CORES)
def test_the_wide_switches_belong_to_a2a3(arch: str) -> None:
    bench = Bench(arch, a2a3_addreluconv_wide_add=True, a2a3_addreluconv_s16_wide=True)
    half = binary(bench, "taddreluconv", ("f16", "i8"), [64.5], [0.01])
    short = binary(bench, "taddreluconv", ("i16", "i8"), [20000], [20000])
    assert (half[0, 0], short[0, 0]) == ((65, 127) if arch == "a2a3" else (64, 0))


def exp(bench: Bench, dtype: str, x: Array, **attrs: str) -> Array:
    shape = (1, x.size)
    src, dst = bench.put(bench.tile(dtype, shape), x.reshape(shape)), bench.tile(dtype, shape)
    bench.run("texp", dst, src, **attrs)
    return bench.get(dst, *shape)[0]


EXP_F32 = np.array(
    [-87.3, -87.34, -88.0, -90.0, -103.9, -104.0, 0.0, -0.0, 1.0, 88.0, 89.0], np.float32
)


def test_exp_flushes_on_a5_and_high_precision_repairs_just_that() -> None:
    kept = exp(Bench("a2a3"), "f32", EXP_F32)
    flushed = exp(Bench("a5"), "f32", EXP_F32)
    repaired = exp(Bench("a5"), "f32", EXP_F32, precision="high")
    tiny = np.exp(EXP_F32.astype(np.float64)) < 2.0**-126
    assert tiny.sum() == 5
    assert (flushed[tiny] == 0).all()
    assert (kept[~tiny] == flushed[~tiny]).all()
    assert (kept[~tiny] == repaired[~tiny]).all()
    ulps = np.abs(repaired.view(np.int32) - kept.view(np.int32))
    assert (ulps <= 1).all()
    assert kept[3] > 0


def test_high_precision_is_ignored_on_a2a3() -> None:
    plain = exp(Bench("a2a3"), "f32", EXP_F32)
    assert (exp(Bench("a2a3"), "f32", EXP_F32, precision="high") == plain).all()


def test_exp_squares_the_half_of_the_argument_in_the_element_type() -> None:
    x = np.array([-10.0, -12.5, -16.0, -17.3, -17.4], np.float16)
    got = exp(Bench("a5"), "f16", x, precision="high")
    half = np.exp(x.astype(np.float64) / 2).astype(np.float16)
    want = (half.astype(np.float64) ** 2).astype(np.float16)
    assert (got == want).all()
    assert (got[:4] > 0).all()


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("precision", ["default", "high"])
def test_exp_of_special_values(arch: str, profile: str, precision: str) -> None:
    bench = Bench(arch, profile=profile)
    single = np.array([INF, -INF, NAN, 0.0, -0.0, 1e-40], np.float32)
    got = exp(bench, "f32", single, precision=precision)
    assert_fits(got, [F_INF, 0, None, 0x3F800000, 0x3F800000, 0x3F800000])
    half = np.array([INF, -INF, NAN, 11.09375, 11.0859375, 6e-8], np.float16)
    got = exp(bench, "f16", half, precision=precision)
    reset = profile == "reset"
    top, nan = (H_MAX, 0) if reset else (H_INF, None)
    if reset and arch == "a5" and precision == "high":
        nan = 0x3C00  # NaN settles to 0, which is repaired as a tiny result: e^0 squared
    assert_fits(got, [top, 0, nan, top, 0x7BF7, 0x3C00])


def test_sources_and_scratch_are_destroyed_on_a2a3_only() -> None:
    for arch in CORES:
        bench = Bench(arch)
        shape, valid = (4, 80), (3, 70)
        a = np.arange(320, dtype=np.int32).reshape(shape) - 100
        b = np.full(shape, 7, np.int32)
        srcs = [bench.put(bench.tile("i32", shape, valid), x) for x in (a, b)]
        tmp = bench.put(bench.tile("i32", shape, valid), np.full(shape, -1))
        dst = bench.put(bench.tile("f16", shape, valid), np.full(shape, -5.0))
        bench.run("tadddeqrelu", dst, *srcs, 0.25, tmp=tmp)
        scaled = (a + b) * np.float32(0.25)
        inside = np.zeros(shape, np.bool_)
        inside[:3, :70] = True
        left = [bench.get(tile, *shape, dtype="f32") for tile in (*srcs, tmp)]
        kept = [x.view(np.float32) for x in (a, b, np.full(shape, -1, np.int32))]
        changed = (scaled, np.maximum(scaled, 0), np.zeros(shape, np.float32))
        for got, before, after in zip(left, kept, changed, strict=True):
            want = np.where(inside, after, before) if arch == "a2a3" else before
            assert got.tobytes() == want.astype(np.float32).tobytes()
        result = np.where(inside, np.maximum(scaled, 0), -5.0).astype(np.float16)
        assert (bench.get(dst, *shape) == result).all()


def test_one_tile_as_both_sources_is_doubled() -> None:
    for arch in CORES:
        bench = Bench(arch)
        a = bench.put(bench.tile("i32", (2, 16)), np.arange(32).reshape(2, 16))
        dst, tmp = bench.tile("f16", (2, 16)), bench.tile("i32", (2, 16))
        bench.run("tadddeqrelu", dst, a, a, 1.0, tmp=tmp)
        assert (bench.get(dst, 2, 16) == 2 * np.arange(32).reshape(2, 16)).all()


def test_prelu_leaves_masks_and_their_addresses_in_scratch_on_a2a3() -> None:
    bench = Bench("a2a3")
    shape, valid = (3, 16), (3, 10)
    x = np.where(np.arange(48).reshape(shape) % 3 == 0, 1.0, -1.0)
    src = bench.put(bench.tile("f32", shape, valid), x)
    slope, dst = (
        bench.put(bench.tile("f32", shape, valid), np.full(shape, 2.0)),
        bench.tile("f32", shape),
    )
    tmp = bench.put(bench.tile("u8", (4, 32)), np.full((4, 32), 0xAA))
    bench.run("tprelu", dst, src, slope, tmp=tmp)
    masks = bench.get(tmp, 3, 2)
    packed = np.packbits(x[:, :10] > 0, axis=1, bitorder="little")
    assert (masks[:, 0] == packed[:, 0]).all()
    assert (masks[:, 1] & 0b11 == packed[:, 1]).all()
    words = bench.get(tmp, 4, 8)[3].view(np.uint32)
    assert (words == tmp.addr + 2 * tmp.row_bytes).all()
    assert (bench.get(tmp, 4, 32)[:, 8:] == 0xAA).all()
