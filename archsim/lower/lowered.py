"""What lowering hands on: the micro-ops of one instruction, and the bytes that it touches."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from archsim.base.errors import Diagnostic
from archsim.isa.moves import ScalarAccess, Transfer
from archsim.isa.operands import BoundInstr, Region, TileView
from archsim.isa.simd import Control, RowLoop
from archsim.isa.vreg import VectorFunction

Uops = (
    tuple[RowLoop, ...]
    | tuple[VectorFunction, ...]
    | tuple[Transfer | Control, ...]
    | tuple[ScalarAccess]
)


@dataclass(frozen=True, slots=True)
class Watch:
    """A source tile, values that the device treats in ways not known, and the sentence of it."""

    tile: TileView
    is_odd: Callable[[Any], Any]  # elements -> booleans
    does: str
    so: str

    @staticmethod
    def sorted_nan(tile: TileView) -> "Watch":
        """The place of a NaN among values that are sorted is anybody's guess."""
        return Watch(
            tile, np.isnan, "sorts a NaN", "the device may put it anywhere, here it comes last"
        )

    @staticmethod
    def zero_divisor(tile: TileView) -> "Watch":
        """What an integer divided by 0 gives is not known."""
        so = "what the device gives is not known, all bits are 1 here"
        return Watch(tile, np.logical_not, "divides by 0", so)


@dataclass(frozen=True, slots=True)
class Lowered:
    """One tile instruction in micro-ops.

    `reads` and `writes` are the bytes that it works on, scratch and side effects included; what
    a micro-op reads past the valid region without any effect is left out. `sources` are the bytes
    whose values decide the result: every one of them must have been written before. `destroyed`
    are sources that hold something else afterwards. Regions of GM count from the window's origin.
    `notes` are warnings that the instruction deserves on this core. `watched` are source tiles
    whose values may deserve one when it runs.
    """

    uops: Uops
    reads: tuple[Region, ...] = ()
    writes: tuple[Region, ...] = ()
    sources: tuple[Region, ...] = ()
    destroyed: tuple[Region, ...] = ()
    notes: tuple[Diagnostic, ...] = ()
    watched: tuple[Watch, ...] = ()

    @staticmethod
    def over_tiles(
        uops: Uops,
        dst: TileView,
        srcs: Sequence[TileView] = (),
        notes: tuple[Diagnostic, ...] = (),
    ) -> "Lowered":
        """An instruction that reads the valid region of `srcs` and writes that of `dst`."""
        read = tuple(src.valid_region() for src in srcs)
        return Lowered(uops, read, (dst.valid_region(),), read, notes=notes)


A = TypeVar("A")
Families = Mapping[str, Callable[[BoundInstr, A], Lowered]]  # by family, for cores of one style
