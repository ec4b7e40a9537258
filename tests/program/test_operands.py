"""Which operand of an instruction each written one is."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from archsim.base.errors import Faults
from archsim.base.source import Source, Span
from archsim.isa.tile_op import Arg as ArgRow
from archsim.isa.tile_op import TileOp
from archsim.isa.tile_ops import TILE_OPS
from archsim.program.ir import Arg, ScalarArg, TileArg, WindowArg
from archsim.program.operands import match_operands, usage
from archsim.program.pieces import split_pieces
from archsim.program.scope import Scope
from archsim.program.symbols import Symbols

PLACE = Span(Source("t.yaml"), 1, 1, 20)
TILE, MASK = ArgRow("src", "tile"), ArgRow("mask", "mask")
TMP, SCALAR = ArgRow("tmp", "tile", optional=True, scratch=True), ArgRow("scalar", "scalar")
A, B, C = (TileArg(name, None, PLACE) for name in "abc")
ONE, WINDOW = ScalarArg(1, None, PLACE), WindowArg("x", (), PLACE)


def op_of(*ins: ArgRow, swappable: bool = False) -> TileOp:
    return replace(TILE_OPS["tadd"], name="TOP", ins=ins, swappable=swappable)


def matched(op: TileOp, args: Sequence[Arg]) -> tuple[Arg | None, ...] | str:
    """The operands by row, or the only fault with its fix."""
    scope = Scope.outermost(Symbols(), Faults())
    found = match_operands(op, op.ins, args, "right", PLACE, scope)
    if found is not None:
        assert scope.faults.found == []
        return found
    (fault,) = scope.faults.found
    return f"{fault.message} | {fault.fix}"


def test_all_operands_given() -> None:
    assert matched(op_of(MASK, TILE, TMP, SCALAR), [A, B, C, ONE]) == (A, B, C, ONE)


def test_scratch_in_the_middle_is_omitted() -> None:
    assert matched(op_of(MASK, TILE, TMP, SCALAR), [A, B, ONE]) == (A, B, None, ONE)


def test_scratch_at_the_end_is_omitted() -> None:
    assert matched(op_of(TILE, TILE, TMP), [A, B]) == (A, B, None)


def test_of_two_optional_operands_the_kinds_decide() -> None:
    op = op_of(TILE, TMP, replace(SCALAR, optional=True))
    assert matched(op, [A, B]) == (A, B, None)
    assert matched(op, [A, ONE]) == (A, None, ONE)
    assert matched(op, [A]) == (A, None, None)


def test_any_takes_a_tile_or_a_window() -> None:
    op = op_of(ArgRow("src", "any"))
    assert matched(op, [A]) == (A,)
    assert matched(op, [WINDOW]) == (WINDOW,)
    assert matched(op, [ONE]) == (
        "operand src of top is a number; must be a tile or a tensor | write top dst <- src"
    )


def test_swappable_operands_keep_the_order_as_written() -> None:
    op = op_of(TILE, SCALAR, swappable=True)
    assert matched(op, [A, ONE]) == (A, ONE)
    assert matched(op, [ONE, A]) == (ONE, A)
    assert matched(op, [A, B]) == (
        "operand scalar of top is the tile b; must be a number, $name or an integer expression"
        " | write top dst <- src, scalar"
    )


def test_others_are_not_swapped() -> None:
    scope = Scope.outermost(Symbols(), Faults())
    op = op_of(TILE, SCALAR)
    assert match_operands(op, op.ins, [ONE, A], "right", PLACE, scope) is None
    assert len(scope.faults.found) == 2


@pytest.mark.parametrize("count", [1, 5])
def test_count(count: int) -> None:
    assert matched(op_of(MASK, TILE, TMP, SCALAR), [A] * count) == (
        f"top takes 3 to 4 operands right of <-, {count} given"
        " | write top dst <- mask, src[, tmp], scalar"
    )


def test_usage_of_every_instruction_names_each_operand() -> None:
    for op in TILE_OPS.values():
        text = usage(op)
        assert text.startswith(f"{op.mnemonic} ")
        assert all(arg.name in text for arg in (*op.outs, *op.ins))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a, b", [(1, "a"), (4, "b")]),
        (" a[i, 0],min(b, c) ", [(2, "a[i, 0]"), (10, "min(b, c)")]),
        ("a,", [(1, "a"), (3, "")]),
        ("", [(1, "")]),
        ("a[(1, 2), 3], [b, (c)]", [(1, "a[(1, 2), 3]"), (15, "[b, (c)]")]),
    ],
)
def test_pieces(text: str, expected: list[tuple[int, str]]) -> None:
    pieces = split_pieces(text, PLACE)
    assert pieces is not None
    assert [(piece.span.column, piece.text) for piece in pieces] == expected


@pytest.mark.parametrize("text", ["a[", "a]", "(a]", "[a, (b])", "a, b)"])
def test_brackets_that_do_not_match(text: str) -> None:
    assert split_pieces(text, PLACE) is None
