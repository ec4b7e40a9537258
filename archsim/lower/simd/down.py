"""Micro-ops whose repeats go down the rows of a tile, in count mode or under a partial mask."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from archsim.arch import SimdArch
from archsim.base.dtypes import DType
from archsim.isa.operands import TileView
from archsim.isa.simd import FULL, Access, Control, Mask, RowLoop, SimdUop
from archsim.lower.simd.emit import BARRIER, Item, chunks, counted, masked, partial

# V and the scalar unit wait for each other around what the scalar unit does in UB.
FLAGS = (Control("set_flag"), Control("wait_flag"))
_STEP_MAX = 65535  # elements from one result of a reduction to the next


@dataclass(frozen=True, slots=True)
class At:
    """One operand: its first lane, the bytes to the next row, its own lanes a repeat (0: all)."""

    addr: int
    dtype: DType
    pitch: int
    lanes: int = 0
    block_stride: int = 32

    @staticmethod
    def of(tile: TileView, dtype: DType | None = None, lanes: int = 0) -> "At":
        """The first column of a tile."""
        return At(tile.addr, dtype or tile.dtype, tile.row_bytes, lanes)

    def right(self, cols: int) -> "At":
        """The same rows, `cols` lanes further right."""
        return replace(self, addr=self.addr + cols * self.dtype.itemsize)

    def access(self, row: int, looped: bool) -> Access:
        """From `row` on; every row by itself where `looped`."""
        return Access(
            self.addr + row * self.pitch,
            self.dtype,
            self.block_stride,
            self.pitch,
            self.pitch if looped else 0,
            lanes=self.lanes,
        )

    def fits(self, arch: SimdArch) -> bool:
        """Whether a repeat can step from row to row."""
        if self.lanes == 1:
            return self.pitch <= _STEP_MAX * self.dtype.itemsize
        return self.pitch <= arch.vector.repeat_stride_max * arch.vector.block_bytes


@dataclass(frozen=True, slots=True)
class Down:
    """A micro-op with a repeat for each row."""

    name: str
    dtype: DType
    dst: At
    srcs: tuple[At, ...]
    arch: SimdArch
    effect: str = ""

    @property
    def lanes(self) -> int:
        """Lanes of a repeat."""
        widest = max(self.dtype.itemsize, *(at.dtype.itemsize for at in (self.dst, *self.srcs)))
        return self.arch.vector.width_bytes // widest

    @property
    def fits(self) -> bool:
        """Whether all operands can step from row to row."""
        return all(at.fits(self.arch) for at in (self.dst, *self.srcs))

    def uop(
        self,
        repeat: int,
        mask: Mask,
        row: int = 0,
        looped: bool = False,
        argument: int | None = None,
    ) -> SimdUop:
        """`repeat` repeats from `row` on."""
        dst, *srcs = (at.access(row, looped) for at in (self.dst, *self.srcs))
        return SimdUop(
            self.name, self.dtype, self.lanes, repeat, mask, dst, tuple(srcs),
            effect=self.effect, argument=argument,
        )  # fmt: skip

    def whole(self, rows: int) -> Iterator[Item]:
        """Whole repeats of all rows in count mode; one micro-op a row where strides do not fit."""
        if self.fits:
            yield from counted(self.uop(rows, Mask("count", rows * self.lanes), argument=0))
        else:
            one = self.uop(1, Mask("count", self.lanes), looped=True, argument=0)
            yield from counted(RowLoop(rows, (one,)))

    def groups(self, rows: int, mask: Mask, *, fenced: bool = False) -> Iterator[Item]:
        """All rows in pieces of at most 255, each with a barrier behind where `fenced`.

        A reduction of a multiple of 255 rows ends with a piece of none, as the library issues it.
        """
        behind = (BARRIER,) if fenced else ()
        if not self.fits:
            yield RowLoop(rows, (self.uop(1, mask, looped=True), *behind))
            return
        limit = self.arch.vector.repeat_max
        for row, size in chunks(rows, limit):
            yield from (self.uop(size, mask, row=row), *behind)
        if fenced and rows % limit == 0:
            yield from (self.uop(0, mask, row=rows), *behind)

    def part(self, rows: int, cols: int, *, fenced: bool = False) -> Iterator[Item]:
        """The first `cols` lanes of a repeat of all rows."""
        yield from masked(*self.groups(rows, partial(cols), fenced=fenced))

    def columns(self, rows: int, cols: int) -> Iterator[Item]:
        """All repeats of all rows: a micro-op for each whole column, a masked one for the rest."""
        whole, rest = divmod(cols, self.lanes)
        for k in range(whole):
            yield from self.moved(k * self.lanes).groups(rows, FULL)
        if rest:
            yield from self.moved(whole * self.lanes).part(rows, rest)

    def moved(self, cols: int) -> "Down":
        """The same, `cols` lanes further right where an operand moves along."""
        return replace(
            self, dst=self.dst.right(cols), srcs=tuple(src.right(cols) for src in self.srcs)
        )
