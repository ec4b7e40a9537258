"""Bound instructions for tests: tiles at their own places, operands by name."""

from itertools import count

from archsim.arch import ArchConfig, load
from archsim.base.dtypes import DTYPES
from archsim.isa.operands import BoundInstr, GmView, Loc, TileView
from archsim.isa.tile_ops import TILE_OPS

A2A3, A5 = load("a2a3"), load("a5")
ARCHS: dict[str, ArchConfig] = {"a2a3": A2A3, "a5": A5}


def tile(
    dtype: str = "f32",
    shape: str = "16x64",
    valid: str = "",
    *,
    addr: int = 0,
    dynamic: str = "",
    stride: int = 0,
    loc: Loc = Loc.VEC,
    name: str = "t",
    pad: str = "null",
    row_major: bool = True,
) -> TileView:
    """A tile of `shape`, `valid` (default: all of it); `dynamic`: rows, cols or both."""
    rows, cols = map(int, shape.split("x"))
    valid_rows, valid_cols = map(int, (valid or shape).split("x"))
    return TileView(
        name,
        loc,
        DTYPES[dtype],
        rows,
        cols,
        valid_rows,
        valid_cols,
        addr,
        stride or cols,
        static_rows=dynamic not in ("rows", "both"),
        static_cols=dynamic not in ("cols", "both"),
        row_major=row_major,
        pad=pad,
    )


def window(dtype: str, shape: tuple[int, ...], strides: tuple[int, ...] = ()) -> GmView:
    """A window of a tensor; contiguous without `strides`."""
    if not strides:
        below = [1]
        for extent in reversed(shape[1:]):
            below.append(below[-1] * extent)
        strides = tuple(reversed(below))
    return GmView("x", DTYPES[dtype], 0, shape, strides)


def bind(
    op: str,
    dst: TileView | GmView,
    *src: TileView | GmView | float,
    tmp: TileView | None = None,
    **attrs: str,
) -> BoundInstr:
    """`op dst <- src.., tmp` with `key=value` operands."""
    return BoundInstr(TILE_OPS[op], (dst,), src, tmp, attrs)


def spread(instr: BoundInstr, step: int = 0x4000) -> BoundInstr:
    """The same instruction with its tiles `step` bytes apart, the destination first."""
    places = count(0, step)

    def moved(operand: object) -> object:
        if not isinstance(operand, TileView):
            return operand
        fields = {name: getattr(operand, name) for name in operand.__slots__}
        return TileView(**{**fields, "addr": next(places)})

    dst = tuple(moved(operand) for operand in instr.dst)
    src = tuple(moved(operand) for operand in instr.src)
    return BoundInstr(instr.op, dst, src, moved(instr.tmp), instr.attrs, instr.span)
