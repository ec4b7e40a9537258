"""Runs simd micro-ops: strided windows on the Unified Buffer, one numpy call for all repeats.

The meaning is sequential: row by row, micro-op by micro-op, repeat by repeat, each repeat reading
its lanes before it writes them. Where no row, or no repeat, writes what another one touches, all
of them run as one window; otherwise one at a time, with the same result.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from archsim.base.dtypes import U8
from archsim.isa.lanes.narrow import as_element
from archsim.isa.lanes.state import How, NumericState
from archsim.isa.lanes.tables import SIMD
from archsim.isa.simd import Access, RowLoop, SimdUop
from archsim.numerics.effects import Step, Write
from archsim.numerics.irregular import irregular_step, is_irregular
from archsim.numerics.memory import Memory
from archsim.numerics.overlap import Footprint, apart, never_ahead, steps_apart
from archsim.numerics.windows import Grid, reader, width_bytes, writer


def simd_steps(loop: RowLoop, memory: Memory, state: NumericState) -> list[Step]:
    """The micro-ops of a row loop, ready to run; rows run together where that changes nothing."""
    uops = [item for item in loop.body if isinstance(item, SimdUop)]
    if any(map(is_irregular, uops)) or not _rows_are_independent(uops, loop.rows):
        return [
            step
            for row in range(loop.rows)
            for uop in uops
            for step in _row_steps(_at_row(uop, row), row, memory, state)
        ]
    steps: list[Step] = []
    for uop in uops:
        if loop.rows > 1 and uop.dst.row_stride == 0:
            # Every row writes the same place: the values of the last row stand.
            steps += _uop_steps(_at_row(uop, loop.rows - 1), 1, memory, state)
        else:
            steps += _uop_steps(uop, loop.rows, memory, state)
    return steps


def _row_steps(uop: SimdUop, row: int, memory: Memory, state: NumericState) -> list[Step]:
    if is_irregular(uop):
        return [irregular_step(uop, row, memory)]
    return _uop_steps(uop, 1, memory, state)


def _at_row(uop: SimdUop, row: int) -> SimdUop:
    return replace(
        uop,
        dst=replace(uop.dst, addr=uop.dst.addr + row * uop.dst.row_stride),
        srcs=tuple(replace(s, addr=s.addr + row * s.row_stride) for s in uop.srcs),
        scalar=None if uop.scalar is None else uop.scalar + row * uop.scalar_step,
    )


def _rows_are_independent(uops: list[SimdUop], rows: int) -> bool:
    if rows == 1:
        return True
    reads = dict.fromkeys(_row_footprint(uop, src, rows) for uop in uops for src in uop.srcs)
    writes = dict.fromkeys(_row_footprint(uop, uop.dst, rows) for uop in uops)
    moving = [write for write in writes if write.stride]
    resting = [write for write in writes if not write.stride]
    return all(
        steps_apart(write, other) for write in moving for other in (*reads, *moving)
    ) and all(apart(write, other) for write in resting for other in (*reads, *moving))


def _row_footprint(uop: SimdUop, access: Access, rows: int) -> Footprint:
    lanes = max(lanes for _, _, lanes in _spans(uop))
    width = (uop.repeat - 1) * access.repeat_stride + width_bytes(access, lanes)
    return Footprint(access.addr, width, rows, access.row_stride)


def _spans(uop: SimdUop) -> list[tuple[int, int, int]]:
    """Runs of repeats with equal masks: (first repeat, repeats, lanes of each)."""
    if uop.mask.mode == "full":
        return [(0, uop.repeat, uop.lanes)]
    if uop.mask.mode == "partial":
        return [(0, uop.repeat, uop.mask.lanes)]
    whole, rest = divmod(uop.mask.lanes, uop.lanes)
    spans = [(0, whole, uop.lanes), (whole, 1, rest)]
    return [span for span in spans if span[1] and span[2]]


def _uop_steps(uop: SimdUop, rows: int, memory: Memory, state: NumericState) -> list[Step]:
    how = _how(uop, rows, state)
    steps = []
    for first, repeats, lanes in _spans(uop):
        if _repeats_are_independent(uop, repeats, lanes):
            grids = [Grid(rows, first, repeats, lanes)]
        else:
            grids = [Grid(rows, first + r, 1, lanes) for r in range(repeats)]
        steps += [_step(uop, how, grid, memory) for grid in grids]
    return steps


def _repeats_are_independent(uop: SimdUop, repeats: int, lanes: int) -> bool:
    if repeats == 1:
        return True

    def footprint(access: Access) -> Footprint:
        width = width_bytes(access, lanes)
        return Footprint(access.addr, width, repeats, access.repeat_stride)

    written = footprint(uop.dst)
    reads = [footprint(src) for src in uop.srcs]
    return steps_apart(written, written) and all(
        steps_apart(written, read) or never_ahead(written, read) for read in reads
    )


def _how(uop: SimdUop, rows: int, state: NumericState) -> How:
    lanes = [src.dtype for src in uop.srcs if not src.bits]
    dtype = lanes[0] if lanes else uop.dst.dtype
    words = (*SIMD[uop.name].words, *uop.effect.split())
    to = U8 if uop.dst.bits else uop.dst.dtype
    return How(dtype, to, state, _scalar(uop, dtype, rows), words, uop.lanes)


def _scalar(uop: SimdUop, dtype: Any, rows: int) -> Any:
    if uop.scalar is None or not uop.scalar_step:
        return None if uop.scalar is None else as_element(uop.scalar, dtype)
    values = [as_element(uop.scalar + row * uop.scalar_step, dtype) for row in range(rows)]
    return np.array(values, dtype.np).reshape(rows, 1, 1)


def _step(uop: SimdUop, how: How, grid: Grid, memory: Memory) -> Step:
    function = SIMD[uop.name].function
    readers = [reader(src, grid, memory) for src in uop.srcs]
    write = writer(uop.dst, grid, memory)

    def computed(gm_addr: int) -> list[Write]:
        return write(function(how, *(read() for read in readers)))

    return Step(computed)
