"""Cutting the text of a statement at its commas."""

import re
from dataclasses import dataclass

from archsim.base.source import Span

_BRACKET = re.compile(r"[\[\](),]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text between two commas, without surrounding blanks, and where it stands."""

    text: str
    span: Span


def split_pieces(text: str, span: Span) -> list[Piece] | None:
    """Cut at the commas outside brackets; None where the brackets do not match."""
    if "[" not in text and "(" not in text:
        cuts = [index for index, char in enumerate(text) if char == ","]
    else:
        found = _commas(text)
        if found is None:
            return None
        cuts = found
    starts = [0, *(cut + 1 for cut in cuts)]
    return [
        _piece(text, start, end, span)
        for start, end in zip(starts, [*cuts, len(text)], strict=True)
    ]


def _commas(text: str) -> list[int] | None:
    open_brackets: list[str] = []
    cuts: list[int] = []
    for match in _BRACKET.finditer(text):
        char = match.group()
        if char in "([":
            open_brackets.append(")" if char == "(" else "]")
        elif char != ",":
            if not open_brackets or open_brackets.pop() != char:
                return None
        elif not open_brackets:
            cuts.append(match.start())
    return None if open_brackets else cuts


def _piece(text: str, start: int, end: int, span: Span) -> Piece:
    body = text[start:end]
    stripped = body.strip()
    lead = len(body) - len(body.lstrip()) if stripped else 0
    return Piece(stripped, span.shifted(start + lead, max(1, len(stripped))))
