"""Races: two instructions that touch the same bytes with nothing that orders them.

Happens-before is exact for the run that was simulated: a pipe knows of another pipe's work what a
flag or barrier told it. A pair that is not ordered is a race even where this run's timing happened
to be kind.
"""

from collections.abc import Sequence
from typing import NamedTuple

from archsim.base.source import Span
from archsim.isa.operands import Region
from archsim.isa.pipes import Pipe
from archsim.schedule.derive import INDEX
from archsim.schedule.footprints import Cell, Footprints, Touch
from archsim.trace.records import Finding

NAMES = {"raw": "read after write", "war": "write after read", "waw": "write after write"}


class Access(NamedTuple):
    """What an instruction touches, and where it stands in the program."""

    reads: tuple[Region, ...]
    writes: tuple[Region, ...]
    gm_addr: int
    span: Span | None


class Races:
    """Watches instructions start, and keeps one finding for each pair of places."""

    def __init__(self, streaming: frozenset[Pipe]) -> None:
        self._footprints = Footprints()
        self._streaming = streaming
        self._found: dict[tuple[str, ...], Finding] = {}

    @property
    def findings(self) -> list[Finding]:
        """The races so far, in order of discovery."""
        return list(self._found.values())

    def started(
        self, id: int, op: str, pipe: Pipe, sequence: int, known: Sequence[int], access: Access
    ) -> None:
        """Instruction `id`, the pipe's number `sequence`, starts; `known` is complete for sure."""
        cell_of, gm_addr = self._footprints.cell, access.gm_addr
        reads = [cell_of(region, gm_addr) for region in access.reads]
        writes = [cell_of(region, gm_addr) for region in access.writes]
        touch = Touch(id, sequence, (), access.span)
        me = (pipe, touch, op, known)
        for cell in reads:
            for other in cell.overlapping:
                self._against(me, other, other.writers, "raw")
        for cell in writes:
            for other in cell.overlapping:
                self._against(me, other, other.writers, "waw")
                self._against(me, other, other.readers, "war")
        for cell in reads:
            cell.readers[pipe] = touch
        for cell in writes:
            cell.writers[pipe] = touch

    def _against(
        self,
        me: tuple[Pipe, Touch, str, Sequence[int]],
        cell: Cell,
        touches: dict[Pipe, Touch],
        hazard: str,
    ) -> None:
        pipe, touch, op, known = me
        for source, earlier in touches.items():
            if known[INDEX[source]] >= earlier.sequence:
                continue
            if source is pipe and not (hazard == "raw" and pipe in self._streaming):
                continue
            self._report(pipe, touch, source, earlier, op, cell, hazard)

    def _report(
        self,
        pipe: Pipe,
        touch: Touch,
        source: Pipe,
        earlier: Touch,
        op: str,
        cell: Cell,
        hazard: str,
    ) -> None:
        if earlier.id > touch.id:  # it started first, but comes later in the program
            hazard = {"raw": "war", "war": "raw"}.get(hazard, hazard)
        places = tuple(span.where if span else "?" for span in (touch.span, earlier.span))
        key = (*places, hazard)
        if key in self._found:
            return
        region = cell.region
        if source is pipe:
            repair = f"a barrier on {pipe} between them is missing"
        else:
            repair = f"no flag from {source} to {pipe} orders them"
        self._found[key] = Finding(
            "race",
            "error",
            f"{NAMES[hazard]}: {op} (id {touch.id}) on {pipe} and id {earlier.id} on {source} "
            f"both touch {region.memory} {region.addr:#x}..{region.end:#x}; {repair}",
            places,
            hazard,
        )
