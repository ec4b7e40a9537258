"""Compute now, apply later: what a tile instruction will have written when it ends."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from archsim.isa.lanes.state import Lanes
from archsim.numerics.memory import Target

Write = tuple[Target, Lanes]


@dataclass(frozen=True, slots=True)
class Step:
    """One micro-op, ready to run: address of the global-memory window -> what it writes where.

    A step that is not `writes` has no effect on memory (it fills a register).
    """

    run: Callable[[int], Sequence[Write]]
    writes: bool = True


class Effects:
    """The bytes that an instruction writes, computed from what memory held when it started.

    Exactly the written lanes are here: masked lanes and bytes outside the valid region are not.
    """

    __slots__ = ("writes",)

    def __init__(self, writes: Sequence[Write]) -> None:
        self.writes = writes

    def apply(self) -> None:
        """Put the results into memory."""
        for target, values in self.writes:
            target.put(values)


def run(steps: Sequence[Step], gm_addr: int) -> Effects:
    """The effects of micro-ops one after another; memory is left as it was."""
    if any(step.writes for step in steps[:-1]):
        return _run_in_place(steps, gm_addr)
    written: Sequence[Write] = ()
    for step in steps:
        written = step.run(gm_addr)
    return Effects(written)


def _run_in_place(steps: Sequence[Step], gm_addr: int) -> Effects:
    # Later micro-ops may read what earlier ones wrote: all do write, and it is put back at the end.
    before: dict[Target, Lanes] = {}
    try:
        for step in steps:
            for target, values in step.run(gm_addr):
                if target not in before:
                    before[target] = target.view.copy()
                target.view[...] = values
        after = [(target, target.view.copy()) for target in before]
    finally:  # also where data point outside their memory
        for target in reversed(before):
            target.view[...] = before[target]
    return Effects(after)
