"""Time of data movement: per path a start-up, a rate, a floor and a plateau.

cycles(B) = max(floor, start-up + B / rate, B / plateau) for one transfer of B payload bytes; the
transfers of one instruction follow each other. An instruction's sum is rounded once, half up, to
whole cycles. Source of the shape: transfer tables by size, one core.
"""

from collections.abc import Iterable
from fractions import Fraction

from archsim.arch import ArchConfig
from archsim.isa.moves import Move


def move_cycles(move: Move, arch: ArchConfig) -> Fraction:
    """Exact cycles of one transfer on its path."""
    path = arch.paths[move.path]
    payload = move.bytes_moved
    cycles = max(path.floor_cycles, path.startup_cycles + Fraction(payload) / path.bytes_per_cycle)
    if path.plateau_bytes_per_cycle is not None:
        cycles = max(cycles, Fraction(payload) / path.plateau_bytes_per_cycle)
    return cycles


def transfer_cycles(moves: Iterable[Move], arch: ArchConfig) -> int:
    """Whole cycles of an instruction's transfers, rounded once, half up."""
    return half_up(sum((move_cycles(move, arch) for move in moves), Fraction(0)))


def half_up(value: Fraction) -> int:
    """The nearest integer; a half goes up."""
    return (2 * value.numerator + value.denominator) // (2 * value.denominator)
