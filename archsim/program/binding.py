"""Instructions as closures: bound forms, kept by the integers that they depend on."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from archsim.isa.families.scalar_unit import BINDERS
from archsim.isa.operands import BoundInstr, GmView, TileView
from archsim.program.ir import Instr, Program, ScalarArg, TensorDecl, TileArg, WindowArg
from archsim.program.views import Env, Place, Site, Value, Views, whole
from archsim.program.windows import WHOLE, window_tile

CACHE_LIMIT = 4096  # bound forms kept of one statement; a loop has far fewer
Bind = Callable[[Env], tuple[BoundInstr, int]]
_Room = tuple[int, ...]  # the greatest offset of a window in each dimension


class Binder:
    """Compiles the instructions of one program."""

    def __init__(
        self, program: Program, placements: Mapping[str, int], bases: Mapping[str, int]
    ) -> None:
        self.views = Views(program, placements)
        self._program, self._bases = program, bases

    def instruction(self, instr: Instr, loops: tuple[str, ...]) -> Bind:
        """A closure that gives the bound form and the byte address of the tensor window.

        A loop gets the same bound form back as long as slots, valid extents and scalars are the
        same: only the address of the window changes.
        """
        build = self._builder(instr, loops)
        if instr.op.family in BINDERS:
            return self._binding(instr, build, loops)
        windows = [arg for arg in (*instr.outs, *instr.ins) if isinstance(arg, WindowArg)]
        assert len(windows) <= 1, f"{instr.op.mnemonic} has several tensor operands"
        key = self._key((*instr.outs, *instr.ins))
        if windows:
            return self._with_window(windows[0], key, build, loops)
        forms = _Forms(lambda env: (build(env), 0))
        return forms.bind(key)

    def _builder(self, instr: Instr, loops: tuple[str, ...]) -> Callable[[Env], BoundInstr]:
        tile, views = window_tile(instr.outs, instr.ins), self.views
        rows = [(r, a) for r, a in zip(instr.op.ins, instr.ins, strict=True) if a is not None]
        whole = instr.op.family in WHOLE
        dst = [views.operand(arg, tile, loops, whole=whole) for arg in instr.outs]
        given = [arg for row, arg in rows if not row.scratch]
        src = [views.operand(arg, tile, loops, whole=whole) for arg in given]
        scratch = [views.operand(arg, tile, loops) for row, arg in rows if row.scratch]
        outs = zip(instr.op.outs, instr.outs, strict=True)
        places = {row.name: arg.span for row, arg in (*outs, *rows)}
        all_rows = zip(instr.op.ins, instr.ins, strict=True)
        omitted = tuple(r.name for r, arg in all_rows if arg is None and not r.scratch)

        def build(env: Env) -> BoundInstr:
            outs = tuple(make(env) for make in dst)
            ins = tuple(make(env) for make in src)
            tmp = scratch[0](env) if scratch else None
            return BoundInstr(instr.op, outs, ins, tmp, instr.attrs, instr.span, places, omitted)

        return build

    def _key(self, args: tuple[Any, ...]) -> Value:
        """What the bound form depends on, each expression once."""
        inputs: dict[str, Value] = {}
        for arg in args:
            if isinstance(arg, TileArg):
                self._tile_inputs(arg, inputs)
            elif isinstance(arg, ScalarArg) and arg.name not in self._program.scalars:
                text = arg.expr.text if arg.expr is not None else arg.name
                if text is not None:
                    inputs[text] = self.views.scalar(arg)
        return _joined(tuple(inputs.values()))

    def _tile_inputs(self, arg: TileArg, inputs: dict[str, Value]) -> None:
        tile, places = self._program.tiles[arg.name], self.views.places
        for expr in (arg.slot, *(valid.extent for valid in tile.valid)):
            if expr is not None and expr.literal is None:
                inputs[expr.text] = expr.value
        if tile.bound:
            inputs[f"place of {arg.name}"] = lambda env: places.get(arg.name)

    def _with_window(
        self,
        arg: WindowArg,
        key: Value,
        build: Callable[[Env], BoundInstr],
        loops: tuple[str, ...],
    ) -> Bind:
        base, varying = self._offsets(arg)
        past = _Past(self._program.tensors[arg.name], Site(arg.span, loops))
        forms = _Forms(_roomy(arg, build, past)).bind(key)

        def bind(env: Env) -> tuple[BoundInstr, int]:
            bound, room = forms(env)
            address = base
            for offset_of, step, dimension in varying:
                offset = offset_of(env)
                if not 0 <= offset <= room[dimension]:
                    raise past.stop(dimension, offset, room, env)
                address += offset * step
            return bound, address

        return bind

    def _offsets(self, arg: WindowArg) -> tuple[int, tuple[tuple[Value, int, int], ...]]:
        """The fixed part of a window's address; each varying offset, its byte step, its axis."""
        tensor = self._program.tensors[arg.name]
        base, varying = self._bases[arg.name], []
        for dimension, offset in enumerate(arg.offsets):
            step = tensor.strides[dimension] * tensor.dtype.itemsize
            if offset.literal is None:
                varying.append((offset.value, step, dimension))
            else:
                base += offset.literal * step
        return base, tuple(varying)

    def _binding(
        self, instr: Instr, build: Callable[[Env], BoundInstr], loops: tuple[str, ...]
    ) -> Bind:
        """Binders move their tile first, then show it where it is."""
        places_of = {"assign": self._assigned, "subview": self._subviewed}
        place_of = places_of.get(instr.op.family, self._reshaped)(instr, loops)
        (target,) = instr.outs
        assert isinstance(target, TileArg)
        name, places = target.name, self.views.places

        def make(env: Env) -> tuple[BoundInstr, Place]:
            places[name] = place_of(env)
            return build(env), places[name]

        forms = _Forms(make).bind(self._key(instr.ins))

        def bind(env: Env) -> tuple[BoundInstr, int]:
            bound, places[name] = forms(env)
            return bound, 0

        return bind

    def _assigned(self, instr: Instr, loops: tuple[str, ...]) -> Callable[[Env], Place]:
        target, number = instr.outs[0], instr.ins[0]
        assert isinstance(target, TileArg)
        site, tile = Site(instr.span, loops), self._program.tiles[target.name]
        value = self.views.operand(number, None, loops) if number is not None else None
        assert value is not None

        def place_of(env: Env) -> Place:
            addr = value(env)
            if addr < 0:
                message = f"tassign puts tile {tile.name} at {addr}; must be 0 or more"
                raise site.stop("bounds", message, env)
            return whole(tile, addr)

        return place_of

    def _reshaped(self, instr: Instr, loops: tuple[str, ...]) -> Callable[[Env], Place]:
        """All of the tile, where the other one is; that both have as many bytes is a rule."""
        target, source = instr.outs[0], instr.ins[0]
        assert isinstance(target, TileArg)
        assert isinstance(source, TileArg)
        tile, parent_of = self._program.tiles[target.name], self.views.tile(source, loops)
        return lambda env: whole(tile, parent_of(env).addr)

    def _subviewed(self, instr: Instr, loops: tuple[str, ...]) -> Callable[[Env], Place]:
        """The part of the parent from (row, col) on; its valid region ends where the parent's does.

        The valid region that the tile declares must lie inside the parent's shape.
        """
        target, (source, *offsets) = instr.outs[0], instr.ins
        assert isinstance(target, TileArg)
        assert isinstance(source, TileArg)
        tile, parent_of = self._program.tiles[target.name], self.views.tile(source, loops)
        row_of, col_of = (
            self.views.operand(arg, None, loops) for arg in offsets if arg is not None
        )
        site, extents = Site(instr.span, loops), [valid.extent.value for valid in tile.valid]

        def place_of(env: Env) -> Place:
            parent, starts = parent_of(env), (row_of(env), col_of(env))
            shape = (parent.rows, parent.cols)
            for start, extent, size, what in zip(starts, extents, shape, _AXES, strict=True):
                if start < 0 or start + extent(env) > size:
                    message = (
                        f"tile {tile.name} views {what} {start} to {start + extent(env)} "
                        f"of tile {parent.name}, which has 0 to {size}"
                    )
                    raise site.stop("bounds", message, env)
            return _part(tile.rows, tile.cols, tile.dtype.bits, parent, *starts)

        return place_of


_AXES = ("rows", "columns")


def _part(rows: int, cols: int, bits: int, parent: TileView, row: int, col: int) -> Place:
    skipped = row * parent.row_stride + col if parent.row_major else col * parent.rows + row
    return Place(
        parent.addr + parent.dtype.bytes_of(skipped),
        parent.row_bytes * 8 // bits,
        min(rows, parent.rows - row),
        min(cols, parent.cols - col),
        parent.valid_rows - row,
        parent.valid_cols - col,
    )


@dataclass(frozen=True, slots=True)
class _Past:
    """What there is to say of a window that leaves its tensor."""

    tensor: TensorDecl
    site: Site

    def stop(self, dimension: int, offset: int, room: _Room, env: Env) -> Exception:
        """The end of the walk."""
        extent = self.tensor.shape[dimension]
        size = extent - room[dimension]
        message = (
            f"the window reaches from {offset} to {offset + size} in dimension {dimension}; "
            f"tensor {self.tensor.name} has 0 to {extent}"
        )
        return self.site.stop("bounds", message, env)


def _roomy(
    arg: WindowArg, build: Callable[[Env], BoundInstr], past: _Past
) -> Callable[[Env], tuple[BoundInstr, _Room]]:
    """The bound form, and the greatest offset of its window in each dimension."""

    def make(env: Env) -> tuple[BoundInstr, _Room]:
        bound = build(env)
        view = next(v for v in (*bound.dst, *bound.src) if isinstance(v, GmView))
        extents = zip(past.tensor.shape, view.shape, strict=True)
        room = tuple(extent - size for extent, size in extents)
        for dimension, offset in enumerate(arg.offsets):
            fixed = offset.literal
            if fixed is not None and not 0 <= fixed <= room[dimension]:
                raise past.stop(dimension, fixed, room, env)
        return bound, room

    return make


class _Forms:
    """Bound forms of one statement, made once for each key."""

    def __init__(self, make: Callable[[Env], tuple[BoundInstr, Any]]) -> None:
        self._make = make
        self._kept: dict[Hashable, tuple[BoundInstr, Any]] = {}

    def bind(self, key: Value) -> Callable[[Env], tuple[BoundInstr, Any]]:
        """A closure that looks the form up, or makes it."""
        kept, make = self._kept, self._make

        def form(env: Env) -> tuple[BoundInstr, Any]:
            values = key(env)
            found = kept.get(values)
            if found is None:
                if len(kept) >= CACHE_LIMIT:
                    kept.clear()
                found = kept[values] = make(env)
            return found

        return form


def _joined(inputs: tuple[Value, ...]) -> Value:
    """The values of all inputs as one key."""
    if not inputs:
        return lambda env: None
    if len(inputs) == 1:
        return inputs[0]
    if len(inputs) == 2:
        first, second = inputs
        return lambda env: (first(env), second(env))
    return lambda env: tuple([value(env) for value in inputs])
