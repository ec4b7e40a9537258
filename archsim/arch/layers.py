"""Chip files as flat layers: every value by its path, with where it stands and comes from.

A layer is one file of an `extends:` chain, or one `--set`. Values of a later layer replace those
of an earlier one path by path; lists are replaced whole.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from archsim.arch.config import covering_row
from archsim.arch.provenance import Provenance
from archsim.arch.quantity import Basis
from archsim.base.errors import Faults, did_you_mean
from archsim.base.places import KeyPath
from archsim.base.source import Span
from archsim.base.yaml import Document

ABOUT = ("basis", "source", "uncertainty")
ROWS = ("uops", "paths")
_LEAF_KEYS = ("value", *ABOUT)
# a row field set by a later layer counts for every type or form, so it drops their own entries
_BY_FORM = {"latency_cycles": "by_form", "store_cycles": "store_by_form"}


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value was written: a path in a document, or on the command line (`override`)."""

    document: Document
    path: KeyPath
    override: str | None = None

    def fault(
        self, faults: Faults, message: str, fix: str | None = None, *, key: bool = False
    ) -> None:
        """Note a fault at the value, or at its key."""
        if self.override is not None:
            faults.add(f"{self.override}: {message}", None, fix)
        else:
            faults.add(message, self.span(key), fix)

    def span(self, key: bool = False) -> Span:
        """The place in the document."""
        return self.document.key_span(self.path) if key else self.document.span(self.path)


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value; `provenance` None: its layer does not say."""

    value: Any
    provenance: Provenance | None
    origin: Origin


Flat = dict[KeyPath, Leaf]


@dataclass(frozen=True, slots=True)
class _About:
    """What the mappings around a value say about it."""

    basis: Basis | None = None
    source: str | None = None
    uncertainty: Fraction = Fraction(0)

    @property
    def provenance(self) -> Provenance | None:
        if self.basis is None or self.source is None:
            return None
        return Provenance(self.basis, self.source, self.uncertainty)


def flatten(value: Any, document: Document, faults: Faults, override: str | None = None) -> Flat:
    """All parts of `value`, with the basis that they or the mappings around them state."""
    reader = _Reader(document, faults, override)
    flat: Flat = {}
    reader.read(value, (), _About(), flat)
    return flat


class _Reader:
    def __init__(self, document: Document, faults: Faults, override: str | None) -> None:
        self._document = document
        self._faults = faults
        self._override = override

    def read(self, value: Any, path: KeyPath, about: _About, flat: Flat) -> None:
        if not isinstance(value, Mapping):
            flat[path] = Leaf(value, about.provenance, self._at(path))
            return
        about = self._about(value, path, about)
        if "value" in value:
            flat[path] = Leaf(value["value"], about.provenance, self._at((*path, "value")))
            for key in value:
                if key not in _LEAF_KEYS:
                    message = f'unknown key "{key}" in {dotted(path)}'
                    fix = did_you_mean(key, _LEAF_KEYS) or f"known keys: {', '.join(_LEAF_KEYS)}"
                    self._at((*path, key)).fault(self._faults, message, fix, key=True)
            return
        for key, item in value.items():
            if key not in ABOUT:
                self.read(item, (*path, key), about, flat)

    def _at(self, path: KeyPath) -> Origin:
        return Origin(self._document, path, self._override)

    def _about(self, mapping: Mapping[str, Any], path: KeyPath, outer: _About) -> _About:
        about = outer
        if "basis" in mapping:
            basis = self._basis(mapping["basis"], (*path, "basis"))
            about = replace(about, basis=basis, uncertainty=Fraction(0))
        if "source" in mapping:
            about = replace(about, source=self._source(mapping["source"], (*path, "source")))
        if "uncertainty" in mapping:
            share = self._uncertainty(mapping["uncertainty"], (*path, "uncertainty"))
            about = replace(about, uncertainty=share)
        if about is not outer and (about.basis is None) != (about.source is None):
            has, lacks = ("source", "basis") if about.basis is None else ("basis", "source")
            message = f"{dotted(path) or 'the file'} states a {has} but no {lacks}"
            origin = self._at((*path, has))
            origin.fault(self._faults, f"{message}; every number has both", key=True)
        return about

    def _basis(self, value: Any, path: KeyPath) -> Basis:
        if isinstance(value, str) and value in list(Basis):
            return Basis(value)
        message = f"{dotted(path)} is {shown(value)}; it must be one of {', '.join(Basis)}"
        self._at(path).fault(self._faults, message, did_you_mean(str(value), list(Basis)))
        return Basis.ASSUMED

    def _source(self, value: Any, path: KeyPath) -> str:
        if isinstance(value, str) and value.strip():
            return value
        message = f"{dotted(path)} is {shown(value)}; it must say where the number comes from"
        self._at(path).fault(self._faults, message)
        return "not stated"

    def _uncertainty(self, value: Any, path: KeyPath) -> Fraction:
        if isinstance(value, int | Fraction) and not isinstance(value, bool) and value >= 0:
            return Fraction(value)
        rule = "a number >= 0 (a share: 0.05 is 5 %)"
        message = f"{dotted(path)} is {shown(value)}; it must be {rule}"
        self._at(path).fault(self._faults, message)
        return Fraction(0)


def merge(below: Flat, above: Flat) -> Flat:
    """`below` with the values of `above` in place of its own."""
    out = dict(below)
    for row in sorted({path[:2] for path in above if len(path) > 2 and path[0] in ROWS}):
        _adopt_row(out, row)
    mappings = {path[:n] for path in out for n in range(1, len(path))}
    for path in above:
        for gone in list(_replaced(out, mappings, path)):
            del out[gone]
    out.update(above)
    return out


def rows_of(flat: Flat, section: str) -> list[str]:
    """Names of the rows in `uops` or `paths`."""
    return sorted({str(path[1]) for path in flat if path[0] == section and len(path) > 2})


def _adopt_row(flat: Flat, row: KeyPath) -> None:
    """Give a row that only a `prefix*` row covers its own copy, so that parts can be replaced."""
    section, name = str(row[0]), str(row[1])
    rows = {known: known for known in rows_of(flat, section)}
    if name not in rows:
        pattern = covering_row(name, rows)
        for path in [path for path in flat if path[:2] == (section, pattern)]:
            flat[(section, name, *path[2:])] = flat[path]


def _replaced(flat: Flat, mappings: set[KeyPath], path: KeyPath) -> Iterator[KeyPath]:
    """Paths whose values a value at `path` replaces, other than `path` itself."""
    for length in range(1, len(path)):
        if path[:length] in flat:
            yield path[:length]  # a value becomes a mapping
    if path in mappings:  # a mapping becomes a value
        yield from (other for other in flat if other[: len(path)] == path)
    if path[0] != "uops" or len(path) < 3:
        return
    special = _BY_FORM.get(str(path[2]), "by_dtype")
    if path[2] != special and (*path[:2], special) in mappings:
        for other in flat:
            same = special != "by_dtype" or other[4:] == path[2:]
            if same and other[:3] == (*path[:2], special):
                yield other


def dotted(path: KeyPath) -> str:
    """`pipes.V.queue_depth`."""
    return ".".join(str(step) for step in path)


def shown(value: Any) -> str:
    """A value as a message quotes it, cut where it is long."""
    if isinstance(value, Fraction):
        text = f"{float(value):g}"
    elif isinstance(value, str):
        text = f'"{value}"'
    elif isinstance(value, bool) or value is None:
        text = {True: "true", False: "false", None: "empty"}[value]
    elif isinstance(value, Mapping):
        text = "a mapping"
    elif isinstance(value, list | tuple):
        text = "a list"
    else:
        text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."
