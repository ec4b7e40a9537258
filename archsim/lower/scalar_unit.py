"""TSETVAL and TGETVAL: the scalar unit and one element of UB."""

from archsim.isa.moves import ScalarAccess
from archsim.isa.operands import MEMORY, BoundInstr, Region, TileView
from archsim.lower.lowered import Lowered
from archsim.lower.operands import number, tile


def set_value(instr: BoundInstr) -> Lowered:
    """Element `offset` of dst = val."""
    dst = tile(instr, "dst")
    cell = _cell(dst, int(number(instr, "offset")))
    access = ScalarAccess("set_value", cell.memory, cell.addr, dst.dtype, number(instr, "val"))
    return Lowered((access,), (), (cell,))


def get_value(instr: BoundInstr) -> Lowered:
    """The element `offset` of src; what becomes of the number is the engine's."""
    src = tile(instr, "src")
    cell = _cell(src, int(number(instr, "offset")))
    access = ScalarAccess("get_value", cell.memory, cell.addr, src.dtype)
    return Lowered((access,), (cell,), (), (cell,))


def _cell(of: TileView, offset: int) -> Region:
    size = of.dtype.itemsize
    return Region(MEMORY[of.loc], of.addr + offset * size, 1, size, size)
