"""The language of `expect: {c: {numpy: "..."}}`: parsed by Python's parser, then a strict list.

Names are tensors (their initial values) and scalars; nothing else of Python exists in it. Values
keep numpy's types: f16 + f16 is f16, a scalar takes the type of the array it meets.
"""

import ast
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from archsim.base.dtypes import dtype_named
from archsim.base.errors import Diagnostic, Faults, InputError
from archsim.base.source import Span
from archsim.program.reference_words import (
    BINARY,
    FUNCTIONS,
    Check,
    called,
    dtype_text,
    integer,
    place_of,
)

MAX_POWER_BITS = 4096


_NUMPY = re.compile(r"\bnp\s*\.\s*(?=[a-z])")


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
    if "np" not in names:
        source = _NUMPY.sub(lambda found: " " * len(found[0]), source)  # np.maximum is maximum
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
    Check(text, span.shifted(lead), names, faults).expression(tree)
    return Reference(text, span.shifted(lead), tree) if len(faults.found) == before else None


class _Evaluation:
    """Computes a tree that `Check` has passed."""

    def __init__(self, reference: Reference, names: Mapping[str, Any]) -> None:
        self._reference, self._names = reference, names

    def of(self, node: ast.expr) -> Any:
        try:
            return self._value(node)
        except (ValueError, TypeError, ArithmeticError) as error:
            place = place_of(self._reference.span, node)
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
                return BINARY[type(node.op)](left, right)
            case ast.Compare():
                apply = BINARY[type(node.ops[0])]
                return apply(self.of(node.left), self.of(node.comparators[0]))
            case ast.Attribute():
                return np.transpose(self.of(node.value))
            case ast.Call():
                return self._call(node)
        raise AssertionError(f"the check let {node!r} pass")

    def _call(self, node: ast.Call) -> Any:
        name, given = called(node)
        assert name is not None
        first, rest = self.of(given[0]), given[1:]
        if name == "astype":
            return FUNCTIONS[name].call(first, dtype_named(dtype_text(rest[0]) or ""))
        if name == "reshape":
            return FUNCTIONS[name].call(first, *(_plain(item) for item in rest))
        keywords = {str(item.arg): _plain(item.value) for item in node.keywords}
        return FUNCTIONS[name].call(first, *(self.of(item) for item in rest), **keywords)


def _plain(node: ast.expr) -> Any:
    """An integer, a tuple of integers, True or False."""
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(integer(item) for item in node.elts)
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return node.value
    return integer(node)


def _check_power(base: Any, exponent: Any) -> None:
    """Python's integers have no limit; a power of two of them could take for ever."""
    if not isinstance(base, int) or not isinstance(exponent, int):
        return
    if base.bit_length() * abs(exponent) > MAX_POWER_BITS:
        raise ValueError(f"the power has more than {MAX_POWER_BITS} bits")
