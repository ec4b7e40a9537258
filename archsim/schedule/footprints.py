"""Who touched which bytes last: the index behind derived synchronisation and race detection.

Every distinct region that instructions touch is one cell. A cell knows the cells that share bytes
with it, found once when it is new, so that a loop over the same tiles costs a few look-ups an
instruction.
"""

from dataclasses import dataclass, field

from archsim.base.source import Span
from archsim.isa.operands import Region
from archsim.isa.pipes import Pipe

PAGE_BYTES = 4096


@dataclass(slots=True, eq=False)
class Touch:
    """The latest access of one kind to a cell by one pipe: the instruction and its place in the
    pipe's order; `known` is what had been complete, by pipe, when it started."""

    id: int
    sequence: int
    known: tuple[int, ...] = ()
    op: str = ""
    span: Span | None = None


@dataclass(slots=True, eq=False)
class Cell:
    """One distinct region: its latest writer and reader by pipe, and the cells that overlap it
    (itself included)."""

    region: Region
    writers: dict[Pipe, Touch] = field(default_factory=dict)
    readers: dict[Pipe, Touch] = field(default_factory=dict)
    overlapping: list["Cell"] = field(default_factory=list)


class Footprints:
    """All cells of a run, by region and by page."""

    def __init__(self) -> None:
        self._cells: dict[tuple[str, int, int, int, int], Cell] = {}
        self._pages: dict[tuple[str, int], list[Cell]] = {}

    def cell(self, region: Region, offset: int) -> Cell:
        """The cell of `region` moved by `offset` bytes (a window into global memory)."""
        addr = region.addr + (offset if region.memory == "GM" else 0)
        key = (region.memory, addr, region.rows, region.row_bytes, region.pitch)
        found = self._cells.get(key)
        if found is None:
            moved = Region(region.memory, addr, region.rows, region.row_bytes, region.pitch)
            found = self._cells[key] = self._new(moved)
        return found

    def _new(self, region: Region) -> Cell:
        cell = Cell(region)
        cell.overlapping.append(cell)
        for page in range(region.addr // PAGE_BYTES, (region.end - 1) // PAGE_BYTES + 1):
            known = self._pages.setdefault((region.memory, page), [])
            for other in known:
                if other not in cell.overlapping and region.overlaps(other.region):
                    cell.overlapping.append(other)
                    other.overlapping.append(cell)
            known.append(cell)
        return cell
