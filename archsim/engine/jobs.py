"""What the scalar unit puts into the queues of the pipes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from archsim.base.source import Span
from archsim.isa.pipes import Pipe
from archsim.isa.timing import UopSlice
from archsim.trace.records import START, Edge, Record


@dataclass(frozen=True, slots=True)
class Issued:
    """When an instruction starts, frees its pipe and ends, in ticks after its ready time."""

    start: int
    free: int
    end: int
    uops: tuple[UopSlice, ...]


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

    The same object serves every iteration of a loop that differs in global-memory windows only;
    `timings` is the cost model's cache on it.
    """

    op: str
    pipe: Pipe
    lowered: Any
    compute: Callable[[int], Callable[[], None]] | None = None  # gm address -> apply later
    timings: dict[Any, Any] = field(default_factory=dict)


class Job:
    """One entry of a queue: an instruction, a wait, a set or a barrier."""

    __slots__ = (
        "edge",
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
        "work",
    )

    def __init__(self, kind: str, pipe: Pipe, span: Span | None, id: int) -> None:
        self.kind = kind  # instr | wait | set | barrier | all | token
        self.pipe = pipe
        self.span = span
        self.id = id
        self.work: Work | None = None
        self.gm_addr = 0
        self.flag: Flag | None = None
        self.token: Job | None = None  # the job whose end this one waits for
        self.queued = 0
        self.edge: Edge = START
        self.record: Record | None = None
        self.known: list[int] = []  # complete once this instruction is, by pipe


class Flag:
    """One event flag: a bit for a (source pipe, destination pipe, id) or a named event's slot."""

    __slots__ = ("edge", "known", "name", "producer", "set_at", "set_span", "waiter")

    def __init__(self, name: str) -> None:
        self.name = name
        self.set_at: int | None = None
        self.set_span: Span | None = None
        self.edge: Edge = START
        self.producer: int | None = None
        self.waiter: Any = None
        self.known: list[int] = []  # what the setting pipe knew to be complete, by pipe
