"""What moved over each data path: bytes, time, rate, and how near that is to the path's peak."""

from collections.abc import Mapping
from dataclasses import dataclass

from archsim.analysis.usage import Interval, union
from archsim.arch import ArchConfig
from archsim.isa.moves import IndexedMove, Move
from archsim.isa.pipes import Pipe
from archsim.lower import Lowered
from archsim.trace.records import RunLog

DATA_PIPES = (Pipe.MTE1, Pipe.MTE2, Pipe.MTE3, Pipe.FIX)


@dataclass(frozen=True, slots=True)
class PathUsage:
    """One data path over the run.

    `bytes` is payload; `busy` the cycles in which an instruction of the path ran; `bytes_per_cycle`
    the rate in them; `peak_bytes_per_cycle` what long transfers reach, and `share` the part of it.
    """

    path: str
    transfers: int
    bytes: int
    busy: int
    bytes_per_cycle: float
    peak_bytes_per_cycle: float
    gigabytes_per_second: float
    share: float


def path_usage(
    log: RunLog, lowered: Mapping[int, tuple[Lowered, int]], arch: ArchConfig
) -> list[PathUsage]:
    """Every path that moved something, in the order of the chip's table."""
    held: dict[str, list[Interval]] = {}
    moved: dict[str, list[int]] = {}
    known: dict[int, list[tuple[str, int]]] = {}  # by identity of what loops share
    for record, span in zip(log.records, log.spans, strict=True):
        if record.pipe not in DATA_PIPES:
            continue
        work = lowered[record.id][0]
        moves = known.get(id(work))
        if moves is None:
            found = (m for m in work.uops if isinstance(m, Move | IndexedMove))
            moves = known[id(work)] = [(move.path, move.bytes_moved) for move in found]
        for path, size in moves:
            moved.setdefault(path, []).append(size)
        for path in dict.fromkeys(path for path, _ in moves):
            held.setdefault(path, []).append(span)
    return [
        _usage(path, moved[path], union(held[path]), arch) for path in arch.paths if path in moved
    ]


def _usage(path: str, sizes: list[int], busy: list[Interval], arch: ArchConfig) -> PathUsage:
    cycles = sum(end - start for start, end in busy)
    row = arch.paths[path]
    peak = float(row.plateau_bytes_per_cycle or row.bytes_per_cycle)
    rate = sum(sizes) / cycles if cycles else 0.0
    per_second = rate * arch.frequency_hz / 1e9
    return PathUsage(
        path, len(sizes), sum(sizes), cycles, rate, peak, round(per_second, 2), rate / peak
    )
