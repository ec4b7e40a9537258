"""The text of a tile instruction: `ready = tload ta[i % 2] <- a[i*16, 0], waits=[free]`."""

import re
from collections.abc import Mapping

from archsim.base.errors import did_you_mean
from archsim.base.source import Span
from archsim.isa.families.scalar_unit import BINDERS
from archsim.isa.tile_op import TileOp
from archsim.isa.tile_ops import FORMS
from archsim.program.event_refs import read_event, read_tsync
from archsim.program.ir import Arg, EventArg, Instr, ScalarArg, Statement, TileArg
from archsim.program.operands import form_of, match_operands, read_operand, usage
from archsim.program.pieces import Piece, split_pieces
from archsim.program.scope import Scope
from archsim.program.windows import check_windows

_HEAD = re.compile(
    r"(?:(?P<result>[A-Za-z_]\w*\s*(?:\[[^\]]*\])?)\s*=(?!=)\s*)?(?P<name>[A-Za-z_][\w.]*)"
)
_KEY = re.compile(r"([A-Za-z_]\w*)\s*=(?!=)\s*(.*)$", re.DOTALL)
STATEMENTS = ("wait", "record", "barrier", "set_flag", "wait_flag", "for", "if")


def read_instruction(text: str, span: Span, scope: Scope) -> list[Statement]:
    """The statement that `text` (at `span`) is: an instruction, or what `tsync` stands for.

    An empty list where it is faulty; the faults are noted in the scope.
    """
    lead = len(text) - len(text.lstrip())
    text = text.strip()
    span = span.shifted(lead, len(text))
    head = _HEAD.match(text)
    if head is None:
        scope.faults.add(f'"{text}" is no statement; an instruction starts with its name', span)
        return []
    if head["name"].lower() == "tsync":
        rest = text[head.end() :]
        return read_tsync(Piece(rest.strip(), span.shifted(head.end() + 1, len(rest))), span, scope)
    forms = _forms(head, span, scope)
    return [] if forms is None else _instruction(forms, head, Piece(text, span), scope)


def _forms(head: re.Match[str], span: Span, scope: Scope) -> tuple[TileOp, ...] | None:
    name = head["name"].lower()
    forms = FORMS.get(name)
    if forms is None:
        place = span.shifted(head.start("name"), len(name))
        fix = did_you_mean(name, FORMS)
        if name in STATEMENTS:
            fix = f"a statement of its own kind, with a colon: {name}: ..."
        scope.faults.add(
            f'unknown instruction "{head["name"]}"; `archsim isa` lists what exists', place, fix
        )
    return forms


def _instruction(
    forms: tuple[TileOp, ...], head: re.Match[str], line: Piece, scope: Scope
) -> list[Statement]:
    before, span = len(scope.faults.found), line.span
    sides = _sides(forms[0], head.end(), line, scope)
    if sides is None:
        return []
    matches = [_KEY.match(part.text) if "=" in part.text else None for part in sides[1]]
    keys = [(part, match) for part, match in zip(sides[1], matches, strict=True) if match]
    plain = [part for part, match in zip(sides[1], matches, strict=True) if not match]
    left, right = _read(sides[0], scope), _read(plain, scope)
    given = {match[1] for _, match in keys}
    op = form_of(forms, left or (), right or (), given, _first_type(left, scope))
    attrs, waits = _keys(op, keys, scope)
    outs = None if left is None else match_operands(op, op.outs, left, "left", span, scope)
    ins = None if right is None else match_operands(op, op.ins, right, "right", span, scope)
    result = _result(op, head, span, scope)
    if outs is None or ins is None or len(scope.faults.found) > before:
        return []
    kept = tuple(arg for arg in outs if arg is not None)
    if not check_windows(op, kept, ins, scope) or not _check_binding(op, kept, ins, scope):
        return []
    return [Instr(op, kept, ins, attrs, waits, result, span)]


def _first_type(args: list[Arg] | None, scope: Scope) -> str:
    """The element type of the first tile of a side; empty where it is no known tile."""
    first = args[0] if args else None
    declared = scope.symbols.tiles.get(first.name) if isinstance(first, TileArg) else None
    return declared.dtype.name if declared else ""


def _sides(
    op: TileOp, start: int, line: Piece, scope: Scope
) -> tuple[list[Piece], list[Piece]] | None:
    """The operands on both sides of the arrow, of a line whose operands begin at `start`."""
    text, span = line
    arrow = text.find("<-", start)
    if arrow < 0:
        message = f"{op.mnemonic} has no <-; it must stand between results and operands"
        scope.faults.add(message, span, f"write {usage(op)}")
        return None
    left = split_pieces(text[start:arrow], span, start)
    right = split_pieces(text[arrow + 2 :], span, arrow + 2)
    if left is None or right is None:
        scope.faults.add("the brackets do not match", span)
        return None
    sides = _without_blank(left), _without_blank(right)
    for part in (*sides[0], *sides[1]):
        if not part.text:
            scope.faults.add(
                "an operand is empty; one must stand on each side of a comma", part.span
            )
            return None
    return sides


def _without_blank(parts: list[Piece]) -> list[Piece]:
    return [] if len(parts) == 1 and not parts[0].text else parts


def _read(parts: list[Piece], scope: Scope) -> list[Arg] | None:
    """The operands of one side; None where one is faulty."""
    args = [read_operand(part, scope) for part in parts]
    known = [arg for arg in args if arg is not None]
    return known if len(known) == len(args) else None


def _keys(
    op: TileOp, keys: list[tuple[Piece, re.Match[str]]], scope: Scope
) -> tuple[Mapping[str, str], tuple[EventArg, ...]]:
    """`key=value` operands held against the instruction's row, and the events of `waits`."""
    attrs: dict[str, str] = {}
    waits: tuple[EventArg, ...] = ()
    for part, match in keys:
        key, value = match.groups()
        place = part.span
        if key == "waits":
            waits = _waits(op, value, place.shifted(match.start(2), max(1, len(value))), scope)
        elif key in attrs:
            scope.faults.add(f"{key} is given twice; {op.mnemonic} takes it once", place)
        elif key not in op.keys:
            known = (*op.keys, "waits")
            message = f'unknown key "{key}" of {op.mnemonic}; known: {", ".join(known)}'
            scope.faults.add(message, place, did_you_mean(key, known))
        else:
            attrs[key] = _value(op, key, value.strip(), place, scope)
    return attrs, waits


def _value(op: TileOp, key: str, value: str, place: Span, scope: Scope) -> str:
    legal = op.keys[key]
    found = next((name for name in legal if name.lower() == value.lower()), None)
    if found is None and legal:
        rule = f"must be one of {', '.join(legal)}"
        fix = did_you_mean(value, legal)
        scope.faults.add(f'{key} of {op.mnemonic} is "{value}"; {rule}', place, fix)
    return found or value


def _waits(op: TileOp, text: str, span: Span, scope: Scope) -> tuple[EventArg, ...]:
    if not (text.startswith("[") and text.endswith("]")):
        fix = f"write waits=[{text}]"
        scope.faults.add(f"waits is {text}; must be a list of events", span, fix)
        return ()
    parts = split_pieces(text[1:-1], span.shifted(1))
    found = [
        read_event(part, scope, consumer=op.pipe)
        for part in (parts or ())
        if part.text or len(parts or ()) > 1
    ]
    return tuple(event for event in found if event is not None)


def _result(op: TileOp, head: re.Match[str], span: Span, scope: Scope) -> EventArg | None:
    text = head["result"]
    if text is None:
        return None
    return read_event(
        Piece(text.strip(), span.shifted(0, len(text.strip()))), scope, producer=op.pipe
    )


def _check_binding(
    op: TileOp, outs: tuple[Arg, ...], ins: tuple[Arg | None, ...], scope: Scope
) -> bool:
    """What a binder binds is a tile without ring; its numbers are integers."""
    if op.family == "get_value":
        return _check_reader(op, outs, scope)
    if op.family not in BINDERS:
        return True
    right = True
    for arg in outs:
        if isinstance(arg, TileArg) and arg.slot is not None:
            message = f"{op.mnemonic} gives tile {arg.name} an address; it must have no ring"
            scope.faults.add(message, arg.span)
            right = False
    for row, number in zip(op.ins, ins, strict=True):
        if isinstance(number, ScalarArg) and not _is_offset(number, scope):
            what, rule = f"{row.name} of {op.mnemonic}", "must be an integer of at least 0"
            scope.faults.add(f"{what} is {_offset(number, scope)}; {rule}", number.span)
            right = False
    return right


def _check_reader(op: TileOp, outs: tuple[Arg, ...], scope: Scope) -> bool:
    """What `tgetval` reads goes to a name of its own."""
    (target,) = outs
    assert isinstance(target, ScalarArg)
    names = scope.names
    if target.name is not None and target.name not in (*names.integers, *names.floats):
        return True
    what = "a number" if target.name is None else f"${target.name}, which has a value already"
    rule = "must be a $name that nothing else declares"
    scope.faults.add(f"dst of {op.mnemonic} is {what}; {rule}", target.span)
    return False


def _is_offset(arg: ScalarArg, scope: Scope) -> bool:
    value = _offset(arg, scope)
    return value is None or (isinstance(value, int) and value >= 0)


def _offset(arg: ScalarArg, scope: Scope) -> int | float | None:
    """The value of a number, as far as the text tells it."""
    if arg.name is not None:
        return scope.symbols.scalars.get(arg.name)
    return arg.expr.literal if arg.expr is not None else arg.value
