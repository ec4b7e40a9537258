"""Tests behind the rules of instructions that move elements or sort them."""

from archsim.base.dtypes import U16
from archsim.check.case import Case
from archsim.check.scratch_rearrange import rearrange_scratch
from archsim.isa.operands import TileView
from archsim.isa.patterns import PATTERNS, kept

Names = tuple[str, ...]
RECORD_BYTES = 8
GROUP = 32


def _valid(tile: TileView) -> str:
    return f"{tile.valid_rows}x{tile.valid_cols}"


def same_width(case: Case, names: Names) -> str | None:
    """Elements of one size."""
    own, other = (case.tile(name).dtype for name in names)
    if own.itemsize == other.itemsize:
        return None
    return f"{names[0]} is {own}, must have elements of {other.itemsize} bytes like {names[1]}"


def valid_turned(case: Case, names: Names) -> str | None:
    """Rows for columns."""
    own, other = (case.tile(name) for name in names)
    turned = f"{other.valid_cols}x{other.valid_rows}"
    if _valid(own) == turned:
        return None
    return f"{names[0]} has valid {_valid(own)}, must have {turned}: {names[1]} turned"


def gather_indices(case: Case, names: Names) -> str | None:
    """A2A3: 32 bits; A5: 16 or 32."""
    own = case.tile(names[0]).dtype
    sizes = (4,) if case.arch.isa == "a2a3" else (2, 4)
    if own.is_integer and own.itemsize in sizes:
        return None
    bits = " or ".join(str(8 * size) for size in sizes)
    return f"{names[0]} is {own}, must be an integer type of {bits} bits"


def scatter_indices(case: Case, names: Names) -> str | None:
    """Four bytes go with four, two with two and one."""
    own, data = (case.tile(name).dtype for name in names)
    size = 4 if data.itemsize == 4 else 2
    if own.is_integer and own.itemsize == size:
        return None
    return f"{names[0]} is {own}, must be an integer type of {8 * size} bits for {data}"


def kept_columns(case: Case, names: Names) -> str | None:
    """As many columns as the pattern keeps of the other tile's."""
    own, other = (case.tile(name) for name in names)
    pattern = case.instr.attrs["maskPattern"]
    want = kept(pattern, other.valid_cols)
    if own.valid_cols == want:
        return None
    return (
        f"{names[0]} has {own.valid_cols} valid columns, must have {want}: {pattern} keeps 1 of"
        f" {PATTERNS[pattern][0]} of the {other.valid_cols} of {names[1]}"
    )


def dst_is_whole(case: Case, names: Names) -> str | None:
    """Rows of results lie behind each other."""
    if case.instr.attrs["maskPattern"] == "P1111":
        return None
    tile = case.tile(names[0])
    if tile.valid_cols == tile.cols == tile.row_stride:
        return None
    return (
        f"{names[0]} has {tile.valid_cols} valid columns in rows {tile.row_stride} apart,"
        " must have as many: rows are packed"
    )


def covers_blocks(case: Case, names: Names) -> str | None:
    """An offset for each block of each row."""
    own, dst = (case.tile(name) for name in names)
    blocks = -(-dst.valid_cols * dst.dtype.itemsize // 32)
    if own.valid_rows >= dst.valid_rows and own.valid_cols >= blocks:
        return None
    return f"{names[0]} has valid {_valid(own)}, must cover {dst.valid_rows}x{blocks}: a block each"


def sort_indices(case: Case, names: Names) -> str | None:
    """The valid region of the values, or one row for all rows."""
    own, src = (case.tile(name) for name in names)
    if own.valid_cols >= src.valid_cols and own.valid_rows in (1, src.valid_rows):
        return None
    return (
        f"{names[0]} has valid {_valid(own)}, must have {_valid(src)} like {names[1]}, or one row"
    )


def holds_records(case: Case, names: Names) -> str | None:
    """Eight bytes for each value."""
    own, src = (case.tile(name) for name in names)
    want = src.valid_cols * RECORD_BYTES // own.dtype.itemsize
    if own.valid_rows == src.valid_rows and own.valid_cols == want:
        return None
    return (
        f"{names[0]} has valid {_valid(own)}, must have {src.valid_rows}x{want}:"
        f" {RECORD_BYTES} bytes for each of the {_valid(src)} of {names[1]}"
    )


def holds_groups(case: Case, names: Names) -> str | None:
    """A group is written whole."""
    own, src = (case.tile(name) for name in names)
    need = -(-src.valid_cols // GROUP) * GROUP * RECORD_BYTES
    has = own.cols * own.dtype.itemsize
    if has >= need:
        return None
    return (
        f"{names[0]} has rows of {has} bytes, must have {need}: groups of {GROUP} are written whole"
    )


def _lists(case: Case, names: Names) -> list[str]:
    return [name for name in names if case.has(name)]


def merge_lists(case: Case, names: Names) -> str | None:
    """One row of whole records, of one type, in UB."""
    like = case.tile(names[0])
    for name in _lists(case, names):
        tile = case.tile(name)
        if tile.dtype is not like.dtype:
            return f"{name} is {tile.dtype}, must be {like.dtype} like {names[0]}"
        if tile.rows != 1:
            return f"{name} has {tile.rows} rows, must have 1"
        if tile.loc != "vec" or not tile.row_major:
            return f"{name} is not a row-major tile in vec, must be one"
        if tile.valid_cols * tile.dtype.itemsize % RECORD_BYTES:
            return f"{name} has {tile.valid_cols} valid columns, must be records of 8 bytes"
    return None


def counts_tile(case: Case, names: Names) -> str | None:
    """Four counts."""
    tile = case.tile(names[0])
    if tile.dtype is U16 and tile.valid_rows == 1 and tile.valid_cols >= 4 and tile.loc == "vec":
        return None
    return f"{names[0]} is {tile.dtype} {_valid(tile)} in {tile.loc}, must be u16 1x4 in vec"


def holds_lists(case: Case, names: Names) -> str | None:
    """As wide as all lists together."""
    dst, *lists = (case.tile(name).valid_cols for name in _lists(case, names))
    if dst == sum(lists):
        return None
    parts = " + ".join(str(cols) for cols in lists)
    return f"{names[0]} has {dst} valid columns, must have {sum(lists)}: {parts}"


def merge_fits(case: Case, names: Names) -> str | None:
    """Merged and lists together within UB."""
    size = 2 * sum(case.tile(n).valid_region().row_bytes for n in _lists(case, names)[1:])
    limit = case.arch.memory.ub.size_bytes
    if size <= limit:
        return None
    return f"the lists of {names[0]} and tmp take {size} bytes, must be at most {limit}"


def lists_apart(case: Case, names: Names) -> str | None:
    """Merged records do not run into what is still to be read."""
    tmp, *lists = _lists(case, names)
    for name in lists:
        if case.tile(tmp).whole_region().overlaps(case.tile(name).whole_region()):
            return f"{tmp} overlaps {name}, must not"
    return None


def one_row(case: Case, names: Names) -> str | None:
    """A list is one row."""
    rows = case.tile(names[0]).rows
    return None if rows == 1 else f"{names[0]} has {rows} rows, must have 1"


def block_length(case: Case, names: Names) -> str | None:
    """64 elements at least; four blocks go 1 to 255 times into the row."""
    length, src = case.number(names[0]), case.tile(names[1])
    if length < 64 or length % 64:
        return f"{names[0]} is {length:g}, must be a multiple of 64"
    times, rest = divmod(src.valid_cols, int(4 * length))
    if 1 <= times <= 255 and not rest:
        return None
    return (
        f"{names[1]} has {src.valid_cols} valid columns, must be 1 to 255 times four blocks of"
        f" {length:g}"
    )


def rearrange_scratch_holds(case: Case, names: Names) -> str | None:
    """As many bytes as the smallest legal scratch."""
    need = rearrange_scratch(case.instr, case.arch)
    if need is None:
        return None
    dtype, rows, cols = need
    has, size = case.tile(names[0]).size_bytes, rows * cols * dtype.itemsize
    return None if has >= size else f"{names[0]} has {has} bytes, must have {size}"
