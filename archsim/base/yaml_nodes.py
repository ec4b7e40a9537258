"""YAML nodes to plain values: the part of reading that knows PyYAML."""

import re
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from archsim.base.errors import Faults, InputError
from archsim.base.source import Source, Span

MAX_DEPTH = 100
_TAG = "tag:yaml.org,2002:"
_INT = re.compile(r"[-+]?(?:0x[0-9a-fA-F_]+|0o[0-7_]+|0b[01_]+|[0-9][0-9_]*)$")
_FLOAT = re.compile(
    r"[-+]?(?:(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|\.(?:inf|Inf|INF))$"
    r"|\.(?:nan|NaN|NAN)$"
)


class _Loader(yaml.CBaseLoader):
    """libyaml's parser with the scalars of YAML 1.2; a base loader knows none of its own."""


# order matters: the first that matches wins, and every integer also looks like a float
_Loader.add_implicit_resolver(f"{_TAG}int", _INT, list("-+0123456789"))
_Loader.add_implicit_resolver(f"{_TAG}float", _FLOAT, list("-+.0123456789"))
_Loader.add_implicit_resolver(
    f"{_TAG}bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)
_Loader.add_implicit_resolver(
    f"{_TAG}null", re.compile(r"(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]
)


class YamlReader:
    """Composes one text and turns its nodes into values, noting faults with their places."""

    def __init__(self, source: Source, parse_float: Any, faults: Faults) -> None:
        self._source = source
        self._parse_float = parse_float
        self._faults = faults
        self._open: list[int] = []  # ids of the containers being read: a loop of aliases shows

    def compose(self, text: str) -> Node | None:
        """The root node; None for a text without content. Raises `InputError` on bad syntax."""
        try:
            root = _Loader(text).get_single_node()
        except yaml.MarkedYAMLError as error:
            raise self._syntax_error(error) from None
        except yaml.YAMLError as error:
            raise self._bad_character(error, text) from None
        if isinstance(root, ScalarNode) and root.tag == f"{_TAG}null" and not root.value:
            return None
        return root

    def value(self, node: Node) -> Any:
        """dict, list, str, int, bool, None, float or what `parse_float` gives."""
        if isinstance(node, ScalarNode):
            return self._scalar(node)
        if id(node) in self._open or len(self._open) >= MAX_DEPTH:
            loop = id(node) in self._open
            message = (
                "the alias stands inside what it repeats; an alias must be closed"
                if loop
                else f"nested too deeply; at most {MAX_DEPTH} levels are read"
            )
            self._faults.add(message, span_of(self._source, node))
            self._faults.raise_if_any()
        self._open.append(id(node))
        if isinstance(node, MappingNode):
            result: Any = self._mapping(node)
        else:
            assert isinstance(node, SequenceNode)
            result = [self.value(item) for item in node.value]
        self._open.pop()
        return result

    def _mapping(self, node: MappingNode) -> dict[str, Any]:
        first: dict[str, Node] = {}
        out: dict[str, Any] = {}
        for key, item in node.value:
            name = self._key(key)
            if name in first:
                earlier = span_of(self._source, first[name])
                self._faults.add(duplicate_message(name, earlier), span_of(self._source, key))
                continue
            first[name] = key
            out[name] = self.value(item)
        return out

    def _key(self, key: Node) -> str:
        if not isinstance(key, ScalarNode):
            self._faults.add("the key is a list or mapping; keys must be text", self._at(key))
            return f"<key at {key.start_mark.line}:{key.start_mark.column}>"
        text = str(key.value)
        if key.tag != f"{_TAG}str":
            kind = {"int": "an integer", "float": "a number", "bool": "true or false"}.get(
                key.tag.removeprefix(_TAG), "not text"
            )
            fix = f'write "{text}" in quotes if that is meant' if text else None
            self._faults.add(
                f"the key {text or '(empty)'} is {kind}; keys must be text", self._at(key), fix
            )
        return text

    def _scalar(self, node: ScalarNode) -> Any:
        text = str(node.value)
        tag = node.tag.removeprefix(_TAG)
        if tag == "str":
            return text
        if tag == "null":
            return None
        if tag == "bool":
            return text.lower() == "true"
        try:
            if tag == "int" and _INT.match(text):
                return int(text, 0 if text.lstrip("+-")[:2] in ("0x", "0o", "0b") else 10)
            if tag == "float" and _FLOAT.match(text):
                special = text.lower().lstrip("+-") in (".inf", ".nan")
                return float(text.replace(".", "", 1)) if special else self._parse_float(text)
        except ValueError:  # stray underscores; integers of more than 4300 digits
            self._faults.add(f"{text[:40]} is not a number that can be read", self._at(node))
            return 0
        self._faults.add(f"the tag {node.tag} is not read; write the plain value", self._at(node))
        return text

    def _at(self, node: Node) -> Span:
        return span_of(self._source, node)

    def _syntax_error(self, error: yaml.MarkedYAMLError) -> InputError:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line, mark.column) if mark else (0, 0)
        lines = self._source.lines
        if lines and line >= len(lines):  # the end of the text: point at its last character
            line, column = len(lines) - 1, max(len(lines[-1]) - 1, 0)
        here = lines[line][column : column + 1] if line < len(lines) else ""
        message, fix = _explained(error, here)
        faults = Faults()
        faults.add(message, Span(self._source, line + 1, column + 1), fix)
        return InputError(faults.found)

    def _bad_character(self, error: yaml.YAMLError, text: str) -> InputError:
        code = getattr(error, "character", None)
        offset = text.find(chr(code)) if isinstance(code, int) else 0
        before = text[: max(offset, 0)]
        place = Span(self._source, before.count("\n") + 1, len(before) - before.rfind("\n"))
        shown = f"U+{code:04X}" if isinstance(code, int) else "an unknown one"
        faults = Faults()
        faults.add(f"not valid YAML: the character {shown} is not allowed", place)
        return InputError(faults.found)


def _explained(error: yaml.MarkedYAMLError, here: str) -> tuple[str, str | None]:
    problem = str(error.problem or "unreadable")
    if here == "\t":
        return "not valid YAML: a tab in front of a value; YAML indents with spaces only", None
    if problem.startswith("mapping values are not allowed"):
        return (
            'not valid YAML: a second ": " on the line, or wrong indentation',
            'put a text that holds ": " in quotes',
        )
    if error.context == "expected a single document in the stream":
        return "the file holds a second document (`---`); it must hold one", None
    if problem.startswith("found character that cannot start") and here:
        return f"not valid YAML: a value cannot start with {here}", "put the text in quotes"
    context = f" {error.context}" if error.context else ""
    fix = f"put a text that holds {here} in quotes" if here in ("[", "{") else None
    return f"not valid YAML: {problem}{context}", fix


def duplicate_message(key: str, first: Span) -> str:
    """The wording of a duplicate key, with the place of the first one."""
    return f'key "{key}" is written twice, first at {first}; a mapping holds each key once'


def span_of(source: Source, node: Node) -> Span:
    """The place of a node; its width is that of its text on the first line, 1 for containers."""
    start, end = node.start_mark, node.end_mark
    width = 1
    if isinstance(node, ScalarNode):
        if end.line == start.line:
            width = max(1, end.column - start.column)
        elif start.line < len(source.lines):
            width = max(1, len(source.lines[start.line]) - start.column)
    return Span(source, start.line + 1, start.column + 1, width)
