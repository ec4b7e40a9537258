"""What a program's statements declare: read before them, because uses may stand anywhere."""

import re
from typing import Any

from archsim.program.declarations import EVENT_KEYS, pipe_at
from archsim.program.ir import EventDecl
from archsim.program.reading import IDENTIFIER, Node
from archsim.program.symbols import Symbols

_READS = re.compile(r"\s*(?:\w+\s*(?:\[[^\]]*\])?\s*=\s*)?tgetval\s+\$(\w+)", re.IGNORECASE)
RECORD_KEYS = ("event", *EVENT_KEYS[:2])


def loop_variables(value: Any) -> tuple[str, ...]:
    """The variables of all loops in a list of statements, at any depth."""
    found: dict[str, None] = {}
    pending = [value]
    while pending:
        block = pending.pop()
        for item in block if isinstance(block, list) else ():
            if not isinstance(item, dict):
                continue
            head = item.get("for")
            if isinstance(head, dict) and isinstance(head.get("var"), str):
                found[head["var"]] = None
            pending.extend(item.get(key) for key in ("do", "then", "else"))
    return tuple(found)


def runtime_scalars(value: Any) -> tuple[str, ...]:
    """The names that `tgetval $name <- ...` gives numbers to, in a list of statements."""
    found: dict[str, None] = {}
    pending = [value]
    while pending:
        block = pending.pop()
        for item in block if isinstance(block, list) else ():
            if isinstance(item, str) and (match := _READS.match(item)):
                found[match[1]] = None
            elif isinstance(item, dict):
                pending.extend(item.get(key) for key in ("do", "then", "else"))
    return tuple(found)


def declare_short_forms(node: Node, symbols: Symbols) -> None:
    """Declare the events of every `record: {event: e, from: tload, to: vec}`, at any depth."""
    if not isinstance(node.value, list):
        return
    for item in node.children():
        if not isinstance(item.value, dict):
            continue
        for key in ("do", "then", "else"):
            if key in item.value:
                declare_short_forms(item.at(key), symbols)
        if isinstance(item.value.get("record"), dict):
            _declare(item.at("record"), symbols)


def _declare(node: Node, symbols: Symbols) -> None:
    before = len(node.faults.found)
    node.check_keys("record", RECORD_KEYS)
    part = node.get("event")
    name = part.value if part else None
    if part is None or not isinstance(name, str) or not IDENTIFIER.match(name):
        (part or node).fault("the record names no event; must be {event: NAME, from: A, to: B}")
        return
    src, dst = (pipe_at(node, key, f"event {name}") for key in EVENT_KEYS[:2])
    if src is None or dst is None or len(node.faults.found) > before:
        symbols.broken[name] = None
        return
    known, kind = symbols.events.get(name), symbols.kind_of(name)
    if known is not None and (known.src, known.dst, known.ring) != (src, dst, 1):
        part.fault(f"event {name} is declared elsewhere with other pipes or a ring")
    elif known is None and kind is not None:
        part.fault(f'"{name}" is a {kind}; an event needs a name of its own')
        symbols.broken[name] = None
    elif known is None:
        symbols.events[name] = EventDecl(name, src, dst, 1, part.span)
