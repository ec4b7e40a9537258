"""Records of a run, in ticks: instructions, stalls, and the edges that say why time passed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from archsim.base.source import Span
from archsim.isa.pipes import Pipe
from archsim.isa.timing import UopSlice, half_up


class Edge(NamedTuple):
    """A moment `at` that was reached because of `prev`: the time between is spent on `kind`.

    `kind`: run, flag, barrier, floor, issue, queue_full. `ref` is the id of the instruction that
    ran (run), waited or was issued; walking `prev` from the last completion back to 0 gives the
    critical path.
    """

    at: int
    kind: str
    ref: int | None
    prev: "Edge | None"


def stretches(edge: Edge, cycles: Callable[[int], int]) -> Iterator[tuple[Edge, int, int]]:
    """The edges from `edge` back to 0 that took time, latest first, each with its cycles."""
    while edge.prev is not None:
        start, end = cycles(edge.prev.at), cycles(edge.at)
        if end > start:
            yield edge, start, end
        edge = edge.prev


START = Edge(0, "start", None, None)


class Stall(NamedTuple):
    """A wait of a pipe that ended: from, to, why, and which instruction let it go."""

    pipe: Pipe
    cause: str
    start: int
    end: int
    producer: int | None
    flag: str
    span: Span | None


class Record(NamedTuple):
    """One dynamic tile instruction: queued, ready (its pipe took it), start and end; its
    micro-ops, counted from ready; and why it could start."""

    id: int
    op: str
    pipe: Pipe
    span: Span | None
    queued: int
    start: int
    end: int
    ready: int
    uops: tuple[UopSlice, ...]
    why: Edge


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a run or a check brought to light. `where` are `file:line` places."""

    kind: str
    severity: str  # error | warning | note
    message: str
    where: tuple[str, ...] = ()
    hazard: str | None = None

    def as_json(self) -> dict[str, object]:
        """One entry of `findings` in the summary."""
        out: dict[str, object] = {"kind": self.kind, "severity": self.severity}
        if self.hazard is not None:
            out["hazard"] = self.hazard
        out["where"] = list(self.where)
        out["message"] = self.message
        return out


@dataclass(slots=True)
class RunLog:
    """Everything a run leaves behind; times in ticks, `ticks_per_cycle` of them in a cycle."""

    ticks_per_cycle: int
    records: list[Record] = field(default_factory=list)
    stalls: list[Stall] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    last: Edge = START
    pipes: tuple[Pipe, ...] = ()

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Start and end of every record in cycles, in the order of `records`."""
        per = self.ticks_per_cycle  # `half_up` spelled out: a run has very many records
        twice = 2 * per
        return [((2 * r.start + per) // twice, (2 * r.end + per) // twice) for r in self.records]

    def cycles(self, ticks: int) -> int:
        """Whole cycles of a moment, rounded once, half up."""
        return half_up(ticks, self.ticks_per_cycle)
