"""Operands of a bound instruction by role. What `archsim.check` refuses cannot arrive here."""

from archsim.base.dtypes import DType
from archsim.isa.operands import BoundInstr, GmView, TileView


def tile(instr: BoundInstr, name: str) -> TileView:
    """The tile operand `name`."""
    operand = instr.operands[name]
    assert isinstance(operand, TileView), f"{name} of {instr.op.name} is no tile"
    return operand


def window(instr: BoundInstr, name: str) -> GmView:
    """The operand `name` in global memory."""
    operand = instr.operands[name]
    assert isinstance(operand, GmView), f"{name} of {instr.op.name} is no tensor window"
    return operand


def number(instr: BoundInstr, name: str) -> int | float:
    """The scalar operand `name`."""
    operand = instr.operands[name]
    assert isinstance(operand, int | float), f"{name} of {instr.op.name} is no number"
    return operand


def output(instr: BoundInstr) -> TileView:
    """The destination tile."""
    return tile(instr, instr.op.outs[0].name)


def data_tiles(instr: BoundInstr) -> list[TileView]:
    """The destination tile, then the source tiles in order, scratch left out."""
    operands = (*instr.dst, *instr.src)
    return [operand for operand in operands if isinstance(operand, TileView)]


def scratch(instr: BoundInstr) -> TileView:
    """The scratch tile of an instruction that cannot do without."""
    assert instr.tmp is not None, f"{instr.op.name} has no scratch tile"
    return instr.tmp


def negated(value: int | float, dtype: DType) -> int | float:
    """`-value` for an operand of `dtype`: a float that is written as an integer 0 becomes -0."""
    return -0.0 if value == 0 and isinstance(value, int) and dtype.is_float else -value
