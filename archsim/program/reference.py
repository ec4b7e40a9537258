"""The language of `expect: {c: {numpy: "..."}}`: parsed by Python's parser, then a strict list.

Names are tensors (their initial values) and scalars; nothing else of Python exists in it. Values
keep numpy's types: f16 + f16 is f16, a scalar takes the type of the array it meets.
"""

import ast
import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from archsim.base.dtypes import DTYPES, SPELLINGS, DType, dtype_named
from archsim.base.errors import Diagnostic, Faults, InputError, did_you_mean
from archsim.base.source import Span
from archsim.program.reading import listed
from archsim.program.rounded import to_dtype

MAX_POWER_BITS = 4096
_BINARY: Mapping[type, Callable[[Any, Any], Any]] = MappingProxyType(
    {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.Div: operator.truediv,
        ast.FloorDiv: operator.floordiv,
        ast.Mod: operator.mod,
        ast.Pow: operator.pow,
        ast.Eq: operator.eq,
        ast.NotEq: operator.ne,
        ast.Lt: operator.lt,
        ast.LtE: operator.le,
        ast.Gt: operator.gt,
        ast.GtE: operator.ge,
    }
)


@dataclass(frozen=True, slots=True)
class _Function:
    """A function: numpy's own, how many positional arguments it takes, and its keywords."""

    call: Callable[..., Any]
    least: int
    most: int
    keywords: tuple[str, ...] = ()


def _reshape(array: Any, *shape: Any) -> Any:
    return np.reshape(array, shape[0] if len(shape) == 1 else shape)


def _astype(array: Any, dtype: DType) -> Any:
    return to_dtype(np.asarray(array), dtype)


_REDUCE = ("axis", "keepdims")
FUNCTIONS: Mapping[str, _Function] = MappingProxyType(
    {
        **{name: _Function(getattr(np, name), 2, 2) for name in ("maximum", "minimum")},
        **{
            name: _Function(getattr(np, name), 1, 1)
            for name in ("abs", "exp", "log", "sqrt", "rint", "floor", "ceil", "trunc")
        },
        # one positional argument: max(a, b) would read b as an axis
        **{
            name: _Function(getattr(np, name), 1, 1, _REDUCE)
            for name in ("sum", "max", "min", "mean")
        },
        "clip": _Function(np.clip, 3, 3),
        "where": _Function(np.where, 3, 3),
        "reshape": _Function(_reshape, 2, 6),
        "astype": _Function(_astype, 2, 2),
    }
)
_KNOWN = (*FUNCTIONS, "T")


@dataclass(frozen=True, slots=True)
class Reference:
    """A parsed expression: `value(names)` computes it from arrays and scalars by name."""

    text: str
    span: Span
    tree: ast.expr

    def value(self, names: Mapping[str, Any]) -> Any:
        """The value; numpy's complaints (shapes that do not fit) become an `InputError`."""
        with np.errstate(all="ignore"):
            return _Evaluation(self, names).of(self.tree)


def parse_reference(
    text: str, span: Span, names: Collection[str], faults: Faults
) -> Reference | None:
    """Parse `text`, which stands at `span`; `names` are the tensors and scalars it may read.

    Every fault is noted; None where there is one.
    """
    source = text.replace("$", " ").replace("\n", " ")  # same length: columns stay
    lead = len(source) - len(source.lstrip())
    try:
        tree = ast.parse(source.strip(), mode="eval").body
    except SyntaxError as error:
        column = lead + max(0, (error.offset or 1) - 1)
        message = f"the expression cannot be read: {error.msg}"
        faults.add(message, span.shifted(min(column, max(0, len(text) - 1))))
        return None
    except (RecursionError, MemoryError, ValueError):
        faults.add("the expression is nested too deeply or holds a strange character", span)
        return None
    before = len(faults.found)
    _Check(text, span.shifted(lead), names, faults).expression(tree)
    return Reference(text, span.shifted(lead), tree) if len(faults.found) == before else None


def _place(span: Span, node: ast.expr) -> Span:
    width = (node.end_col_offset or node.col_offset + 1) - node.col_offset
    return span.shifted(node.col_offset, max(1, width))


class _Check:
    """Holds a tree against what the language knows."""

    def __init__(self, text: str, span: Span, names: Collection[str], faults: Faults) -> None:
        self._span, self._names, self._faults = span, names, faults

    def expression(self, node: ast.expr) -> None:
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            self.expression(node.left)
            self.expression(node.right)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            self.expression(node.operand)
        elif isinstance(node, ast.Compare):
            self._comparison(node)
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            pass
        elif isinstance(node, ast.Name):
            self._name(node)
        elif isinstance(node, ast.Attribute) and node.attr == "T":
            self.expression(node.value)
        elif isinstance(node, ast.Call):
            self._call(node)
        else:
            self._refuse(node)

    def _comparison(self, node: ast.Compare) -> None:
        if len(node.ops) > 1:
            self._add(node, "comparisons do not chain; use parentheses and *")
        elif type(node.ops[0]) not in _BINARY:
            self._refuse(node)
        self.expression(node.left)
        for right in node.comparators:
            self.expression(right)

    def _name(self, node: ast.Name) -> None:
        if node.id in self._names:
            return
        rule = f"known here: {listed(self._names)}" if self._names else "nothing is declared"
        fix = did_you_mean(node.id, self._names)
        if node.id in FUNCTIONS:
            rule, fix = "it is a function and takes arguments", None
        self._add(node, f'unknown name "{node.id}"; {rule}', fix)

    def _call(self, node: ast.Call) -> None:
        name, given = _called(node)
        function = FUNCTIONS.get(name or "")
        if function is None:
            known = ", ".join(_KNOWN)
            fix = did_you_mean(name or "", _KNOWN)
            self._add(node, f'unknown function "{name or "(...)"}"; known: {known}', fix)
            return
        if not function.least <= len(given) <= function.most:
            self._count(node, str(name), function, len(given))
            return
        self.expression(given[0])
        for argument in given[1:]:
            if name == "astype":
                self._dtype(argument)
            elif name == "reshape":
                self._integers(argument, "an extent")
            else:
                self.expression(argument)
        for keyword in node.keywords:
            self._keyword(keyword, str(name), function)

    def _count(self, node: ast.Call, name: str, function: _Function, count: int) -> None:
        takes = str(function.least)
        if function.most > function.least:
            takes += f" to {function.most}"
        fix = "write maximum(a, b)" if name == "max" else None
        fix = "write minimum(a, b)" if name == "min" else fix
        noun = "argument" if takes == "1" else "arguments"
        self._add(node, f"{name} takes {takes} {noun}, {count} given", fix)

    def _keyword(self, keyword: ast.keyword, name: str, function: _Function) -> None:
        if keyword.arg not in function.keywords:
            known = ", ".join(function.keywords) or "none"
            message = f'unknown keyword "{keyword.arg}" of {name}; known: {known}'
            self._add(keyword.value, message, did_you_mean(keyword.arg or "", function.keywords))
        elif keyword.arg == "keepdims":
            value = keyword.value
            if not (isinstance(value, ast.Constant) and isinstance(value.value, bool)):
                self._add(value, "keepdims must be True or False")
        else:
            self._integers(keyword.value, "axis")

    def _dtype(self, node: ast.expr) -> None:
        name = _dtype_text(node)
        found = dtype_named(name) if name else None
        if found is None or found.storage is None:
            fix = did_you_mean(name, SPELLINGS) if name else None
            self._add(node, f"astype must name one of {', '.join(DTYPES)}", fix)

    def _integers(self, node: ast.expr, what: str) -> None:
        items = node.elts if isinstance(node, ast.Tuple | ast.List) else [node]
        for item in items:
            if _integer(item) is None:
                self._add(item, f"{what} must be an integer")

    def _refuse(self, node: ast.expr) -> None:
        known = "names, numbers, + - * / // % **, comparisons, " + ", ".join(_KNOWN)
        self._add(node, f"not part of the language of expect; it knows {known}")

    def _add(self, node: ast.expr, message: str, fix: str | None = None) -> None:
        self._faults.add(message, _place(self._span, node), fix)


def _called(node: ast.Call) -> tuple[str | None, list[ast.expr]]:
    """Name and positional arguments of `f(a, b)` and of `a.f(b)` alike."""
    if isinstance(node.func, ast.Name):
        return node.func.id, node.args
    if isinstance(node.func, ast.Attribute):
        return node.func.attr, [node.func.value, *node.args]
    return None, node.args


def _dtype_text(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return None


def _integer(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _integer(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return None


class _Evaluation:
    """Computes a tree that `_Check` has passed."""

    def __init__(self, reference: Reference, names: Mapping[str, Any]) -> None:
        self._reference, self._names = reference, names

    def of(self, node: ast.expr) -> Any:
        try:
            return self._value(node)
        except (ValueError, TypeError, ArithmeticError) as error:
            place = _place(self._reference.span, node)
            raise InputError([Diagnostic(f"numpy refuses this: {error}", place)]) from None

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self._names[node.id]
            case ast.UnaryOp():
                value = self.of(node.operand)
                return -value if isinstance(node.op, ast.USub) else value
            case ast.BinOp():
                left, right = self.of(node.left), self.of(node.right)
                if isinstance(node.op, ast.Pow):
                    _check_power(left, right)
                return _BINARY[type(node.op)](left, right)
            case ast.Compare():
                apply = _BINARY[type(node.ops[0])]
                return apply(self.of(node.left), self.of(node.comparators[0]))
            case ast.Attribute():
                return np.transpose(self.of(node.value))
            case ast.Call():
                return self._call(node)
        raise AssertionError(f"the check let {node!r} pass")

    def _call(self, node: ast.Call) -> Any:
        name, given = _called(node)
        assert name is not None
        first, rest = self.of(given[0]), given[1:]
        if name == "astype":
            return FUNCTIONS[name].call(first, dtype_named(_dtype_text(rest[0]) or ""))
        if name == "reshape":
            return FUNCTIONS[name].call(first, *(_plain(item) for item in rest))
        keywords = {str(item.arg): _plain(item.value) for item in node.keywords}
        return FUNCTIONS[name].call(first, *(self.of(item) for item in rest), **keywords)


def _plain(node: ast.expr) -> Any:
    """An integer, a tuple of integers, True or False."""
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(_integer(item) for item in node.elts)
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return node.value
    return _integer(node)


def _check_power(base: Any, exponent: Any) -> None:
    """Python's integers have no limit; a power of two of them could take for ever."""
    if not isinstance(base, int) or not isinstance(exponent, int):
        return
    if base.bit_length() * abs(exponent) > MAX_POWER_BITS:
        raise ValueError(f"the power has more than {MAX_POWER_BITS} bits")
