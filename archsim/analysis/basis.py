"""What the cycles of a run rest on: measured, fitted, documented, assumed, placeholder."""

from collections.abc import Container

from archsim.isa.timing import UopSlice
from archsim.trace.records import RunLog


def basis_shares(log: RunLog, on_path: Container[int] | None = None) -> dict[str, float]:
    """Share of the summed cycles of instructions by basis, to four places; they add up to 1.

    `on_path`: of these instructions only. Inside one each micro-op weighs with the time from its
    start to its end.
    """
    held: dict[int, int] = {}  # by the identity of the micro-ops, which loops share
    kinds: dict[int, tuple[UopSlice, ...]] = {}
    for record, (start, end) in zip(log.records, log.spans, strict=True):
        if on_path is None or record.id in on_path:
            key = id(record.uops)
            held[key] = held.get(key, 0) + end - start
            kinds[key] = record.uops
    cycles: dict[str, float] = {}
    for key, uops in kinds.items():
        for basis, share in _shares(uops).items():
            cycles[basis] = cycles.get(basis, 0.0) + share * held[key]
    total = sum(cycles.values())
    return {k: round(v / total, 4) for k, v in sorted(cycles.items())} if total else {}


def _shares(uops: tuple[UopSlice, ...]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for uop in uops:
        weights[uop.basis] = weights.get(uop.basis, 0.0) + uop.count * max(uop.end - uop.start, 0)
    total = sum(weights.values())
    return {basis: weight / total for basis, weight in weights.items()} if total else {}


def main_basis(uops: tuple[UopSlice, ...]) -> str:
    """The class that most of the time of these micro-ops rests on; empty where they take none."""
    shares = _shares(uops)
    return max(shares, key=lambda basis: shares[basis]) if shares else ""


def interval(uops: tuple[UopSlice, ...], cycles: int) -> tuple[int, int]:
    """Cycles less and plus the weighted uncertainty of the micro-ops' figures."""
    weight = sum(uop.count * (uop.end - uop.start) for uop in uops)
    if not weight:
        return cycles, cycles
    share = sum(u.count * (u.end - u.start) * u.uncertainty for u in uops) / weight
    margin = round(cycles * share)
    return cycles - margin, cycles + margin
