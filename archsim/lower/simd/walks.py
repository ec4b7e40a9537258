"""The ways in which simd micro-ops walk a tile: flat, counted, along the rows, down the columns."""

from collections.abc import Iterator
from dataclasses import dataclass

from archsim.arch import SimdArch
from archsim.isa.simd import FULL, Mask, RowLoop, SimdItem
from archsim.lower.simd.emit import BARRIER, Item, Stream, chunks, counted, masked, partial


@dataclass(frozen=True, slots=True)
class Walk:
    """A stream over `rows` x `cols` valid lanes, within the core's repeat and stride limits.

    `then` follow on the same lanes, each behind a barrier, in walks of whole repeats and a tail.
    """

    stream: Stream
    rows: int
    cols: int
    repeat_max: int
    stride_bytes_max: int
    then: tuple[Stream, ...] = ()

    @staticmethod
    def over(stream: Stream, rows: int, cols: int, arch: SimdArch) -> "Walk":
        """The walk of a stream on this core."""
        vector = arch.vector
        stride = vector.repeat_stride_max * vector.block_bytes
        return Walk(stream, rows, cols, vector.repeat_max, stride)

    @property
    def strides_fit(self) -> bool:
        """Whether a repeat can step from row to row in every operand."""
        planes = (plane for step in (self.stream, *self.then) for plane in step.planes)
        return all(plane.pitch <= self.stride_bytes_max for plane in planes)

    def flat(self) -> Iterator[Item]:
        """Contiguous lanes in whole repeats (issued even where there is none), then the rest."""
        full, rest = divmod(self.rows * self.cols, self.stream.lanes)
        yield self.stream.uop(full)
        if rest:
            tail = self.stream.uop(1, partial(rest), col=full * self.stream.lanes)
            yield from masked(tail)

    def count(self) -> Iterator[Item]:
        """Contiguous lanes in one micro-op of count mode."""
        yield from counted(self.stream.counted(self.rows * self.cols))

    def count_rows(self) -> Iterator[Item]:
        """One micro-op of count mode a row."""
        yield from counted(RowLoop(self.rows, (self.stream.counted(self.cols, looped=True),)))

    def along_rows(self) -> Iterator[Item]:
        """The whole repeats of every row, row by row."""
        whole = self.cols // self.stream.lanes
        pieces = [
            item
            for start, size in chunks(whole, self.repeat_max)
            for item in self._steps(size, FULL, col=start * self.stream.lanes, looped=True)
        ]
        if pieces:
            yield RowLoop(self.rows, tuple(pieces))

    def down_columns(self) -> Iterator[Item]:
        """One micro-op for each repeat-wide column of all rows, a masked one for the rest.

        Down the rows in pieces of at most 255.
        """
        whole = self.cols // self.stream.lanes
        for group in range(whole):
            for row, n in chunks(self.rows, self.repeat_max):
                yield self.stream.uop(n, row=row, col=group * self.stream.lanes, down=True)
        yield from self.tail()

    def narrow(self) -> Iterator[Item]:
        """Rows narrower than a repeat: one masked micro-op down all of them."""
        yield from masked(self.stream.uop(self.rows, partial(self.cols), down=True))

    def rows_then_tail(self) -> Iterator[Item]:
        """Whole repeats row by row, then the column that is left."""
        yield from self.along_rows()
        yield from self.tail()

    def tail(self, *, row_by_row: bool = False) -> Iterator[Item]:
        """The last, partial repeat of all rows under one mask.

        Down the rows in pieces of at most 255; row by row where told so, or where a row pitch
        exceeds the repeat stride.
        """
        rest = self.cols % self.stream.lanes
        if not rest:
            return
        mask, col = partial(rest), self.cols - rest
        if row_by_row or not self.strides_fit:
            single = self._steps(1, mask, col=col, looped=True)
            yield from masked(RowLoop(self.rows, tuple(single)))
            return
        pieces = chunks(self.rows, self.repeat_max)
        groups = (self._steps(n, mask, row=row, col=col, down=True) for row, n in pieces)
        yield from masked(*(item for group in groups for item in group))

    def _steps(
        self,
        repeat: int,
        mask: Mask,
        *,
        row: int = 0,
        col: int,
        down: bool = False,
        looped: bool = False,
    ) -> Iterator[SimdItem]:
        """The stream and what follows it on the same lanes."""
        for step in (self.stream, *self.then):
            if step is not self.stream:
                yield BARRIER
            yield step.uop(repeat, mask, row=row, col=col, down=down, looped=looped)
