"""The tests behind the rules of data movement."""

from math import prod

from archsim.base.dtypes import DType
from archsim.check.case import Case
from archsim.isa.operands import BLOCK_BYTES, BOX_ROWS, GmView, TileView

Names = tuple[str, ...]
MAX_RUNS = 4096  # of one transfer: the width of its count field
ATOMIC_TYPES = ("f32", "f16", "bf16", "i32", "i16", "i8")
_LAYOUTS = {"nd": "row-major", "dn": "column-major", "nz": "nz"}


def movable(case: Case, names: Names) -> str | None:
    """A layout that a transfer knows."""
    tile = case.tile(names[0])
    if tile.layout not in _LAYOUTS:
        return f"{names[0]} is {tile.layout}, must be row-major, column-major or nz"
    if tile.layout == "nz" and tile.fractal != 512:
        return f"{names[0]} has a fractal of {tile.fractal} bytes, must have 512"
    return None


def same_layout(case: Case, names: Names) -> str | None:
    """The layout of another tile; one row or column lies the same in both plain ones."""
    own, other = (case.tile(name) for name in names)
    if own.layout == other.layout:
        return None
    if {own.layout, other.layout} == {"nd", "dn"} and all(_is_line(t) for t in (own, other)):
        return None
    return f"{names[0]} is {_named(own)}, must be {_named(other)} like {names[1]}"


def no_columns(case: Case, names: Names) -> str | None:
    """Not column-major without boxes."""
    tile = case.tile(names[0])
    return f"{names[0]} is column-major, must be row-major or nz" if tile.layout == "dn" else None


def window_layout(case: Case, names: Names) -> str | None:
    """The window has the tile's layout, its runs contiguous; one row or one column has both."""
    view, tile = case.window(names[0]), case.tile(names[1])
    if tile.layout not in _LAYOUTS:
        return None
    (*_, rows, cols), (*_, row_step, col_step) = view.five
    if tile.layout == "nz" or view.layout == "nz":
        if tile.layout == view.layout:
            return _blocks(view, names[0])
    elif tile.layout == view.layout or (1 in view.extent and prod(view.five[0][:3]) == 1):
        step, what = (row_step, "row") if tile.layout == "dn" else (col_step, "last")
        if step == 1 or (rows if tile.layout == "dn" else cols) == 1:
            return None
        return f"{names[0]} has a {what} stride of {step}, must have 1"
    return f"{names[0]} is {view.layout}, must be {tile.layout} like {names[1]}"


def _blocks(view: GmView, name: str) -> str | None:
    shape, strides = view.five
    width = BLOCK_BYTES // view.dtype.itemsize
    if shape[3:] != (BOX_ROWS, width):
        last = "x".join(map(str, shape[3:]))
        return f"{name} has last dimensions {last}, must have {BOX_ROWS}x{width}: blocks of nz"
    must = (BOX_ROWS * width, width, 1)
    if strides[3:] != must[1:] or (shape[2] > 1 and strides[2] != must[0]):
        given, rule = (", ".join(map(str, of)) for of in (strides[2:], must))
        return f"{name} has last strides {given}, must have {rule}: its blocks are contiguous"
    return None


def wide_is_plain(case: Case, names: Names) -> str | None:
    """Eight-byte elements come without boxes."""
    tile = case.tile(names[0])
    if tile.dtype.itemsize < 8 or tile.slayout == "none_box":
        return None
    return f"{names[0]} is {tile.layout} of {tile.dtype}, must be row-major or column-major"


def window_matches(case: Case, names: Names) -> str | None:
    """The window's dimensions make up the tile's rows and columns."""
    extent, tile = case.window(names[0]).extent, case.tile(names[1])
    valid = (tile.valid_rows, tile.valid_cols)
    if extent == valid:
        return None
    own, must = ("x".join(map(str, of)) for of in (extent, valid))
    return f"{names[0]} is {own}, must be {must} like the valid region of {names[1]}"


def few_bursts(case: Case, names: Names) -> str | None:
    """Runs of one transfer fit its count field."""
    view, tile = case.window(names[0]), case.tile(names[1])
    if tile.layout not in _LAYOUTS:
        return None
    axis, what = {"nd": (3, "rows"), "dn": (4, "columns"), "nz": (1, "column groups")}[tile.layout]
    runs = view.five[0][axis]
    if runs < MAX_RUNS:
        return None
    return f"{names[0]} has {runs} {what}, must have fewer than {MAX_RUNS}"


def few_rows(case: Case, names: Names) -> str | None:
    """The tile's rows fit the count field, too."""
    rows = case.tile(names[0]).rows
    return None if rows < MAX_RUNS else f"{names[0]} has {rows} rows, must have fewer than 4096"


def atomic_type(case: Case, names: Names) -> str | None:
    """What an atomic store adds has a type that GM can add."""
    tile, view = case.tile(names[0]), case.window(names[1])
    if "atomic" not in case.instr.attrs:
        return None
    if tile.dtype.name not in ATOMIC_TYPES:
        listed = ", ".join(ATOMIC_TYPES)
        return f"{names[0]} is {tile.dtype}, must be one of {listed} with atomic=add"
    if view.dtype is tile.dtype:
        return None
    return f"{names[1]} is {view.dtype}, must be {tile.dtype} like {names[0]} with atomic=add"


def index_type(case: Case, names: Names) -> str | None:
    """Indices of 32 bits."""
    dtype: DType = case.tile(names[0]).dtype
    return None if dtype.name in ("i32", "u32") else f"{names[0]} is {dtype}, must be i32 or u32"


def dense_tensor(case: Case, names: Names) -> str | None:
    """What indices count in has no gaps."""
    view = case.window(names[0])
    step, dense = 1, True
    for extent, stride in zip(reversed(view.shape), reversed(view.strides), strict=True):
        dense &= extent == 1 or stride == step
        step *= extent
    if dense and view.layout == "nd":
        return None
    return f"{names[0]} has gaps or another order, must be a dense nd tensor: indices count in it"


def part_inside(case: Case, names: Names) -> str | None:
    """The part at (row, col) lies in the larger tile: names are larger, smaller."""
    whole, part = (case.tile(name) for name in names)
    row, col = case.number("row"), case.number("col")
    if row % 1 != 0 or col % 1 != 0 or row < 0 or col < 0:  # nan and inf leave nan
        return f"row and col are {row} and {col}, must be integers of at least 0"
    if row + part.valid_rows <= whole.rows and col + part.valid_cols <= whole.cols:
        return None
    reach = f"({row + part.valid_rows}, {col + part.valid_cols})"
    return f"{names[1]} reaches to {reach} of {names[0]}, must end in its {whole.rows}x{whole.cols}"


def part_aligned(case: Case, names: Names) -> str | None:
    """A part of several elements starts at a block; in nz at a box."""
    whole, part = (case.tile(name) for name in names)
    row, col = case.number("row"), case.number("col")
    if (part.valid_rows, part.valid_cols) == (1, 1) or row % 1 != 0 or col % 1 != 0:
        return None  # of one element, or of a place that `part_inside` refuses
    if whole.layout == "nz":
        width = whole.box[1]
        if row % BOX_ROWS == 0 and col % width == 0:
            return None
        return f"(row, col) is ({row}, {col}), must be multiples of ({BOX_ROWS}, {width}) in nz"
    start = col * whole.dtype.itemsize
    if start % BLOCK_BYTES == 0:
        return None
    return f"col is {col}, {start} bytes into a row, must start at a multiple of {BLOCK_BYTES}"


def even_tail(case: Case, names: Names) -> str | None:
    """What a part leaves of its last block is copied by 16-bit lanes."""
    part = case.tile(names[0])
    if part.layout == "nz" or part.valid_cols * part.dtype.itemsize % 2 == 0:
        return None
    if (part.valid_rows, part.valid_cols) == (1, 1):
        return None
    return f"{names[0]} has {part.valid_cols} valid columns of one byte, must have an even number"


def element_inside(case: Case, names: Names) -> str | None:
    """An offset in elements names one of the tile's."""
    tile, offset = case.tile(names[0]), case.number(names[1])
    count = tile.size_bytes // tile.dtype.itemsize
    if offset % 1 == 0 and 0 <= offset < count:  # of nan and inf there is no remainder
        return None
    return f"{names[1]} is {offset}, must be 0 to {count - 1}, an element of {names[0]}"


def same_size_bytes(case: Case, names: Names) -> str | None:
    """As many bytes as the other tile."""
    own, other = (case.tile(name).size_bytes for name in names)
    if own == other:
        return None
    return f"{names[0]} has {own} bytes, must have {other} like {names[1]}"


def _is_line(tile: TileView) -> bool:
    return 1 in (tile.rows, tile.cols)


def _named(tile: TileView) -> str:
    return _LAYOUTS.get(tile.layout, tile.layout)
