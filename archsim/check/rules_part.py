"""Tests behind the rules of instructions whose tiles have regions of different sizes."""

from archsim.base.dtypes import I32, U32
from archsim.check.case import Case
from archsim.isa.operands import TileView

Names = tuple[str, ...]


def _valid(tile: TileView) -> str:
    return f"{tile.valid_rows}x{tile.valid_cols}"


def one_covers(case: Case, names: Names) -> str | None:
    """One source is valid wherever dst is, the other nowhere else."""
    *sources, dst = (case.tile(name) for name in names)
    within = all(s.valid_rows <= dst.valid_rows and s.valid_cols <= dst.valid_cols for s in sources)
    if within and any(_valid(source) == _valid(dst) for source in sources):
        return None
    own = " and ".join(f"{n} {_valid(s)}" for n, s in zip(names, sources, strict=False))
    return f"{own} are valid, must be the {_valid(dst)} of {names[2]} for one and lie in it"


def apart_if_narrower(case: Case, names: Names) -> str | None:
    """dst is filled from the greater source first: it must not lie on a source of fewer columns."""
    *sources, dst = (case.tile(name) for name in names)
    for name, source in zip(names, sources, strict=False):
        narrower = source.valid_rows > 0 and 0 < source.valid_cols < dst.valid_cols
        if narrower and source.whole_region().overlaps(dst.whole_region()):
            return (
                f"{names[2]} overlaps {name}, must not: {name} has {source.valid_cols} of its"
                f" {dst.valid_cols} valid columns"
            )
    return None


def index_dtype(case: Case, names: Names) -> str | None:
    """Indices are integers of 32 bits."""
    own = case.tile(names[0]).dtype
    return None if own in (I32, U32) else f"{names[0]} is {own}, must be i32 or u32"


def columns_add_up(case: Case, names: Names) -> str | None:
    """The destination is as wide as its sources together."""
    dst, *sources = (case.tile(name).valid_cols for name in names)
    if dst == sum(sources):
        return None
    parts = " + ".join(str(cols) for cols in sources)
    return f"{names[0]} has {dst} valid columns, must have {sum(sources)}: {parts}"


def has_pad(case: Case, names: Names) -> str | None:
    """There is a value to fill with."""
    if case.tile(names[0]).pad != "null":
        return None
    return f"{names[0]} has pad null, must have zero, max or min to fill with"


def fits_in(case: Case, names: Names) -> str | None:
    """A declared shape no greater in either direction."""
    own, other = (case.tile(name) for name in names)
    if own.rows <= other.rows and own.cols <= other.cols:
        return None
    return (
        f"{names[0]} is {own.rows}x{own.cols}, must fit in the {other.rows}x{other.cols} of"
        f" {names[1]}"
    )


def same_place(case: Case, names: Names) -> str | None:
    """One piece of memory under two names."""
    own, other = (case.tile(name) for name in names)
    if (own.addr, own.row_bytes) == (other.addr, other.row_bytes):
        return None
    return f"{names[0]} is at {own.addr:#x}, must be where {names[1]} is, at {other.addr:#x}"


def one_column(case: Case, names: Names) -> str | None:
    """One value a row behind each other."""
    tile = case.tile(names[0])
    if not tile.row_major and tile.cols == 1:
        return None
    layout = "row-major" if tile.row_major else f"column-major with {tile.cols} columns"
    return f"{names[0]} is {layout}, must be column-major with one column"


def covers_words(case: Case, names: Names) -> str | None:
    """Scratch of four bytes an element, and of a block for each row in groups of eight."""
    has = case.tile(names[0]).size_bytes
    src = case.tile(names[1])
    needs = max(src.valid_rows * src.cols * 4, -(-src.valid_rows // 8) * 8 * 32)
    return None if has >= needs else f"{names[0]} has {has} bytes, must have {needs}"
