"""The sections `scalars` and `events` of a trace file."""

from collections.abc import Mapping

from archsim.base.errors import Faults, did_you_mean
from archsim.isa.pipes import EVENT_CLASSES, Pipe, pipe_named
from archsim.program.ir import EventDecl
from archsim.program.reading import Node, number_in
from archsim.program.symbols import Symbols

EVENT_KEYS = ("from", "to", "ring")
PIPES_RULE = f"a pipe ({', '.join(Pipe)}) or a class ({', '.join(EVENT_CLASSES)})"


def read_scalars(node: Node | None, symbols: Symbols) -> None:
    """Fill `symbols.scalars`."""
    if node is not None and node.is_mapping("scalars"):
        for child in node.children():
            if not child.is_name("scalar"):
                continue
            value = child.number(f"scalar {child.key}")
            if value is None:
                symbols.broken[child.key] = None
            else:
                symbols.scalars[child.key] = value


def override_scalars(arguments: Mapping[str, str], symbols: Symbols, faults: Faults) -> None:
    """Apply `--arg name=value`; a scalar declared as a float stays one."""
    for name, text in arguments.items():
        if name in symbols.broken:
            continue
        if name not in symbols.scalars:
            known = ", ".join(symbols.scalars) or "none"
            fix = did_you_mean(name, symbols.scalars)
            faults.add(f"--arg {name}: the program has no such scalar; it has {known}", None, fix)
            continue
        value = number_in(text.strip())
        if value is None:
            faults.add(f'--arg {name} is "{text}"; must be a number')
        elif isinstance(symbols.scalars[name], float):
            symbols.scalars[name] = float(value)
        else:
            symbols.scalars[name] = value


def read_events(node: Node | None, symbols: Symbols) -> None:
    """Fill `symbols.events`."""
    if node is None or not node.is_mapping("events"):
        return
    for child in node.children():
        if not child.is_name("event"):
            continue
        if isinstance(child.value, dict) and "ring" in child.value:
            symbols.rings[child.key] = None
        event = _event(child)
        if event is None:
            symbols.broken[child.key] = None
        else:
            symbols.events[child.key] = event


def _event(node: Node) -> EventDecl | None:
    what = f"event {node.key}"
    if not node.is_mapping(what, EVENT_KEYS):
        return None
    src, dst = (pipe_at(node, key, what) for key in ("from", "to"))
    ring_node = node.get("ring")
    ring = 1 if ring_node is None else ring_node.integer(f"ring of {what}", 1)
    if src is None or dst is None or ring is None:
        return None
    return EventDecl(node.key, src, dst, ring, node.key_span)


def pipe_at(node: Node, key: str, what: str) -> Pipe | None:
    """The pipe or class under `key` of a mapping."""
    part = node.get(key)
    if part is None:
        node.faults.add(f"{what} has no {key}; it must name {PIPES_RULE}", node.key_span)
        return None
    return pipe_in(part, f"{key} of {what}")


def pipe_in(node: Node, what: str) -> Pipe | None:
    """The pipe that a value names."""
    found = pipe_named(node.value) if isinstance(node.value, str) else None
    if found is None:
        near = None
        if isinstance(node.value, str):
            near = did_you_mean(node.value, [*EVENT_CLASSES, *Pipe])
        node.must_be(what, PIPES_RULE, near)
    return found
