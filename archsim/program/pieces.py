"""Cutting the text of a statement at its commas."""

import re
from typing import NamedTuple

from archsim.base.source import Span

_BRACKET = re.compile(r"[\[\]()]")
_CUT = re.compile(r"[\[\](),]")


class Piece(NamedTuple):
    """A part of a text between two commas, without surrounding blanks, and where it stands."""

    text: str
    span: Span


def split_pieces(text: str, span: Span, at: int = 0) -> list[Piece] | None:
    """Cut at the commas outside brackets; None where the brackets do not match.

    The text starts `at` columns behind the start of `span`.
    """
    if not _BRACKET.search(text):
        pieces, start = [], at
        for part in text.split(","):
            pieces.append(_piece(part, start, span))
            start += len(part) + 1
        return pieces
    cuts = _commas(text)
    if cuts is None:
        return None
    starts, ends = [0, *(cut + 1 for cut in cuts)], [*cuts, len(text)]
    return [_piece(text[a:b], at + a, span) for a, b in zip(starts, ends, strict=True)]


def _commas(text: str) -> list[int] | None:
    open_brackets: list[str] = []
    cuts: list[int] = []
    for match in _CUT.finditer(text):
        char = match.group()
        if char in "([":
            open_brackets.append(")" if char == "(" else "]")
        elif char != ",":
            if not open_brackets or open_brackets.pop() != char:
                return None
        elif not open_brackets:
            cuts.append(match.start())
    return None if open_brackets else cuts


def _piece(text: str, start: int, span: Span) -> Piece:
    stripped = text.strip()
    lead = text.index(stripped[0]) if stripped else 0
    return Piece(stripped, span.shifted(start + lead, len(stripped) or 1))
