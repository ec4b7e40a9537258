"""Where the parts of a YAML or JSON text stand."""

import bisect
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from archsim.base.errors import Faults
from archsim.base.source import Source, Span
from archsim.base.yaml_nodes import duplicate_message, span_of

KeyPath = tuple[str | int, ...]


class Places(Protocol):
    """Finds the parts of one text."""

    def span(self, path: KeyPath) -> Span:
        """The value at `path`, or the last part of the path that exists."""

    def key_span(self, path: KeyPath) -> Span:
        """The key that leads to `path`."""


class YamlPlaces:
    """Places in a composed YAML text: walks the nodes on demand."""

    def __init__(self, source: Source, root: Node) -> None:
        self._source = source
        self._root = root
        self._keys: dict[int, Mapping[str, tuple[Node, Node]]] = {}

    def span(self, path: KeyPath) -> Span:
        """The value at `path`, or the last part of the path that exists."""
        return span_of(self._source, self._find(path)[1])

    def key_span(self, path: KeyPath) -> Span:
        """The key that leads to `path`."""
        return span_of(self._source, self._find(path)[0])

    def _find(self, path: KeyPath) -> tuple[Node, Node]:
        key = node = self._root
        for step in path:
            if isinstance(node, MappingNode):
                found = self._entries(node).get(str(step))
                if found is None:
                    break
                key, node = found
            elif isinstance(node, SequenceNode) and isinstance(step, int):
                if not 0 <= step < len(node.value):
                    break
                key = node = node.value[step]
            else:
                break
        return key, node

    def _entries(self, node: MappingNode) -> Mapping[str, tuple[Node, Node]]:
        entries = self._keys.get(id(node))
        if entries is None:
            first: dict[str, tuple[Node, Node]] = {}
            for key, item in node.value:
                if isinstance(key, ScalarNode):
                    first.setdefault(str(key.value), (key, item))
            entries = self._keys[id(node)] = first
        return entries


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)


@dataclass(slots=True)
class _Entry:
    """One value of a JSON text: offsets of its key and of itself, and what it holds."""

    key: tuple[int, int]
    value: tuple[int, int]
    fields: dict[str, "_Entry"] | None = None
    items: list["_Entry"] | None = None
    repeats: list[tuple[str, "_Entry"]] | None = None


class JsonPlaces:
    """Places in a valid JSON text: found by one scan when the first one is asked for."""

    def __init__(self, source: Source, text: str) -> None:
        self._source = source
        self._text = text

    def span(self, path: KeyPath) -> Span:
        """The value at `path`, or the last part of the path that exists."""
        return self._span(*self._find(path).value)

    def key_span(self, path: KeyPath) -> Span:
        """The key that leads to `path`."""
        return self._span(*self._find(path).key)

    def report_duplicates(self, faults: Faults) -> None:
        """Note every key that stands twice in one object."""
        for entry in self._all(self._root):
            for name, again in entry.repeats or ():
                assert entry.fields is not None
                first = self._span(*entry.fields[name].key)
                faults.add(duplicate_message(name, first), self._span(*again.key))

    def report_lone_surrogates(self, faults: Faults) -> None:
        """Note texts with half a surrogate pair: no output could hold them."""
        for match in _TOKEN.finditer(self._text):
            token = match.group()
            if token[0] == '"' and any("\ud800" <= c <= "\udfff" for c in json.loads(token)):
                message = "the text holds half of a surrogate pair; it must be valid Unicode"
                faults.add(message, self._span(*match.span()))

    @cached_property
    def _root(self) -> _Entry:
        return _scan(self._text)

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for line in self._text.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        return starts

    def _find(self, path: KeyPath) -> _Entry:
        entry = self._root
        for step in path:
            below: _Entry | None = None
            if entry.fields is not None:
                below = entry.fields.get(str(step))
            elif entry.items is not None and isinstance(step, int) and step < len(entry.items):
                below = entry.items[step]
            if below is None:
                break
            entry = below
        return entry

    def _all(self, root: _Entry) -> list[_Entry]:
        found = [root]
        for entry in found:  # grows while it is walked
            found.extend((entry.fields or {}).values())
            found.extend(entry.items or ())
            found.extend(again for _, again in entry.repeats or ())
        return found

    def _span(self, start: int, end: int) -> Span:
        line = bisect.bisect_right(self._starts, start)
        return Span(self._source, line, start - self._starts[line - 1] + 1, end - start)


def _scan(text: str) -> _Entry:
    """The tree of places of a text that `json.loads` has accepted."""
    outer = _Entry((0, 1), (0, 1), items=[])
    stack = [outer]
    key: tuple[int, int] | None = None
    expect_key = False
    for match in _TOKEN.finditer(text):
        token, place = match.group(), match.span()
        if token in "]}":
            stack.pop()
            expect_key = False
        elif token == ",":
            expect_key = stack[-1].fields is not None
        elif token == ":":
            pass
        elif expect_key:
            key, expect_key = place, False
        else:
            entry = _Entry(key or place, place)
            _attach(stack[-1], entry, None if key is None else json.loads(text[slice(*key)]))
            key = None
            if token == "{":
                entry.fields, expect_key = {}, True
                stack.append(entry)
            elif token == "[":
                entry.items = []
                stack.append(entry)
    assert outer.items is not None
    return outer.items[0]


def _attach(parent: _Entry, entry: _Entry, key: str | None) -> None:
    if key is None:
        assert parent.items is not None
        parent.items.append(entry)
    elif parent.fields is not None:
        if key in parent.fields:
            parent.repeats = [*(parent.repeats or ()), (key, entry)]
        else:
            parent.fields[key] = entry
