"""TLOAD and TSTORE: one DMA transfer for each set of outer indices, by the layout of the tile."""

from collections.abc import Iterator
from itertools import product

from archsim.arch import ArchConfig
from archsim.isa.moves import Burst, Move
from archsim.isa.operands import BLOCK_BYTES, MEMORY, BoundInstr, GmView, Region, TileView
from archsim.isa.padding import pad_element
from archsim.isa.simd import Control
from archsim.lower.lowered import Lowered
from archsim.lower.operands import tile, window

_UNIT = {1: "b8", 2: "b16", 4: "b32", 8: "b32"}
Sides = Iterator[tuple[Burst, Burst, bool]]  # GM side, tile side, chained


def load(instr: BoundInstr, arch: ArchConfig) -> Lowered:
    """dst[r, c] = src[r, c]; the tile's pad value fills the last block of each run, if it has one.

    Runs are rows of an nd tile, columns of a dn tile, and of an nz tile the valid rows of each
    column group of 32 bytes, which take no padding.
    """
    dst, src = tile(instr, "dst"), window(instr, "src")
    runs, size = dst.as_rows(), dst.dtype.itemsize
    pad = pad_element(dst.pad, dst.dtype) if dst.layout != "nz" else b""
    # Whole blocks further on stay as they are: only the block that was begun is filled.
    pad_bytes = (runs.cols - runs.valid_cols) * size % BLOCK_BYTES if pad else 0
    name = f"copy_gm_to_ubuf_align_{_UNIT[size]}"
    moves = tuple(
        Move(name, "gm_to_ub", gm, ub, pad, pad_bytes, chained=chained)
        for gm, ub, chained in _sides(dst, src, arch)
    )
    written = runs.valid_region(runs.valid_cols * size + pad_bytes)
    return Lowered(moves, tuple(_region(move.src) for move in moves), (written,))


def store(instr: BoundInstr, arch: ArchConfig) -> Lowered:
    """dst[r, c] = src[r, c] for the valid region; atomic=add: dst[r, c] += src[r, c].

    An atomic store stands between two set_atomic (type and operation) and a set_atomic_none.
    """
    src, dst = tile(instr, "src"), window(instr, "dst")
    name = f"copy_ubuf_to_gm_align_{_UNIT[src.dtype.itemsize]}"
    add = src.dtype if "atomic" in instr.attrs else None
    moves = tuple(
        Move(name, "ub_to_gm", ub, gm, chained=chained, add=add)
        for gm, ub, chained in _sides(src, dst, arch)
    )
    read, written = (src.valid_region(),), tuple(_region(move.dst) for move in moves)
    if add is None:
        return Lowered(moves, read, written, read)
    kind = f"set_atomic_{add.name}"
    before, behind = (Control(kind), Control("set_atomic_add")), Control("set_atomic_none")
    items: tuple[Move | Control, ...] = (*before, *moves, behind)
    return Lowered(items, (*read, *written), written, read)


def prefetch(instr: BoundInstr, arch: ArchConfig) -> Lowered:
    """Asks the cache in front of GM for the window; nothing on the chip changes."""
    dst, src = tile(instr, "dst"), window(instr, "src")
    moves = tuple(
        Move("prefetch", "gm_to_cache", gm, ub, chained=chained, hint=True)
        for gm, ub, chained in _sides(dst, src, arch)
    )
    return Lowered(moves, tuple(_region(move.src) for move in moves))


def _sides(ub: TileView, gm: GmView, arch: ArchConfig) -> Sides:
    """Runs of a tile and of a window, a transfer for each index of the three outer dimensions
    (nz: of the outermost; its column groups are the runs of one transfer).

    A5 walks the second and third dimension inside one DMA instruction.
    """
    size, rows = gm.dtype.itemsize, ub.as_rows()
    shape, strides = gm.five
    if ub.layout == "nz":
        shape = (shape[0], 1, 1, shape[1], rows.valid_cols)
        strides = (strides[0], 0, 0, strides[1], 1)
    elif ub.layout == "dn":
        shape, strides = ((*of[:3], of[4], of[3]) for of in (shape, strides))
    runs, width = shape[3], shape[4] * size
    for count, outer in enumerate(product(*(range(extent) for extent in shape[:3]))):
        offset = sum(i * stride for i, stride in zip(outer, strides[:3], strict=True))
        first = count * runs
        yield (
            Burst("GM", offset * size, runs, width, strides[3] * size),
            Burst(MEMORY[ub.loc], rows.addr + first * rows.row_bytes, runs, width, rows.row_bytes),
            arch.isa == "a5" and outer[1:] != (0, 0),
        )


def _region(burst: Burst) -> Region:
    return Region(burst.memory, burst.addr, burst.count, burst.bytes_each, burst.pitch)
