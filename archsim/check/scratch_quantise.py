"""The smallest scratch of quantisation in groups: element type, rows, columns."""

from archsim.arch import ArchConfig
from archsim.base.dtypes import F32, DType
from archsim.isa.operands import BoundInstr, TileView
from archsim.isa.shared_exponents import groups

_BLOCK_BYTES = 32


def group_scratch(instr: BoundInstr, arch: ArchConfig) -> tuple[DType, int, int]:
    """An f32 for each group of src, rows in whole blocks."""
    src = instr.operands["src"]
    assert isinstance(src, TileView)
    rows = src.valid_rows if src.static_rows else src.rows
    cols = src.valid_cols if src.static_cols else src.cols
    per_block = _BLOCK_BYTES // F32.itemsize
    return F32, rows, -(-groups(cols) // per_block) * per_block
