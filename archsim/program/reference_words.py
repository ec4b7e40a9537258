"""What the language of references knows: its operators and functions, and the check of a tree."""

import ast
import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from archsim.base.dtypes import DTYPES, SPELLINGS, DType, dtype_named
from archsim.base.errors import Faults, did_you_mean
from archsim.base.source import Span
from archsim.program.reading import listed
from archsim.program.rounded import to_dtype

BINARY: Mapping[type, Callable[[Any, Any], Any]] = MappingProxyType(
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
class Function:
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
FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        **{name: Function(getattr(np, name), 2, 2) for name in ("maximum", "minimum")},
        **{
            name: Function(getattr(np, name), 1, 1)
            for name in ("abs", "exp", "log", "sqrt", "rint", "floor", "ceil", "trunc")
        },
        # one positional argument: max(a, b) would read b as an axis
        **{
            name: Function(getattr(np, name), 1, 1, _REDUCE)
            for name in ("sum", "max", "min", "mean")
        },
        "clip": Function(np.clip, 3, 3),
        "where": Function(np.where, 3, 3),
        "reshape": Function(_reshape, 2, 6),
        "astype": Function(_astype, 2, 2),
    }
)
_KNOWN = (*FUNCTIONS, "T")


def place_of(span: Span, node: ast.expr) -> Span:
    width = (node.end_col_offset or node.col_offset + 1) - node.col_offset
    return span.shifted(node.col_offset, max(1, width))


class Check:
    """Holds a tree against what the language knows."""

    def __init__(self, text: str, span: Span, names: Collection[str], faults: Faults) -> None:
        self._span, self._names, self._faults = span, names, faults

    def expression(self, node: ast.expr) -> None:
        if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
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
        elif type(node.ops[0]) not in BINARY:
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
        name, given = called(node)
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

    def _count(self, node: ast.Call, name: str, function: Function, count: int) -> None:
        takes = str(function.least)
        if function.most > function.least:
            takes += f" to {function.most}"
        fix = "write maximum(a, b)" if name == "max" else None
        fix = "write minimum(a, b)" if name == "min" else fix
        noun = "argument" if takes == "1" else "arguments"
        self._add(node, f"{name} takes {takes} {noun}, {count} given", fix)

    def _keyword(self, keyword: ast.keyword, name: str, function: Function) -> None:
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
        name = dtype_text(node)
        found = dtype_named(name) if name else None
        if found is None or found.storage is None or found.coded:
            fix = did_you_mean(name, SPELLINGS) if name else None
            self._add(node, f"astype must name one of {', '.join(DTYPES)}", fix)

    def _integers(self, node: ast.expr, what: str) -> None:
        items = node.elts if isinstance(node, ast.Tuple | ast.List) else [node]
        for item in items:
            if integer(item) is None:
                self._add(item, f"{what} must be an integer")

    def _refuse(self, node: ast.expr) -> None:
        known = "names, numbers, + - * / // % **, comparisons, " + ", ".join(_KNOWN)
        self._add(node, f"not part of the language of expect; it knows {known}")

    def _add(self, node: ast.expr, message: str, fix: str | None = None) -> None:
        self._faults.add(message, place_of(self._span, node), fix)


def called(node: ast.Call) -> tuple[str | None, list[ast.expr]]:
    """Name and positional arguments of `f(a, b)` and of `a.f(b)` alike."""
    if isinstance(node.func, ast.Name):
        return node.func.id, node.args
    if isinstance(node.func, ast.Attribute):
        return node.func.attr, [node.func.value, *node.args]
    return None, node.args


def dtype_text(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return None


def integer(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = integer(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return None
