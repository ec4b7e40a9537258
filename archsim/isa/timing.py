"""What a cost model answers: when one instruction's micro-ops run. Times are integer ticks."""

from dataclasses import dataclass


def half_up(amount: int, unit: int) -> int:
    """`amount / unit` to the nearest integer; a half goes up: how ticks become cycles."""
    return (2 * amount + unit) // (2 * unit)


@dataclass(frozen=True, slots=True)
class UopSlice:
    """One row of micro-ops inside an instruction, relative to the instruction's ready time.

    `count` equal micro-ops of `repeat` repeats each run between `start` and `end` ticks; `slots`
    is how many ticks they hold the pipe. `basis` tells where the numbers came from and
    `uncertainty` how far off they may be, as a share.
    """

    name: str
    repeat: int
    start: int
    end: int
    slots: int
    basis: str
    uncertainty: float = 0.0
    count: int = 1


@dataclass(frozen=True, slots=True)
class Timing:
    """One instruction on its pipe, in ticks.

    `start`: its first head, or, streamed, its first issue slot. `free`: the pipe may take the next
    instruction. `end`: its last micro-op is complete. `ready`: the time that the slices are
    relative to. `held`: what kept it from starting then (barrier, floor; else empty).
    """

    ready: int
    start: int
    free: int
    end: int
    uops: tuple[UopSlice, ...]
    held: str = ""
