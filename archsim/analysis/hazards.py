"""Races: two instructions that touch the same bytes with nothing that orders them.

Happens-before is exact for the run that was simulated: a pipe knows of another pipe's work what a
flag or barrier told it. A pair that is not ordered is a race even where this run's timing happened
to be kind.
"""

from collections.abc import Sequence

from archsim.isa.operands import Region
from archsim.isa.pipes import Pipe
from archsim.schedule.derive import INDEX
from archsim.schedule.footprints import Cell, Footprints, Touch
from archsim.trace.records import Finding

NAMES = {"raw": "read after write", "war": "write after read", "waw": "write after write"}


class Races:
    """Watches instructions start, and keeps one finding for each pair of places."""

    def __init__(self, streaming: frozenset[Pipe]) -> None:
        self._footprints = Footprints()
        self._streaming = streaming
        self._found: dict[tuple[str, str, str], Finding] = {}

    @property
    def findings(self) -> list[Finding]:
        """The races so far, in order of discovery."""
        return list(self._found.values())

    def started(
        self,
        id: int,
        op: str,
        pipe: Pipe,
        sequence: int,
        known: Sequence[int],
        regions: tuple[tuple[Region, ...], tuple[Region, ...]],
        gm_addr: int,
        where: str,
    ) -> None:
        """Instruction `id`, the pipe's number `sequence`, starts; `known` is complete for sure."""
        reads = [self._footprints.cell(region, gm_addr) for region in regions[0]]
        writes = [self._footprints.cell(region, gm_addr) for region in regions[1]]
        touch = Touch(id, sequence, tuple(known), where)
        for cell in reads:
            self._against(pipe, touch, op, cell, "writers", "raw")
        for cell in writes:
            self._against(pipe, touch, op, cell, "writers", "waw")
            self._against(pipe, touch, op, cell, "readers", "war")
        for cell in reads:
            cell.readers[pipe] = touch
        for cell in writes:
            cell.writers[pipe] = touch

    def _against(
        self, pipe: Pipe, touch: Touch, op: str, cell: Cell, kind: str, hazard: str
    ) -> None:
        for other in cell.overlapping:
            for source, earlier in getattr(other, kind).items():
                if touch.known[INDEX[source]] >= earlier.sequence:
                    continue
                if source is pipe and not (hazard == "raw" and pipe in self._streaming):
                    continue
                self._report(pipe, touch, source, earlier, op, other, hazard)

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
        key = (touch.where, earlier.where, hazard)
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
            (touch.where, earlier.where),
            hazard,
        )
