"""`expect`: reading the section, computing what a tensor must hold, and comparing."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from archsim.base.errors import Diagnostic, Faults, InputError
from archsim.program.init_decls import file_reference
from archsim.program.ir import Expect, Program, TensorDecl
from archsim.program.reading import Node
from archsim.program.reference import parse_reference
from archsim.program.rounded import to_dtype
from archsim.program.symbols import Symbols
from archsim.program.tensors import load_array

EXPECT_KEYS = ("numpy", "file", "key", "atol", "rtol", "exact")


def read_expect(node: Node | None, symbols: Symbols, directory: str) -> tuple[Expect, ...]:
    """The section `expect`: what tensors must hold after the run."""
    if node is None or not node.is_mapping("expect"):
        return ()
    found = [_expect(child, symbols, directory) for child in node.children()]
    return tuple(expect for expect in found if expect is not None)


def _expect(node: Node, symbols: Symbols, directory: str) -> Expect | None:
    name, what = node.key, f"expect of {node.key}"
    if name in symbols.broken:
        return None
    if name not in symbols.tensors:
        symbols.add_unknown("tensor", name, node.key_span, node.faults)
        return None
    before = len(node.faults.found)
    if not node.is_mapping(what, EXPECT_KEYS):
        return None
    numpy, file = node.get("numpy"), node.get("file")
    if (numpy is None) == (file is None):
        node.faults.add(f"{what} must have one of numpy and file", node.key_span)
        return None
    text, args = None, None
    if numpy is not None:
        text = _numpy(numpy, what, symbols)
        if "key" in node.value:
            node.at("key").fault(f"{what} has a key; only a file takes one")
    else:
        args = file_reference(node, what, directory)
    atol, rtol = (_tolerance(node, key, what) for key in ("atol", "rtol"))
    exact = node.get("exact")
    if exact is not None and not isinstance(exact.value, bool):
        exact.must_be(f"exact of {what}", "true or false")
    if len(node.faults.found) > before or (text is None and args is None):
        return None
    path, key = (str(v) if (v := (args or {}).get(k)) else None for k in ("file", "key"))
    place = node.key_span if numpy is None else numpy.text_span
    return Expect(name, text, path, key, atol, rtol, bool(exact and exact.value), place)


def _numpy(node: Node, what: str, symbols: Symbols) -> str | None:
    text = str(node.value) if isinstance(node.value, int | float) else node.text(f"numpy of {what}")
    if text is None:
        return None
    names = (*symbols.tensors, *symbols.scalars, *symbols.broken)
    return text if parse_reference(text, node.text_span, names, node.faults) else None


def _tolerance(node: Node, key: str, what: str) -> float:
    part = node.get(key)
    value = 0 if part is None else part.number(f"{key} of {what}")
    if part is not None and value is not None and not value >= 0:
        part.must_be(f"{key} of {what}", "0 or more")
    return float(value or 0)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One wrong element: where, what it is and what it must be."""

    index: tuple[int, ...]
    value: float | int
    reference: float | int


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome of one `expect`.

    `max_abs_err` is the greatest |value - reference|: 0 for equal elements and for NaN against
    NaN, infinite where only one side is finite. `first` is the first wrong element in row order.
    """

    ok: bool
    max_abs_err: float
    mismatches: int
    elements: int
    first: Mismatch | None


def references(program: Program, initial: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """What each tensor of `expect` must hold, from the initial values of all tensors.

    Raises one `InputError` with every fault: an expression that numpy refuses, a shape that does
    not spread over the tensor's, a file that does not suit.
    """
    faults = Faults()
    found: dict[str, NDArray[Any]] = {}
    for expect in program.expect:
        try:
            found[expect.tensor] = _reference(expect, program, initial)
        except InputError as error:
            faults.found.extend(error.diagnostics)
    faults.raise_if_any()
    return found


def _reference(
    expect: Expect, program: Program, initial: Mapping[str, NDArray[Any]]
) -> NDArray[Any]:
    decl = program.tensors[expect.tensor]
    if expect.file is not None:
        path = os.path.join(program.directory, expect.file)
        return load_array(path, expect.key, decl, f"expect of {decl.name}", expect.span)
    faults = Faults()
    names: Mapping[str, Any] = {**program.scalars, **initial}
    reference = parse_reference(str(expect.numpy), expect.span, names, faults)
    faults.raise_if_any()
    assert reference is not None
    value = np.asarray(reference.value(names))
    try:
        return np.broadcast_to(value, decl.shape)
    except ValueError:
        message = (
            f"expect of {decl.name} has shape {list(value.shape)}; "
            f"must spread over that of the tensor, {list(decl.shape)}"
        )
        raise InputError([Diagnostic(message, expect.span)]) from None


def compare(
    expect: Expect, decl: TensorDecl, actual: NDArray[Any], reference: NDArray[Any]
) -> Comparison:
    """Hold `actual` against `reference`, both of the tensor's shape.

    An element is right if it equals the reference (infinities too), if |difference| <= atol +
    rtol * |reference|, or if both are NaN. `exact` rounds the reference to the tensor's type and
    compares bits, so that -0 differs from 0 and one NaN from another. Without tolerances the
    element must equal the reference as it is: round it with astype.
    """
    if expect.exact:
        reference = to_dtype(reference, decl.dtype)
    error = _error(actual, reference)
    if expect.exact:
        wrong = _bits(actual) != _bits(reference)
    else:
        with np.errstate(all="ignore"):  # 0 * infinity; such an element is equal, or wrong
            limit = expect.atol + expect.rtol * np.abs(_wide(reference))
            wrong = ~((error <= limit) & np.isfinite(error) | (error == 0))
    count = int(np.count_nonzero(wrong))
    greatest = float(error.max()) if error.size else 0.0
    first = _first(wrong, actual, reference) if count else None
    return Comparison(count == 0, greatest, count, int(error.size), first)


def _error(actual: NDArray[Any], reference: NDArray[Any]) -> NDArray[np.float64]:
    """|actual - reference| in f64; integers are subtracted as integers first."""
    with np.errstate(all="ignore"):
        if actual.dtype.kind in "iu" and reference.dtype.kind in "iub" and _is_long(actual):
            exact: NDArray[Any] = np.abs(actual.astype(object) - reference.astype(object))
            return exact.astype(np.float64)
        a, b = _wide(actual), _wide(reference)
        error = np.abs(a - b)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        error[same] = 0.0
        error[~same & np.isnan(error)] = np.inf
        return error


def _is_long(array: NDArray[Any]) -> bool:
    return array.dtype.itemsize == 8


def _wide(array: NDArray[Any]) -> NDArray[np.float64]:
    return np.array(array, dtype=np.float64)


def _bits(array: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


def _first(wrong: NDArray[Any], actual: NDArray[Any], reference: NDArray[Any]) -> Mismatch:
    index = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    place = tuple(int(i) for i in index)
    return Mismatch(place, _plain(actual[place]), _plain(reference[place]))


def _plain(value: Any) -> float | int:
    """A Python number, so that messages and JSON do not depend on numpy."""
    return int(value) if np.asarray(value).dtype.kind in "iub" else float(value)
