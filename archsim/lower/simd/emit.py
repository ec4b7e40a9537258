"""The pieces that simd lowering is made of: micro-op streams over tiles, masks, rows.

Lowering functions yield micro-ops and row loops in program order; `pack` makes records of them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from archsim.arch import SimdArch
from archsim.base.dtypes import U8, DType
from archsim.isa.operands import TileView
from archsim.isa.simd import (
    FULL,
    Access,
    Barrier,
    Control,
    Mask,
    RowLoop,
    SimdItem,
    SimdUop,
)

Item = SimdItem | RowLoop

BARRIER = Barrier()
SET_MASK = Control("set_vector_mask")
NORM = (Control("set_mask_norm"), SET_MASK)
COUNT = (Control("set_mask_count"), SET_MASK)


@dataclass(frozen=True, slots=True)
class Plane:
    """A UB operand as a micro-op reads it: elements of `dtype`, rows `pitch` bytes apart.

    `bits`: one bit a lane instead, eight to a byte. `fixed`: scratch that every micro-op uses from
    its first byte on, whatever row and lane it works at.
    """

    addr: int
    dtype: DType
    pitch: int
    bits: bool = False
    fixed: bool = False

    @staticmethod
    def of(tile: TileView, dtype: DType | None = None) -> "Plane":
        """A tile's bytes, as `dtype` where they are reinterpreted."""
        return Plane(tile.addr, dtype or tile.dtype, tile.row_bytes)

    @staticmethod
    def mask(tile: TileView) -> "Plane":
        """A tile of packed mask bits."""
        return Plane(tile.addr, U8, tile.row_bytes, bits=True)

    def width(self, lanes: int) -> int:
        """Bytes of `lanes` lanes."""
        return lanes // 8 if self.bits else lanes * self.dtype.itemsize

    def access(self, lanes: int, row: int, col: int, down: bool, looped: bool) -> Access:
        """From lane `col` of `row`; repeats go on along the row, or `down` the rows."""
        if self.fixed:
            width = self.width(lanes)
            return Access(self.addr, self.dtype, repeat_stride=width, bits=self.bits)
        return Access(
            self.addr + row * self.pitch + self.width(col),
            self.dtype,
            repeat_stride=self.pitch if down else self.width(lanes),
            row_stride=self.pitch if looped else 0,
            bits=self.bits,
        )


@dataclass(frozen=True, slots=True)
class Stream:
    """One micro-op and its operands, before repeats and masks are chosen."""

    name: str
    dtype: DType
    lanes: int
    dst: Plane
    srcs: tuple[Plane, ...] = ()
    scalar: int | float | None = None
    scalar_step: int = 0
    effect: str = ""

    @staticmethod
    def over(
        name: str,
        dst: TileView,
        srcs: Sequence[TileView],
        arch: SimdArch,
        *,
        scalar: int | float | None = None,
        effect: str = "",
    ) -> "Stream":
        """A micro-op over tiles as they are; its widest operand sets the lanes."""
        widest = max((*srcs, dst), key=lambda tile: tile.dtype.itemsize).dtype
        dtype = srcs[0].dtype if srcs else dst.dtype
        planes = tuple(Plane.of(src) for src in srcs)
        lanes = arch.vector.width_bytes // widest.itemsize
        return Stream(name, dtype, lanes, Plane.of(dst), planes, scalar=scalar, effect=effect)

    def uop(
        self,
        repeat: int,
        mask: Mask = FULL,
        *,
        row: int = 0,
        col: int = 0,
        down: bool = False,
        looped: bool = False,
        argument: int | None = None,
    ) -> SimdUop:
        """`repeat` repeats from lane `col` of `row`, along the row or `down` the rows.

        `looped`: it stands for the same micro-op in every row of a row loop.
        """
        dst, *srcs = (
            plane.access(self.lanes, row, col, down, looped) for plane in (self.dst, *self.srcs)
        )
        step = self.scalar_step if looped else 0
        return SimdUop(
            self.name,
            self.dtype,
            self.lanes,
            repeat,
            mask,
            dst,
            tuple(srcs),
            self.scalar,
            step,
            self.effect,
            argument,
        )

    def counted(self, count: int, *, looped: bool = False, argument: int = 0) -> SimdUop:
        """`count` lanes in count mode, where the hardware ignores the repeat argument."""
        repeat = -(-count // self.lanes)
        return self.uop(repeat, Mask("count", count), looped=looped, argument=argument)

    @property
    def planes(self) -> tuple[Plane, ...]:
        """Every operand, the destination first."""
        return (self.dst, *self.srcs)


def partial(lanes: int) -> Mask:
    """The first `lanes` of every repeat."""
    return Mask("partial", lanes)


def masked(*items: Item) -> Iterator[Item]:
    """Items under a partial mask: it is written before and made full again behind."""
    yield SET_MASK
    yield from items
    yield SET_MASK


def counted(*items: Item) -> Iterator[Item]:
    """Items in count mode, with norm mode and the full mask behind."""
    yield from COUNT
    yield from items
    yield from NORM


def chunks(total: int, limit: int) -> Iterator[tuple[int, int]]:
    """(start, size) of the pieces of at most `limit` that make up `total`."""
    for start in range(0, total, limit):
        yield start, min(limit, total - start)


def fenced(*items: SimdItem) -> tuple[SimdItem, ...]:
    """Every item followed by a barrier."""
    return tuple(part for item in items for part in (item, BARRIER))


def pack(items: Iterable[Item]) -> tuple[RowLoop, ...]:
    """Records of an item stream: row loops, and what stands between them as loops of one row."""
    packed: list[RowLoop] = []
    straight: list[SimdItem] = []
    for item in items:
        if isinstance(item, RowLoop):
            if straight:
                packed.append(RowLoop(1, tuple(straight)))
                straight = []
            packed.append(item)
        else:
            straight.append(item)
    if straight:
        packed.append(RowLoop(1, tuple(straight)))
    return tuple(packed)
