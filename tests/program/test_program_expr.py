"""Integer expressions: the same values as Python's, faults with their column."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archsim.base.errors import Faults, InputError
from archsim.base.source import Source, Span
from archsim.program.expr import MAX_TOKENS, Names, parse_expr
from archsim.program.ir import Expr

NAMES = Names(("i", "N", "rows"), ("alpha",), ("bad",))


def parsed(text: str) -> Expr:
    faults = Faults()
    expr = parse_expr(text, _span(text), NAMES, faults)
    faults.raise_if_any()
    assert expr is not None
    return expr


def fault_of(text: str) -> str:
    """The only fault of a text: "column: message", and behind " | " the fix."""
    faults = Faults()
    assert parse_expr(text, _span(text), NAMES, faults) is None
    (fault,) = faults.found
    assert fault.span is not None
    return f"{fault.span.column}: {fault.message}" + (f" | {fault.fix}" if fault.fix else "")


def _span(text: str) -> Span:
    return Span(Source("t.yaml"), 1, 1, len(text))


def value(text: str, **env: int) -> int:
    return parsed(text).value(env)


_ATOMS = st.one_of(
    st.integers(0, 40).map(str),
    st.integers(0, 300).map(hex),
    st.sampled_from(["i", "N", "$i", "$N"]),
)
_OPERATORS = ["+", "-", "*", "//", "%", "==", "!=", "<", "<=", ">", ">="]


def _combined(inner: Any) -> Any:
    """Comparisons stand in parentheses: in Python they chain, here they must not."""
    binary = st.tuples(inner, st.sampled_from(_OPERATORS), inner).map(
        lambda t: f"({t[0]} {t[1]} {t[2]})" if t[1] in _OPERATORS[5:] else f"{t[0]} {t[1]}{t[2]}"
    )
    return st.one_of(
        binary,
        inner.map("-{}".format),
        inner.map("({})".format),
        st.tuples(st.sampled_from(["min", "max"]), st.lists(inner, min_size=2, max_size=3)).map(
            lambda t: f"{t[0]}({', '.join(t[1])})"
        ),
    )


EXPRESSIONS = st.recursive(_ATOMS, _combined, max_leaves=12)


@given(EXPRESSIONS, st.integers(-20, 20), st.integers(-3, 50))
def test_value_is_that_of_python(text: str, i: int, n: int) -> None:
    env = {"i": i, "N": n}
    try:
        expected = int(eval(text.replace("$", ""), {"min": min, "max": max}, env))
    except ZeroDivisionError:
        with pytest.raises(InputError, match="by zero"):
            value(text, **env)
        return
    assert value(text, **env) == expected


@given(EXPRESSIONS)
def test_names_and_literal_tell_what_the_value_depends_on(text: str) -> None:
    try:
        expr = parsed(text)
    except InputError:
        return  # a division by a literal zero
    assert expr.names == set(re.findall(r"\b[iN]\b", text))
    assert (expr.literal is None) == bool(expr.names)
    if expr.literal is not None:
        assert expr.literal == expr.value({})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7 // 2", 3),
        ("-7 // 2", -4),
        ("-7 % 3", 2),
        ("7 % -3", -2),
        ("2 + 3 * 4", 14),
        ("(2 + 3) * 4", 20),
        ("10 - 3 - 2", 5),
        ("64 // 4 // 2", 8),
        ("--3", 3),
        ("-+-3", 3),
        ("0x10 + 0b11", 19),
        ("1_000", 1000),
        ("3 == 3", 1),
        ("1 + 2 > 2", 1),
        ("(1 > 2) + 5", 5),
        ("max(1, 7, 3) - min(4, 2)", 5),
    ],
)
def test_constant(text: str, expected: int) -> None:
    assert (parsed(text).literal, value(text)) == (expected, expected)


def test_plain_number_keeps_its_text() -> None:
    assert (parsed(" 016 ").text, parsed("016").literal) == ("016", 16)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "1: the expression is empty; an integer expression must stand here"),
        ("1 +", "4: the expression ends too early; a number, a name or ( must stand here"),
        ("(1", "3: the expression ends too early; ) must stand here"),
        ("1 2", '3: unexpected "2"; an operator must stand here'),
        ("1)", '2: unexpected ")"; an operator must stand here'),
        ("N / 2", '3: unexpected "/"; an operator must stand here | write // for integer division'),
        ("i = 2", '3: unexpected "="; an operator must stand here | write == to compare'),
        ('"i"', "1: unexpected '\"'; a number, a name or ( must stand here"),
        ("1.5 * i", "1: 1.5 is no integer; expressions are over integers"),
        ("i + 1e3", "5: 1e3 is no integer; expressions are over integers"),
        ("i * alpha", "5: alpha is not an integer; expressions are over integers"),
        ("n + 1", '1: unknown name "n"; known here: N, i, rows | did you mean "N"?'),
        ("row*2", '1: unknown name "row"; known here: N, i, rows | did you mean "rows"?'),
        ("2 * $zzz", '5: unknown name "zzz"; known here: N, i, rows'),
        ("maxx(1, 2)", '1: unknown function "maxx"; known: min, max | did you mean "max"?'),
        ("min(3)", "1: min has one argument; it takes two or more"),
        ("i // 0", "3: division by zero; the right side of // must not be 0"),
        ("i % (2 - 2)", "3: modulo by zero; the right side of % must not be 0"),
        ("1 < i < 3", '7: unexpected "<"; comparisons do not chain; use parentheses'),
        ("i ? 1", '3: unexpected "?"; an operator must stand here'),
    ],
)
def test_fault(text: str, expected: str) -> None:
    assert fault_of(text) == expected


def test_every_unknown_name_is_told() -> None:
    faults = Faults()
    assert parse_expr("q + i*p", _span("q + i*p"), NAMES, faults) is None
    assert [fault.span.column for fault in faults.found if fault.span] == [1, 7]


def test_name_with_a_fault_of_its_own_is_not_told_again() -> None:
    faults = Faults()
    assert parse_expr("bad + 1", _span("bad + 1"), NAMES, faults) is None
    assert faults.found == []


def test_division_by_zero_at_run_time_names_its_place() -> None:
    expr = parsed("8 // (i - 3)")
    assert expr.value({"i": 2}) == -8
    with pytest.raises(InputError) as caught:
        expr.value({"i": 3})
    expected = "t.yaml:1:3: division by zero; the right side of // must not be 0"
    assert str(caught.value) == expected


def test_length_has_a_limit() -> None:
    at_limit = "+".join(["i"] * (MAX_TOKENS // 2))
    assert value(at_limit, i=1) == MAX_TOKENS // 2
    assert fault_of(at_limit + "+i+i") == (
        f"1: the expression has more than {MAX_TOKENS} parts; split it up"
    )


def test_deepest_nesting_is_read() -> None:
    depth = (MAX_TOKENS - 1) // 2
    assert value("(" * depth + "i" + ")" * depth, i=7) == 7
