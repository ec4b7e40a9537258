"""The tests behind the rules of `archsim.isa.constraints`: what is wrong, and what must hold.

A test gives the fault as "*operand* is *value*, must be *rule*", or None. Where a rule holds on
this core only, and what the others say, `archsim.check.check` adds.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from types import MappingProxyType

from archsim.base.dtypes import DTYPES, DType
from archsim.check import (
    rules_arithmetic,
    rules_generate,
    rules_logic,
    rules_moves,
    rules_part,
    rules_quantise,
    rules_rearrange,
    rules_reduce,
)
from archsim.check.case import Case
from archsim.check.scratch import mask_row_bytes, scratch_bytes, scratch_tile
from archsim.isa.operands import TileView

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A test, and the kind of finding that its fault is."""

    kind: str
    test: Callable[[Case, Names], str | None]


def _shape(tile: TileView) -> str:
    return f"{tile.valid_rows}x{tile.valid_cols}"


def same_dtype(case: Case, names: Names) -> str | None:
    """`name` has the element type of `like`."""
    name, like = names
    own, other = case.tile(name).dtype, case.tile(like).dtype
    return None if own is other else f"{name} is {own}, must be {other} like {like}"


def same_size(case: Case, names: Names) -> str | None:
    """The window's elements have the size of the tile's."""
    name, like = names
    own, other = case.window(name).dtype, case.tile(like).dtype
    if own.itemsize == other.itemsize:
        return None
    return f"{name} is {own}, must have elements of {other.itemsize} bytes like {like} ({other})"


def dtype_is(case: Case, names: Names) -> str | None:
    """The operand has one certain element type."""
    name, must = names
    own = case.tile(name).dtype
    return None if own is DTYPES[must] else f"{name} is {own}, must be {must}"


def mask_tile(case: Case, names: Names) -> str | None:
    """A mask is bytes of an integer type."""
    own = case.tile(names[0]).dtype
    if own.is_integer:
        return None
    return f"{names[0]} is {own}, must be an integer type: it holds packed bits"


def row_major(case: Case, names: Names) -> str | None:
    """The tile is row-major."""
    if case.tile(names[0]).row_major:
        return None
    return f"{names[0]} is column-major, must be row-major"


def in_vec(case: Case, names: Names) -> str | None:
    """The tile is in UB."""
    loc = case.tile(names[0]).loc
    return None if loc == "vec" else f"{names[0]} is in {loc}, must be in vec"


def positive_valid(case: Case, names: Names) -> str | None:
    """At least one valid row and column."""
    tile = case.tile(names[0])
    if tile.valid_rows > 0 and tile.valid_cols > 0:
        return None
    return f"{names[0]} has valid {_shape(tile)}, must have at least one row and one column"


def same_valid(case: Case, names: Names) -> str | None:
    """Equal valid regions."""
    own, other = _shape(case.tile(names[0])), _shape(case.tile(names[1]))
    return (
        None if own == other else f"{names[0]} has valid {own}, must have {other} like {names[1]}"
    )


def same_valid_rows(case: Case, names: Names) -> str | None:
    """Equal valid rows."""
    own, other = (case.tile(name).valid_rows for name in names)
    if own == other:
        return None
    return f"{names[0]} has {own} valid rows, must have {other} like {names[1]}"


def same_shape(case: Case, names: Names) -> str | None:
    """Equal declared shapes."""
    own, other = (f"{t.rows}x{t.cols}" for t in (case.tile(name) for name in names))
    return None if own == other else f"{names[0]} is {own}, must be {other} like {names[1]}"


def more_valid_rows(case: Case, names: Names) -> str | None:
    """One valid row more than the other tile, at least."""
    own, other = (case.tile(name).valid_rows for name in names)
    if own > other:
        return None
    return f"{names[0]} has {own} valid rows, must have more than the {other} of {names[1]}"


def covers_valid(case: Case, names: Names) -> str | None:
    """A valid region at least as large in both directions."""
    own, other = (case.tile(name) for name in names)
    if own.valid_rows >= other.valid_rows and own.valid_cols >= other.valid_cols:
        return None
    return f"{names[0]} has valid {_shape(own)}, must cover the {_shape(other)} of {names[1]}"


def apart(case: Case, names: Names) -> str | None:
    """No byte in common; rows of two views of one tile may lie between each other."""
    regions = [case.tile(name).whole_region() for name in names]
    if not regions[0].overlaps(regions[1]):
        return None
    spans = [f"{n} at {r.addr:#x} to {r.end:#x}" for n, r in zip(names, regions, strict=True)]
    return f"{spans[0]} overlaps {spans[1]}, must not"


def mask_holds(case: Case, names: Names) -> str | None:
    """A row of the mask holds what a comparison of the other tile writes."""
    mask, src = (case.tile(name) for name in names)
    has = mask.cols * mask.dtype.itemsize
    needs = mask_row_bytes(src.dtype, src.valid_cols, case.arch)
    if has >= needs:
        return None
    return f"{names[0]} has rows of {has} bytes, must have {needs}: bits for whole repeats"


def mask_covers(case: Case, names: Names) -> str | None:
    """The mask has a bit for every valid lane."""
    mask, tile = (case.tile(name) for name in names)
    bits = mask.cols * mask.dtype.bits
    if mask.rows >= tile.valid_rows and bits >= tile.valid_cols:
        return None
    return f"{names[0]} has {mask.rows} rows of {bits} bits, must cover the {_shape(tile)} of dst"


def has_scratch(case: Case, names: Names) -> str | None:
    """Scratch is there or may be allocated."""
    if case.has(names[0]) or case.may_allocate or scratch_tile(case.instr, case.arch) is None:
        return None
    return f"{case.instr.op.mnemonic} has no {names[0]}, must have one"


def scratch_holds(case: Case, names: Names) -> str | None:
    """Scratch holds the bytes that the micro-ops use."""
    has, needs = case.tile(names[0]).size_bytes, scratch_bytes(case.instr, case.arch)
    return None if has >= needs else f"{names[0]} has {has} bytes, must have {needs}"


def scalar_fits(case: Case, names: Names) -> str | None:
    """An integer type gets a whole number of its bits."""
    value, dtype = case.number(names[0]), case.tile(names[1]).dtype
    if dtype.is_float or _fits(value, dtype):
        return None
    return f"{names[0]} is {value}, must be a whole number of {dtype.bits} bits for {dtype}"


def _fits(value: int | float, dtype: DType) -> bool:
    whole = isfinite(value) and value == int(value)
    return whole and -(1 << dtype.bits - 1) <= value < 1 << dtype.bits


_TESTS: Mapping[str, tuple[Callable[[Case, Names], str | None], ...]] = {
    "input": (rules_rearrange.same_width, rules_rearrange.gather_indices,
              rules_rearrange.scatter_indices, rules_rearrange.merge_lists,
              rules_rearrange.counts_tile, rules_rearrange.block_length,
              same_dtype, same_size, dtype_is, mask_tile, row_major, in_vec, has_scratch,
              scalar_fits, rules_logic.shift_in_width,
              rules_moves.movable, rules_moves.same_layout,
              rules_moves.no_columns, rules_moves.index_type, rules_moves.dense_tensor,
              rules_moves.window_layout, rules_moves.wide_is_plain, rules_moves.atomic_type,
              rules_part.index_dtype,
              rules_part.has_pad, rules_part.one_column, rules_generate.word,
              rules_reduce.column_tile,
              rules_reduce.tmp_for_column),
    "shape": (rules_rearrange.valid_turned, rules_rearrange.kept_columns,
              rules_rearrange.dst_is_whole, rules_rearrange.covers_blocks,
              rules_rearrange.sort_indices, rules_rearrange.holds_records,
              rules_rearrange.holds_groups, rules_rearrange.holds_lists,
              rules_rearrange.merge_fits, rules_rearrange.one_row,
              rules_rearrange.rearrange_scratch_holds,
              positive_valid, same_valid, same_valid_rows, same_shape, more_valid_rows,
              covers_valid, mask_holds, mask_covers, scratch_holds, rules_moves.window_matches,
              rules_moves.few_bursts, rules_moves.few_rows, rules_moves.part_inside,
              rules_moves.part_aligned, rules_moves.even_tail, rules_moves.element_inside,
              rules_moves.same_size_bytes,
              rules_part.one_covers, rules_part.columns_add_up, rules_part.fits_in,
              rules_part.covers_words,
              rules_generate.has_bins, rules_reduce.same_valid_cols, rules_reduce.twice_the_cols,
              rules_reduce.one_valid_col, rules_reduce.row_operands, rules_reduce.col_operands,
              rules_quantise.one_for_a_group, rules_quantise.group_scratch_holds,
              rules_reduce.reduce_scratch_holds, rules_arithmetic.chain_scratch_holds,
              rules_arithmetic.holds_block),
    "overlap": (rules_rearrange.lists_apart, rules_arithmetic.whole_apart,
                apart, rules_part.apart_if_narrower, rules_part.same_place),
}  # fmt: skip
RULES: Mapping[str, Rule] = MappingProxyType(
    {test.__name__: Rule(kind, test) for kind, tests in _TESTS.items() for test in tests}
)
