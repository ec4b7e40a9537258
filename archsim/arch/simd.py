"""The `vector:` and `uops:` sections of a simd-style core (A2A3)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Literal

from pydantic import Field, model_validator

from archsim.arch.fields import Count, DTypeName, Exact, Section, Switch, Text, Whole, agree
from archsim.arch.quantity import Basis


class SimdVector(Section):
    """A vector unit that works from UB to UB, repeat by repeat."""

    style: Literal["simd"]
    width_bytes: Count = Field(description="bytes of one repeat")
    block_bytes: Count = Field(description="bytes of one block; strides count in blocks")
    repeat_max: Count = Field(description="largest repeat count of one micro-op")
    compare_repeat_max: Count = Field(description="the same for compares, where it is less")
    repeat_stride_max: Count = Field(description="largest repeat stride, in blocks")
    mask_bits: Count = Field(description="bits of the lane mask")
    bank_conflicts: Literal["by_address", "always", "off"] = Field(
        description="how two-input slopes are chosen: from the addresses, the conflict slope "
        "always, or never"
    )
    barrier_head: Literal["hidden", "paid"] = Field(
        description="whether the head behind a barrier hides under the drain"
    )
    mask_write: Literal["free", "drains"] = Field(
        description="whether a mask write waits for all earlier micro-ops"
    )
    start_up: Literal["head", "head_and_tail"] = Field(
        description="what a micro-op pays that finds the pipe idle"
    )
    count_mode_slope: Switch = Field(description="whether repeats in count mode take slots")
    min_slot_cycles: Whole = Field(description="shortest slot of one micro-op")
    barrier_release_cycles: Whole = Field(description="from the last completion to the release")
    control_cycles: Whole = Field(description="V time of a barrier, mask or mode micro-op")
    write_conflict_cycles: Exact = Field(
        description="more per repeat whose write meets a read in a bank"
    )

    @model_validator(mode="after")
    def _consistent(self) -> "SimdVector":
        blocks = self.width_bytes % 32 == self.width_bytes % self.block_bytes == 0
        agree((blocks, "width_bytes", f"a multiple of 32 and of block_bytes, {self.block_bytes}"))
        return self


class FloorCycles(Section):
    """The front-end time of one micro-op while the mask is partial or counting."""

    partial: Exact = Field(Fraction(0), description="with a partial mask")
    count: Exact = Field(Fraction(0), description="in count mode")


class FloorPart(Section):
    """A floor of one element type; what is left out is the row's."""

    partial: Exact | None = Field(None, description="with a partial mask")
    count: Exact | None = Field(None, description="in count mode")


class SimdUopPart(Section):
    """What differs from the row for one element type."""

    head_cycles: Exact | None = None
    slope_cycles: Exact | None = None
    conflict_slope_cycles: Exact | None = None
    tail_cycles: Exact | None = None
    floor_cycles: FloorPart | None = None
    basis: Basis = Field(Basis.ASSUMED, strict=False)
    source: str = ""
    uncertainty: Exact = Fraction(0)


@dataclass(frozen=True, slots=True)
class UopCost:
    """The cost of one micro-op on one element type, in exact cycles.

    `conflict_slope` is the slope of repeats whose two reads meet in a bank group; None where the
    row has none. `uncertainty` is relative.
    """

    name: str
    head: Fraction
    slope: Fraction
    conflict_slope: Fraction | None
    tail: Fraction
    floor_partial: Fraction
    floor_count: Fraction
    basis: Basis
    source: str
    uncertainty: Fraction


class SimdUopRow(Section):
    """One vector micro-op: head + slope * repeat + tail."""

    head_cycles: Exact = Field(description="paid where the pipe is idle")
    slope_cycles: Exact = Field(description="per repeat, reads in different bank groups")
    conflict_slope_cycles: Exact | None = Field(
        None, description="per repeat, both reads in one bank group"
    )
    tail_cycles: Exact = Field(description="from the last slot to completion")
    floor_cycles: FloorCycles = Field(default_factory=FloorCycles)
    by_dtype: Mapping[DTypeName, SimdUopPart] = {}
    basis: Basis = Field(strict=False)
    source: Text
    uncertainty: Exact = Fraction(0)

    @model_validator(mode="after")
    def _conflicts_cost(self) -> "SimdUopRow":
        for dtype in (None, *self.by_dtype):
            cost, key = self.cost("", dtype), "conflict_slope_cycles"
            conflict = cost.slope if cost.conflict_slope is None else cost.conflict_slope
            if dtype and self.by_dtype[dtype].conflict_slope_cycles is not None:
                key = f"by_dtype.{dtype}.{key}"
            of = f" for {dtype}" if dtype else ""
            agree(
                (conflict >= cost.slope, key, f"at least slope_cycles, {float(cost.slope):g}{of}")
            )
        return self

    def cost(self, name: str, dtype: str | None) -> UopCost:
        """The row for one element type (canonical name), or for all without an own entry."""
        part = self.by_dtype.get(dtype) if dtype else None
        trusted_less = part if part is not None and _less(part.basis, self.basis) else self
        part = part or _no_part()
        floor = part.floor_cycles or _no_floor()
        return UopCost(
            name,
            _first(part.head_cycles, self.head_cycles),
            _first(part.slope_cycles, self.slope_cycles),
            self.conflict_slope_cycles
            if part.conflict_slope_cycles is None
            else part.conflict_slope_cycles,
            _first(part.tail_cycles, self.tail_cycles),
            _first(floor.partial, self.floor_cycles.partial),
            _first(floor.count, self.floor_cycles.count),
            trusted_less.basis,
            trusted_less.source,
            max(part.uncertainty, self.uncertainty),
        )

    def all_cycles(self) -> Iterator[Fraction]:
        """Every cost of the row, of every element type: what a time resolution must divide."""
        for dtype in (None, *self.by_dtype):
            cost = self.cost("", dtype)
            yield from (cost.head, cost.slope, cost.tail, cost.floor_partial, cost.floor_count)
            if cost.conflict_slope is not None:
                yield cost.conflict_slope


@cache
def _no_part() -> SimdUopPart:
    """Made when first needed: making a model is what costs, and most commands start without."""
    return SimdUopPart()


@cache
def _no_floor() -> FloorPart:
    return FloorPart()


def _first(own: Fraction | None, of_row: Fraction) -> Fraction:
    return of_row if own is None else own


def _less(one: Basis, other: Basis) -> bool:
    order = list(Basis)
    return order.index(one) > order.index(other)
