"""References in numpy's words, and what counts as equal to them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from trace_texts import Load

from archsim.base.errors import Faults, InputError
from archsim.base.source import Source, Span
from archsim.program.expect import Comparison, Mismatch, compare, references
from archsim.program.ir import Program
from archsim.program.reference import parse_reference
from archsim.program.tensors import initial_values

A = np.array([[1.5, -2.0, 3.25], [0.0, 65000.0, -1e-3]], np.float32)
B = np.array([[2.0, 0.5, -1.0], [4.0, 1000.0, 8.0]], np.float32)
H = A.astype(np.float16)
BYTES = np.array([[7, -7, 0], [127, -128, 3]], np.int8)
NAMES = {"a": A, "b": B, "h": H, "i": BYTES, "N": 3, "alpha": 0.5}


def value(text: str, **names: Any) -> Any:
    faults = Faults()
    span = Span(Source("t.yaml"), 1, 1, len(text))
    known = {**NAMES, **names}
    reference = parse_reference(text, span, known, faults)
    faults.raise_if_any()
    assert reference is not None
    return reference.value(known)


def same(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind not in "iub")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b * 2 - 1", lambda: A + B * 2 - 1),
        ("-a / b", lambda: -A / B),
        ("a // 0.5 + a % 0.75", lambda: A // np.float32(0.5) + A % np.float32(0.75)),
        ("b ** 2", lambda: B**2),
        ("alpha * a + N", lambda: np.float32(0.5) * A + 3),
        ("$alpha * a", lambda: np.float32(0.5) * A),
        ("maximum(a, 0)", lambda: np.maximum(A, 0)),
        ("minimum(a, b)", lambda: np.minimum(A, B)),
        (
            "clip(maximum(a + b, 0), 0, 65504).astype(f16)",
            lambda: np.clip(np.maximum(A + B, 0), 0, 65504).astype(np.float16),
        ),
        ("where(a > b, a, b)", lambda: np.where(A > B, A, B)),
        ("(a == b) * 1 + (a != b) * 2", lambda: (A == B) * 1 + (A != B) * 2),
        ("(a < b) * 4 + (a <= b) * 8 + (a >= b)", lambda: (A < B) * 4 + (A <= B) * 8 + (A >= B)),
        ("abs(a) + exp(-b)", lambda: np.abs(A) + np.exp(-B)),
        ("log(b * b) + sqrt(b * b)", lambda: np.log(B * B) + np.sqrt(B * B)),
        ("rint(a) + floor(a)", lambda: np.rint(A) + np.floor(A)),
        ("ceil(a) + trunc(a)", lambda: np.ceil(A) + np.trunc(A)),
        ("sum(a)", lambda: np.sum(A)),
        ("a.sum(axis=1, keepdims=True)", lambda: A.sum(axis=1, keepdims=True)),
        ("max(a, axis=-1) - min(a, axis=1)", lambda: A.max(axis=1) - A.min(axis=1)),
        ("mean(a, axis=(0, 1))", lambda: A.mean()),
        ("a.T.reshape(2, 3)", lambda: A.T.reshape(2, 3)),
        ("reshape(a, (3, -1))", lambda: A.reshape(3, -1)),
        ("h + h", lambda: H + H),
        ("h * 2", lambda: H * np.float16(2)),
        ("i + i", lambda: BYTES + BYTES),
        ("i.astype(f32) * 2.5", lambda: BYTES.astype(np.float32) * np.float32(2.5)),
        ("i // 2", lambda: BYTES // np.int8(2)),
        ("a.astype(half).astype('i32')", lambda: A.astype(np.float16).astype(np.int32)),
        ("3", lambda: 3),
    ],
)  # fmt: skip
def test_value_is_that_of_numpy(text: str, expected: Callable[[], Any]) -> None:
    with np.errstate(all="ignore"):
        assert same(value(text), expected())


def test_bf16_is_rounded_once() -> None:
    tie = np.array([1 + 2**-8 + 2**-40])  # just above half way: must go up
    assert value("t.astype(bf16)", t=tie)[0] == ml_dtypes.bfloat16(1 + 2**-7)
    assert same(value("t.astype(bf16) + 1", t=tie), (tie * 0 + 2).astype(ml_dtypes.bfloat16))


def test_overflow_and_invalid_operations_are_silent() -> None:
    assert np.isnan(value("log(a)")[0, 1])
    assert np.isinf(value("exp(b)")[1, 1])
    assert value("(a * 1e3).astype(i8)").dtype == np.int8


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("a + reshape(b, 3, 2)", 1, "numpy refuses this: operands could not be broadcast"),
        ("1 + reshape(a, 4, 2)", 5, "numpy refuses this: cannot reshape array of size 6"),
        ("a + sum(b, axis=2)", 5, "numpy refuses this: axis 2 is out of bounds"),
        ("a * 9 ** 9999", 5, "numpy refuses this: the power has more than 4096 bits"),
        ("1 // 0 + a", 1, "numpy refuses this: integer division or modulo by zero"),
    ],
)
def test_what_numpy_refuses_has_its_place(text: str, column: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        value(text)
    (fault,) = caught.value.diagnostics
    assert fault.message.startswith(message)
    assert fault.span is not None
    assert fault.span.column == column


@pytest.mark.parametrize(
    "text",
    [
        "a.__class__", "a[0]", "[x for x in a]", "lambda: 0", "open('x')", "a if a else b",
        "f'{a}'", "'text'", "a and b", "not a", "~a", "a @ b", "a := b", "(a, b)", "None", "True",
        "1j", "a.dtype", "np.linalg(a)", "exp(*a)", "exp(**a)", "a.astype(dtype=f16)", "sum(a, 1)",
        "reshape(a, N)", "a is b", "a in b", "a.copy()", "().__class__.__bases__", "f16", "exp",
        "(" * 300 + "a" + ")" * 300,
    ],
)  # fmt: skip
def test_nothing_else_of_python_exists(text: str) -> None:
    with pytest.raises(InputError):
        value(text)


def test_np_may_stand_before_a_function() -> None:
    assert np.array_equal(value("np.maximum(a, 0)"), value("maximum(a, 0)"))


def program(load: Load, expect: str, dtype: str = "f32") -> Program:
    return load(
        "scalars: {N: 2}\n"
        f"tensors:\n  a: {{dtype: {dtype}, shape: [2, 3], init: {{arange: {{start: 1}}}}}}\n"
        f"program: []\nexpect:\n  a: {expect}\n"
    )


def compared(
    load: Load, expect: str, actual: Any, reference: Any, dtype: str = "f32"
) -> Comparison:
    read = program(load, expect, dtype)
    shape = read.tensors["a"].shape
    wide = [np.broadcast_to(np.asarray(values), shape) for values in (actual, reference)]
    return compare(read.expect[0], read.tensors["a"], wide[0], wide[1])


def f32(*values: float) -> Any:
    return np.array(values, np.float32)


PLAIN = "{numpy: a}"


def test_equal_elements_are_right(load: Load) -> None:
    values = f32(1, np.inf, -np.inf)
    assert compared(load, PLAIN, values, values) == Comparison(True, 0.0, 0, 6, None)


def test_two_nans_are_equal_and_one_is_wrong(load: Load) -> None:
    both = compared(load, PLAIN, f32(np.nan, 1, 2), f32(np.nan, 1, 2))
    assert (both.ok, both.max_abs_err) == (True, 0.0)
    for pair in ((f32(1, 2, np.nan), f32(1, 2, 3)), (f32(1, 2, 3), f32(1, 2, np.nan))):
        one = compared(load, "{numpy: a, atol: 9, rtol: 9}", *pair)
        assert (one.ok, one.max_abs_err, one.mismatches) == (False, np.inf, 2)


def test_infinity_is_near_to_nothing(load: Load) -> None:
    loose = "{numpy: a, atol: 1.0e+30, rtol: 1.0e+30}"
    for a, b in ((np.inf, 3e38), (3e38, np.inf), (np.inf, -np.inf)):
        out = compared(load, loose, f32(0, 0, a), f32(0, 0, b))
        assert (out.ok, out.max_abs_err) == (False, np.inf)


@pytest.mark.parametrize(("difference", "ok"), [(0.25, True), (0.3125, False)])
def test_tolerance_at_both_sides(load: Load, difference: float, ok: bool) -> None:
    """0.125 + 0.0625 * 2 = 0.25."""
    out = compared(
        load, "{numpy: a, atol: 0.125, rtol: 0.0625}", f32(0, 0, -2 - difference), f32(0, 0, -2)
    )
    assert (out.ok, out.max_abs_err) == (ok, difference)


def test_without_tolerance_an_element_must_be_equal(load: Load) -> None:
    out = compared(load, PLAIN, f32(0, 1, 2), np.array([0, 1 + 1e-9, 2]))
    assert (out.ok, out.mismatches) == (False, 2)
    assert out.first == Mismatch((0, 1), 1.0, 1 + 1e-9)


def test_first_mismatch_is_that_in_row_order(load: Load) -> None:
    actual, reference = np.zeros((2, 3), np.int16), np.zeros((2, 3), np.int16)
    actual[1, 0], actual[1, 2] = 5, -3
    out = compared(load, PLAIN, actual, reference, "i16")
    assert out == Comparison(False, 5.0, 2, 6, Mismatch((1, 0), 5, 0))


def test_integers_are_not_compared_as_floats(load: Load) -> None:
    out = compared(load, PLAIN, np.int64(2**62 + 1), np.int64(2**62), "i64")
    assert (out.ok, out.max_abs_err, out.mismatches) == (False, 1.0, 6)
    assert out.first == Mismatch((0, 0), 2**62 + 1, 2**62)


def test_exact_compares_bits(load: Load) -> None:
    exact = "{numpy: a, exact: true, atol: 5}"
    assert compared(load, exact, f32(0, 1, np.nan), f32(0, 1, np.nan)).ok
    assert not compared(load, exact, f32(-0.0, 1, 2), f32(0.0, 1, 2)).ok
    assert compared(load, PLAIN, f32(-0.0, 1, 2), f32(0.0, 1, 2)).ok
    near = np.nextafter(np.float32(1), np.float32(2))
    assert not compared(load, exact, f32(0, near, 2), f32(0, 1, 2)).ok


def test_exact_rounds_the_reference_to_the_type_of_the_tensor(load: Load) -> None:
    exact = "{numpy: a, exact: true}"
    bf16 = np.array([1.0, 1.0078125, 2.0], ml_dtypes.bfloat16)
    reference = np.array([1.0, 1 + 2**-8 + 2**-40, 2.0])
    assert compared(load, exact, bf16, reference, "bf16").ok
    assert compared(load, exact, bf16, reference, "bf16").max_abs_err == 0
    assert not compared(load, PLAIN, bf16, reference, "bf16").ok


@given(
    arrays(np.float32, (2, 3), elements=st.floats(width=32)),
    arrays(np.float32, (2, 3), elements=st.floats(width=32)),
    st.sampled_from([0.0, 0.5, 1e30]),
    st.sampled_from([0.0, 0.25]),
)
def test_an_element_is_right_as_the_rule_says(a: Any, b: Any, atol: float, rtol: float) -> None:
    expect = _Expect(atol, rtol)
    out = compare(expect, None, a, b)  # type: ignore[arg-type]
    wrong = [
        not (
            x == y
            or (np.isnan(x) and np.isnan(y))
            or (np.isfinite(x) and np.isfinite(y) and abs(x - y) <= atol + rtol * abs(y))
        )
        for x, y in zip(a.astype(float).ravel(), b.astype(float).ravel(), strict=True)
    ]
    assert (out.ok, out.mismatches) == (not any(wrong), sum(wrong))
    if out.first is not None:
        assert out.first.index == divmod(wrong.index(True), 3)


class _Expect:
    """The part of an `Expect` that the comparison reads."""

    exact = False

    def __init__(self, atol: float, rtol: float) -> None:
        self.atol, self.rtol = atol, rtol


def initial(read: Program) -> dict[str, Any]:
    return {name: initial_values(decl, read.directory) for name, decl in read.tensors.items()}


def test_reference_is_computed_from_initial_values_and_scalars(load: Load) -> None:
    read = program(load, '{numpy: "a * N + 0.5"}')
    assert np.array_equal(
        references(read, initial(read))["a"], np.arange(1, 7).reshape(2, 3) * 2 + 0.5
    )


def test_small_reference_spreads_over_the_tensor(load: Load) -> None:
    read = program(load, '{numpy: "sum(a, axis=0)"}')
    assert references(read, initial(read))["a"].tolist() == [[5, 7, 9]] * 2
    read = program(load, "{numpy: 7}")
    assert references(read, initial(read))["a"].tolist() == [[7] * 3] * 2


def test_reference_from_a_file(load: Load, tmp_path: Path) -> None:
    np.savez(tmp_path / "r.npz", want=np.ones((2, 3), np.float32), other=np.zeros(3))
    read = program(load, "{file: r.npz, key: want}")
    assert references(read, initial(read))["a"].tolist() == [[1] * 3] * 2


def test_reference_of_a_wrong_shape_is_wrong_input(load: Load) -> None:
    read = program(load, '{numpy: "sum(a, axis=1)"}')
    with pytest.raises(InputError) as caught:
        references(read, initial(read))
    assert str(caught.value).splitlines()[0] == (
        "t.yaml:6:15: expect of a has shape [2]; must spread over that of the tensor, [2, 3]"
    )


def test_reference_that_numpy_refuses_points_into_its_text(load: Load) -> None:
    read = program(load, '{numpy: "1 + reshape(a, 4, 2)"}')
    with pytest.raises(InputError) as caught:
        references(read, initial(read))
    assert str(caught.value).startswith("t.yaml:6:19: numpy refuses this: cannot reshape")
