"""TLOAD and TSTORE of row-major tiles: one DMA transfer for each set of outer indices."""

from collections.abc import Iterator
from itertools import product

from archsim.arch import ArchConfig
from archsim.isa.moves import Burst, Move
from archsim.isa.operands import MEMORY, BoundInstr, GmView, Region, TileView
from archsim.isa.padding import pad_element
from archsim.lower.lowered import Lowered
from archsim.lower.operands import tile, window

_BLOCK_BYTES = 32  # DMA pads to whole blocks
_UNIT = {1: "b8", 2: "b16", 4: "b32", 8: "b32"}
Sides = Iterator[tuple[Burst, Burst, bool]]  # GM side, tile side, chained


def load(instr: BoundInstr, arch: ArchConfig) -> Lowered:
    """dst[r, c] = src[r, c]; the tile's pad value fills the last block of each row, if it has one.

    The outer dimensions of the window fold into rows of the tile.
    """
    dst, src = tile(instr, "dst"), window(instr, "src")
    size = dst.dtype.itemsize
    pad = pad_element(dst.pad, dst.dtype)
    # Whole columns further right stay as they are: only the block that was begun is filled.
    pad_bytes = (dst.cols - dst.valid_cols) * size % _BLOCK_BYTES if pad else 0
    name = f"copy_gm_to_ubuf_align_{_UNIT[size]}"
    moves = tuple(
        Move(name, "gm_to_ub", gm, ub, pad, pad_bytes, chained=chained)
        for gm, ub, chained in _sides(dst, src, arch)
    )
    written = dst.valid_region(dst.valid_cols * size + pad_bytes)
    return Lowered(moves, tuple(_region(move.src) for move in moves), (written,))


def store(instr: BoundInstr, arch: ArchConfig) -> Lowered:
    """dst[r, c] = src[r, c] for the valid region; the window's outer dimensions fold into rows."""
    src, dst = tile(instr, "src"), window(instr, "dst")
    name = f"copy_ubuf_to_gm_align_{_UNIT[src.dtype.itemsize]}"
    moves = tuple(
        Move(name, "ub_to_gm", ub, gm, chained=chained)
        for gm, ub, chained in _sides(src, dst, arch)
    )
    read = (src.valid_region(),)
    return Lowered(moves, read, tuple(_region(move.dst) for move in moves), read)


def _sides(ub: TileView, gm: GmView, arch: ArchConfig) -> Sides:
    """Runs of one row each, a transfer for each index of the three outer dimensions.

    A5 walks the second and third dimension inside one DMA instruction.
    """
    size = gm.dtype.itemsize
    missing = 5 - len(gm.shape)
    shape = (1,) * missing + gm.shape
    strides = (0,) * missing + gm.strides
    rows, width = shape[3], shape[4] * size
    for count, outer in enumerate(product(*(range(extent) for extent in shape[:3]))):
        offset = sum(i * stride for i, stride in zip(outer, strides[:3], strict=True))
        first = count * rows
        yield (
            Burst("GM", offset * size, rows, width, strides[3] * size),
            Burst(MEMORY[ub.loc], ub.addr + first * ub.row_bytes, rows, width, ub.row_bytes),
            arch.isa == "a5" and outer[1:] != (0, 0),
        )


def _region(burst: Burst) -> Region:
    return Region(burst.memory, burst.addr, burst.count, burst.bytes_each, burst.pitch)
