"""Races: two instructions that touch the same bytes with nothing that orders them.

Happens-before is exact for the run that was simulated: a pipe knows of another pipe's work what a
flag or barrier told it. A pair that is not ordered is a race even where this run's timing happened
to be kind.
"""

from collections.abc import Sequence

from archsim.engine.jobs import Job, Work
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
        self._found: dict[tuple[str, ...], Finding] = {}
        # The work is kept with its cells: while it lives, its id stands for nothing else.
        self._of_work: dict[int, tuple[list[Cell], list[Cell], Work]] = {}

    @property
    def findings(self) -> list[Finding]:
        """The races so far, in order of discovery."""
        return list(self._found.values())

    def started(self, job: Job, sequence: int, known: Sequence[int]) -> None:
        """A job, its pipe's number `sequence`, starts; `known` is complete for sure."""
        pipe = job.pipe
        reads, writes = self._cells_of(job)
        touch = Touch(job.id, sequence, (), job.work.op, job.span)
        for cell in reads:
            for other in cell.overlapping:
                if other.writers:
                    self._against(job, touch, known, other, other.writers, "raw")
        for cell in writes:
            for other in cell.overlapping:
                if other.writers:
                    self._against(job, touch, known, other, other.writers, "waw")
                if other.readers:
                    self._against(job, touch, known, other, other.readers, "war")
        for cell in reads:
            cell.readers[pipe] = touch
        for cell in writes:
            cell.writers[pipe] = touch

    def _cells_of(self, job: Job) -> tuple[list[Cell], list[Cell]]:
        """The cells that a job reads and writes; the same every time where no window moves."""
        work = job.work
        found = self._of_work.get(id(work))
        if found is None:
            cell_of, gm_addr = self._footprints.cell, job.gm_addr
            reads = [cell_of(region, gm_addr) for region in work.reads]
            writes = [cell_of(region, gm_addr) for region in work.writes]
            found = (reads, writes, work)
            if all(region.memory != "GM" for region in (*work.reads, *work.writes)):
                self._of_work[id(work)] = found
        return found[0], found[1]

    def _against(
        self,
        job: Job,
        touch: Touch,
        known: Sequence[int],
        cell: Cell,
        touches: dict[Pipe, Touch],
        hazard: str,
    ) -> None:
        for source, earlier in touches.items():
            if known[INDEX[source]] >= earlier.sequence:
                continue
            if source is job.pipe and not (hazard == "raw" and source in self._streaming):
                continue
            self._report(job.pipe, touch, source, earlier, cell, hazard)

    def _report(
        self,
        pipe: Pipe,
        touch: Touch,
        source: Pipe,
        earlier: Touch,
        cell: Cell,
        hazard: str,
    ) -> None:
        if earlier.id > touch.id:  # it started first, but comes later in the program
            hazard = {"raw": "war", "war": "raw"}.get(hazard, hazard)
            pipe, touch, source, earlier = source, earlier, pipe, touch
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
            f"{NAMES[hazard]}: {touch.op} (id {touch.id}) on {pipe} and {earlier.op} "
            f"(id {earlier.id}) on {source} both touch {region.memory} "
            f"{region.addr:#x}..{region.end:#x}; {repair}",
            places,
            hazard,
        )
