"""MGATHER and MSCATTER: elements of a tensor by index. No lowering is published: one transfer of as
many pieces as there are elements is assumed."""

from math import prod

from archsim.arch import ArchConfig
from archsim.isa.moves import Burst, IndexedMove
from archsim.isa.operands import MEMORY, BoundInstr, GmView, Region, TileView
from archsim.lower.lowered import Lowered
from archsim.lower.operands import tile, window


def gather(instr: BoundInstr, arch: ArchConfig) -> Lowered:
    """dst[r, c] = element idx[r, c] of mem."""
    dst, index, tensor = tile(instr, "dst"), tile(instr, "idx"), window(instr, "mem")
    move = _move("gather_gm_to_ubuf", "gm_to_ub_indexed", dst, index, tensor, scatter=False)
    read = index.valid_region()
    return Lowered((move,), (read, _whole(tensor)), (dst.valid_region(),), (read,))


def scatter(instr: BoundInstr, arch: ArchConfig) -> Lowered:
    """Element idx[r, c] of mem = src[r, c]; the whole tensor counts as written."""
    src, index, tensor = tile(instr, "src"), tile(instr, "idx"), window(instr, "mem")
    move = _move("scatter_ubuf_to_gm", "ub_to_gm_indexed", src, index, tensor, scatter=True)
    read = (src.valid_region(), index.valid_region())
    return Lowered((move,), read, (_whole(tensor),), read)


def _move(
    name: str, path: str, data: TileView, index: TileView, tensor: GmView, *, scatter: bool
) -> IndexedMove:
    elements = prod(tensor.shape)
    return IndexedMove(
        name, path, _burst(data), _burst(index), data.dtype, index.dtype, elements, scatter
    )


def _burst(of: TileView) -> Burst:
    region = of.valid_region()
    return Burst(MEMORY[of.loc], region.addr, region.rows, region.row_bytes, region.pitch)


def _whole(tensor: GmView) -> Region:
    size = prod(tensor.shape) * tensor.dtype.itemsize
    return Region("GM", 0, 1, size, size)
