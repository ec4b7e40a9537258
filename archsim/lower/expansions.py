"""The two sources of a broadcast operation by their roles: they may be written in either order."""

from archsim.isa.operands import BoundInstr, TileView
from archsim.isa.reductions import is_column, is_whole
from archsim.lower.notes import Notes, departs
from archsim.lower.operands import tile


def row_sides(instr: BoundInstr) -> tuple[TileView, TileView, Notes]:
    """The whole source, the column, and a warning where their order would say something else."""
    dst, first, second = (tile(instr, name) for name in ("dst", "src0", "src1"))
    if is_whole(first, dst) and is_column(second, dst):
        return first, second, ()
    return second, first, _swapped(instr)


def col_sides(instr: BoundInstr) -> tuple[TileView, TileView, Notes]:
    """The whole source, the row, and a warning where their order would say something else."""
    dst, first, second = (tile(instr, name) for name in ("dst", "src0", "src1"))
    if is_whole(first, dst):
        return first, second, ()
    return second, first, _swapped(instr)


def _swapped(instr: BoundInstr) -> Notes:
    name = instr.op.mnemonic
    if not name.endswith(("sub", "div", "expdif")):
        return ()
    return departs(
        instr,
        f"{name} takes its whole tile as the left operand, although it is written second",
        "write the tile that has the shape of dst first",
    )
