"""Conversions of lanes: every pair, saturation and wrapping, fused ones; values by hand."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from archsim.base.dtypes import DTYPES, F16, F32, I8, I16, I32, U8, U16, U32, DType
from archsim.isa.conversions import CONVERSIONS, MODES
from archsim.isa.lanes.convert import vreg_convert
from archsim.isa.lanes.state import How, Lanes, NumericState
from archsim.isa.lanes.tables import SIMD

RESET = NumericState()
INFNAN = NumericState(fp_infnan=True)
INF, NAN = float("inf"), float("nan")


@pytest.fixture(autouse=True)
def ieee() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def both(
    values: list[float], source: DType, to: DType, *words: str, state: NumericState = RESET
) -> Lanes:
    """A conversion that both styles must give alike."""
    x = np.array(values, source.np)
    how = How(source, to, state, words=words)
    simd = SIMD[f"vconv_{spelled(source)}2{spelled(to)}"].function(how, x)
    vreg = vreg_convert(how, x)
    assert simd.tobytes() == vreg.tobytes()
    assert simd.dtype == to.np
    return simd


def spelled(dtype: DType) -> str:
    return dtype.name.replace("i", "s")


TO_INTEGER = [
    # values, source, target, mode, clamped, wrapped
    ([257.0, -3.0], F16, U8, "rint", [255, 0], [1, 253]),
    ([300.0, -300.0, 127.5], F16, I8, "rint", [127, -128, 127], [44, -44, -128]),
    ([40000.0, -40000.0], F16, I16, "trunc", [32767, -32768], [-25536, 25536]),
    ([3e9, -3e9], F32, I32, "rint", [2**31 - 1, -(2**31)], [-1294967296, 1294967296]),
    ([2.0**80, 2.0**33 + 2048], F32, I32, "rint", [2**31 - 1, 2**31 - 1], [0, 2048]),
    ([65536.0, 65535.0], F32, I16, "rint", [32767, 32767], [0, -1]),
    ([INF, -INF, NAN], F32, I32, "rint", [2**31 - 1, -(2**31), 0], [2**31 - 1, -(2**31), 0]),
    ([INF, -INF, NAN], F16, I8, "rint", [127, -128, 0], [127, -128, 0]),
    ([INF, -INF, NAN], F16, U8, "rint", [255, 0, 0], [255, 0, 0]),
    ([INF, -INF, NAN], F16, I32, "floor", [2**31 - 1, -(2**31), 0], [2**31 - 1, -(2**31), 0]),
    ([2.5, 3.5, -2.5], F16, I32, "rint", [2, 4, -2], [2, 4, -2]),
    ([2.5, 3.5, -2.5], F16, I32, "round", [3, 4, -3], [3, 4, -3]),
    ([2.5, -2.5], F16, I16, "floor", [2, -3], [2, -3]),
    ([2.5, -2.5], F16, I16, "ceil", [3, -2], [3, -2]),
    ([2.75, -2.75], F32, I16, "trunc", [2, -2], [2, -2]),
    ([-0.4, 0.4], F32, I32, "rint", [0, 0], [0, 0]),
]


@pytest.mark.parametrize(("values", "source", "to", "mode", "clamped", "wrapped"), TO_INTEGER)
def test_floats_narrow_to_integers(
    values: list[float], source: DType, to: DType, mode: str, clamped: list[int], wrapped: list[int]
) -> None:
    assert both(values, source, to, mode, "sat").tolist() == clamped
    assert both(values, source, to, mode, "wrap").tolist() == wrapped
    assert both(values, source, to, mode).tolist() == clamped, "CTRL[59] is 0 at reset"
    ambient = NumericState(cvt_trunc=True)
    assert both(values, source, to, mode, state=ambient).tolist() == wrapped
    assert both(values, source, to, mode, "sat", state=ambient).tolist() == clamped


INTEGERS = [
    ([256, -1, 40000, -40000], I32, I16, [256, -1, 32767, -32768], [256, -1, -25536, 25536]),
    ([2**31 - 1, -(2**31)], I32, I16, [32767, -32768], [-1, 0]),
]


@pytest.mark.parametrize(("values", "source", "to", "clamped", "wrapped"), INTEGERS)
def test_integers_narrow_to_integers(
    values: list[int], source: DType, to: DType, clamped: list[int], wrapped: list[int]
) -> None:
    assert both(values, source, to, "sat").tolist() == clamped
    assert both(values, source, to, "wrap").tolist() == wrapped


VREG_INTEGERS = [
    ([256, -1, 127], I16, U8, [255, 0, 127], [0, 255, 127]),
    ([-1, 5], I16, U32, [0, 5], [2**32 - 1, 5]),
    ([70000, -1], I32, U16, [65535, 0], [4464, 65535]),
    ([2**32 - 1, 7], U32, I16, [32767, 7], [-1, 7]),
    ([200, 3], U8, U16, [200, 3], [200, 3]),
    ([-5, 100], I8, I16, [-5, 100], [-5, 100]),
]


@pytest.mark.parametrize(("values", "source", "to", "clamped", "wrapped"), VREG_INTEGERS)
def test_integers_convert_on_vreg_cores(
    values: list[int], source: DType, to: DType, clamped: list[int], wrapped: list[int]
) -> None:
    x = np.array(values, source.np)
    assert vreg_convert(How(source, to, RESET, words=("sat",)), x).tolist() == clamped
    assert vreg_convert(How(source, to, RESET, words=("wrap",)), x).tolist() == wrapped


TO_HALF = [
    # value, mode, reset, infnan (bits)
    (65519.0, "rint", 0x7BFF, 0x7BFF),
    (65520.0, "rint", 0x7BFF, 0x7C00),
    (1e6, "ceil", 0x7BFF, 0x7C00),
    (1e6, "floor", 0x7BFF, 0x7BFF),
    (-1e6, "floor", 0xFBFF, 0xFC00),
    (1e6, "trunc", 0x7BFF, 0x7BFF),
    (INF, "rint", 0x7BFF, 0x7C00),
    (-INF, "trunc", 0xFBFF, 0xFC00),
    (1 + 2.0**-11, "rint", 0x3C00, 0x3C00),
    (1 + 2.0**-11, "round", 0x3C01, 0x3C01),
    (1 + 2.0**-20, "odd", 0x3C01, 0x3C01),
    (2.0**-24, "rint", 0x0001, 0x0001),
    (2.0**-25, "rint", 0x0000, 0x0000),
    (-(2.0**-26), "rint", 0x8000, 0x8000),
    (-(2.0**-26), "floor", 0x8001, 0x8001),
]


@pytest.mark.parametrize(("value", "mode", "reset", "infnan"), TO_HALF)
def test_f32_narrows_to_half_under_ctrl_48_only(
    value: float, mode: str, reset: int, infnan: int
) -> None:
    for words in ((mode,), (mode, "sat"), (mode, "wrap")):
        assert both([value], F32, F16, *words).view(np.uint16)[0] == reset
        assert both([value], F32, F16, *words, state=INFNAN).view(np.uint16)[0] == infnan


def test_nan_narrows_to_zero_or_nan() -> None:
    assert both([NAN, -NAN], F32, F16, "rint").view(np.uint16).tolist() == [0, 0]
    assert np.isnan(both([NAN], F32, F16, "rint", state=INFNAN)[0])


def half_of(value: float, *words: str, **switches: bool) -> float:
    how = How(F32, F16, NumericState(**switches), words=words)
    return float(vreg_convert(how, np.array([value], np.float32))[0])


def test_ctrl_59_may_govern_half_on_vreg_cores() -> None:
    assert half_of(1e6, "rint", "sat", a5_f32_f16_uses_ctrl59=True) == 65504
    assert half_of(1e6, "rint", "wrap", a5_f32_f16_uses_ctrl59=True) == INF
    assert half_of(1e6, "rint", "sat", a5_f32_f16_uses_ctrl59=True, fp_infnan=True) == 65504
    assert half_of(1e6, "rint", a5_f32_f16_uses_ctrl59=True, cvt_trunc=True) == INF


def test_own_flags_count_where_ctrl_60_is_clear() -> None:
    assert half_of(1e6, "rint", cvt_global=False) == INF
    assert half_of(1e6, "rint", "sat", cvt_global=False) == 65504, "TCVT sets CTRL[60] itself"
    how = How(F16, I8, NumericState(cvt_global=False))
    assert vreg_convert(how, np.array([300.0], np.float16)).tolist() == [44]


@pytest.mark.parametrize("state", [RESET, INFNAN], ids=["reset", "infnan"])
def test_wider_floats_take_everything_as_it_is(state: NumericState) -> None:
    got = both([INF, -INF, 65504.0, 2.0**-24, NAN], F16, F32, state=state)
    assert got[:4].tolist() == [INF, -INF, 65504.0, 2.0**-24]
    assert np.isnan(got[4])


F32_TO_F32 = {
    "rint": [3.0, 2.0, -3.0, -0.0],
    "round": [3.0, 3.0, -3.0, -0.0],
    "floor": [2.0, 2.0, -3.0, -1.0],
    "ceil": [3.0, 3.0, -2.0, -0.0],
    "trunc": [2.0, 2.0, -2.0, -0.0],
}


@pytest.mark.parametrize("mode", F32_TO_F32)
def test_f32_to_f32_rounds_to_integral_values(mode: str) -> None:
    got = both([2.7, 2.5, -2.7, -0.3], F32, F32, mode)
    assert got.tobytes() == np.array(F32_TO_F32[mode], np.float32).tobytes()
    specials = both([INF, -INF, NAN], F32, F32, mode)
    assert specials[:2].tolist() == [INF, -INF]
    assert np.isnan(specials[2])


FROM_INTEGER = [
    ([2051], I16, F16, "floor", [2050.0]),
    ([2049], I16, F16, "ceil", [2050.0]),
    ([2049, 2051], I16, F16, "rint", [2048.0, 2052.0]),
    ([32767, -32768], I16, F16, "rint", [32768.0, -32768.0]),
    ([16777217, 16777219], I32, F32, "rint", [16777216.0, 16777220.0]),
    ([16777217], I32, F32, "ceil", [16777218.0]),
    ([-16777217], I32, F32, "ceil", [-16777216.0]),
    ([2**31 - 1], I32, F32, "trunc", [2147483520.0]),
    ([-5, 5], I16, F32, "rint", [-5.0, 5.0]),
    ([255, 0], U8, F16, "rint", [255.0, 0.0]),
    ([-128, 127], I8, F16, "rint", [-128.0, 127.0]),
]


@pytest.mark.parametrize(("values", "source", "to", "mode", "want"), FROM_INTEGER)
def test_integers_convert_to_floats(
    values: list[int], source: DType, to: DType, mode: str, want: list[float]
) -> None:
    assert both(values, source, to, mode).tolist() == want


def test_deq_rounds_32_bit_integers_to_half_once() -> None:
    how = How(I32, F16, RESET, np.int32(1))
    x = np.array([32785, 32784, 2051, -100000, 100000], np.int32)
    assert SIMD["vconv_deq"].function(how, x).tolist() == [
        32800.0,
        32768.0,
        2052.0,
        -65504.0,
        65504.0,
    ]
    infnan = replace(how, state=INFNAN)
    assert SIMD["vconv_deq"].function(infnan, x)[4] == INF


def test_every_conversion_of_the_simd_cores_has_a_micro_op() -> None:
    for (source, to), row in CONVERSIONS["a2a3"].items():
        if (source, to) == ("i32", "f16"):
            continue  # vconv_deq
        for letter in row.modes or "r":
            name = f"vconv_{spelled(DTYPES[source])}2{spelled(DTYPES[to])}"
            assert SIMD[name + (letter if row.modes else "")].words == (
                (MODES[letter],) if row.modes else ()
            )


# Small floats hold few integers: tests/numerics/test_{converted,nibble}_tiles.py have them.
SMALL = {"f8e4m3", "f8e5m2", "hif8", "f4e2m1", "f4e1m2"}
WHOLE = sorted(p for p in CONVERSIONS["a5"] if not SMALL & {*p})


@pytest.mark.parametrize("pair", WHOLE, ids=">".join)
def test_every_conversion_of_the_vreg_cores_keeps_small_numbers(pair: tuple[str, str]) -> None:
    source, to = (DTYPES[name] for name in pair)
    x = np.arange(100).astype(source.np)
    got = vreg_convert(How(source, to, RESET), x)
    assert got.dtype == to.np
    assert got.astype(np.float64).tolist() == list(range(100))


def fused(name: str, source: DType, to: DType, a: float, b: float, **switches: object) -> Lanes:
    how = How(source, to, replace(RESET, **switches))
    return SIMD[name].function(how, np.array([a], source.np), np.array([b], source.np))


F32_TO_F16 = [
    # a, b, reset bits, infnan bits
    (1 + 2.0**-11, 2.0**-40, 0x3C00, 0x3C00),  # two roundings: the f32 sum is a tie of halves
    (1 + 2.0**-11, 2.0**-23, 0x3C01, 0x3C01),
    (60000.0, 5519.0, 0x7BFF, 0x7BFF),
    (60000.0, 5520.0, 0x7BFF, 0x7C00),
    (3e38, 3e38, 0x7BFF, 0x7C00),
    (-1.0, 0.5, 0x0000, 0x0000),
    (-0.0, -0.0, 0x0000, 0x0000),
    (2.0**-24, 0.0, 0x0001, 0x0001),
    (NAN, 1.0, 0x0000, None),
]


@pytest.mark.parametrize(("a", "b", "reset", "infnan"), F32_TO_F16)
def test_add_relu_conv_of_f32(a: float, b: float, reset: int, infnan: int | None) -> None:
    name = "vaddreluconv_f322f16"
    assert fused(name, F32, F16, a, b).view(np.uint16)[0] == reset
    got = fused(name, F32, F16, a, b, fp_infnan=True)
    assert np.isnan(got[0]) if infnan is None else got.view(np.uint16)[0] == infnan


F16_TO_I8 = [
    # a, b, result, with a wide add
    (64.5, 0.01, 64, 65),
    (2.5, 0.0, 2, 2),
    (3.5, 0.0, 4, 4),
    (126.5, 0.5, 127, 127),
    (1000.0, 1000.0, 127, 127),
    (65504.0, 65504.0, 127, 127),
    (INF, 0.0, 127, 127),
    (NAN, 1.0, 0, 0),
    (INF, -INF, 0, 0),
    (-5.0, 1.0, 0, 0),
]


@pytest.mark.parametrize(("a", "b", "want", "wide"), F16_TO_I8)
@pytest.mark.parametrize("infnan", [False, True])
def test_add_relu_conv_of_half(a: float, b: float, want: int, wide: int, infnan: bool) -> None:
    name = "vaddreluconv_f162s8"
    assert fused(name, F16, I8, a, b, fp_infnan=infnan)[0] == want
    switches = {"a2a3_addreluconv_wide_add": True, "fp_infnan": infnan}
    assert fused(name, F16, I8, a, b, **switches)[0] == wide


I16_TO_I8 = [
    # a, b, wrapping add, 17-bit add, clamping add
    (20000, 20000, 0, 127, 127),
    (-20000, -20000, 127, 0, 0),
    (100, 27, 127, 127, 127),
    (100, 28, 127, 127, 127),
    (-1, 0, 0, 0, 0),
    (32767, 1, 0, 127, 127),
    (60, 3, 63, 63, 63),
]


@pytest.mark.parametrize(("a", "b", "want", "wide", "clamped"), I16_TO_I8)
def test_add_relu_conv_of_int16(a: int, b: int, want: int, wide: int, clamped: int) -> None:
    name = "vaddreluconv_s162s8"
    assert fused(name, I16, I8, a, b)[0] == want
    assert fused(name, I16, I8, a, b, a2a3_addreluconv_s16_wide=True)[0] == wide
    assert fused(name, I16, I8, a, b, int_alu_sat=True)[0] == clamped


def test_sub_relu_conv_subtracts() -> None:
    assert fused("vsubreluconv_s162s8", I16, I8, 50, 8)[0] == 42
    assert fused("vsubreluconv_f322f16", F32, F16, 1.0, 3.0)[0] == 0
    assert fused("vsubreluconv_f162s8", F16, I8, 3.0, 0.5)[0] == 2


@given(value=st.floats(width=16, allow_nan=False), wraps=st.booleans())
def test_a_half_lands_in_int8_as_integers_do(value: float, wraps: bool) -> None:
    got = int(both([value], F16, I8, "trunc", "wrap" if wraps else "sat")[0])
    if abs(value) == INF:
        assert got == (127 if value > 0 else -128)
    elif wraps:
        assert (got - int(value)) % 256 == 0
    else:
        assert got == min(max(int(value), -128), 127)


@pytest.mark.parametrize("to", ["f8e4m3", "f8e5m2", "hif8"])
def test_ctrl_50_keeps_the_nan_that_clamping_turns_into_zero(to: str) -> None:
    x = np.array([np.nan, np.inf, 1.0], np.float32)
    how = How(F32, DTYPES[to], RESET, words=("rint",))
    cleared = vreg_convert(how, x)
    kept = vreg_convert(replace(how, state=replace(RESET, fp8_nan_keep=True)), x)
    assert cleared[0] == 0
    assert kept.view(np.uint8)[0] in (0x7F, 0xFF, 0x7E, 0x80)  # a NaN of each format
    assert np.array_equal(kept.view(np.uint8)[1:], cleared.view(np.uint8)[1:])
