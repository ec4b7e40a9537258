"""How much scratch an instruction works in, and the smallest tile that has it."""

from collections.abc import Callable, Mapping

from archsim.arch import ArchConfig, SimdArch
from archsim.base.dtypes import I32, U8, DType
from archsim.check.scratch_arithmetic import CHAIN_TILES, chain_scratch
from archsim.check.scratch_quantise import group_scratch
from archsim.check.scratch_rearrange import rearrange_scratch
from archsim.check.scratch_reduce import reduction_scratch
from archsim.isa.conversions import THROUGH_WIDER, keeps_low_bits
from archsim.isa.operands import BoundInstr, TileView
from archsim.isa.tile_ops import CONSTRAINTS

ScratchTile = tuple[DType, int, int]  # element type, rows, columns
BLOCK_BYTES = 32  # a tile's row takes whole blocks


def mask_row_bytes(dtype: DType, cols: int, arch: ArchConfig) -> int:
    """Bytes that a comparison writes for a row of `cols` columns.

    A2A3 writes whole repeats, A5 whole images: of one vector, of two for four-byte elements.
    """
    lanes = arch.vector.width_bytes // dtype.itemsize
    if arch.isa == "a5" and dtype.itemsize == 4:
        lanes *= 2
    return -(-cols // lanes) * lanes // 8


def scratch_bytes(instr: BoundInstr, arch: ArchConfig) -> int:
    """Bytes from the start of tmp that TSEL, TSELS or TCVT uses on a simd core."""
    assert isinstance(arch, SimdArch), f"{arch.name} works without scratch"
    dst = _dst(instr)
    if instr.op.family == "select":
        return 8 if dst.dtype.itemsize == 4 else 16
    if instr.op.family == "select_scalar":
        return dst.dtype.itemsize
    src = instr.src[0]
    assert isinstance(src, TileView)
    pair = (src.dtype.name, dst.dtype.name)
    if pair not in THROUGH_WIDER:
        return 0
    if not keeps_low_bits(arch.isa, pair, instr.attrs.get("sat"), instr.tmp is not None):
        return 0
    repeats = 1
    if pair == ("f32", "i16"):
        whole, rest = divmod(dst.valid_cols, arch.vector.width_bytes // 4)
        repeats = min(max(whole, dst.valid_rows if rest else 0), arch.vector.repeat_max)
    return repeats * arch.vector.width_bytes


def scratch_tile(instr: BoundInstr, arch: ArchConfig) -> ScratchTile | None:
    """Element type, rows and columns of the smallest legal scratch; None: none is needed.

    Where the valid region of dst is dynamic it covers the whole tile.
    """
    rules = CONSTRAINTS[arch.isa][instr.op.family]
    if not any(rule.rule == "has_scratch" for rule in rules):
        return None
    return _SMALLEST[instr.op.family](instr, arch)


def _flat(instr: BoundInstr, arch: ArchConfig) -> ScratchTile:
    """The bytes that `scratch_bytes` says, in one row."""
    return U8, 1, row_of(U8, scratch_bytes(instr, arch))


def _prelu(instr: BoundInstr, arch: ArchConfig) -> ScratchTile:
    """A row of mask bits for each row of dst, and one more for the select."""
    rows, cols = extent(_dst(instr))
    return U8, rows + 1, row_of(U8, mask_row_bytes(_dst(instr).dtype, cols, arch))


def _like_dst(instr: BoundInstr, arch: ArchConfig) -> ScratchTile:
    """Another tile like dst."""
    dst = _dst(instr)
    return dst.dtype, dst.rows, dst.cols


def _adddeqrelu(instr: BoundInstr, arch: ArchConfig) -> ScratchTile:
    """The sums."""
    rows, cols = extent(_dst(instr))
    return I32, rows, row_of(I32, cols * I32.itemsize)


def _quant(instr: BoundInstr, arch: ArchConfig) -> ScratchTile:
    """Four bytes for every element of src's rows, at least a block for each row of eights."""
    src = instr.src[0]
    assert isinstance(src, TileView)
    rows = extent(src)[0]
    return I32, max(rows, -(-rows // 8) * 64 // src.cols), src.cols


_SMALLEST: Mapping[str, Callable[[BoundInstr, ArchConfig], ScratchTile | None]] = {
    "adddeqrelu": _adddeqrelu,
    **dict.fromkeys(CHAIN_TILES, chain_scratch),
    "col_arg": reduction_scratch,
    "col_sum": reduction_scratch,
    "gather": rearrange_scratch,
    "gather_compare": rearrange_scratch,
    "merge_lists": rearrange_scratch,
    "exclusive": _like_dst,
    "exclusive_scalar": _like_dst,
    "prelu": _prelu,
    "quant": _quant,
    "quant_groups": group_scratch,
    "quant_offset": _quant,
    "row_arg": reduction_scratch,
    "row_product": reduction_scratch,
    "row_reduce": reduction_scratch,
    "select": _flat,
    "select_scalar": _flat,
    "sort": rearrange_scratch,
    "transpose": rearrange_scratch,
}


def extent(tile: TileView) -> tuple[int, int]:
    """Rows and columns that scratch must cover: the whole tile where its valid region may grow."""
    rows = tile.valid_rows if tile.static_rows else tile.rows
    return rows, tile.valid_cols if tile.static_cols else tile.cols


def row_of(dtype: DType, size: int) -> int:
    """Columns of a row that holds `size` bytes."""
    return -(-size // BLOCK_BYTES) * BLOCK_BYTES // dtype.itemsize


def _dst(instr: BoundInstr) -> TileView:
    dst = instr.dst[0]
    assert isinstance(dst, TileView)
    return dst
