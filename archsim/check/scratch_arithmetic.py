"""Scratch of the remainder and power sequences of the simd cores: tiles, mask bits, words."""

from archsim.arch import ArchConfig
from archsim.base.dtypes import DType
from archsim.isa.operands import BoundInstr, TileView

# Tiles like dst that each family works in.
CHAIN_TILES = {"remainder": 1, "remainder_scalar": 1, "power": 3, "power_scalar": 4}
WORDS_BYTES = 32  # a block for the address words of a select
_BLOCK_BYTES = 32


def chain_bytes(instr: BoundInstr, arch: ArchConfig) -> int:
    """Bytes from the start of tmp: whole tiles like dst, a mask row a row of dst, a block."""
    dst = instr.dst[0]
    assert isinstance(dst, TileView)
    row = dst.cols * dst.dtype.itemsize
    return dst.rows * (CHAIN_TILES[instr.op.family] * row + mask_pitch(dst, arch)) + WORDS_BYTES


def mask_pitch(dst: TileView, arch: ArchConfig) -> int:
    """Bytes from one row of mask bits to the next: whole repeats, whole blocks."""
    lanes = arch.vector.width_bytes // dst.dtype.itemsize
    size = -(-dst.cols // lanes) * lanes // 8
    return -(-size // _BLOCK_BYTES) * _BLOCK_BYTES


def chain_scratch(instr: BoundInstr, arch: ArchConfig) -> tuple[DType, int, int]:
    """The smallest legal tile: rows of dst."""
    dst = instr.dst[0]
    assert isinstance(dst, TileView)
    row = dst.cols * dst.dtype.itemsize
    return dst.dtype, -(-chain_bytes(instr, arch) // row), dst.cols
