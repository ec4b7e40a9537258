"""The arithmetic of the definitions is exact: against fractions, lane by lane."""

from fractions import Fraction

import numpy as np
import pytest
from definitions.call import TYPES, Call
from definitions.numbers import FORMATS, bfloat, exactly, fma, narrowed, single
from hypothesis import given, settings
from hypothesis import strategies as st

MODES = ("rint", "round", "floor", "ceil", "trunc", "odd")
NOTHING = Call("a2a3", "f32", "f32", {}, {}, {}, {}, {}, infnan=True)
singles = st.floats(width=32, allow_nan=False, allow_infinity=False)
quick = settings(max_examples=200, deadline=None, derandomize=True, database=None)


@quick
@given(singles, st.sampled_from(MODES), st.sampled_from(("f16", "bf16")))
def test_narrowing_is_the_rounding_of_the_exact_value(x: float, mode: str, dtype: str) -> None:
    precision, least, greatest = FORMATS[dtype]
    want = exactly(Fraction(x), precision, least, mode)
    got = float(narrowed(np.array([x]), dtype, mode).astype(np.float64)[0])
    if abs(want) <= greatest:
        assert Fraction(got) == want
        assert np.signbit(got) == np.signbit(x)
    else:
        assert abs(got) >= greatest


@pytest.mark.parametrize(
    ("mode", "up", "down"),
    [
        ("rint", np.inf, -np.inf),
        ("round", np.inf, -np.inf),
        ("floor", 65504.0, -np.inf),
        ("ceil", np.inf, -65504.0),
        ("trunc", 65504.0, -65504.0),
        ("odd", 65504.0, -65504.0),
    ],
)
def test_overflow_goes_where_the_mode_points(mode: str, up: float, down: float) -> None:
    assert narrowed(np.array([1e6, -1e6]), "f16", mode).tolist() == [up, down]


@quick
@given(singles, singles, singles)
def test_a_fused_sum_is_rounded_once(a: float, b: float, addend: float) -> None:
    want = exactly(Fraction(a) * Fraction(b) + Fraction(addend), 24, -149, "rint")
    x, y, z = (np.array([v], np.float32) for v in (a, b, addend))
    got = float(fma(NOTHING, x, y, z)[0])
    greatest = FORMATS["f32"][2]
    assert np.isinf(got) if abs(want) > greatest else Fraction(got) == want


@quick
@given(singles)
def test_bfloat_is_nearest_even(x: float) -> None:
    want = np.array([x], np.float32).astype(TYPES["bf16"]).view(np.uint16)
    assert bfloat(single(np.array([x]))).view(np.uint16) == want
