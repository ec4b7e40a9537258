"""Where a number comes from."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from archsim.arch.quantity import Basis


@dataclass(frozen=True, slots=True)
class Provenance:
    """How far to trust a number, why, and its relative uncertainty."""

    basis: Basis
    source: str
    uncertainty: Fraction = Fraction(0)


def least_trusted(several: Iterable[Provenance]) -> Provenance | None:
    """The first of the least trusted ones; None for none."""
    order = list(Basis)
    return max(several, key=lambda p: order.index(p.basis), default=None)
