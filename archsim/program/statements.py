"""The statements of a trace file: lines of text, and mappings such as `{wait: ready}`."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from archsim.base.errors import Diagnostic, did_you_mean
from archsim.isa.pipes import Pipe
from archsim.program.declarations import PIPES_RULE, pipe_in
from archsim.program.event_refs import read_event, read_tsync
from archsim.program.expr import literal
from archsim.program.instructions import read_instruction
from archsim.program.ir import (
    Barrier,
    EventArg,
    Expr,
    Flag,
    For,
    If,
    Record,
    Statement,
    Wait,
)
from archsim.program.pieces import Piece
from archsim.program.reading import IDENTIFIER, Node, counted
from archsim.program.scope import Scope

FOR_KEYS = ("var", "range")
RANGE_KEYS = ("start", "stop", "step")
_MAPPING_FIX = 'put a line that holds ": " in quotes'
_FLOW_FIX = "in a list written in [ ], put a statement that holds commas in quotes"


def read_block(node: Node, scope: Scope, what: str) -> tuple[Statement, ...]:
    """The statements of a list; the faulty ones are left out."""
    if not node.is_list(what, "a list of statements"):
        return ()
    out: list[Statement] = []
    for child in node.children():
        out.extend(_statement(child, node, scope))
    return tuple(out)


def _statement(node: Node, parent: Node, scope: Scope) -> list[Statement]:
    value = node.value
    if isinstance(value, str) and value.strip():
        before = len(node.faults.found)
        found = read_instruction(value, node.text_span, scope)
        if len(node.faults.found) > before and _cut_by_commas(node, parent):
            _advise(node, before)
        return found
    if not isinstance(value, dict):
        node.must_be("a statement", "a line of text or a mapping such as {wait: event}")
        return []
    kind = next((key for key in value if key in _READERS), None)
    if kind is None:
        _report_unknown(node)
        return []
    keys = _KEYS.get(kind, (kind,))
    node.check_keys(f"{kind}", keys)
    return _READERS[kind](node, scope)


def _cut_by_commas(node: Node, parent: Node) -> bool:
    """True for an unquoted text in a list that is written in brackets."""
    lines = node.span.source.lines
    return _first(parent, lines) == "[" and _first(node, lines) not in ('"', "'")


def _first(node: Node, lines: tuple[str, ...]) -> str:
    span = node.span
    return lines[span.line - 1][span.column - 1 : span.column] if span.line <= len(lines) else ""


def _advise(node: Node, before: int) -> None:
    found = node.faults.found
    for index in range(before, len(found)):
        old = found[index]
        found[index] = Diagnostic(old.message, old.span, _FLOW_FIX)


def _report_unknown(node: Node) -> None:
    if not node.value:
        node.fault("an empty mapping is no statement; one of its keys must say what to do")
        return
    key, value = next(iter(node.value.items()))
    known = ", ".join(_READERS)
    message = f'"{key}" is no statement; a plain line that holds ": " becomes a mapping'
    fix = did_you_mean(key, _READERS)
    if not IDENTIFIER.match(key):
        fix = f'write "{key}: {value}" with the quotes' if isinstance(value, str) else _MAPPING_FIX
    elif fix is None:
        message = f"{message}; mappings: {known}"
    node.faults.add(message, node.at(key).key_span, fix)


def _wait(node: Node, scope: Scope) -> list[Statement]:
    event = _event(node.at("wait"), scope, "wait")
    return [] if event is None else [Wait(event, node.span)]


def _record(node: Node, scope: Scope) -> list[Statement]:
    part = node.at("record")
    if isinstance(part.value, dict):
        name = part.value.get("event")
        if not isinstance(name, str) or name not in scope.symbols.events:
            return []  # `declare_short_forms` has said why
        return [Record(EventArg(name, None, part.at("event").span), node.span)]
    event = _event(part, scope, "record")
    return [] if event is None else [Record(event, node.span)]


def _event(node: Node, scope: Scope, what: str) -> EventArg | None:
    text = node.text(what)
    if text is None:
        return None
    return read_event(Piece(text.strip(), node.text_span), scope)


def _tsync(node: Node, scope: Scope) -> list[Statement]:
    part = node.at("tsync")
    items = part.children() if isinstance(part.value, list) else [part]
    out: list[Statement] = []
    for item in items:
        text = item.text("tsync")
        if text is not None:
            out.extend(read_tsync(Piece(text.strip(), item.text_span), node.span, scope))
    if not items:
        part.fault("tsync is an empty list; must be a list of events")
    return out


def _flag(node: Node, scope: Scope) -> list[Statement]:
    key = "set_flag" if "set_flag" in node.value else "wait_flag"
    part = node.at(key)
    if not isinstance(part.value, list) or len(part.value) != 3:
        part.must_be(key, "a list of source pipe, destination pipe and id, as in [MTE2, V, 0]")
        return []
    src = pipe_in(part.at(0), f"source pipe of {key}")
    dst = pipe_in(part.at(1), f"destination pipe of {key}")
    ident = _expression(part.at(2), f"id of {key}", scope)
    if src is None or dst is None or ident is None:
        return []
    if src is dst:
        part.fault(f"{key} orders {src} after itself; must name two pipes", f"write barrier: {src}")
        return []
    if ident.literal is not None and ident.literal < 0:
        part.at(2).must_be(f"id of {key}", "0 or more")
        return []
    return [Flag(key == "set_flag", src, dst, ident, node.span)]


def _barrier(node: Node, scope: Scope) -> list[Statement]:
    part = node.at("barrier")
    if isinstance(part.value, str) and part.value.upper().removeprefix("PIPE_") == "ALL":
        return [Barrier(None, node.span)]
    if not isinstance(part.value, str):
        part.must_be("barrier", f"ALL, {PIPES_RULE}")
        return []
    pipe: Pipe | None = pipe_in(part, "barrier")
    return [] if pipe is None else [Barrier(pipe, node.span)]


def _for(node: Node, scope: Scope) -> list[Statement]:
    head, body = node.at("for"), node.get("do")
    if not head.is_mapping("for", FOR_KEYS):
        return []
    var = _variable(head, scope)
    bounds = _range(head, scope)
    if body is None:
        node.fault("the loop has no do; it must hold a list of statements")
        return []
    inner = scope if var is None else scope.inside(var)
    statements = read_block(body, inner, "do")
    if var is None or bounds is None:
        return []
    return [For(var, *bounds, statements, node.span)]


def _variable(head: Node, scope: Scope) -> str | None:
    part = head.get("var")
    if part is None:
        head.fault("the loop has no var; it must name its variable, as in {var: i, range: 8}")
        return None
    if not isinstance(part.value, str) or not IDENTIFIER.match(part.value):
        part.must_be("var of the loop", "a name of letters, digits and _")
        return None
    if part.value in scope.loops:
        part.fault(f"{part.value} is the variable of an enclosing loop; each needs its own")
        return None
    if part.value in scope.symbols.scalars:
        part.fault(f"{part.value} is a scalar; a loop variable needs a name of its own")
        return None
    return part.value


def _range(head: Node, scope: Scope) -> tuple[Expr, Expr, Expr] | None:
    """N, [start, stop], [start, stop, step] or {start, stop, step}."""
    part = head.get("range")
    if part is None:
        head.fault(
            "the loop has no range; it must be a count, [start, stop] or [start, stop, step]"
        )
        return None
    parts: dict[str, Node] = {"stop": part}
    if isinstance(part.value, list):
        if len(part.value) not in (2, 3):
            rule = "a count, [start, stop] or [start, stop, step]"
            part.fault(f"range has {counted(len(part.value), 'entry', 'entries')}; must be {rule}")
            return None
        parts = dict(zip(RANGE_KEYS, part.children(), strict=False))
    elif isinstance(part.value, dict):
        part.check_keys("range", RANGE_KEYS)
        parts = {child.key: child for child in part.children()}
        if "stop" not in parts:
            part.fault("range has no stop; it must state one")
            return None
    found = [
        _expression(parts[key], f"{key} of range", scope) if key in parts else literal(default)
        for key, default in zip(RANGE_KEYS, (0, 0, 1), strict=True)
    ]
    start, stop, step = found
    if step is not None and step.literal == 0:
        parts["step"].must_be("step of range", "an integer other than 0")
        return None
    return None if start is None or stop is None or step is None else (start, stop, step)


def _if(node: Node, scope: Scope) -> list[Statement]:
    cond = _expression(node.at("if"), "if", scope)
    then, otherwise = node.get("then"), node.get("else")
    if then is None:
        node.fault("the if has no then; it must hold a list of statements")
        return []
    first = read_block(then, scope, "then")
    second = () if otherwise is None else read_block(otherwise, scope, "else")
    return [] if cond is None else [If(cond, first, second, node.span)]


def _expression(node: Node, what: str, scope: Scope) -> Expr | None:
    """An integer, true or false, or an expression."""
    if isinstance(node.value, str):
        return scope.expr(node.value, node.text_span)
    if isinstance(node.value, int):
        return literal(int(node.value), None, node.span)
    node.must_be(what, "an integer or an expression")
    return None


_READERS: Mapping[str, Callable[[Node, Scope], list[Statement]]] = MappingProxyType(
    {
        "wait": _wait,
        "record": _record,
        "set_flag": _flag,
        "wait_flag": _flag,
        "barrier": _barrier,
        "tsync": _tsync,
        "for": _for,
        "if": _if,
    }
)
_KEYS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"for": ("for", "do"), "if": ("if", "then", "else")}
)
