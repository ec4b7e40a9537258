"""The part of a tile that TEXTRACT reads and TINSERT writes."""

from dataclasses import replace

from archsim.isa.operands import BoundInstr, TileView
from archsim.lower.operands import number, tile


def both_parts(instr: BoundInstr) -> tuple[TileView, TileView]:
    """The written and the read part, as rows of one shape: that of the smaller tile's valid region.

    In nz these are runs of column groups.
    """
    dst, src = tile(instr, "dst"), tile(instr, "src")
    row, col = int(number(instr, "row")), int(number(instr, "col"))
    if instr.op.family == "extract":
        return dst.as_rows(), _part(src, row, col, dst).as_rows()
    return _part(dst, row, col, src).as_rows(), src.as_rows()


def is_element(view: TileView) -> bool:
    """One valid element, without boxes: the scalar unit moves it."""
    return view.valid_rows == view.valid_cols == 1


def _part(whole: TileView, row: int, col: int, like: TileView) -> TileView:
    return replace(
        whole,
        addr=whole.addr + whole.offset(row, col),
        valid_rows=like.valid_rows,
        valid_cols=like.valid_cols,
        static_rows=like.static_rows,
        static_cols=like.static_cols,
    )
