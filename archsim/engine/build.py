"""The pipes of a chip: which cost model spends the time of which pipe."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from archsim.arch import ArchConfig, SimdArch, VregArch
from archsim.arch.parts import PathCost
from archsim.arch.quantity import Basis
from archsim.cost.dma import path_cycles, transfers, whole_cycles
from archsim.cost.simd import SimdPipe
from archsim.cost.vreg.timing import UbBanks, VregCost
from archsim.engine.jobs import PipeModel
from archsim.engine.models import SerialModel, SimdModel
from archsim.isa.moves import IndexedMove, Move, ScalarAccess
from archsim.isa.pipes import Pipe
from archsim.isa.simd import RowLoop
from archsim.isa.timing import UopSlice
from archsim.isa.vreg import VectorFunction
from archsim.lower import Lowered

Duration = Callable[[Lowered], tuple[int, tuple[UopSlice, ...]]]


def streaming_pipes(arch: ArchConfig) -> frozenset[Pipe]:
    """Pipes that take an instruction before the one in front of it is complete."""
    return frozenset({Pipe.V}) if isinstance(arch, SimdArch) else frozenset()


def pipe_models(arch: ArchConfig) -> tuple[dict[Pipe, PipeModel], int]:
    """A model for every pipe, in hardware order, and the ticks in a cycle that all of them use."""
    vector: PipeModel
    if isinstance(arch, SimdArch):
        simd = SimdPipe(arch)
        ticks = simd.ticks_per_cycle
        vector = SimdModel(simd)
    else:
        assert isinstance(arch, VregArch)
        ticks = 1
        vector = SerialModel(_functions(arch))
    moves: PipeModel = SerialModel(_moves(arch, ticks))
    single = _scalar(arch, ticks)
    scalar: PipeModel = SerialModel(
        _scalar_loops(SimdPipe(arch), single) if isinstance(arch, SimdArch) else single
    )
    models = dict.fromkeys(Pipe, moves)
    return {**models, Pipe.V: vector, Pipe.S: scalar}, ticks


def _moves(arch: ArchConfig, ticks: int) -> Duration:
    def duration(lowered: Lowered) -> tuple[int, tuple[UopSlice, ...]]:
        """Transfers one after the other; the sum is rounded once to whole cycles."""
        slices, at = [], Fraction(0)
        moves = [item for item in lowered.uops if isinstance(item, Move | IndexedMove)]
        for move, payload in transfers(moves):
            path = arch.paths[move.path]
            start, at = at, at + path_cycles(move.path, payload, arch)
            held = (whole_cycles(start) * ticks, whole_cycles(at) * ticks)
            slices.append(
                UopSlice(
                    move.name,
                    move.runs,
                    *held,
                    held[1] - held[0],
                    *_rests_on(move, path),
                )
            )
        return whole_cycles(at) * ticks, tuple(slices)

    return duration


# Runs of 128 bytes cost 8 to 10 % more than long ones on boards; of shorter ones nothing is known,
# and each may well take as long as a copy of its own.
_SHORTEST_KNOWN_RUN, _UNKNOWN = 128, 1.0


def _rests_on(move: Move | IndexedMove, path: PathCost) -> tuple[str, float]:
    """Basis and uncertainty of a transfer: that of its path, where its runs are as measured."""
    is_short = isinstance(move, Move) and move.runs > 1 and _run_bytes(move) < _SHORTEST_KNOWN_RUN
    if is_short and path.basis in (Basis.MEASURED, Basis.FITTED, Basis.DOCUMENTED):
        return str(Basis.ASSUMED), max(_UNKNOWN, float(path.uncertainty))
    return str(path.basis), float(path.uncertainty)


def _run_bytes(move: Move) -> int:
    """Bytes of a run in global memory; runs without a gap are one."""
    burst = move.src if move.src.memory == "GM" else move.dst
    return burst.bytes_each * (burst.count if burst.pitch == burst.bytes_each else 1)


def _scalar(arch: ArchConfig, ticks: int) -> Duration:
    """An instruction of the scalar unit takes as long as issuing one."""
    held = arch.scalar.issue_cycles * ticks
    basis = str(arch.basis_of("scalar.issue_cycles")[0])

    def duration(lowered: Lowered) -> tuple[int, tuple[UopSlice, ...]]:
        names = [item.name for item in lowered.uops if isinstance(item, ScalarAccess)]
        return held, (UopSlice((*names, "scalar")[0], 1, 0, held, held, basis),)

    return duration


def _scalar_loops(pipe: SimdPipe, single: Duration) -> Duration:
    """Loops of the scalar unit over elements cost what their rows say, on a pipe of their own."""

    def duration(lowered: Lowered) -> tuple[int, tuple[UopSlice, ...]]:
        loops = [item for item in lowered.uops if isinstance(item, RowLoop)]
        if not loops:
            return single(lowered)
        timing, _ = pipe.issue(loops, pipe.initial(), 0)
        return timing.end, timing.uops

    return duration


def _functions(arch: VregArch) -> Duration:
    ub = arch.memory.ub
    cost = VregCost(arch.vector, arch.uops, UbBanks(ub.bank_groups, ub.banks_per_group))

    def duration(lowered: Lowered) -> tuple[int, tuple[UopSlice, ...]]:
        """Vector functions one after the other: none overlaps the next."""
        slices: list[UopSlice] = []
        at = 0
        for function in lowered.uops:
            assert isinstance(function, VectorFunction)
            timing = cost.time(function)
            slices += [_later(part, at) for part in timing.uops]
            at += timing.cycles
        return at, tuple(slices)

    return duration


def _later(part: UopSlice, by: int) -> UopSlice:
    return replace(part, start=part.start + by, end=part.end + by)
