"""What the scalar unit puts into the queues of the pipes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from archsim.base.source import Span
from archsim.isa.operands import Region
from archsim.isa.pipes import Pipe
from archsim.isa.timing import UopSlice
from archsim.trace.records import Edge, Record


@dataclass(frozen=True, slots=True)
class Issued:
    """When an instruction starts, frees its pipe and ends, in ticks after its ready time.

    `reads`: when it reads its operands; later than its start where its head hides under a drain.
    """

    start: int
    reads: int
    free: int
    end: int
    uops: tuple[UopSlice, ...]
    held: str = ""  # what kept it from starting at once: barrier | floor


class PipeModel(Protocol):
    """How one pipe spends time; `state` is the pipe's own and opaque here."""

    def initial(self) -> Any:
        """The state of a pipe that has done nothing."""

    def issue(self, work: "Work", state: Any, ready: int) -> tuple[Issued, Any]:
        """Times of `work` on a pipe in `state`, not before `ready`; the state behind it."""

    def barrier(self, state: Any, now: int) -> Any:
        """The state after a barrier that is reached at `now`."""


@dataclass(slots=True, eq=False)
class Work:
    """One tile instruction as the engine sees it: name, pipe, and what to time and compute.

    The same object serves every iteration of a loop that differs in global-memory windows only.
    `compute` reads the operands for a window address and gives what lets the results appear.
    `reads` and `writes` are the bytes that others may touch, too. `timings` is the cost model's
    cache.
    """

    op: str
    pipe: Pipe
    lowered: Any
    compute: Callable[[int], Callable[[], None]]
    reads: tuple[Region, ...] = ()
    writes: tuple[Region, ...] = ()
    timings: dict[Any, Any] = field(default_factory=dict)


def no_values(gm_addr: int) -> Callable[[], None]:
    """The `compute` of work that is only timed."""
    return _nothing


def _nothing() -> None:
    """No result appears."""


READS = object()  # `done` of a job that the scalar unit has to wait for


class Job:
    """One entry of a queue: an instruction, a wait, a set or a barrier.

    `kind` is instr, wait, set, barrier, all (a barrier over every pipe) or token (a wait for the
    end of one instruction). What other kinds have no use for stays unset: an instruction has
    `work` and `gm_addr`, a wait or set its `flag`, a token its `token`.
    """

    __slots__ = (
        "cause",
        "complete",
        "done",
        "flag",
        "gm_addr",
        "id",
        "kind",
        "known",
        "pipe",
        "queued",
        "record",
        "span",
        "token",
        "waiter",
        "work",
    )

    work: "Work"
    gm_addr: int
    token: "Job"
    flag: "Flag"
    record: Record | None
    waiter: Any  # the event of the pipes that came to wait for it before it started
    queued: int  # when it reached its queue, and why not before
    cause: Edge
    known: list[int]  # complete once this instruction is, by pipe
    complete: Edge  # when it and all earlier work of its pipe is: then its results are there

    def __init__(self, kind: str, pipe: Pipe, span: Span | None, id: int) -> None:
        self.kind = kind
        self.pipe = pipe
        self.span = span
        self.id = id
        self.record = None
        self.waiter = None
        self.done: Any = None  # the scalar unit's event, where it stays until the job is complete


class Signal(NamedTuple):
    """One set of a flag: where it is written, the instruction it came behind, why it came when it
    did, and what the setting pipe then knew to be complete, by pipe."""

    span: Span | None
    producer: int | None
    edge: Edge
    known: list[int]


class Flag:
    """One event flag: a bit for a (source pipe, destination pipe, id) or a named event's slot.

    `up` is the set that raised it; `waiter` the event of a pipe that waits for the next one.
    """

    __slots__ = ("name", "up", "waiter")

    def __init__(self, name: str) -> None:
        self.name = name
        self.up: Signal | None = None
        self.waiter: Any = None
