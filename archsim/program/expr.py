"""The integer expressions of programs: parsed once into closures, never evaluated as Python.

comparison: sum [(== | != | < | <= | > | >=) sum]          1 where it holds, else 0
sum:        product {(+ | -) product}
product:    unary {(* | // | %) unary}                     // and % round down, as in Python
unary:      {- | +} primary
primary:    integer | name | $name | (comparison) | (min | max)(comparison, comparison, ...)
"""

import operator
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from archsim.base.errors import Diagnostic, Faults, InputError, did_you_mean
from archsim.base.source import Span
from archsim.program.ir import Env, Expr
from archsim.program.reading import listed

MAX_TOKENS = 200
_TOKEN = re.compile(
    r"(?P<number>\d[\w.]*)|(?P<name>\$?[A-Za-z_]\w*)|(?P<op>//|[=!<>]=|[-+*%()<>,])|(?P<bad>\S)"
)
_INTEGER = re.compile(r"(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|\d[\d_]*)$")
_BINARY: Mapping[str, tuple[int, Callable[[Any, Any], Any]]] = {
    "==": (1, lambda a, b: int(a == b)),
    "!=": (1, lambda a, b: int(a != b)),
    "<": (1, lambda a, b: int(a < b)),
    "<=": (1, lambda a, b: int(a <= b)),
    ">": (1, lambda a, b: int(a > b)),
    ">=": (1, lambda a, b: int(a >= b)),
    "+": (2, operator.add),
    "-": (2, operator.sub),
    "*": (3, operator.mul),
    "//": (3, operator.floordiv),
    "%": (3, operator.mod),
}
_FUNCTIONS: Mapping[str, Callable[[Any, Any], Any]] = {"min": min, "max": max}
_ADVICE = {
    "/": "write // for integer division",
    "=": "write == to compare",
    "&": "use * for and, + for or",
    "|": "use * for and, + for or",
    "!": "write x == 0 for not",
}


@dataclass(frozen=True, slots=True)
class Names:
    """What an expression may read: integers. It may not read floats.

    `broken` names have a fault of their own: what reads them is not judged, and not parsed either.
    """

    integers: Collection[str]
    floats: Collection[str] = ()
    broken: Collection[str] = ()
    runtime: Collection[str] = ()


def parse_expr(text: str, span: Span, names: Names, faults: Faults) -> Expr | None:
    """Parse `text`, which stands at `span`.

    Notes at most one syntax fault, or every unknown name, and returns None then. A division or
    modulo by zero is a fault here where the divisor is a literal, else an `InputError` when the
    expression is computed.
    """
    stripped = text.strip()
    if stripped.isdecimal() and stripped.isascii() and len(stripped) < 19:
        return literal(int(stripped), stripped, span)
    parser = _Parser(text, span, names, faults)
    try:
        term = parser.whole()
    except _Stop:
        return None
    if parser.failed:
        return None
    return Expr(stripped, frozenset(parser.read), term.value, term.literal, span)


def literal(value: int, text: str | None = None, span: Span | None = None) -> Expr:
    """The expression that is always `value`."""
    return Expr(str(value) if text is None else text, frozenset(), lambda env: value, value, span)


class _Stop(Exception):
    """The rest of the expression cannot be read."""


@dataclass(frozen=True, slots=True)
class _Term:
    value: Callable[[Env], Any]
    literal: int | None = None
    name: str | None = None


class _Parser:
    """Precedence climbing over the tokens of one expression."""

    def __init__(self, text: str, span: Span, names: Names, faults: Faults) -> None:
        self.read: dict[str, None] = {}
        self.failed = False
        self._text, self._span, self._names, self._faults = text, span, names, faults
        self._tokens = list(_TOKEN.finditer(text))
        self._next = 0

    def whole(self) -> _Term:
        if not self._tokens:
            self._stop("the expression is empty; an integer expression must stand here", 0)
        if len(self._tokens) > MAX_TOKENS:
            self._stop(f"the expression has more than {MAX_TOKENS} parts; split it up", 0)
        term = self._binary(1)
        if self._next < len(self._tokens):
            self._unexpected("an operator must stand here")
        return term

    def _binary(self, lowest: int) -> _Term:
        left = self._unary()
        while (row := _BINARY.get(token := self._peek())) and row[0] >= lowest:
            at = self._position()
            self._next += 1
            right = self._binary(row[0] + 1)
            left = self._applied(token, row[1], left, right, at)
            if row[0] == 1 and _BINARY.get(self._peek(), (0,))[0] == 1:
                self._unexpected("comparisons do not chain; use parentheses")
        return left

    def _applied(
        self, token: str, apply: Callable[[Any, Any], Any], left: _Term, right: _Term, at: int
    ) -> _Term:
        if token in ("//", "%"):
            if right.literal == 0:
                self._stop(_zero_message(token), at, len(token))
            if right.literal is None:
                apply = _checked(token, apply, self._span.shifted(at, len(token)))
        return _binary_term(apply, left, right)

    def _unary(self) -> _Term:
        signs = 0
        while self._peek() in ("-", "+"):
            signs += self._peek() == "-"
            self._next += 1
        term = self._primary()
        return _binary_term(operator.sub, _constant(0), term) if signs % 2 else term

    def _primary(self) -> _Term:
        token = self._peek()
        if token == "(":
            self._next += 1
            term = self._binary(1)
            self._expect(")")
            return term
        kind = self._tokens[self._next].lastgroup if token else None
        if kind == "number":
            return self._number(token)
        if kind != "name":
            self._unexpected("a number, a name or ( must stand here")
        at = self._position()
        self._next += 1
        if self._peek() == "(":
            return self._call(token, at)
        return self._named(token, at)

    def _number(self, token: str) -> _Term:
        if not _INTEGER.match(token):
            self._stop(f"{token} is no integer; expressions are over integers", self._position())
        try:
            value = int(token, 0) if token[:2].lower() in ("0x", "0b", "0o") else int(token)
        except ValueError:
            self._stop(f"{token[:20]} cannot be read as an integer", self._position())
        self._next += 1
        return _constant(value)

    def _named(self, token: str, at: int) -> _Term:
        name = token.removeprefix("$")
        if name not in self._names.integers:
            self._reject_name(name, at, len(token))
        self.read[name] = None
        return _Term(lambda env: env[name], name=name)

    def _reject_name(self, name: str, at: int, width: int) -> None:
        self.failed = True
        if name in self._names.broken:
            return
        place = self._span.shifted(at, width)
        if name in self._names.floats:
            self._faults.add(f"{name} is not an integer; expressions are over integers", place)
            return
        if name in self._names.runtime:
            self._faults.add(
                f"{name} is read by tgetval, so only the run knows it; the operand ${name} may "
                "stand for a number, not in a loop bound, condition, offset, slot or valid extent",
                place,
            )
            return
        known = sorted(self._names.integers)
        rule = f"known here: {listed(known)}" if known else "no scalar or loop variable is known"
        self._faults.add(f'unknown name "{name}"; {rule}', place, did_you_mean(name, known))

    def _call(self, token: str, at: int) -> _Term:
        apply = _FUNCTIONS.get(token)
        if apply is None:
            fix = did_you_mean(token, _FUNCTIONS)
            self._stop(f'unknown function "{token}"; known: min, max', at, len(token), fix)
        self._next += 1
        terms = [self._binary(1)]
        while self._peek() == ",":
            self._next += 1
            terms.append(self._binary(1))
        self._expect(")")
        if len(terms) == 1:
            self._stop(f"{token} has one argument; it takes two or more", at, len(token))
        result = terms[0]
        for term in terms[1:]:
            result = _binary_term(apply, result, term)
        return result

    def _peek(self) -> str:
        return self._tokens[self._next].group() if self._next < len(self._tokens) else ""

    def _position(self) -> int:
        if self._next < len(self._tokens):
            return self._tokens[self._next].start()
        return len(self._text.rstrip())

    def _expect(self, token: str) -> None:
        if self._peek() != token:
            self._unexpected(f"{token} must stand here")
        self._next += 1

    def _unexpected(self, rule: str) -> NoReturn:
        token = self._peek()
        quote = "'" if token == '"' else '"'
        what = f"unexpected {quote}{token}{quote}" if token else "the expression ends too early"
        self._stop(f"{what}; {rule}", self._position(), len(token) or 1, _ADVICE.get(token))

    def _stop(self, message: str, at: int, width: int = 1, fix: str | None = None) -> NoReturn:
        self._faults.add(message, self._span.shifted(at, width), fix)
        raise _Stop


def _constant(value: int) -> _Term:
    return _Term(lambda env: value, literal=value)


def _binary_term(apply: Callable[[Any, Any], Any], left: _Term, right: _Term) -> _Term:
    """One closure; the commonest shapes save the inner calls, since they run per instruction."""
    a, b = left.value, right.value
    if right.literal is not None:
        constant = right.literal
        if left.literal is not None:
            return _constant(apply(left.literal, constant))
        if left.name is not None:
            name = left.name
            return _Term(lambda env: apply(env[name], constant))
        return _Term(lambda env: apply(a(env), constant))
    return _Term(lambda env: apply(a(env), b(env)))


def _zero_message(token: str) -> str:
    what = "division" if token == "//" else "modulo"
    return f"{what} by zero; the right side of {token} must not be 0"


def _checked(
    token: str, apply: Callable[[Any, Any], Any], place: Span
) -> Callable[[Any, Any], Any]:
    def divide(a: int, b: int) -> Any:
        if b == 0:
            raise InputError([Diagnostic(_zero_message(token), place)])
        return apply(a, b)

    return divide
