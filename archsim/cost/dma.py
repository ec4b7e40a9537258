"""Time of data movement: per path a start-up, a rate, a floor and a plateau.

cycles(B) = max(floor, start-up + B / rate, B / plateau) for one transfer of B payload bytes; the
transfers of one instruction follow each other. An instruction's sum is rounded once, half up, to
whole cycles. Source of the shape: transfer tables by size, one core.
"""

from collections.abc import Iterable
from fractions import Fraction

from archsim.arch import ArchConfig
from archsim.isa.moves import Transfer
from archsim.isa.timing import half_up


def path_cycles(path_name: str, payload: int, arch: ArchConfig) -> Fraction:
    """Exact cycles of one transfer of `payload` bytes on a path."""
    path = arch.paths[path_name]
    cycles = max(path.floor_cycles, path.startup_cycles + payload / path.bytes_per_cycle)
    if path.plateau_bytes_per_cycle is not None:
        cycles = max(cycles, payload / path.plateau_bytes_per_cycle)
    return cycles


def transfers(moves: Iterable[Transfer]) -> list[tuple[Transfer, int]]:
    """The DMA instructions behind `moves`, with their payload: chained moves belong to the one
    that they follow."""
    found: list[tuple[Transfer, int]] = []
    for move in moves:
        if move.chained and found:
            first, payload = found.pop()
            found.append((first, payload + move.bytes_moved))
        else:
            found.append((move, move.bytes_moved))
    return found


def move_cycles(moves: Iterable[Transfer], arch: ArchConfig) -> Fraction:
    """Exact cycles of an instruction's transfers, one after the other."""
    parts = (path_cycles(move.path, payload, arch) for move, payload in transfers(moves))
    return sum(parts, Fraction(0))


def whole_cycles(exact: Fraction) -> int:
    """Exact cycles to the nearest integer, a half up."""
    return half_up(exact.numerator, exact.denominator)
