"""YAML and JSON texts as plain Python values, with the place of every key and value.

YAML 1.2 scalars: `true`/`false`, `null`, decimal, 0x, 0o and 0b integers (underscores allowed),
decimals with or without a dot (`1e-3`), `.inf`, `.nan`. So `on`, `off`, `no`, `1:30` and dates are
text. Explicit tags other than the standard scalar ones, merge keys and several documents in one
file are not read.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from archsim.base.errors import Diagnostic, Faults, InputError, did_you_mean
from archsim.base.places import JsonPlaces, KeyPath, Places, YamlPlaces
from archsim.base.source import Source, Span
from archsim.base.yaml_nodes import YamlReader

ParseFloat = Callable[[str], Any]


class Document:
    """A text that was read: `value` (plain dicts, lists, scalars) and the place of every part.

    A path is a tuple of keys and list positions: `("tiles", "ta", "shape", 0)`.
    """

    def __init__(self, value: Any, source: Source, places: Places) -> None:
        self.value = value
        self.source = source
        self._places = places

    def span(self, path: KeyPath = ()) -> Span:
        """Where the value at `path` stands; where the path ends early, its last existing part."""
        return self._places.span(path)

    def key_span(self, path: KeyPath) -> Span:
        """Where the key that leads to `path` stands; for a list item the item itself."""
        return self._places.key_span(path)


def read_document(
    path: str | Path,
    display_name: str | None = None,
    *,
    parse_float: ParseFloat = float,
    faults: Faults | None = None,
) -> Document:
    """Read a YAML or JSON file; see `parse_document`.

    `display_name` is how errors name the file (default: the path as given). Raises `InputError`
    for a missing, unreadable, binary or non-UTF-8 file too.
    """
    name = display_name or str(path)
    return parse_document(_text_of(Path(path), name), name, parse_float=parse_float, faults=faults)


def parse_document(
    text: str,
    name: str,
    *,
    parse_float: ParseFloat = float,
    faults: Faults | None = None,
) -> Document:
    """Read a YAML or JSON text. JSON loads about 100 times faster.

    Non-integer finite numbers go through `parse_float` as they are written: with `Fraction`, 2.11
    stays exact. Faults that leave a usable value (duplicate keys, keys that are not text) go to
    `faults` where given, so that the caller can report its own together with them; everything
    else, and these too where `faults` is None, raises `InputError`.
    """
    source = Source.of(name, text)
    collected = Faults() if faults is None else faults
    document = _parse_json(text, source, parse_float, collected)
    if document is None:
        document = _parse_yaml(text, source, parse_float, collected)
    if faults is None:
        collected.raise_if_any()
    return document


def _parse_yaml(text: str, source: Source, parse_float: ParseFloat, faults: Faults) -> Document:
    reader = YamlReader(source, parse_float, faults)
    root = reader.compose(text)
    if root is None:
        raise _fault("the file is empty; it must hold a mapping of keys to values", source)
    return Document(reader.value(root), source, YamlPlaces(source, root))


def _parse_json(
    text: str, source: Source, parse_float: ParseFloat, faults: Faults
) -> Document | None:
    """The document, or None where the text is not JSON: a YAML flow mapping starts alike."""
    if text.lstrip()[:1] not in ("{", "[") or not source.lines:
        return None
    duplicates = False

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal duplicates
        mapping = dict(pairs)
        duplicates = duplicates or len(mapping) != len(pairs)
        return mapping

    try:
        value = json.loads(text, object_pairs_hook=unique, parse_float=parse_float)
    except json.JSONDecodeError as error:
        if not source.name.endswith(".json"):
            return None
        place = Span(source, error.lineno, error.colno)
        raise _fault(f"not valid JSON: {_lower_first(error.msg)}", source, place) from None
    except RecursionError:
        raise _fault("nested too deeply; at most about 100 levels are read", source) from None
    except ValueError:  # Python refuses to convert integers of more than 4300 digits
        raise _fault("holds an integer of more than 4300 digits", source) from None
    places = JsonPlaces(source, text)
    if duplicates:
        places.report_duplicates(faults)
    if "\\ud" in text.lower():
        places.report_lone_surrogates(faults)
    return Document(value, source, places)


def _text_of(path: Path, name: str) -> str:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        folder = path.parent
        others = sorted(folder.iterdir()) if folder.is_dir() else []
        near = [other.name for other in others if did_you_mean(path.stem, [other.stem])]
        fix = did_you_mean(path.name, near)
        raise _file_fault("no such file; a YAML or JSON file is read", name, fix) from None
    except IsADirectoryError:
        raise _file_fault("is a folder; a YAML or JSON file is read", name) from None
    except OSError as error:
        reason = (error.strerror or "unreadable").lower()
        raise _file_fault(f"cannot be read: {reason}", name) from None
    return _decoded(data, name)


def _decoded(data: bytes, name: str) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise _fault("the file is UTF-16; it must be UTF-8", Source.of(name, ""))
    zero = data.find(b"\0")
    if zero >= 0:
        message = f"the file is binary (byte {zero} is zero); it must be text in UTF-8"
        raise _fault(message, Source.of(name, ""))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", "replace")
        source = Source.of(name, data.decode("utf-8", "replace"))
        place = Span(source, before.count("\n") + 1, len(before) - before.rfind("\n"))
        message = f"byte 0x{data[error.start]:02x} is not UTF-8; the file must be text in UTF-8"
        raise _fault(message, source, place) from None


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def _fault(message: str, source: Source, place: Span | None = None) -> InputError:
    return InputError([Diagnostic(message, place or Span(source, 1, 1))])


def _file_fault(message: str, name: str, fix: str | None = None) -> InputError:
    return InputError([Diagnostic(message, None, fix, file=name)])
