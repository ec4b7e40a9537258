"""The sections of a chip file that every style of core shares."""

from fractions import Fraction
from typing import Literal

from pydantic import Field, model_validator

from archsim.arch.fields import (
    Bytes,
    BytesOrNone,
    Count,
    Exact,
    PowerOfTwo,
    Rate,
    Section,
    Switch,
    Text,
    Whole,
    agree,
)
from archsim.arch.quantity import Basis
from archsim.base.units import BYTES


class MemoryUnit(Section):
    """One on-chip memory."""

    size_bytes: Bytes = Field(description="capacity")
    alignment_bytes: PowerOfTwo = Field(description="tiles start at multiples of it")

    @model_validator(mode="after")
    def _aligned(self) -> "MemoryUnit":
        rule = f"a multiple of {self.alignment_bytes} bytes"
        agree((self.size_bytes % self.alignment_bytes == 0, "size_bytes", rule))
        return self


class UnifiedBuffer(MemoryUnit):
    """UB: address a lies in bank group (a / 32) mod `bank_groups`."""

    reserved_top_bytes: BytesOrNone = Field(description="kept free by placement, at the top")
    bank_groups: PowerOfTwo = Field(description="groups that adjacent 32-byte blocks walk through")
    banks_per_group: Count = Field(description="banks in each group")

    @model_validator(mode="after")
    def _reserve_fits(self) -> "UnifiedBuffer":
        rule = f"less than size_bytes, {BYTES.show(self.size_bytes)}"
        agree((self.reserved_top_bytes < self.size_bytes, "reserved_top_bytes", rule))
        return self


class Memory(Section):
    """The on-chip memories of one core."""

    ub: UnifiedBuffer
    l1: MemoryUnit
    l0a: MemoryUnit
    l0b: MemoryUnit
    l0c: MemoryUnit
    bt: MemoryUnit
    fb: MemoryUnit


class PipeConfig(Section):
    """One in-order pipe."""

    queue_depth: Count = Field(description="entries of the issue queue")


class Scalar(Section):
    """The scalar unit that walks the program."""

    issue_cycles: Whole = Field(description="cycles to put one instruction into a queue")


class Events(Section):
    """The event flags between two pipes."""

    ids: Count = Field(description="flags for each pair of pipes")
    latency_cycles: Whole = Field(description="from a set to the wait that it lets go")


class PathCost(Section):
    """One data path: cycles(B) = max(floor, start-up + B / rate, B / plateau) a transfer."""

    startup_cycles: Exact = Field(description="start-up of one transfer")
    bytes_per_cycle: Rate = Field(description="rate behind the start-up")
    floor_cycles: Exact = Field(Fraction(0), description="shortest transfer")
    plateau_bytes_per_cycle: Rate | None = Field(None, description="rate of long transfers")
    basis: Basis = Field(strict=False)
    source: Text
    uncertainty: Exact = Fraction(0)


class Numerics(Section):
    """Where sources disagree about values: the named switches."""

    profile: Literal["reset", "infnan"] = Field(
        description="reset: half saturates and NaN becomes 0; infnan: IEEE"
    )
    max_nan: Literal["propagate", "other"] = Field(
        description="maximum and minimum of a NaN and a number"
    )
    prelu_zero_keeps: Switch = Field(description="prelu keeps x = 0 instead of multiplying it")
    exp_ftz: Switch = Field(description="exp flushes subnormal results to 0")
    a2a3_addreluconv_wide_add: Switch = Field(
        description="fused add + relu + convert of half adds in f32"
    )
    a2a3_addreluconv_s16_wide: Switch = Field(
        description="fused add + relu + convert of int16 does not wrap"
    )
    vmod_sign: Literal["dividend", "divisor"] = Field(
        description="whose sign the integer remainder of A5 has where signs differ"
    )
    fp8_nan_keep: Switch = Field(description="saturation to an 8-bit float keeps a NaN")
    a5_f32_f16_uses_ctrl59: Switch = Field(
        description="f32 to f16 conversion saturates by its own saturation mode"
    )
