"""How large a tensor window is, and whether it lies inside its tensor."""

from archsim.isa.tile_op import TileOp
from archsim.program.ir import Arg, TensorDecl, TileArg, WindowArg
from archsim.program.scope import Scope
from archsim.program.window_shape import window_shape

WHOLE = ("gather_memory", "scatter_memory")  # families that see a tensor as a whole


def check_windows(
    op: TileOp, outs: tuple[Arg, ...], ins: tuple[Arg | None, ...], scope: Scope
) -> bool:
    """A window of literal offsets that a tile of static valid extents fills lies in its tensor."""
    right = True
    for arg in [arg for arg in (*outs, *ins) if isinstance(arg, WindowArg)]:
        tensor = scope.symbols.tensors[arg.name]
        right &= op.family in WHOLE or len(tensor.shape) > 1 or _is_row(arg, outs, ins, scope)
        sizes = tensor.shape if op.family in WHOLE else _sizes(tensor, outs, ins, scope)
        for dimension, size in enumerate(sizes):
            right &= _fits(arg, dimension, tensor.shape, size, scope)
    return right


def window_tile(outs: tuple[Arg, ...], ins: tuple[Arg | None, ...]) -> TileArg | None:
    """The tile whose valid region a window is as large as: the destination, else the source."""
    return next((arg for arg in (*outs, *ins) if isinstance(arg, TileArg)), None)


def _sizes(
    tensor: TensorDecl, outs: tuple[Arg, ...], ins: tuple[Arg | None, ...], scope: Scope
) -> tuple[int | None, ...]:
    """The extent of a window in each dimension; None where only a run tells."""
    tile, rank = window_tile(outs, ins), len(tensor.shape)
    if tile is None:
        return (1,) * rank
    rows, cols = (
        valid.extent.literal if valid.static else None
        for valid in scope.symbols.tiles[tile.name].valid
    )
    if rows is not None and cols is not None:
        return window_shape(tensor.shape, tensor.layout, rows, cols)
    if tensor.layout == "nz" or rank != 2:
        return (*(None,) * (rank - 1), cols if tensor.layout == "nd" else None)
    return rows, cols


def _is_row(
    arg: WindowArg, outs: tuple[Arg, ...], ins: tuple[Arg | None, ...], scope: Scope
) -> bool:
    tile = window_tile(outs, ins)
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
    arg: WindowArg, dimension: int, shape: tuple[int, ...], size: int | None, scope: Scope
) -> bool:
    offset = arg.offsets[dimension].literal
    if offset is None or size is None:
        return True
    if offset + size <= shape[dimension]:
        return True
    scope.faults.add(
        f"the window reaches {offset} + {size} = {offset + size} in dimension {dimension}; "
        f"tensor {arg.name} ends at {shape[dimension]}",
        arg.span,
    )
    return False
