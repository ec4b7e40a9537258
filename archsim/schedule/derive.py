"""Derived synchronisation (`sync: auto`): the waits and barriers that byte ranges ask for.

An instruction waits for the latest earlier instruction of each other pipe that wrote what it
reads or writes, or read what it writes. What a pipe already knows to be complete, directly or
through others, is not waited for again. On one pipe only a read after a write needs a barrier,
and only where the pipe streams.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from archsim.isa.operands import Region
from archsim.isa.pipes import Pipe
from archsim.schedule.footprints import Cell, Footprints, Touch

PIPES = tuple(Pipe)
INDEX = {pipe: i for i, pipe in enumerate(PIPES)}


@dataclass(frozen=True, slots=True)
class Needs:
    """What must stand in front of one instruction: ids to wait for, and whether a barrier."""

    waits: tuple[tuple[Pipe, int], ...]
    barrier: bool


class Derivation:
    """Walks a program's instructions in order and says what each must wait for."""

    def __init__(self, streaming: frozenset[Pipe], event_ids: int) -> None:
        self._footprints = Footprints()
        self._streaming = streaming
        self._sequence = dict.fromkeys(PIPES, 0)
        self._known = {pipe: [0] * len(PIPES) for pipe in PIPES}
        self._live: dict[tuple[Pipe, Pipe], list[tuple[int, int]]] = {}
        self._event_ids = event_ids

    def needs(
        self,
        id: int,
        pipe: Pipe,
        reads: Iterable[Region],
        writes: Iterable[Region],
        gm_addr: int,
    ) -> Needs:
        """What instruction `id` needs; its own accesses are noted for the ones behind it."""
        read_cells = [self._footprints.cell(region, gm_addr) for region in reads]
        write_cells = [self._footprints.cell(region, gm_addr) for region in writes]
        latest: dict[Pipe, Touch] = {}
        barrier = self._look(pipe, read_cells, latest, reads_only=True)
        self._look(pipe, write_cells, latest, reads_only=False)
        waits = self._wait(pipe, id, latest)
        if barrier:
            self._known[pipe][INDEX[pipe]] = self._sequence[pipe]
        self._note(id, pipe, read_cells, write_cells)
        return Needs(waits, barrier)

    def _look(
        self, pipe: Pipe, cells: list[Cell], latest: dict[Pipe, Touch], reads_only: bool
    ) -> bool:
        barrier = False
        known = self._known[pipe]
        for cell in cells:
            for other in cell.overlapping:
                touched = [other.writers] if reads_only else [other.writers, other.readers]
                for by_pipe in touched:
                    for source, touch in by_pipe.items():
                        if touch.sequence <= known[INDEX[source]]:
                            continue
                        if source is pipe:
                            barrier |= reads_only and pipe in self._streaming
                        elif source not in latest or latest[source].sequence < touch.sequence:
                            latest[source] = touch
        return barrier

    def _wait(self, pipe: Pipe, id: int, latest: dict[Pipe, Touch]) -> tuple[tuple[Pipe, int], ...]:
        known, waits = self._known[pipe], []
        for source in PIPES:
            touch = latest.get(source)
            if touch is None or _told(source, touch, latest):
                continue
            for i, sequence in enumerate(touch.known):
                known[i] = max(known[i], sequence)
            known[INDEX[source]] = max(known[INDEX[source]], touch.sequence)
            waits.append((source, touch.id))
            self._live.setdefault((source, pipe), []).append((touch.id, id))
        return tuple(waits)

    def _note(self, id: int, pipe: Pipe, reads: list[Cell], writes: list[Cell]) -> None:
        self._sequence[pipe] += 1
        touch = Touch(id, self._sequence[pipe], tuple(self._known[pipe]))
        for cell in reads:
            cell.readers[pipe] = touch
        for cell in writes:
            cell.writers[pipe] = touch

    def exhausted(self) -> list[tuple[Pipe, Pipe, int, int]]:
        """Pipe pairs that would need more events at once than the core has: the need, and the id
        of the instruction behind which it is reached first."""
        found = []
        for (source, pipe), spans in self._live.items():
            moments = sorted([(a, 1) for a, _ in spans] + [(b, -1) for _, b in spans])
            live = most = where = 0
            for moment, change in moments:
                live += change
                if live > most:
                    most, where = live, moment
            if most > self._event_ids:
                found.append((source, pipe, most, where))
        return found


def _told(source: Pipe, touch: Touch, latest: dict[Pipe, Touch]) -> bool:
    """Whether waiting for another of these tells that `touch` is complete, too."""
    return any(
        other.known[INDEX[source]] >= touch.sequence
        for pipe, other in latest.items()
        if pipe is not source
    )
