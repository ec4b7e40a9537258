"""Warnings that an instruction deserves on a core, although it is legal there."""

from archsim.arch import ArchConfig
from archsim.base.errors import Diagnostic
from archsim.isa.operands import BoundInstr

Notes = tuple[Diagnostic, ...]


def departs(instr: BoundInstr, message: str, fix: str | None = None) -> Notes:
    """The device departs from the documented meaning of the instruction."""
    return (Diagnostic(message, instr.span, fix, kind="numerics", severity="warning"),)


def ignored(instr: BoundInstr, what: str, arch: ArchConfig) -> Notes:
    """An operand that this core ignores."""
    message = f"{what} of {instr.op.mnemonic} is ignored on {arch.isa}"
    return (Diagnostic(message, instr.span, kind="portability", severity="warning"),)
