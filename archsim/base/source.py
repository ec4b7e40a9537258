"""Places in the files that users write."""

from dataclasses import dataclass, field
from pathlib import PurePath


@dataclass(frozen=True, slots=True)
class Source:
    """A text that was read: its name as the user gave it, and its lines for error messages."""

    name: str
    lines: tuple[str, ...] = field(default=(), repr=False, compare=False)

    @staticmethod
    def of(name: str, text: str) -> "Source":
        """Split `text` once, so that every error can quote its line."""
        return Source(name, tuple(text.splitlines()))


@dataclass(frozen=True, slots=True)
class Span:
    """A place: 1-based line and column in a source, and how many characters it covers."""

    source: Source
    line: int
    column: int
    width: int = 1

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}:{self.column}"

    @property
    def where(self) -> str:
        """`file:line`, the form that records and reports use."""
        return f"{self.source.name}:{self.line}"

    @property
    def brief(self) -> str:
        """The same without folders, for messages that stand beside the full place."""
        return f"{PurePath(self.source.name).name}:{self.line}"

    def shifted(self, columns: int, width: int = 1) -> "Span":
        """The place `columns` to the right on the same line: for a part of a statement."""
        return Span(self.source, self.line, self.column + columns, width)
