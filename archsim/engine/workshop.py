"""From bound instructions to work: checked, lowered, with its values and its warnings."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from archsim.arch import ArchConfig
from archsim.base.errors import Diagnostic, Faults, InputError
from archsim.check import check, scratch_tile
from archsim.engine.jobs import Work, no_values
from archsim.isa.lanes.state import NumericState
from archsim.isa.moves import ScalarAccess
from archsim.isa.operands import BoundInstr, GmView, Loc, Region, TileView
from archsim.lower import Lowered, lower
from archsim.lower.lowered import Watch
from archsim.numerics.execute import prepare
from archsim.numerics.memory import GM, Memory, OutsideMemory
from archsim.numerics.moves import peek
from archsim.schedule.placement import Placement
from archsim.trace.records import Finding

PLACES = ("bounds", "reserved_memory")  # kinds that say where a tile lies


class Refused(Exception):
    """An instruction that only the run shows to be wrong; the program stops in front of it."""


class Workshop:
    """Makes the work of each distinct bound instruction once, and keeps what it noticed."""

    def __init__(
        self,
        arch: ArchConfig,
        placement: Placement,
        may_allocate: bool,
        memory: Memory | None,
        shared: frozenset[str] = frozenset(),
    ) -> None:
        self.findings: dict[tuple[str, ...], Finding] = {}
        self._arch = arch
        self._placement = placement
        self._may_allocate = may_allocate
        self._memory = memory
        self._shared = shared
        self._number: int | float = 0
        self._state = NumericState.of(arch)
        self._made: dict[int, tuple[BoundInstr, Work]] = {}
        self._surveyed: dict[int, BoundInstr] = {}
        self._placed: dict[str, None] = {}

    def survey(self, bound: BoundInstr, faults: Faults) -> None:
        """Check one instruction before the run; a fault that its text already shows is input."""
        if id(bound) in self._surveyed:
            return
        self._surveyed[id(bound)] = bound
        errors = [found for found in self._checked(bound) if found.severity == "error"]
        for found in errors:
            if not _only_a_run_shows(found, bound):
                faults.add(found.message, found.span or bound.span, found.fix)
        if not errors:
            with faults.collecting():
                self._with_scratch(bound)

    def work(self, bound: BoundInstr) -> Work:
        """The work of one bound instruction; the same object for the same bound form."""
        made = self._made.get(id(bound))
        if made is None:
            made = self._made[id(bound)] = (bound, self._make(bound))
        return made[1]

    def number_read(self, bound: BoundInstr | None) -> int | float:
        """What the latest `tgetval` read; 0, with a note, where the run has no values."""
        if self._memory is None and bound is not None:
            message = "tgetval reads no number with --no-numerics; it is taken to be 0"
            self._note(Diagnostic(message, bound.span, None, "numerics", "note"), bound)
        return self._number

    def _checked(self, bound: BoundInstr) -> list[Diagnostic]:
        """What is wrong with an instruction; of where a tile lies, only what is not told yet."""
        found = check(bound, self._arch, may_allocate=self._may_allocate)
        fresh = [f for f in found if f.kind not in PLACES or f.message not in self._placed]
        self._placed.update((f.message, None) for f in fresh if f.kind in PLACES)
        return fresh

    def _make(self, bound: BoundInstr) -> Work:
        errors = 0
        for found in self._checked(bound):
            self._note(found, bound)
            errors += found.severity == "error"
        if errors:
            raise Refused
        complete = self._with_scratch(bound)
        lowered = lower(complete, self._arch)
        for note in lowered.notes:
            self._note(note, bound)
        compute = self._computing(lowered, bound) if self._memory is not None else no_values
        shared = self._shared_with_others(bound)
        reads, writes = (
            tuple(r for r in regions if r.memory != GM or shared)
            for regions in (lowered.reads, lowered.writes)
        )
        return Work(bound.op.name, bound.op.pipe, lowered, compute, reads, writes)

    def _shared_with_others(self, bound: BoundInstr) -> bool:
        """Whether its tensor is touched by several pipes: else their order is all it needs."""
        views = (v for v in (*bound.dst, *bound.src) if isinstance(v, GmView))
        return any(view.name in self._shared for view in views)

    def _with_scratch(self, bound: BoundInstr) -> BoundInstr:
        """The instruction with a scratch tile of its own, where it needs one.

        Raises `InputError` where there is no room, which the survey meets.
        """
        if bound.tmp is not None or bound.op.scratch is None:
            return bound
        need = scratch_tile(bound, self._arch)
        if need is None:
            return bound
        dtype, rows, cols = need
        size = rows * cols * dtype.itemsize
        addr = self._placement.scratch(size)
        if addr is None:
            message = f"{bound.op.mnemonic} needs {size} bytes of scratch behind all tiles in UB"
            room = max(self._placement.free_end - self._placement.free_start, 0)
            fix = "let the tiles end earlier, or give it a tmp tile"
            raise InputError([Diagnostic(f"{message}; {room} are free", bound.span, fix)])
        tmp = TileView("scratch", Loc.VEC, dtype, rows, cols, rows, cols, addr, cols)
        return replace(bound, tmp=tmp)

    def _computing(
        self, lowered: Lowered, bound: BoundInstr
    ) -> Callable[[int], Callable[[], None]]:
        memory = self._memory
        assert memory is not None
        read = [item for item in lowered.uops if isinstance(item, ScalarAccess)]
        prepared = prepare(lowered.uops, memory, self._state)

        def compute(gm_addr: int) -> Callable[[], None]:
            for region in lowered.sources:
                lane = memory.first_unwritten(region)
                if lane is not None:
                    self._note(_uninitialized(region, lane, bound), bound)
            for watch in lowered.watched:
                self._note_odd(watch, memory, bound)
            if read and read[0].value is None:
                self._number = peek(read[0], memory)()
            try:
                return prepared(gm_addr).apply
            except OutsideMemory as outside:
                self._note(Diagnostic(str(outside), bound.span, None, "bounds"), bound)
                return no_values(gm_addr)

        return compute

    def _note_odd(self, watch: Watch, memory: Memory, bound: BoundInstr) -> None:
        """Warn of the first value that the instruction watches for."""
        tile = watch.tile
        odd = watch.is_odd(memory.read(tile.valid_region()).view(tile.dtype.np))
        if odd.any():
            row, col = (int(i) for i in np.argwhere(odd)[0])
            message = (
                f"{bound.op.mnemonic} {watch.does}, in column {col} of row {row} of {tile.name}:"
                f" {watch.so}"
            )
            self._note(Diagnostic(message, bound.span, None, "numerics", "warning"), bound)

    def _note(self, found: Diagnostic, bound: BoundInstr) -> None:
        span = found.span or bound.span
        where = (span.where,) if span is not None else ()
        fix = f" ({found.fix})" if found.fix else ""
        finding = Finding(found.kind, found.severity, found.message + fix, where)
        self.findings.setdefault((found.kind, *where, found.message), finding)


def _uninitialized(region: Region, lane: tuple[int, int], bound: BoundInstr) -> Diagnostic:
    row, byte = lane
    named = [
        operand
        for operand in bound.operands.values()
        if isinstance(operand, TileView) and operand.addr == region.addr
    ]
    tile = f"tile {named[0].name}" if named else f"{region.memory} {region.addr:#x}"
    message = (
        f"{bound.op.mnemonic} reads {tile}, but nothing has written "
        f"byte {byte} of row {row} of its valid region"
    )
    return Diagnostic(message, bound.span, None, "uninitialized")


def _only_a_run_shows(found: Diagnostic, bound: BoundInstr) -> bool:
    """Whether a shape fault rests on an extent that the program computes."""
    views = [v for v in (*bound.dst, *bound.src, bound.tmp) if isinstance(v, TileView)]
    return found.kind == "shape" and not all(v.static_rows and v.static_cols for v in views)
