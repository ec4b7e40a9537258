"""Sources that an instruction leaves overwritten, and who reads them afterwards."""

from archsim.base.source import Span
from archsim.isa.operands import BoundInstr, Region, TileView
from archsim.lower import Lowered
from archsim.trace.records import Finding


class Destroyed:
    """Watches instructions in program order."""

    def __init__(self) -> None:
        self._gone: dict[Region, tuple[str, str]] = {}
        self._told: set[tuple[str, str]] = set()

    @property
    def any(self) -> bool:
        """Whether anything is destroyed at the moment."""
        return bool(self._gone)

    def passed(self, bound: BoundInstr, lowered: Lowered, span: Span) -> list[Finding]:
        """What it reads that an earlier instruction destroyed; then its own writes count."""
        found: list[Finding] = []
        if self._gone:
            found = self._read(bound, lowered, span)
            for region in lowered.writes:
                for gone in [g for g in self._gone if g.overlaps(region)]:
                    del self._gone[gone]
        for region in lowered.destroyed:
            self._gone[region] = (bound.op.mnemonic, span.where)
        return found

    def _read(self, bound: BoundInstr, lowered: Lowered, span: Span) -> list[Finding]:
        found = []
        for region in lowered.sources:
            for gone, (by, where) in self._gone.items():
                if gone.overlaps(region) and (span.where, where) not in self._told:
                    self._told.add((span.where, where))
                    message = (
                        f"{bound.op.mnemonic} reads {_name(bound, region)}, "
                        f"a source that {by} left overwritten; load it again in between"
                    )
                    found.append(Finding("destroyed_source", "error", message, (span.where, where)))
        return found


def _name(bound: BoundInstr, region: Region) -> str:
    """The tile that the region belongs to."""
    tiles = (operand for operand in bound.src if isinstance(operand, TileView))
    found = next((t.name for t in tiles if t.whole_region().overlaps(region)), None)
    return f"{region.memory} {region.addr:#x}" if found is None else f"tile {found}"
