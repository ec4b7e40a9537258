"""A `Program` as canonical trace text: reading it back gives the same program."""

import json
import math
import re
from collections.abc import Iterable, Mapping

from archsim.program.ir import (
    Arg,
    Barrier,
    EventArg,
    EventDecl,
    Expect,
    Flag,
    For,
    If,
    Init,
    Instr,
    Program,
    Record,
    ScalarArg,
    Statement,
    TensorDecl,
    TileDecl,
    Valid,
    Wait,
    WindowArg,
)
from archsim.program.tensor_decls import default_strides

_PLAIN = re.compile(r"[A-Za-z_$][\w$./-]*$", re.ASCII)
_WORDS = ("true", "false", "null", "inf", "nan")  # YAML, or the reader, sees more than a text


def trace_text(program: Program) -> str:
    """The trace of `program`, one line a declaration and a statement, in YAML."""
    ringed: dict[str, None] = {}
    body = list(_block(program.body, 1, ringed))
    lines = ["pto: 1"]
    if program.arch:
        lines.append(f"arch: {_word(program.arch)}")
    if program.archs:
        lines.append(f"archs: [{', '.join(map(_word, program.archs))}]")
    lines.append(f"sync: {'auto' if program.auto_sync else 'explicit'}")
    if program.place != program.auto_sync:
        lines.append(f"alloc: {'auto' if program.place else 'explicit'}")
    lines += _section("scalars", {n: _number(v) for n, v in program.scalars.items()})
    lines += _section("tensors", {n: _tensor(t) for n, t in program.tensors.items()})
    lines += _section("tiles", {n: _tile(t, n in ringed) for n, t in program.tiles.items()})
    lines += _section("events", {n: _event(e, n in ringed) for n, e in program.events.items()})
    lines += ["program:", *body] if body else ["program: []"]
    lines += _section("expect", {e.tensor: _expect(e) for e in program.expect})
    return "\n".join(lines) + "\n"


def statement_text(statement: Instr) -> str:
    """A tile instruction as one line: `ready = tload ta[i % 2] <- a[i*16, 0], waits=[free]`."""
    outs = ", ".join(map(_arg, statement.outs))
    ins = [_arg(arg) for arg in statement.ins if arg is not None]
    ins += [f"{key}={value}" for key, value in statement.attrs.items()]
    if statement.waits:
        ins.append(f"waits=[{', '.join(map(_event_arg, statement.waits))}]")
    result = f"{_event_arg(statement.result)} = " if statement.result else ""
    return f"{result}{statement.op.mnemonic} {outs} <- {', '.join(ins)}".rstrip()


def _section(name: str, entries: Mapping[str, str]) -> list[str]:
    return (
        [f"{name}:", *(f"  {_word(key)}: {text}" for key, text in entries.items())]
        if entries
        else []
    )


def _tensor(tensor: TensorDecl) -> str:
    parts = {"dtype": str(tensor.dtype), "shape": str(list(tensor.shape))}
    if tensor.strides != default_strides(tensor.shape, tensor.layout):
        parts["strides"] = str(list(tensor.strides))
    if tensor.layout != "nd":
        parts["layout"] = tensor.layout
    if tensor.init.kind != "zeros":
        parts["init"] = _init(tensor.init)
    return _flow(parts)


def _init(init: Init) -> str:
    args = {key: _value(value) for key, value in init.args.items()}
    if init.kind == "const":
        return _flow({"const": args["value"]})
    if init.kind == "linspace":
        return _flow({"linspace": f"[{args['low']}, {args['high']}]"})
    return _flow(args if init.kind == "file" else {init.kind: _flow(args)})


def _tile(tile: TileDecl, ringed: bool) -> str:
    parts = {"loc": str(tile.loc), "dtype": str(tile.dtype), "shape": f"[{tile.rows}, {tile.cols}]"}
    if any(
        not v.static or v.extent.literal != n
        for v, n in zip(tile.valid, (tile.rows, tile.cols), strict=True)
    ):
        parts["valid"] = f"[{', '.join(map(_valid, tile.valid))}]"
    if tile.addr is not None:
        parts["addr"] = f"0x{tile.addr:04x}"
    if ringed or tile.ring > 1:
        parts["ring"] = str(tile.ring)
    if not tile.row_major:
        parts["blayout"] = "col_major"
    if tile.slayout != "none_box":
        parts["slayout"] = tile.slayout
    if tile.fractal != 512:
        parts["fractal"] = str(tile.fractal)
    if tile.pad != "null":
        parts["pad"] = tile.pad
    if tile.row_stride != tile.cols:
        parts["stride"] = str(tile.row_stride)
    return _flow(parts)


def _valid(valid: Valid) -> str:
    return str(valid.extent.literal) if valid.static else _term(valid.extent.text)


def _event(event: EventDecl, ringed: bool) -> str:
    ring = {"ring": str(event.ring)} if ringed or event.ring > 1 else {}
    return _flow({"from": str(event.src), "to": str(event.dst), **ring})


def _expect(expect: Expect) -> str:
    texts = {"numpy": expect.numpy, "file": expect.file, "key": expect.key}
    parts = {key: _quoted(text) for key, text in texts.items() if text is not None}
    parts |= {"atol": _number(expect.atol), "rtol": _number(expect.rtol)}
    kept = {key: text for key, text in parts.items() if text != "0.0"}
    return _flow({**kept, **({"exact": "true"} if expect.exact else {})})


def _block(body: Iterable[Statement], depth: int, ringed: dict[str, None]) -> Iterable[str]:
    """The lines of a list of statements; notes what is used with a slot in `ringed`."""
    lead = "  " * depth
    for statement in body:
        match statement:
            case For():
                head = {"var": _word(statement.var), "range": _range(statement)}
                yield f"{lead}- for: {_flow(head)}"
                yield from _nested("do", statement.body, depth, ringed)
            case If():
                yield f"{lead}- if: {_scalar_text(statement.cond.text)}"
                yield from _nested("then", statement.then, depth, ringed)
                if statement.otherwise:
                    yield from _nested("else", statement.otherwise, depth, ringed)
            case _:
                _note_slots(statement, ringed)
                yield f"{lead}- {_leaf(statement)}"


def _nested(
    key: str, body: tuple[Statement, ...], depth: int, ringed: dict[str, None]
) -> Iterable[str]:
    lead = "  " * depth
    if not body:
        yield f"{lead}  {key}: []"
        return
    yield f"{lead}  {key}:"
    yield from _block(body, depth + 2, ringed)


def _leaf(statement: Statement) -> str:
    match statement:
        case Instr():
            return _scalar_text(statement_text(statement))
        case Wait(event):
            return f"wait: {_scalar_text(_event_arg(event))}"
        case Record(event):
            return f"record: {_scalar_text(_event_arg(event))}"
        case Flag():
            key = "set_flag" if statement.set else "wait_flag"
            return f"{key}: [{statement.src}, {statement.dst}, {_term(statement.id.text)}]"
        case Barrier(pipe):
            return f"barrier: {pipe or 'ALL'}"
    raise AssertionError(f"{statement!r} is no single statement")


def _note_slots(statement: Statement, ringed: dict[str, None]) -> None:
    uses: list[object] = []
    if isinstance(statement, Instr):
        uses = [*statement.outs, *statement.ins, *statement.waits, statement.result]
    elif isinstance(statement, Wait | Record):
        uses = [statement.event]
    for use in uses:
        if getattr(use, "slot", None) is not None:
            ringed[use.name] = None  # type: ignore[attr-defined]


def _range(loop: For) -> str:
    parts = [loop.start.text, loop.stop.text, loop.step.text]
    if parts[2] != "1":
        return f"[{', '.join(map(_term, parts))}]"
    return _term(parts[1]) if parts[0] == "0" else f"[{', '.join(map(_term, parts[:2]))}]"


def _arg(arg: Arg) -> str:
    if isinstance(arg, WindowArg):
        return f"{arg.name}[{', '.join(offset.text for offset in arg.offsets)}]"
    if isinstance(arg, ScalarArg):
        if arg.expr is not None:
            return arg.expr.text
        return f"${arg.name}" if arg.name is not None else _number(arg.value or 0, yaml=False)
    return arg.name if arg.slot is None else f"{arg.name}[{arg.slot.text}]"


def _event_arg(event: EventArg) -> str:
    return event.name if event.slot is None else f"{event.name}[{event.slot.text}]"


def _value(value: object) -> str:
    return _number(value) if isinstance(value, int | float) else _word(str(value))


def _number(value: int | float, yaml: bool = True) -> str:
    """YAML spells infinities and NaN with a dot, operands without."""
    if isinstance(value, int) or math.isfinite(value):
        return repr(value)
    word = "nan" if math.isnan(value) else "inf"
    return f"{'-' if value < 0 else ''}{'.' if yaml else ''}{word}"


def _flow(parts: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{key}: {text}" for key, text in parts.items()) + "}"


def _word(text: str) -> str:
    """A text inside brackets or braces: quoted unless it is one plain word."""
    return text if _PLAIN.match(text) and text.lower() not in _WORDS else _quoted(text)


def _term(text: str) -> str:
    """An expression inside brackets or braces: a plain integer stays one."""
    return text if text.isascii() and text.isdecimal() else _word(text)


def _quoted(text: str) -> str:
    """Double quotes as YAML has them: beyond what JSON escapes, what is not printable, too."""
    return "".join(
        char if char.isprintable() else f"\\U{ord(char):08x}"
        for char in json.dumps(text, ensure_ascii=False)
    )


def _scalar_text(text: str) -> str:
    """A text that ends its line: quoted where YAML would see more in it than text."""
    risky = any(part in text for part in (": ", " #", "\n")) or text.endswith(":")
    risky = risky or not re.match(r"[A-Za-z_$]", text)
    return _quoted(text) if risky or text.lower() in _WORDS else text
