"""Rules of division, remainders and powers on cores that work through scratch in UB."""

from archsim.check.case import Case
from archsim.check.scratch_arithmetic import chain_bytes
from archsim.isa.operands import TileView

Names = tuple[str, ...]
_BLOCK_BYTES = 32


def chain_scratch_holds(case: Case, names: Names) -> str | None:
    """Scratch holds what the chain of micro-ops puts there."""
    has, needs = case.tile(names[0]).size_bytes, chain_bytes(case.instr, case.arch)
    return None if has >= needs else f"{names[0]} has {has} bytes, must have {needs}"


def holds_block(case: Case, names: Names) -> str | None:
    """One block: the ones that a root is divided into."""
    has = case.tile(names[0]).size_bytes
    return None if has >= _BLOCK_BYTES else f"{names[0]} has {has} bytes, must have {_BLOCK_BYTES}"


def whole_apart(case: Case, names: Names) -> str | None:
    """In place only as float tile / scalar: the other forms need dst before they read src."""
    dst, src = (case.tile(name) for name in names)
    if not dst.whole_region().overlaps(src.whole_region()):
        return None
    is_tile_first = isinstance(case.instr.src[0], TileView)
    if is_tile_first and dst.dtype.is_float and dst.addr == src.addr:
        return None
    return f"{names[0]} overlaps {names[1]}, must not but for a float tile / scalar in place"
