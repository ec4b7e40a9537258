"""Uses of events: `event[slot]`, `tsync`, and events that need no declaration."""

import re

from archsim.base.errors import Faults
from archsim.base.source import Span
from archsim.isa.pipes import Pipe, pipe_named
from archsim.isa.tile_ops import TILE_OPS
from archsim.program.ir import Barrier, EventArg, EventDecl, Statement, Wait
from archsim.program.pieces import Piece, split_pieces
from archsim.program.scope import EventUse, Scope
from archsim.program.symbols import Symbols

_EVENT = re.compile(r"([A-Za-z_]\w*)\s*(?:\[(.*)\])?$", re.ASCII)


def read_event(
    piece: Piece, scope: Scope, producer: Pipe | None = None, consumer: Pipe | None = None
) -> EventArg | None:
    """`event` or `event[slot]`; `producer` and `consumer` are the pipes of an instruction that
    returns it or waits for it, and must be those of the event.
    """
    match = _EVENT.match(piece.text)
    if match is None:
        scope.faults.add(f'"{piece.text}" is no event; must be a name or name[slot]', piece.span)
        return None
    name, index = match.groups()
    event = scope.symbols.events.get(name)
    if event is None:
        return _undeclared(name, index, piece.span, scope, producer, consumer)
    place = piece.span
    if index is not None:
        start = piece.text.index("[") + 1
        place = place.shifted(start, max(1, len(index)))
    slot, right = scope.slot(name, index, place, event.ring, "event")
    if producer not in (None, event.src):
        message = f"event {name} comes from {event.src}; this instruction runs on {producer}"
        scope.faults.add(message, piece.span)
        return None
    if consumer is not None and consumer not in (event.dst, event.src):
        message = f"event {name} goes to {event.dst}; this instruction runs on {consumer}"
        scope.faults.add(message, piece.span)
        return None
    return EventArg(name, slot, piece.span) if right else None


def _undeclared(
    name: str,
    index: str | None,
    place: Span,
    scope: Scope,
    producer: Pipe | None,
    consumer: Pipe | None,
) -> EventArg | None:
    if name in scope.symbols.broken:
        return None
    if index is not None or scope.symbols.kind_of(name):
        scope.symbols.add_unknown("event", name, place, scope.faults)
        return None
    arg = EventArg(name, None, place)
    scope.open_events.setdefault(name, []).append(EventUse(arg, producer, consumer))
    return arg


def read_tsync(piece: Piece, span: Span, scope: Scope) -> list[Statement]:
    """`tsync e0, e1` waits for events; with a class, pipe or instruction it drains that pipe."""
    parts = split_pieces(piece.text, piece.span) if piece.text else []
    if not parts:
        message = "tsync has no operand; it waits for events, or drains the pipe of a class"
        scope.faults.add(message, span, "write tsync e0, e1 or tsync vec")
        return []
    found = [_synchronised(part, span, scope) for part in parts]
    return [statement for statement in found if statement is not None]


def _synchronised(piece: Piece, span: Span, scope: Scope) -> Statement | None:
    if piece.text not in scope.symbols.events:
        op = TILE_OPS.get(piece.text.lower())
        pipe = pipe_named(piece.text) or (op.pipe if op else None)
        if pipe is not None:
            return Barrier(pipe, span)
    event = read_event(piece, scope)
    return None if event is None else Wait(event, span)


def declare_open_events(uses: dict[str, list[EventUse]], symbols: Symbols, faults: Faults) -> None:
    """Declare each event whose pipes follow from the instructions that return and await it.

    That takes exactly one pipe on each side. With more it is one fault; with none on a side the
    event is unknown at every use.
    """
    for name, found in uses.items():
        producers = dict.fromkeys(use.producer for use in found if use.producer)
        consumers = dict.fromkeys(use.consumer for use in found if use.consumer)
        if len(producers) == 1 and len(consumers) == 1:
            (src,), (dst,) = producers, consumers
            symbols.events[name] = EventDecl(name, src, dst, 1, found[0].arg.span)
            continue
        if producers and consumers:
            ends = (" and ".join(pipes) for pipes in (producers, consumers))
            message = "event {} goes from {} to {}; must go from one pipe to one".format(
                name, *ends
            )
            fix = "use an event of its own for each pair of pipes"
            faults.add(message, found[0].arg.span, fix)
            continue
        for use in found:
            symbols.add_unknown("event", name, use.arg.span, faults)
