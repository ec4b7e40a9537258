"""Bound operands: what a tile instruction works on once loop variables and slots are numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from archsim.base.dtypes import DType
from archsim.base.source import Span
from archsim.isa.tile_op import TileOp


class Loc(StrEnum):
    """Where a tile lives, by its PTO name; `MEMORY` gives the memory."""

    VEC = "vec"
    MAT = "mat"
    LEFT = "left"
    RIGHT = "right"
    ACC = "acc"
    BIAS = "bias"
    SCALING = "scaling"


MEMORY: Mapping[Loc, str] = MappingProxyType(
    {
        Loc.VEC: "UB",
        Loc.MAT: "L1",
        Loc.LEFT: "L0A",
        Loc.RIGHT: "L0B",
        Loc.ACC: "L0C",
        Loc.BIAS: "BT",
        Loc.SCALING: "FB",
    }
)


@dataclass(frozen=True, slots=True)
class Region:
    """Bytes of one memory: `rows` runs of `row_bytes` bytes, `pitch` bytes apart, from `addr`."""

    memory: str
    addr: int
    rows: int
    row_bytes: int
    pitch: int

    @property
    def end(self) -> int:
        """One past the last byte touched."""
        return self.addr + (self.rows - 1) * self.pitch + self.row_bytes

    def overlaps(self, other: "Region") -> bool:
        """Whether they share a byte; exact, so that rows may lie between each other's."""
        if self.memory != other.memory or self.end <= other.addr or other.end <= self.addr:
            return False
        for row in range(self.rows):
            start = self.addr + row * self.pitch
            # Of the other's rows that begin before this one ends, the last reaches furthest.
            last = min((start + self.row_bytes - 1 - other.addr) // other.pitch, other.rows - 1)
            if last >= 0 and other.addr + last * other.pitch + other.row_bytes > start:
                return True
        return False


@dataclass(frozen=True, slots=True)
class TileView:
    """A tile (one slot of a ring, or a sub-view) at an address.

    `rows` x `cols` is the declared shape, `row_stride` the pitch in elements, `valid_rows` x
    `valid_cols` the part that instructions process. `static_rows`/`static_cols` tell whether that
    valid extent was known when the program was compiled; it decides the lowering path.
    """

    name: str
    loc: Loc
    dtype: DType
    rows: int
    cols: int
    valid_rows: int
    valid_cols: int
    addr: int
    row_stride: int
    static_rows: bool = True
    static_cols: bool = True
    row_major: bool = True
    pad: str = "null"
    span: Span | None = field(default=None, compare=False)

    @property
    def row_bytes(self) -> int:
        """Bytes from one row to the next."""
        return self.row_stride * self.dtype.itemsize

    @property
    def size_bytes(self) -> int:
        """Bytes of the whole tile, padding included."""
        return (self.rows - 1) * self.row_bytes + self.cols * self.dtype.itemsize

    def valid_region(self, row_bytes: int | None = None) -> Region:
        """The bytes of the valid lanes, or `row_bytes` bytes of each valid row."""
        width = self.valid_cols * self.dtype.itemsize if row_bytes is None else row_bytes
        return Region(MEMORY[self.loc], self.addr, self.valid_rows, width, self.row_bytes)

    def whole_region(self) -> Region:
        """The bytes of the whole tile."""
        width = self.cols * self.dtype.itemsize
        return Region(MEMORY[self.loc], self.addr, self.rows, width, self.row_bytes)


@dataclass(frozen=True, slots=True)
class GmView:
    """A window of a tensor in global memory: byte address of its origin, strides in elements."""

    name: str
    dtype: DType
    addr: int
    shape: tuple[int, ...]  # of the window
    strides: tuple[int, ...]  # elements, outermost first
    layout: str = "nd"
    span: Span | None = field(default=None, compare=False)


Scalar = int | float
Operand = TileView | GmView | Scalar


@dataclass(frozen=True, slots=True)
class BoundInstr:
    """One dynamic tile instruction, every operand a number or an address.

    `dst` and `src` follow the order of `op.outs` and `op.ins`, the scratch operand left out: it is
    `tmp`, None where it is omitted. `omitted` names optional operands that `src` lacks. `attrs`
    holds `key=value` operands by name (`precision`, `mode`, `rmode`, `sat`, `vf_impl`). `places`
    says where operands are written, by their names in the table.
    """

    op: TileOp
    dst: tuple[Operand, ...]
    src: tuple[Operand, ...]
    tmp: TileView | None = None
    attrs: Mapping[str, str] = field(default_factory=dict)
    span: Span | None = field(default=None, compare=False)
    places: Mapping[str, Span] = field(default_factory=dict, compare=False)
    omitted: tuple[str, ...] = ()

    def place(self, name: str) -> Span | None:
        """Where an operand is written; where that is not known, the instruction."""
        return self.places.get(name, self.span)

    @property
    def operands(self) -> dict[str, Operand]:
        """Operands by their names in the table; omitted ones are absent."""
        names = [
            arg.name for arg in self.op.ins if not arg.scratch and arg.name not in self.omitted
        ]
        found = {arg.name: value for arg, value in zip(self.op.outs, self.dst, strict=True)}
        found.update(zip(names, self.src, strict=True))
        if self.tmp is not None and self.op.scratch is not None:
            found[self.op.scratch.name] = self.tmp
        return found
