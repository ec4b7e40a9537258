"""Micro-ops whose places come from data: gathers, scatters, compactions, transposed blocks.

They run row by row, in order. An index that names no element is an error that says which one it is
(`IndexOutside`), never a value.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from archsim.isa.lanes.compare import unpack
from archsim.isa.lanes.state import Lanes
from archsim.isa.simd import Access, SimdUop, Table
from archsim.numerics.effects import Step, Write
from archsim.numerics.memory import IndexOutside, Memory

_UB = "UB"
BLOCK_BYTES = 32
_TRANSPOSES = "scatter_vnchwconv"

Run = Callable[[], list[Write]]


def is_irregular(uop: SimdUop) -> bool:
    """Whether lane functions cannot say what a simd micro-op does."""
    return uop.table is not None or uop.name.startswith(_TRANSPOSES)


def irregular_step(uop: SimdUop, row: int, memory: Memory) -> Step:
    """A micro-op of row `row` of its loop, its addresses those of the row."""
    run = IRREGULAR[uop.name](uop, row, memory)
    return Step(lambda gm_addr: run())


def check_indices(
    what: str, values: Lanes, good: Lanes, rule: str, place: Callable[[int], tuple[int, int]]
) -> None:
    """Raise `IndexOutside` for the first of `values` that is not `good`.

    `place` gives row and element of a flat position.
    """
    if not good.all():
        first = int(np.argmin(good))
        raise IndexOutside(what, int(values.reshape(-1)[first]), *place(first), rule)


def elements_rule(count: int) -> str:
    """What an index into `count` elements must be."""
    return f"0 to {count - 1}"


def blocks_rule(size_bytes: int) -> str:
    """What the byte offset of a block must be."""
    return f"a multiple of {BLOCK_BYTES} from 0 to {size_bytes - BLOCK_BYTES}"


def block_is_inside(offsets: Lanes, size_bytes: int) -> Lanes:
    """Which byte offsets name a whole block."""
    good = (offsets % BLOCK_BYTES == 0) & (offsets >= 0) & (offsets + BLOCK_BYTES <= size_bytes)
    return np.asarray(good)


def _count(uop: SimdUop) -> int:
    return uop.mask.lanes if uop.mask.mode == "count" else uop.lanes * uop.repeat


def _run_of(access: Access, count: int) -> tuple[str, int, "np.dtype[Any]", Any, Any]:
    """The window on `count` elements behind each other."""
    return _UB, access.addr, access.dtype.np, (count,), (access.dtype.itemsize,)


def _table(uop: SimdUop) -> Table:
    assert uop.table is not None, f"{uop.name} has no table"
    return uop.table


def _scale(uop: SimdUop, row: int, memory: Memory) -> Run:
    """Byte offsets of element indices; here the indices are still as the program wrote them."""
    table, size = _table(uop), int(uop.scalar or 1)
    indices = memory.view(*_run_of(uop.srcs[0], _count(uop)))
    target = memory.target(*_run_of(uop.dst, _count(uop)))
    count = table.size_bytes // size

    def run() -> list[Write]:
        wide = indices.astype(np.int64)
        good = (wide >= 0) & (wide < count)
        check_indices("index", wide, good, elements_rule(count), lambda at: (row, at))
        return [(target, (wide * size).astype(target.view.dtype))]

    return run


def _gather(uop: SimdUop, row: int, memory: Memory) -> Run:
    """dst[c] = the element at byte offset srcs[0][c] of the table."""
    table, dtype = _table(uop), uop.dst.dtype.np
    count = table.size_bytes // dtype.itemsize
    offsets = memory.view(*_run_of(uop.srcs[0], _count(uop)))
    elements = memory.view(_UB, table.addr, dtype, (count,), (dtype.itemsize,))
    target = memory.target(*_run_of(uop.dst, _count(uop)))
    # The vmuls before it has refused what lies outside.
    return lambda: [(target, elements[offsets.astype(np.int64) // dtype.itemsize])]


def _gather_blocks(uop: SimdUop, row: int, memory: Memory) -> Run:
    """Block b of dst = the 32 bytes at byte offset srcs[0][b] of the table."""
    table, dtype = _table(uop), uop.dst.dtype.np
    blocks = -(-_count(uop) * dtype.itemsize // BLOCK_BYTES)
    offsets = memory.view(*_run_of(uop.srcs[0], blocks))
    content = memory.view(_UB, table.addr, np.dtype(np.uint8), (table.size_bytes,), (1,))
    target = memory.target(*_run_of(uop.dst, _count(uop)))

    def run() -> list[Write]:
        wide, size = offsets.astype(np.int64), table.size_bytes
        good = block_is_inside(wide, size)
        check_indices("byte offset", wide, good, blocks_rule(size), lambda at: (row, at))
        found = content[wide[:, np.newaxis] + np.arange(BLOCK_BYTES)]
        return [(target, found.reshape(-1).view(dtype)[: _count(uop)])]

    return run


def _scatter(uop: SimdUop, row: int, memory: Memory) -> Run:
    """Element srcs[1][c] of the table = srcs[0][c], one after the other: the last one stays."""
    table, dtype = _table(uop), uop.dst.dtype.np
    count = table.size_bytes // dtype.itemsize
    values, indices = (memory.view(*_run_of(src, uop.repeat)) for src in uop.srcs)
    target = memory.target(_UB, table.addr, dtype, (count,), (dtype.itemsize,))

    def run() -> list[Write]:
        wide = indices.astype(np.int64)
        good = (wide >= 0) & (wide < count)
        check_indices("index", wide, good, elements_rule(count), lambda at: (row, at))
        out = target.view.copy()
        out[wide] = values
        return [(target, out)]

    return run


def _compact(uop: SimdUop, row: int, memory: Memory) -> Run:
    """The elements of srcs[0] whose bit in srcs[1] is set, behind each other."""
    count = _count(uop)
    elements = memory.view(*_run_of(uop.srcs[0], count))
    packed = memory.view(_UB, uop.srcs[1].addr, np.dtype(np.uint8), (-(-count // 8),), (1,))

    def run() -> list[Write]:
        kept = elements[unpack(packed, count)]
        return [(memory.target(*_run_of(uop.dst, len(kept))), kept)] if len(kept) else []

    return run


def _transpose(uop: SimdUop, row: int, memory: Memory) -> Run:
    """Repeat by repeat, rows become columns; a repeat has 8 columns of four bytes, else 16."""
    src, dst = uop.srcs[0], uop.dst
    size = dst.dtype.itemsize
    columns = 8 if size == 4 else 16
    rows = uop.lanes // columns
    source = memory.view(
        _UB, src.addr, src.dtype.np, (uop.repeat, rows, columns),
        (src.repeat_stride, src.block_stride, size),
    )  # fmt: skip
    target = memory.target(
        _UB, dst.addr, dst.dtype.np, (uop.repeat, columns, rows),
        (dst.repeat_stride, dst.block_stride, size),
    )  # fmt: skip
    return lambda: [(target, source.transpose(0, 2, 1).copy())]


IRREGULAR: Mapping[str, Callable[[SimdUop, int, Memory], Run]] = MappingProxyType(
    {
        "scalar_scatter": _scatter,
        **{f"{_TRANSPOSES}_b{bits}": _transpose for bits in (8, 16, 32)},
        "vgather": _gather,
        "vgatherb": _gather_blocks,
        "vmuls": _scale,
        "vreducev2": _compact,
    }
)
