"""How large a tensor window is, and whether it lies inside its tensor."""

from archsim.program.ir import Arg, TileArg, Valid, WindowArg
from archsim.program.scope import Scope


def check_windows(outs: tuple[Arg, ...], ins: tuple[Arg | None, ...], scope: Scope) -> bool:
    """A window of literal offsets that a tile of static valid extents fills lies in its tensor."""
    right = True
    for arg in [arg for arg in (*outs, *ins) if isinstance(arg, WindowArg)]:
        valid = window_extents(arg, outs, ins, scope)
        shape = scope.symbols.tensors[arg.name].shape
        right &= len(shape) > 1 or _is_row(arg, window_tile(outs, ins), scope)
        for dimension, extent in enumerate(valid):
            right &= _fits(arg, dimension, shape, extent, scope)
    return right


def window_tile(outs: tuple[Arg, ...], ins: tuple[Arg | None, ...]) -> TileArg | None:
    """The tile whose valid region a window is as large as: the destination, else the source."""
    return next((arg for arg in (*outs, *ins) if isinstance(arg, TileArg)), None)


def window_extents(
    arg: WindowArg, outs: tuple[Arg, ...], ins: tuple[Arg | None, ...], scope: Scope
) -> tuple[Valid | None, ...]:
    """The extent of a window in each dimension (None: 1); the last two are the tile's."""
    rank = len(arg.offsets)
    tile = window_tile(outs, ins)
    if tile is None:
        return (None,) * rank
    rows, cols = scope.symbols.tiles[tile.name].valid
    return (rows, cols)[-rank:] if rank < 3 else (*(None,) * (rank - 2), rows, cols)


def _is_row(arg: WindowArg, tile: TileArg | None, scope: Scope) -> bool:
    if tile is None:
        return True
    rows = scope.symbols.tiles[tile.name].valid[0]
    if not rows.static or rows.extent.literal == 1:
        return True
    scope.faults.add(
        f"tile {tile.name} has {rows.extent.literal} valid rows; "
        f"a window of tensor {arg.name}, which has one dimension, is one row",
        arg.span,
    )
    return False


def _fits(
    arg: WindowArg, dimension: int, shape: tuple[int, ...], extent: Valid | None, scope: Scope
) -> bool:
    offset = arg.offsets[dimension].literal
    size = 1 if extent is None else extent.extent.literal
    if offset is None or size is None or (extent is not None and not extent.static):
        return True
    if offset + size <= shape[dimension]:
        return True
    scope.faults.add(
        f"the window reaches {offset} + {size} = {offset + size} in dimension {dimension}; "
        f"tensor {arg.name} ends at {shape[dimension]}",
        arg.span,
    )
    return False
