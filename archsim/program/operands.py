"""The text of one operand, and which operand of an instruction each of them is."""

import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from archsim.base.errors import did_you_mean
from archsim.base.source import Span
from archsim.isa.tile_op import Arg as ArgRow
from archsim.isa.tile_op import TileOp
from archsim.program.expr import literal
from archsim.program.ir import Arg, ScalarArg, TileArg, TileDecl, WindowArg
from archsim.program.pieces import Piece, split_pieces
from archsim.program.reading import counted, listed, number_in
from archsim.program.scope import Scope

_INDEXED = re.compile(r"([A-Za-z_]\w*)\s*(?:\[(.*)\])?$", re.ASCII)
_SCALAR = re.compile(r"\$([A-Za-z_]\w*)$", re.ASCII)
_KIND_RULES = {
    "tile": "a tile",
    "mask": "a tile of mask bits",
    "gm": "a tensor or a window of one, as in x[0, 0]",
    "scalar": "a number, $name or an integer expression",
    "any": "a tile or a tensor",
}


def read_operand(piece: Piece, scope: Scope) -> Arg | None:
    """A tile, a window, a number, `$name` or an expression; None where it is faulty."""
    symbols = scope.symbols
    tile = symbols.tiles.get(piece.text)
    if tile is not None and tile.ring == 1:  # the commonest operand by far
        return _in_sight(TileArg(piece.text, None, piece.span), tile, scope)
    match = _INDEXED.match(piece.text)
    if match is not None:
        name, index = match.groups()
        if name in symbols.broken:
            return None
        if name in symbols.tiles:
            return _tile(piece, name, index, scope)
        if name in symbols.tensors:
            return _window(piece, name, index, scope)
    value = number_in(piece.text)
    if value is not None:
        return ScalarArg(value, None, piece.span)
    named = _SCALAR.match(piece.text)
    if named is not None:
        return _scalar(piece, named.group(1), scope)
    if match is not None and (index is not None or name not in scope.names.integers):
        _unknown(piece, name, scope)
        return None
    expr = scope.expr(piece.text, piece.span)
    return None if expr is None else ScalarArg(None, None, piece.span, expr)


def _tile(piece: Piece, name: str, index: str | None, scope: Scope) -> TileArg | None:
    tile = scope.symbols.tiles[name]
    place = piece.span if index is None else _inside(piece)
    slot, right = scope.slot(name, index, place, tile.ring, "tile")
    return _in_sight(TileArg(name, slot, piece.span), tile, scope) if right else None


def _in_sight(arg: TileArg, tile: TileDecl, scope: Scope) -> TileArg | None:
    """None where the tile's valid region reads a loop variable that is not in sight."""
    rows, cols = tile.valid
    for name in sorted(rows.extent.names | cols.extent.names):
        if name not in scope.names.integers:
            rule = f"a loop over {name} must enclose each use of the tile"
            message = f"the valid region of tile {arg.name} reads {name}; {rule}"
            scope.faults.add(message, arg.span)
            return None
    return arg


def _inside(piece: Piece) -> Span:
    """The place of the text between the brackets of an indexed name."""
    start = piece.text.index("[") + 1
    return piece.span.shifted(start, max(1, len(piece.text) - start - 1))


def _window(piece: Piece, name: str, index: str | None, scope: Scope) -> WindowArg | None:
    rank = len(scope.symbols.tensors[name].shape)
    if index is None:
        return WindowArg(name, (literal(0),) * rank, piece.span)
    pieces = split_pieces(index, _inside(piece))
    if pieces is None:
        scope.faults.add("the brackets do not match", _inside(piece))
        return None
    if len(pieces) != rank:
        given = counted(len(pieces), "index", "indices")
        extent = counted(rank, "dimension", "dimensions")
        message = f"the window has {given}; tensor {name} has {extent}"
        scope.faults.add(message, piece.span)
        return None
    offsets = [scope.expr(part.text, part.span) for part in pieces]
    known = tuple(offset for offset in offsets if offset is not None)
    for offset in known:
        if offset.literal is not None and offset.literal < 0:
            scope.faults.add(f"the offset is {offset.literal}; must be 0 or more", offset.span)
    return WindowArg(name, known, piece.span) if len(known) == rank else None


def _scalar(piece: Piece, name: str, scope: Scope) -> ScalarArg | None:
    names = scope.names
    if name in names.integers or name in names.floats or name in names.runtime:
        return ScalarArg(None, name, piece.span)
    if name in scope.symbols.broken:
        return None
    known = sorted((*scope.names.integers, *scope.names.floats))
    rule = f"known here: {listed(known)}" if known else "no scalar or loop variable is known"
    fix = did_you_mean(name, known)
    scope.faults.add(f'unknown scalar "{name}"; {rule}', piece.span, fix)
    return None


def _unknown(piece: Piece, name: str, scope: Scope) -> None:
    place = piece.span.shifted(0, len(name))
    if name in scope.names.floats or name in scope.names.integers:
        scope.faults.add(f"{name} is a scalar; as an operand it is written ${name}", place)
    elif name in scope.symbols.events:
        message = f"{name} is an event; an instruction waits for it by waits=[{name}]"
        scope.faults.add(message, place)
    else:
        near = (f"${scalar}" for scalar in (*scope.names.integers, *scope.names.floats))
        scope.symbols.add_unknown("tile or tensor", name, place, scope.faults, near)


def usage(op: TileOp) -> str:
    """How an instruction is written: `tsel dst <- mask, src0, src1[, tmp]`."""
    outs = ", ".join(arg.name for arg in op.outs)
    ins = ""
    for arg in op.ins:
        lead = ", " if ins else ""
        ins += f"[{lead}{arg.name}]" if arg.optional else f"{lead}{arg.name}"
    return f"{op.mnemonic} {outs} <- {ins}"


def match_operands(
    op: TileOp, rows: Sequence[ArgRow], args: Sequence[Arg], side: str, span: Span, scope: Scope
) -> tuple[Arg | None, ...] | None:
    """The operand of each row (None where an optional one is omitted), or None with a fault.

    Where optional rows can be left out in several ways, the first that suits the operands' kinds
    is taken. The two sources of a swappable instruction come back in the order as written.
    """
    found = _matching(op, rows, args)
    if found is not None:
        return found
    layouts = list(_layouts(rows, len(args)))
    if not layouts:
        message = f"{op.mnemonic} takes {_count(rows)} {side} of <-, {len(args)} given"
        scope.faults.add(message, span, f"write {usage(op)}")
        return None
    _report_kinds(op, rows, layouts[0], args, scope)
    return None


def form_of(
    forms: Sequence[TileOp],
    outs: Sequence[Arg],
    ins: Sequence[Arg],
    keys: Collection[str],
    to: str = "",
) -> TileOp:
    """The form of an instruction that its operands and keys mean: the first that they suit.

    Of several that they suit, the first that gives element type `to`, the destination's. Where they
    suit none, the first whose required keys are given, or else the main form: the one to hold the
    operands against.
    """
    named = [form for form in forms if all(key in keys for key in form.requires)]
    suiting = [
        form
        for form in named
        if _matching(form, form.outs, outs) and _matching(form, form.ins, ins) is not None
    ]
    if suiting:
        return next((form for form in suiting if _gives(form, to)), suiting[0])
    return max(named, key=lambda form: len(form.requires)) if named else forms[0]


def _gives(form: TileOp, to: str) -> bool:
    return any(to == result for pairs in form.dtypes.values() for _, result in pairs)


def _matching(
    op: TileOp, rows: Sequence[ArgRow], args: Sequence[Arg]
) -> tuple[Arg | None, ...] | None:
    if len(args) == len(rows) and all(map(_suits, rows, args)):
        return tuple(args)
    for layout in _layouts(rows, len(args)):
        if all(_suits(rows[row], arg) for row, arg in zip(layout, args, strict=True)):
            by_row = dict(zip(layout, args, strict=True))
            return tuple(by_row.get(index) for index in range(len(rows)))
    swaps = op.swappable and rows is op.ins and len(args) == len(rows)
    return tuple(args) if swaps and all(map(_suits, reversed(rows), args)) else None


def _count(rows: Sequence[ArgRow]) -> str:
    least = sum(not row.optional for row in rows)
    most = counted(len(rows), "operand", "operands")
    return most if least == len(rows) else f"{least} to {most}"


def _layouts(rows: Sequence[ArgRow], count: int) -> Iterator[tuple[int, ...]]:
    """Every way to spread `count` operands over the rows: ascending row numbers."""
    if count == len(rows):
        yield tuple(range(count))
        return
    optional = [index for index, row in enumerate(rows) if row.optional]
    for left_out in itertools.combinations(reversed(optional), max(0, len(rows) - count)):
        kept = tuple(index for index in range(len(rows)) if index not in left_out)
        if len(kept) == count:
            yield kept


_KINDS: Mapping[type, tuple[str, ...]] = {
    TileArg: ("tile", "mask", "any"),
    WindowArg: ("gm", "any"),
    ScalarArg: ("scalar",),
}


def _suits(row: ArgRow, arg: Arg) -> bool:
    return row.kind in _KINDS[type(arg)]


def _report_kinds(
    op: TileOp, rows: Sequence[ArgRow], layout: Sequence[int], args: Sequence[Arg], scope: Scope
) -> None:
    for index, arg in zip(layout, args, strict=True):
        row = rows[index]
        if _suits(row, arg):
            continue
        what = {TileArg: "tile", WindowArg: "tensor"}.get(type(arg))
        given = f"the {what} {arg.name}" if what else "a number"
        scope.faults.add(
            f"operand {row.name} of {op.mnemonic} is {given}; must be {_KIND_RULES[row.kind]}",
            arg.span,
            f"write {usage(op)}",
        )
