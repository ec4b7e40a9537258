"""Bound operands: what a tile instruction works on once loop variables and slots are numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType

from archsim.base.dtypes import DType
from archsim.base.source import Span
from archsim.isa.tile_op import TileOp

BLOCK_BYTES = 32
BOX_ROWS = 16
ACC_FRACTAL = 1024  # bytes of a box of 16 x 16 accumulators


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
    valid extent was known when the program was compiled; it decides the lowering path. `row_major`
    (blayout) orders rows, or boxes where `slayout` is not none_box; a box of `fractal` bytes is 16
    rows of 32 bytes (512), or 16 x 16 elements (1024), and its columns run first where `slayout` is
    col_major. Addresses go by the declared shape, whatever is valid.
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
    slayout: str = "none_box"
    fractal: int = 512

    @property
    def layout(self) -> str:
        """nd (rows), dn (columns), nz (columns of row-major boxes), or zn, zz, nn."""
        if self.slayout == "none_box":
            return "nd" if self.row_major else "dn"
        return ("z" if self.row_major else "n") + ("z" if self.slayout == "row_major" else "n")

    @property
    def is_plain(self) -> bool:
        """Row-major without boxes."""
        return self.row_major and self.slayout == "none_box"

    @property
    def box(self) -> tuple[int, int]:
        """Rows and columns of a box; 1 x 1 where there is none."""
        if self.slayout == "none_box":
            return 1, 1
        if self.fractal == ACC_FRACTAL:
            return BOX_ROWS, BOX_ROWS
        along = BLOCK_BYTES // self.dtype.itemsize
        return (BOX_ROWS, along) if self.slayout == "row_major" else (along, BOX_ROWS)

    def offset(self, row: int, col: int) -> int:
        """Bytes from the tile's start to element (row, col)."""
        if self.slayout == "none_box":
            lanes = row * self.row_stride + col if self.row_major else col * self.rows + row
            return self.dtype.bytes_of(lanes)
        (box_rows, box_cols), size = self.box, self.dtype.itemsize
        (row_box, r), (col_box, c) = divmod(row, box_rows), divmod(col, box_cols)
        inside = r * box_cols + c if self.slayout == "row_major" else c * box_rows + r
        if self.row_major:
            outside = row_box * self.cols * box_rows + col_box * box_rows * box_cols
        else:
            outside = col_box * self.rows * box_cols + row_box * box_rows * box_cols
        return (outside + inside) * size

    def as_rows(self) -> "TileView":
        """The same valid bytes as rows of a row-major tile: its columns where it is column-major,
        the column groups where it is nz (each is one run of whole rows of its boxes)."""
        if self.is_plain:
            return self
        if self.layout == "dn":
            shape = (self.cols, self.rows, self.valid_cols, self.valid_rows)
        else:
            assert self.layout == "nz", f"{self.name} is {self.layout}"
            width = self.box[1]
            groups = -(-self.valid_cols // width)
            shape = (self.cols // width, self.rows * width, groups, self.valid_rows * width)
        rows, cols, valid_rows, valid_cols = shape
        return replace(
            self, rows=rows, cols=cols, valid_rows=valid_rows, valid_cols=valid_cols,
            row_stride=cols, static_rows=self.static_cols, static_cols=self.static_rows,
            row_major=True, slayout="none_box",
        )  # fmt: skip

    @property
    def row_bytes(self) -> int:
        """Bytes from one row to the next; inside a box where there are boxes."""
        if self.slayout == "none_box" and (self.row_major or self.cols == 1):
            return self.dtype.bytes_of(self.row_stride)
        return self.offset(1, 0)

    @property
    def size_bytes(self) -> int:
        """Bytes of the whole tile, padding included."""
        if not self.is_plain:
            return self.dtype.bytes_of(self.rows * self.cols)
        return (self.rows - 1) * self.row_bytes + self.dtype.bytes_of(self.cols)

    def valid_region(self, row_bytes: int | None = None) -> Region:
        """The bytes of the valid lanes, or `row_bytes` bytes of each valid row.

        Of other layouts than nd and dn these are whole boxes.
        """
        if row_bytes is None and not self.is_plain:
            if self.layout not in ("dn", "nz"):
                return self.whole_region()
            return self.as_rows().valid_region()
        width = self.dtype.bytes_of(self.valid_cols) if row_bytes is None else row_bytes
        return Region(MEMORY[self.loc], self.addr, self.valid_rows, width, self.row_bytes)

    def whole_region(self) -> Region:
        """The bytes of the whole tile."""
        if not self.is_plain:
            size = self.size_bytes
            return Region(MEMORY[self.loc], self.addr, 1, size, size)
        width = self.dtype.bytes_of(self.cols)
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

    @property
    def five(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Shape and strides with as many outer dimensions as a transfer has: five."""
        missing = 5 - len(self.shape)
        return (1,) * missing + self.shape, (0,) * missing + self.strides

    @property
    def extent(self) -> tuple[int, int]:
        """Rows and columns that it has as a tile: nd folds the outer dimensions into rows, dn into
        columns; nz has rows of 16 in dimension 2 and columns of 32 bytes in dimensions 0 and 1."""
        a, b, c, d, e = self.five[0]
        if self.layout == "nd":
            return a * b * c * d, e
        return (d, a * b * c * e) if self.layout == "dn" else (c * d, a * b * e)


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
        if self.op.swappable and not isinstance(self.src[0], TileView):
            names.reverse()  # the number was written before the tile
        found = {arg.name: value for arg, value in zip(self.op.outs, self.dst, strict=True)}
        found.update(zip(names, self.src, strict=True))
        if self.tmp is not None and self.op.scratch is not None:
            found[self.op.scratch.name] = self.tmp
        return found
