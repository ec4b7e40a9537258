"""Compute now, apply later: what a tile instruction will have written when it ends."""

from collections.abc import Callable, Iterable, Sequence

from archsim.isa.lanes.state import Lanes
from archsim.numerics.memory import Target

Write = tuple[Target, Lanes]
# One micro-op, ready to run: global-memory address of the window -> what it writes.
Step = Callable[[int], Iterable[Write]]


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


def run_alone(step: Step, gm_addr: int) -> Effects:
    """The effects of a single micro-op, which sees nothing but memory as it is."""
    return Effects(list(step(gm_addr)))


def run_chain(steps: Iterable[Step], gm_addr: int) -> Effects:
    """The effects of micro-ops that read what earlier ones of them wrote.

    They run in place; then the written windows are captured and put back as they were.
    """
    before: dict[Target, Lanes] = {}
    for step in steps:
        for target, values in step(gm_addr):
            if target not in before:
                before[target] = target.view.copy()
            target.view[...] = values
    after = [(target, target.view.copy()) for target in before]
    for target in reversed(before):
        target.view[...] = before[target]
    return Effects(after)
