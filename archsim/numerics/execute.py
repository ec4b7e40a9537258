"""One tile instruction's micro-ops on memory: prepared once, run as often as it is issued."""

from collections.abc import Callable, Iterable

import numpy as np

from archsim.isa.lanes.state import NumericState
from archsim.isa.moves import IndexedMove, Move, ScalarAccess
from archsim.isa.simd import Barrier, Control, RowLoop, SimdUop
from archsim.isa.vreg import VectorFunction
from archsim.numerics.effects import Effects, Step, run
from archsim.numerics.memory import Memory
from archsim.numerics.moves import indexed_step, move_step, poke_step
from archsim.numerics.simd import simd_steps
from archsim.numerics.vreg import vreg_steps

Item = SimdUop | Barrier | Control | RowLoop | VectorFunction | Move | IndexedMove | ScalarAccess


def prepare(work: Iterable[Item], memory: Memory, state: NumericState) -> Callable[[int], Effects]:
    """The micro-ops of one tile instruction as a function of the window's address in global memory.

    The function reads memory as it is when it is called and leaves it unchanged; `apply()` of what
    it returns writes the results. `OutsideMemory` where an access leaves its memory. Windows on
    memory are made at the first call and kept.
    """
    items, steps = tuple(work), list[Step]()

    def compute(gm_addr: int = 0) -> Effects:
        if not steps:
            steps[:] = [step for item in items for step in _steps(item, memory, state)]
        with np.errstate(all="ignore"):
            return run(steps, gm_addr)

    return compute


def execute(work: Iterable[Item], memory: Memory, gm_addr: int, state: NumericState) -> Effects:
    """The effects of one tile instruction, prepared and run once."""
    return prepare(work, memory, state)(gm_addr)


def _steps(item: Item, memory: Memory, state: NumericState) -> list[Step]:
    if isinstance(item, Move):
        return [move_step(item, memory)]
    if isinstance(item, IndexedMove):
        return [indexed_step(item, memory)]
    if isinstance(item, ScalarAccess):
        return [] if item.value is None else [poke_step(item, memory)]
    if isinstance(item, SimdUop):
        return simd_steps(RowLoop(1, (item,)), memory, state)
    if isinstance(item, RowLoop):
        return simd_steps(item, memory, state)
    if isinstance(item, VectorFunction):
        return vreg_steps(item, memory, state)
    return []  # barriers and controls: order and modes are in the records
