"""One instruction alone: the answer to how long it takes."""

from dataclasses import dataclass

from archsim.arch import ArchConfig
from archsim.engine.jobs import Issued
from archsim.isa.operands import BoundInstr
from archsim.lower import Lowered


@dataclass(frozen=True, slots=True)
class InstructionCycles:
    """One instruction alone on an idle core: its time, the uncertainty of it, its micro-ops."""

    op: str
    arch: ArchConfig
    cycles: int
    interval: tuple[int, int]
    ticks_per_cycle: int
    issued: Issued
    lowered: Lowered
    bound: BoundInstr
