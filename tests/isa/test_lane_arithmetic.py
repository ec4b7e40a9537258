"""Arithmetic of lanes, edge values to the bit. Floats are written as their bit patterns."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from archsim.base.dtypes import BF16, F16, F32, I8, I16, I32, U8, U16, U32, DType
from archsim.isa.lanes import arith
from archsim.isa.lanes.narrow import as_element
from archsim.isa.lanes.state import How, Lanes, NumericState
from archsim.isa.lanes.tables import SIMD, VREG

RESET = NumericState()
INFNAN = NumericState(fp_infnan=True)
OTHER = NumericState(max_nan="other", fp_infnan=True)

# f16 and f32 patterns
H_MAX, H_INF, H_NAN, H_ONE, H_TINY = 0x7BFF, 0x7C00, 0x7E00, 0x3C00, 0x0001
F_INF, F_NAN, F_ONE, F_MAX = 0x7F800000, 0x7FC00000, 0x3F800000, 0x7F7FFFFF
MINUS_H, MINUS_F = 0x8000, 0x80000000


@pytest.fixture(autouse=True)
def ieee() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def lanes(dtype: DType, *bits: int) -> Lanes:
    return np.array(bits, f"u{dtype.itemsize}").view(dtype.np)


def bits(values: Lanes) -> list[int]:
    return [int(b) for b in values.view(f"u{values.dtype.itemsize}")]


def simd(
    name: str, dtype: DType, *sources: Lanes, state: NumericState = RESET, **how: object
) -> Lanes:
    op = SIMD[name]
    return op.function(replace(How(dtype, dtype, state, words=op.words), **how), *sources)


def vreg(
    name: str, dtype: DType, *sources: Lanes, state: NumericState = RESET, **how: object
) -> Lanes:
    return VREG[name].function(replace(How(dtype, dtype, state), **how), *sources)


HALF_OVERFLOW = [
    # a, b, a + b in profile reset, in infnan
    (H_MAX, 0x4BFF, H_MAX, H_MAX),  # 65504 + 15.99: below the tie at 65520
    (H_MAX, 0x4C00, H_MAX, H_INF),  # 65504 + 16: the tie goes to even, which is 65536
    (H_MAX, H_MAX, H_MAX, H_INF),
    (MINUS_H | H_MAX, MINUS_H | H_MAX, MINUS_H | H_MAX, MINUS_H | H_INF),
    (H_INF, H_ONE, H_MAX, H_INF),
    (H_INF, MINUS_H | H_INF, 0, MINUS_H | H_NAN),
    (H_NAN, H_ONE, 0, H_NAN),
    (H_TINY, H_TINY, 0x0002, 0x0002),  # subnormals are kept
    (H_ONE, MINUS_H | H_ONE, 0, 0),
    (MINUS_H, MINUS_H, MINUS_H, MINUS_H),
]


@pytest.mark.parametrize(("a", "b", "reset", "infnan"), HALF_OVERFLOW)
@pytest.mark.parametrize("name", ["vadd", "VADD"])
def test_half_sums_saturate_in_reset_and_are_ieee_in_infnan(
    name: str, a: int, b: int, reset: int, infnan: int
) -> None:
    table = simd if name == "vadd" else vreg
    assert bits(table(name, F16, lanes(F16, a), lanes(F16, b))) == [reset]
    got = table(name, F16, lanes(F16, a), lanes(F16, b), state=INFNAN)
    if np.isnan(lanes(F16, infnan)[0]):
        assert np.isnan(got[0])
    else:
        assert bits(got) == [infnan]


@given(a=st.integers(0, 0x7BFF), b=st.integers(0, 0x7BFF), signs=st.integers(0, 3))
def test_half_sum_and_product_round_the_exact_value_once(a: int, b: int, signs: int) -> None:
    x = lanes(F16, a | (signs & 1) << 15)
    y = lanes(F16, b | (signs & 2) << 14)
    exact = {
        "vadd": Fraction(float(x[0])) + Fraction(float(y[0])),
        "vmul": Fraction(float(x[0])) * Fraction(float(y[0])),
    }
    for name, value in exact.items():
        # The sum has at most 41 bits and the product 22: both are exact in f64.
        want = np.float64(float(value)).astype(np.float16)
        got = simd(name, F16, x, y, state=INFNAN)[0]
        assert got == want or (value == 0 and got == 0)


F32_CASES = [
    ("vadd", F_MAX, F_MAX, F_INF),  # f32 never saturates
    ("vadd", F_INF, MINUS_F | F_INF, None),
    ("vmul", 0x00800000, 0x3F000000, 0x00400000),  # subnormal result kept
    ("vmul", 0x00000001, F_ONE, 0x00000001),  # subnormal operand kept
    ("vsub", 0x42280000, 0x42280000, 0),  # x - x = +0
    ("vadd", 0x3F800000, 0x33800000, 0x3F800000),  # tie to even
    ("vadd", 0x3F800001, 0x33800000, 0x3F800002),
]


@pytest.mark.parametrize(("name", "a", "b", "want"), F32_CASES)
@pytest.mark.parametrize("state", [RESET, INFNAN], ids=["reset", "infnan"])
def test_f32_is_ieee_in_both_profiles(
    name: str, a: int, b: int, want: int | None, state: NumericState
) -> None:
    for got in (
        simd(name, F32, lanes(F32, a), lanes(F32, b), state=state),
        vreg(name.upper(), F32, lanes(F32, a), lanes(F32, b), state=state),
    ):
        assert np.isnan(got[0]) if want is None else bits(got) == [want]


def test_bfloat16_is_computed_in_f32_and_rounded_once() -> None:
    one, small = lanes(BF16, 0x3F80), lanes(BF16, 0x3B80)  # 1 and 2^-8: half a unit of 1
    assert bits(vreg("VADD", BF16, one, small)) == [0x3F80]  # tie to even
    assert bits(vreg("VADD", BF16, lanes(BF16, 0x3F81), small)) == [0x3F82]
    greatest = lanes(BF16, 0x7F7F)
    assert bits(vreg("VADD", BF16, greatest, greatest)) == [0x7F80], "CTRL[48] has no say"


INTEGER_CASES = [
    ("vadd", I32, 2**31 - 1, 1, -(2**31), 2**31 - 1),
    ("vadd", I32, -(2**31), -(2**31), 0, -(2**31)),
    ("vadd", I16, 20000, 20000, -25536, 32767),
    ("vsub", I16, -20000, 20000, 25536, -32768),
    ("vmul", I32, 65536, 65536, 0, 2**31 - 1),
    ("vmul", I16, -32768, -1, -32768, 32767),
    ("vadd", U8, 200, 100, 44, 255),
    ("vsub", U16, 1, 2, 65535, 0),
    ("vmul", U32, 2**31, 4, 0, 2**32 - 1),
    ("vadd", I8, 127, 1, -128, 127),
]


@pytest.mark.parametrize(("name", "dtype", "a", "b", "wrapped", "clamped"), INTEGER_CASES)
def test_integers_wrap_and_clamp_under_ctrl_53(
    name: str, dtype: DType, a: int, b: int, wrapped: int, clamped: int
) -> None:
    x, y = np.array([a], dtype.np), np.array([b], dtype.np)
    assert simd(name, dtype, x, y)[0] == wrapped
    assert simd(name, dtype, x, y, state=NumericState(int_alu_sat=True))[0] == clamped
    scalar = as_element(b, dtype)
    if name != "vsub":
        assert simd(name + "s", dtype, x, scalar=scalar)[0] == wrapped
        sat = NumericState(int_alu_sat=True)
        assert simd(name + "s", dtype, x, scalar=scalar, state=sat)[0] == clamped


@pytest.mark.parametrize(
    ("table", "dtype"),
    [("simd", F16), ("simd", F32), ("vreg", F16), ("vreg", F32), ("vreg", BF16)],
    ids=str,
)
def test_zeros_are_ordered_and_nan_follows_its_switch(dtype: DType, table: str) -> None:
    run, upper = (simd, str.lower) if table == "simd" else (vreg, str.upper)
    minus, zero, one = lanes(dtype, 1 << (dtype.bits - 1)), lanes(dtype, 0), np.ones(1, dtype.np)
    nan = np.full(1, np.nan, dtype.np)
    for a, b in ((minus, zero), (zero, minus)):
        assert bits(run(upper("vmax"), dtype, a, b)) == bits(zero)
        assert bits(run(upper("vmin"), dtype, a, b)) == bits(minus)
    assert bits(run(upper("vmax"), dtype, minus, minus)) == bits(minus)
    assert bits(run(upper("vmin"), dtype, zero, zero)) == bits(zero)
    # Zeros beside numbers: in both places the number decides.
    mixed = np.concatenate([zero, zero, minus, -one]), np.concatenate([one, -one, zero, minus])
    assert bits(run(upper("vmax"), dtype, *mixed)) == bits(np.concatenate([one, zero, zero, minus]))
    assert bits(run(upper("vmin"), dtype, *mixed)) == bits(
        np.concatenate([zero, -one, minus, -one])
    )
    for a, b in ((nan, one), (one, nan)):
        for name in (upper("vmax"), upper("vmin")):
            assert np.isnan(run(name, dtype, a, b)[0])
            assert run(name, dtype, a, b, state=OTHER)[0] == 1
    assert bits(run(upper("vmaxs"), dtype, minus, scalar=as_element(0, dtype))) == bits(zero)
    assert bits(run(upper("vrelu"), dtype, minus)) == bits(zero)


@given(a=st.integers(0, 65535), b=st.integers(0, 65535))
def test_selection_of_halves_keeps_bits_even_of_infinities(a: int, b: int) -> None:
    x, y = lanes(F16, a), lanes(F16, b)
    for name in ("vmax", "vmin"):
        got = bits(simd(name, F16, x, y))[0]
        assert got in (a, b) or np.isnan(lanes(F16, got)[0])


def nearest_bits(value: Decimal, dtype: DType) -> int:
    """Bits of the f16 or f32 nearest to a positive number, ties to even, subnormals kept."""
    precision, least = (11, -14) if dtype is F16 else (24, -126)
    x = Fraction(min(max(value, Decimal("1e-60")), Decimal("1e40")))  # either is past all edges
    exponent = least
    while x >= Fraction(2) ** (exponent + 1):
        exponent += 1
    steps = x / Fraction(2) ** (exponent - precision + 1)
    count = round(steps)  # Python rounds fractions half to even
    overflow = H_INF if dtype is F16 else F_INF
    return min(((exponent - least) << (precision - 1)) + count, overflow)


def settled(bits: int, dtype: DType, state: NumericState) -> int:
    """What the flush and the reset profile make of a result."""
    least_normal = 0x0400 if dtype is F16 else 0x00800000
    if state.exp_ftz and bits < least_normal:
        return 0
    return H_MAX if dtype is F16 and bits == H_INF and not state.fp_infnan else bits


EXP_STATES = [RESET, INFNAN, NumericState(exp_ftz=True), NumericState(exp_ftz=True, fp_infnan=True)]


@pytest.mark.parametrize("state", EXP_STATES, ids=["reset", "infnan", "reset ftz", "infnan ftz"])
def test_exp_of_half_is_the_nearest_half_of_the_decimal_exp(state: NumericState) -> None:
    # Every 29th half of each sign, and all from -17.4 to -17.2, -9.72 to -9.68, 11.07 to 11.11.
    patterns = [*range(0, H_INF, 29), *range(0x8000, 0xFC00, 29), *range(0x4988, 0x498F)]
    patterns += [*range(0xCC4D, 0xCC5A), *range(0xC8D6, 0xC8DD)]
    source = lanes(F16, *patterns)
    want = [settled(nearest_bits(Decimal(float(x)).exp(), F16), F16, state) for x in source]
    assert bits(simd("vexp", F16, source, state=state)) == want
    assert bits(vreg("VEXP", F16, source, state=state)) == want


@pytest.mark.parametrize("state", EXP_STATES, ids=["reset", "infnan", "reset ftz", "infnan ftz"])
def test_exp_of_f32_is_the_nearest_f32_of_the_decimal_exp(state: NumericState) -> None:
    edges = [88.72283, 88.72284, -87.33654, -87.33655, -90.0, -103.97, -103.98, 1e-40, 0.0, -0.0]
    values = np.array([*edges, *np.linspace(-104, 89, 300)], np.float32)
    want = [settled(nearest_bits(Decimal(float(x)).exp(), F32), F32, state) for x in values]
    assert bits(simd("vexp", F32, values, state=state)) == want
    assert bits(vreg("VEXP", F32, values, state=state)) == want


EXP_SPECIALS = [
    # type, x, reset, infnan
    (F16, H_INF, H_MAX, H_INF),
    (F16, MINUS_H | H_INF, 0, 0),
    (F16, H_NAN, 0, None),
    (F32, F_INF, F_INF, F_INF),
    (F32, MINUS_F | F_INF, 0, 0),
    (F32, F_NAN, None, None),
    (F16, 0x498C, H_MAX, H_INF),  # 11.09375, the first half that overflows
    (F16, 0xC8DB, 0x03F9, 0x03F9),  # -9.7109375: a subnormal
]


@pytest.mark.parametrize(("dtype", "x", "reset", "infnan"), EXP_SPECIALS)
@pytest.mark.parametrize("profile", ["reset", "infnan"])
def test_exp_of_infinities_and_nan(
    dtype: DType, x: int, reset: int | None, infnan: int | None, profile: str
) -> None:
    state, want = (RESET, reset) if profile == "reset" else (INFNAN, infnan)
    for got in (
        simd("vexp", dtype, lanes(dtype, x), state=state),
        vreg("VEXP", dtype, lanes(dtype, x), state=state),
    ):
        assert np.isnan(got[0]) if want is None else bits(got) == [want]


def prelu_bits(a: float, slope: float, **switches: bool) -> int | None:
    state = replace(INFNAN, **switches)
    got = vreg("VPRELU", F32, np.array([a], np.float32), np.array([slope], np.float32), state=state)
    return None if np.isnan(got[0]) else bits(got)[0]


PRELU = [
    # x, slope, keeps x > 0, keeps x >= 0; None is NaN
    (0.0, 2.0, 0, 0),
    (0.0, -2.0, MINUS_F, 0),
    (-0.0, 2.0, MINUS_F, MINUS_F),
    (-0.0, -2.0, 0, MINUS_F),
    (0.0, np.inf, None, 0),
    (-0.0, np.nan, None, MINUS_F),
    (np.nan, 1.0, None, None),
    (np.inf, 0.0, F_INF, F_INF),
    (-np.inf, 0.0, None, None),
    (-np.inf, -1.0, F_INF, F_INF),
    (-1.0, 0.5, 0xBF000000, 0xBF000000),
    (3.0, np.nan, 0x40400000, 0x40400000),
]


@pytest.mark.parametrize(("x", "slope", "want", "zero_keeps"), PRELU)
def test_prelu_multiplies_at_zero_unless_it_keeps_it(
    x: float, slope: float, want: int | None, zero_keeps: int | None
) -> None:
    assert prelu_bits(x, slope) == want
    assert prelu_bits(x, slope, prelu_zero_keeps=True) == zero_keeps


def test_prelu_of_half_saturates_products_and_passes_infinities() -> None:
    x = lanes(F16, MINUS_H | H_MAX, H_INF, MINUS_H | H_INF, H_NAN)
    slope = lanes(F16, 0x4000, H_ONE, 0, H_ONE)  # 2, 1, 0, 1
    got = vreg("VPRELU", F16, x, slope)
    assert bits(got) == [MINUS_H | H_MAX, H_INF, 0, 0]


def test_division_is_rounded_once_and_flushes_on_vreg_cores_only() -> None:
    third = lanes(F32, F_ONE), lanes(F32, 0x40400000)
    assert bits(simd("vdiv", F32, *third)) == [0x3EAAAAAB]
    small = lanes(F32, 0x00800000), lanes(F32, 0x40000000)  # 2^-126 / 2
    assert bits(simd("vdiv", F32, *small)) == [0x00400000]
    assert bits(vreg("VDIV", F32, *small)) == [0]
    assert bits(vreg("VDIV", F32, -small[0], small[1])) == [MINUS_F], "zeros keep the sign"
    subnormal = lanes(F32, 0x80000001), lanes(F32, 0x80000001)
    assert bits(simd("vdiv", F32, *subnormal)) == [F_ONE]
    assert np.isnan(vreg("VDIV", F32, *subnormal)[0])  # 0 / 0
    by_zero = lanes(F32, F_ONE, MINUS_F | F_ONE), lanes(F32, 0, 0)
    assert bits(vreg("VDIV", F32, *by_zero)) == [F_INF, MINUS_F | F_INF]


ONE_INPUT = [
    ("vabs", F32, 0x80000000, 0),
    ("vabs", F16, MINUS_H | H_NAN, H_NAN),
    ("vsqrt", F32, 0x80000000, 0x80000000),
    ("vsqrt", F32, 0x40000000, 0x3FB504F3),
    ("vsqrt", F32, 0xBF800000, None),
    ("vln", F32, 0, MINUS_F | F_INF),
    ("vln", F32, F_ONE, 0),
    ("vln", F32, 0xBF800000, None),
    ("vln", F16, 0, MINUS_H | H_MAX),
    ("vrsqrt", F32, 0x40800000, 0x3F000000),
    ("vrelu", F32, 0xBF800000, 0),
]


@pytest.mark.parametrize(("name", "dtype", "x", "want"), ONE_INPUT)
def test_functions_of_one_input(name: str, dtype: DType, x: int, want: int | None) -> None:
    got = simd(name, dtype, lanes(dtype, x))
    assert np.isnan(got[0]) if want is None else bits(got) == [want]


def test_least_integer_has_no_absolute_value() -> None:
    assert simd("vabs", I16, np.array([-32768, -5], np.int16)).tolist() == [-32768, 5]


def test_logic_works_on_bits() -> None:
    a, b = lanes(U16, 0xF0F0, 0x1234), lanes(U16, 0xFF00, 0x00FF)
    assert bits(simd("vand", U16, a, b)) == [0xF000, 0x0034]
    assert bits(simd("vor", U16, a, b)) == [0xFFF0, 0x12FF]
    assert bits(simd("vnot", U16, a)) == [0x0F0F, 0xEDCB]


def test_copies_are_new_arrays() -> None:
    a = lanes(U16, 1, 2)
    got = simd("copy_ubuf_to_ubuf", U16, a)
    assert bits(got) == [1, 2]
    assert not np.shares_memory(got, a)


SCALARS = [
    (0.1, F16, 0x2E66),
    (0.1, F32, 0x3DCCCCCD),
    (1e6, F16, H_INF),
    (float("nan"), F16, H_NAN),
    (-1, U16, 0xFFFF),
    (2**32 + 5, U32, 5),
    (-129, I8, 0x7F),
    (2.9, I32, 2),
    (-2.9, I32, 0xFFFFFFFE),
    (float("inf"), I32, 0x7FFFFFFF),
    (float("nan"), I16, 0),
    (3, F32, 0x40400000),
    (10**400, F32, F_INF),
    (-(10**400), F16, MINUS_H | H_INF),
    (10**400 + 3, U32, 3),
]


@pytest.mark.parametrize(("value", "dtype", "want"), SCALARS)
def test_scalars_become_elements_before_use(value: float, dtype: DType, want: int) -> None:
    assert bits(np.array([as_element(value, dtype)]))[0] == want


def test_scalar_products_use_the_rounded_scalar() -> None:
    x = np.array([1000.0], np.float16)
    got = simd("vmuls", F16, x, scalar=as_element(0.1, F16))
    want = np.float16(np.float64(x[0]) * np.float64(np.float16(0.1)))
    assert got[0] == want


def test_dup_gives_the_scalar() -> None:
    assert arith.dup(How(F32, F32, RESET, np.float32(2.5))) == 2.5
