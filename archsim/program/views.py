"""Operands as closures: each gives its bound form from the values of loop variables."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from archsim.base.source import Span
from archsim.isa.operands import GmView, TileView
from archsim.program.ir import Arg, Expr, Program, ScalarArg, TileArg, TileDecl, WindowArg
from archsim.program.window_shape import window_shape

Env = dict[str, int | float]
Value = Callable[[Env], Any]


@dataclass(frozen=True, slots=True)
class WalkFault:
    """What stopped a walk: `kind` is shape or bounds; `iteration` is "i = 7", or "" outside."""

    kind: str
    message: str
    span: Span
    iteration: str


class Stopped(Exception):
    """The walk cannot go on."""

    def __init__(self, fault: WalkFault) -> None:
        super().__init__(fault.message)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Site:
    """Where an operand stands: its place, and the loops around it."""

    span: Span
    loops: tuple[str, ...]

    def stop(self, kind: str, message: str, env: Env, span: Span | None = None) -> Stopped:
        """The exception that ends the walk here."""
        iteration = ", ".join(f"{name} = {env[name]}" for name in self.loops)
        return Stopped(WalkFault(kind, message, span or self.span, iteration))


class Place(NamedTuple):
    """Where a tile lies: address, pitch in elements, shape, and the room for its valid region."""

    addr: int
    row_stride: int
    rows: int
    cols: int
    valid_rows: int
    valid_cols: int


class Views:
    """Compiles operands. `places` tells where instructions have bound tiles at the moment."""

    def __init__(self, program: Program, placements: Mapping[str, int]) -> None:
        self.places: dict[str, Place] = {}
        self._program, self._placements = program, placements

    def operand(
        self, arg: Arg, tile: TileArg | None, loops: tuple[str, ...], *, whole: bool = False
    ) -> Value:
        """The view or number that `arg` is; `tile` says how large a window is, or it is `whole`."""
        if isinstance(arg, TileArg):
            return self.tile(arg, loops)
        if isinstance(arg, WindowArg):
            return self._whole(arg) if whole else self._window(arg, tile, loops)
        return self.scalar(arg)

    def scalar(self, arg: ScalarArg) -> Value:
        """The number that `arg` is."""
        if arg.expr is not None:
            return arg.expr.value
        if arg.name is not None:
            name = arg.name
            return lambda env: env[name]
        value = arg.value
        return lambda env: value

    def tile(self, arg: TileArg, loops: tuple[str, ...]) -> Callable[[Env], TileView]:
        """The view of `arg`: its valid region is held against its shape and its place."""
        tile, site = self._program.tiles[arg.name], Site(arg.span, loops)
        place_of = self._place_of(arg, tile, site)
        rows = _extent(tile, 0, "rows", tile.rows, site)
        cols = _extent(tile, 1, "columns", tile.cols, site)
        static_rows, static_cols = (valid.static for valid in tile.valid)

        def view(env: Env) -> TileView:
            place = place_of(env)
            valid_rows = min(rows(env), place.valid_rows)
            valid_cols = min(cols(env), place.valid_cols)
            for name, extent in (("rows", valid_rows), ("columns", valid_cols)):
                if extent <= 0:
                    message = f"tile {tile.name} views no valid {name} of its parent"
                    raise site.stop("shape", message, env)
            return TileView(
                tile.name, tile.loc, tile.dtype, place.rows, place.cols, valid_rows, valid_cols,
                place.addr, place.row_stride, static_rows, static_cols, tile.row_major, tile.pad,
                tile.span, tile.slayout, tile.fractal,
            )  # fmt: skip

        return view

    def slot(self, what: str, slot: Expr, ring: int, site: Site) -> Callable[[Env], int]:
        """A slot inside its ring."""
        value = slot.value

        def inside(env: Env) -> int:
            number = value(env)
            if 0 <= number < ring:
                return number
            message = f"slot of {what} is {number}; must be 0 to {ring - 1}"
            raise site.stop("bounds", message, env, slot.span)

        return inside

    def _place_of(self, arg: TileArg, tile: TileDecl, site: Site) -> Callable[[Env], Place]:
        base = self._placements.get(tile.name) if tile.addr is None else tile.addr
        if tile.bound:
            return self._bound_place(tile, base, site)
        assert base is not None, f"tile {tile.name} was not placed"
        if arg.slot is None:
            first = whole(tile, base)
            return lambda env: first
        slot_of = self.slot(f"tile {tile.name}", arg.slot, tile.ring, site)
        return lambda env: whole(tile, base + slot_of(env) * tile.size_bytes)

    def _bound_place(self, tile: TileDecl, base: int | None, site: Site) -> Callable[[Env], Place]:
        places, start = self.places, None if base is None else whole(tile, base)

        def place_of(env: Env) -> Place:
            place = places.get(tile.name, start)
            if place is None:
                message = f"tile {tile.name} has no address yet; tassign or tsubview gives it one"
                raise site.stop("bounds", message, env)
            return place

        return place_of

    def _whole(self, arg: WindowArg) -> Value:
        """All of a tensor, at address 0."""
        tensor = self._program.tensors[arg.name]
        view = GmView(
            tensor.name, tensor.dtype, 0, tensor.shape, tensor.strides, tensor.layout, tensor.span
        )
        return lambda env: view

    def _window(self, arg: WindowArg, tile: TileArg | None, loops: tuple[str, ...]) -> Value:
        """A window at address 0, as large as the valid region of `tile`."""
        tensor, site = self._program.tensors[arg.name], Site(arg.span, loops)
        rank, extents = len(tensor.shape), None if tile is None else self.tile(tile, loops)

        def view(env: Env) -> GmView:
            shape: tuple[int, ...] = (1,) * rank
            if extents is not None:
                of = extents(env)
                shape = window_shape(tensor.shape, tensor.layout, of.valid_rows, of.valid_cols)
                if rank == 1 and of.valid_rows != 1:
                    message = (
                        f"tile {of.name} has {of.valid_rows} valid rows; "
                        f"a window of tensor {tensor.name}, which has one dimension, is one row"
                    )
                    raise site.stop("bounds", message, env)
            return GmView(
                tensor.name, tensor.dtype, 0, shape, tensor.strides, tensor.layout, tensor.span
            )

        return view


def whole(tile: TileDecl, addr: int) -> Place:
    """The place of a tile that starts at `addr`."""
    return Place(addr, tile.row_stride, tile.rows, tile.cols, tile.rows, tile.cols)


def _extent(tile: TileDecl, axis: int, name: str, most: int, site: Site) -> Callable[[Env], int]:
    """One valid extent, from 1 to what the shape has."""
    valid = tile.valid[axis]
    value = valid.extent.value
    if valid.static:
        return value

    def extent(env: Env) -> int:
        number = value(env)
        if 1 <= number <= most:
            return number
        message = f"valid {name} of tile {tile.name} is {number}; must be 1 to {most}"
        raise site.stop("shape", message, env)

    return extent
