"""A cursor over a document that was read: typed access, each fault noted with its place."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from archsim.base.errors import Faults, did_you_mean
from archsim.base.source import Span
from archsim.base.yaml import Document

IDENTIFIER = re.compile(r"[A-Za-z_]\w*$", re.ASCII)
MAX_BITS = 64
RESERVED = ("inf", "nan", "min", "max", "dynamic")
_SPECIAL = {"inf": float("inf"), "+inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}
_HEX = re.compile(r"[-+]?0[xX][0-9a-fA-F_]+$")
_DECIMAL = re.compile(r"[-+]?\d[\d_]*$", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$", re.ASCII)


def number_in(text: str) -> int | float | None:
    """The number that a text spells: decimal, 0x.., float, inf, -inf, nan; None for others."""
    if text.isdecimal() and len(text) < 19:
        return int(text)
    special = _SPECIAL.get(text.lower())
    if special is not None:
        return special
    try:
        if _HEX.match(text):
            return int(text, 16)
        if _DECIMAL.match(text):
            return int(text)
        return float(text) if _FLOAT.match(text) else None
    except ValueError:  # stray underscores; integers of more than 4300 digits
        return None


def listed(names: Iterable[str]) -> str:
    """Names for a message; of many only the first 20."""
    known = list(names)
    return ", ".join(known[:20]) + (", ..." if len(known) > 20 else "")


def counted(count: int, one: str, many: str) -> str:
    """A count with its noun: "1 entry", "2 entries"."""
    return f"{count} {one if count == 1 else many}"


def shown(value: object) -> str:
    """A value from a document, short enough for a message."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."


@dataclass(frozen=True, slots=True)
class Node:
    """One part of a document: its value, and what is needed to say where it stands."""

    document: Document
    path: tuple[str | int, ...]
    value: Any
    faults: Faults

    @property
    def span(self) -> Span:
        """Where the value stands."""
        return self.document.span(self.path)

    @property
    def key_span(self) -> Span:
        """Where the key that leads here stands."""
        return self.document.key_span(self.path)

    @property
    def text_span(self) -> Span:
        """Where the text of a string starts: behind its quote."""
        span = self.span
        lines = span.source.lines
        line = lines[span.line - 1] if span.line <= len(lines) else ""
        if line[span.column - 1 : span.column] in ("'", '"') and span.column <= len(line):
            return span.shifted(1, max(1, span.width - 2))
        return span

    def fault(self, message: str, fix: str | None = None) -> None:
        """Note a fault of this value."""
        self.faults.add(message, self.span, fix)

    def must_be(self, what: str, rule: str, fix: str | None = None) -> None:
        """Note that the thing `what` has a wrong value."""
        self.fault(f"{what} is {shown(self.value)}; must be {rule}", fix)

    def at(self, step: str | int) -> "Node":
        """The part at a key or list position that exists."""
        return Node(self.document, (*self.path, step), self.value[step], self.faults)

    def get(self, key: str) -> "Node | None":
        """The part at `key`, or None."""
        return self.at(key) if key in self.value else None

    def children(self) -> list["Node"]:
        """The items of a list, or the values of a mapping, in file order."""
        steps: Iterable[str | int] = self.value
        if isinstance(self.value, list):
            steps = range(len(self.value))
        return [self.at(step) for step in steps]

    @property
    def key(self) -> str:
        """The key that leads here."""
        return str(self.path[-1])

    def is_mapping(self, what: str, known: Iterable[str] | None = None) -> bool:
        """True for a mapping; its keys are held against `known`."""
        if not isinstance(self.value, dict):
            self.must_be(what, "a mapping of keys to values")
            return False
        if known is not None:
            self.check_keys(what, tuple(known))
        return True

    def check_keys(self, what: str, known: tuple[str, ...]) -> None:
        """Note every key that is not in `known`."""
        for child in self.children():
            if child.key not in known:
                self.faults.add(
                    f'unknown key "{child.key}" in {what}; known: {", ".join(known)}',
                    child.key_span,
                    did_you_mean(child.key, known),
                )

    def is_list(self, what: str, rule: str = "a list") -> bool:
        """True for a list."""
        if not isinstance(self.value, list):
            self.must_be(what, rule)
            return False
        return True

    def integer(self, what: str, least: int | None = None) -> int | None:
        """An integer, also written as a text such as "0x2000"; at least `least`."""
        value = number_in(self.value.strip()) if isinstance(self.value, str) else self.value
        rule = "an integer" if least is None else f"an integer of at least {least}"
        if isinstance(value, bool) or not isinstance(value, int):
            self.must_be(what, rule)
            return None
        if (least is not None and value < least) or value.bit_length() > MAX_BITS:
            self.must_be(what, rule)
            return None
        return value

    def number(self, what: str) -> int | float | None:
        """An integer or a float, also written as a text such as "-inf"."""
        value = number_in(self.value.strip()) if isinstance(self.value, str) else self.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.must_be(what, "a number")
            return None
        if isinstance(value, int) and value.bit_length() > MAX_BITS:
            self.must_be(what, f"a number of at most {MAX_BITS} bits")
            return None
        return value

    def text(self, what: str) -> str | None:
        """A non-empty text."""
        if not isinstance(self.value, str) or not self.value.strip():
            self.must_be(what, "a text")
            return None
        return self.value

    def choice(self, what: str, known: Iterable[str]) -> str | None:
        """One of the texts in `known`, compared without regard to case."""
        known = tuple(known)
        by_lower = {name.lower(): name for name in known}
        if isinstance(self.value, str) and self.value.lower() in by_lower:
            return by_lower[self.value.lower()]
        near = did_you_mean(self.value, known) if isinstance(self.value, str) else None
        self.must_be(what, "one of " + ", ".join(known), near)
        return None

    def is_name(self, what: str) -> bool:
        """True where the key that leads here is usable as a name."""
        if not IDENTIFIER.match(self.key):
            rule = "must be letters, digits and _, not starting with a digit"
            self.faults.add(f'{what} name "{self.key}" is not a name; it {rule}', self.key_span)
            return False
        if self.key in RESERVED:
            rule = f"{', '.join(RESERVED)} have a meaning of their own"
            self.faults.add(f'{what} name "{self.key}" is taken; {rule}', self.key_span)
            return False
        return True
