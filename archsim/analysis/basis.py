"""What the cycles of a run rest on: measured, fitted, documented, assumed, placeholder."""

from collections.abc import Iterable

from archsim.isa.timing import UopSlice
from archsim.trace.records import Record, RunLog


def basis_shares(log: RunLog, records: Iterable[Record]) -> dict[str, float]:
    """Share of the summed cycles of `records` by basis, to four places; they add up to 1.

    Inside an instruction each micro-op weighs with the time from its start to its end.
    """
    cycles: dict[str, float] = {}
    cache: dict[int, dict[str, float]] = {}
    for record in records:
        shares = cache.get(id(record.uops))
        if shares is None:
            shares = cache[id(record.uops)] = _shares(record.uops)
        length = log.cycles(record.end) - log.cycles(record.start)
        for basis, share in shares.items():
            cycles[basis] = cycles.get(basis, 0.0) + share * length
    total = sum(cycles.values())
    return {k: round(v / total, 4) for k, v in sorted(cycles.items())} if total else {}


def _shares(uops: tuple[UopSlice, ...]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for uop in uops:
        weights[uop.basis] = weights.get(uop.basis, 0.0) + uop.count * max(uop.end - uop.start, 0)
    total = sum(weights.values())
    return {basis: weight / total for basis, weight in weights.items()} if total else {}


def interval(uops: tuple[UopSlice, ...], cycles: int) -> tuple[int, int]:
    """Cycles less and plus the weighted uncertainty of the micro-ops' figures."""
    weight = sum(uop.count * (uop.end - uop.start) for uop in uops)
    if not weight:
        return cycles, cycles
    share = sum(u.count * (u.end - u.start) * u.uncertainty for u in uops) / weight
    margin = round(cycles * share)
    return cycles - margin, cycles + margin
