"""Faults in what users write: collected, placed, explained, all at once."""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from archsim.base.source import Span


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One fault: `span: message` and, where one is known, `fix`.

    `message` reads "*thing* is *value*; *what must hold*". `fix` is a full clause such as
    `did you mean "depth"?`. `kind` and `severity` (error, warning, note) are those of the finding
    that the fault becomes where only a run brings it out. `file` names the file that is wrong as a
    whole, where no place in it is.
    """

    message: str
    span: Span | None = None
    fix: str | None = None
    kind: str = "input"
    severity: str = "error"
    file: str | None = None

    def render(self) -> str:
        """`file:line:column: message`, the source line, a caret, the fix."""
        if self.span is None:
            place = f"{self.file}: " if self.file else ""
            return place + self.message + (f"\n  {self.fix}" if self.fix else "")
        out = [f"{self.span}: {self.message}"]
        lines = self.span.source.lines
        if 1 <= self.span.line <= len(lines):
            text, column = _excerpt(lines[self.span.line - 1], self.span.column)
            number = f"{self.span.line:5d} | "
            out.append(number + text)
            caret = "^" * max(1, min(self.span.width, len(text) - column + 1))
            out.append(" " * (len(number) - 2) + "| " + " " * (column - 1) + caret)
        if self.fix:
            out.append(f"  {self.fix}")
        return "\n".join(out)

    def as_json(self) -> dict[str, object]:
        """One entry of the `archsim.error/1` object."""
        return {
            "file": self.span.source.name if self.span else self.file,
            "line": self.span.line if self.span else None,
            "column": self.span.column if self.span else None,
            "message": self.message,
            "fix": self.fix,
        }


def _excerpt(line: str, column: int, width: int = 160) -> tuple[str, int]:
    """The part of a long line around a column, and where the column is in it."""
    if len(line) <= width:
        return line, column
    start = max(0, min(column - 1 - width // 2, len(line) - width))
    before, after = "..." if start else "", "..." if start + width < len(line) else ""
    return before + line[start : start + width] + after, column - start + len(before)


class InputError(Exception):
    """Wrong input, refused before anything runs. Carries every fault found, in file order."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(d.render() for d in self.diagnostics))


class Faults:
    """Collects diagnostics while a file is read, and raises them together."""

    def __init__(self) -> None:
        self.found: list[Diagnostic] = []

    def add(self, message: str, span: Span | None = None, fix: str | None = None) -> None:
        """Note one fault and go on."""
        self.found.append(Diagnostic(message, span, fix))

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Take over the faults of an `InputError` that the block raises, and go on behind it."""
        try:
            yield
        except InputError as error:
            self.found.extend(error.diagnostics)

    def raise_if_any(self) -> None:
        """Raise all faults as one `InputError`, sorted by place; else do nothing."""
        if self.found:
            unique = dict.fromkeys(self.found)
            raise InputError(sorted(unique, key=_place))


def _place(diagnostic: Diagnostic) -> tuple[str, int, int]:
    span = diagnostic.span
    return (span.source.name, span.line, span.column) if span else ("", 0, 0)


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """`did you mean "x"?` for the nearest known name, or None where nothing is near.

    Of equally near names the one that begins alike.
    """
    choices = {k.lower(): k for k in known}
    wanted = name.lower()
    near = difflib.get_close_matches(wanted, choices, n=5, cutoff=0.6)
    if not near:
        return None
    best = max(near, key=lambda k: (_likeness(wanted, k), _shared_start(wanted, k)))
    return f'did you mean "{choices[best]}"?'


def _likeness(wanted: str, known: str) -> float:
    return difflib.SequenceMatcher(None, known, wanted).ratio()


def _shared_start(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))
