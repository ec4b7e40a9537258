"""One core on a bench: tiles in its Unified Buffer, and tile instructions run on them at once."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from archsim.arch import ArchConfig, load
from archsim.base.dtypes import DTYPES
from archsim.isa.lanes.state import NumericState
from archsim.isa.operands import BoundInstr, Loc, Operand, Region, TileView
from archsim.isa.tile_ops import TILE_OPS
from archsim.lower import lower
from archsim.numerics.execute import execute
from archsim.numerics.memory import Memory

UB_BYTES = 256 * 1024


@cache
def chip(name: str, settings: tuple[tuple[str, str], ...]) -> ArchConfig:
    return load(name, settings)


class Bench:
    """A core of `arch` whose `numerics.*` switches are `numerics`; tiles lie behind each other."""

    def __init__(self, arch: str, **numerics: object) -> None:
        settings = tuple((f"numerics.{k}", str(v).lower()) for k, v in numerics.items())
        self.arch = chip(arch, settings)
        self.state = NumericState.of(self.arch)
        self.memory = Memory({"UB": UB_BYTES}, 0)
        self._next = 0

    def tile(
        self,
        dtype: str,
        shape: tuple[int, int],
        valid: tuple[int, int] | None = None,
        *,
        dynamic: bool = False,
    ) -> TileView:
        """A row-major tile whose rows are padded to 32 bytes, 512 bytes from its neighbours."""
        element = DTYPES[dtype]
        rows, wanted = shape
        cols = -(-wanted * element.itemsize // 32) * 32 // element.itemsize
        v_rows, v_cols = valid or shape
        tile = TileView(
            f"t{self._next}",
            Loc.VEC,
            element,
            rows,
            cols,
            v_rows,
            v_cols,
            self._next,
            cols,
            static_rows=not dynamic,
            static_cols=not dynamic,
        )
        self._next += -(-tile.size_bytes // 512) * 512 + 512
        return tile

    def column(self, dtype: str, rows: int) -> TileView:
        """A column-major tile of one column, padded to 32 bytes, 512 bytes from its neighbours."""
        element = DTYPES[dtype]
        padded = -(-rows * element.itemsize // 32) * 32 // element.itemsize
        tile = TileView(
            f"t{self._next}", Loc.VEC, element, padded, 1, rows, 1, self._next, 1, row_major=False
        )
        self._next += -(-tile.size_bytes // 512) * 512 + 512
        return tile

    def put(self, tile: TileView, values: NDArray[Any]) -> TileView:
        """Write `values` into the tile's first rows and columns."""
        rows, cols = values.shape
        data = np.ascontiguousarray(values, tile.dtype.np).view(np.uint8)
        width = cols * tile.dtype.itemsize
        self.memory.write(Region("UB", tile.addr, rows, width, tile.row_bytes), data)
        return tile

    def get(self, tile: TileView, rows: int, cols: int, dtype: str = "") -> NDArray[Any]:
        """The tile's first rows and columns, as its own type or as `dtype`."""
        element = DTYPES[dtype] if dtype else tile.dtype
        width = cols * element.itemsize
        data = self.memory.read(Region("UB", tile.addr, rows, width, tile.row_bytes))
        return data.view(element.np)

    def run(
        self, name: str, dst: TileView, *src: Operand, tmp: TileView | None = None, **attrs: str
    ) -> None:
        """One tile instruction from start to end."""
        instr = BoundInstr(TILE_OPS[name], (dst,), src, tmp, attrs)
        execute(lower(instr, self.arch).uops, self.memory, 0, self.state).apply()
