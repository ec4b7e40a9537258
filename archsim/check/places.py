"""Where a tile lies: alignment, capacity, and the top of UB that is kept free."""

from collections.abc import Iterator

from archsim.arch import ArchConfig, MemoryUnit
from archsim.base.errors import Diagnostic
from archsim.base.source import Span
from archsim.isa.operands import MEMORY, Loc


def memory_of(loc: Loc, arch: ArchConfig) -> tuple[str, MemoryUnit]:
    """Name and figures of the memory behind a location."""
    name = MEMORY[loc]
    unit = getattr(arch.memory, name.lower())
    assert isinstance(unit, MemoryUnit)
    return name, unit


def place_faults(
    name: str, loc: Loc, addr: int, size: int, arch: ArchConfig, span: Span | None
) -> Iterator[Diagnostic]:
    """What is wrong with `size` bytes of tile `name` at `addr`."""
    memory, unit = memory_of(loc, arch)
    end, align = addr + size, unit.alignment_bytes
    if addr % align:
        message = f"tile {name} is at {addr:#x}; it must be at a multiple of {align} bytes"
        yield Diagnostic(message, span, f"use {addr // align * align + align:#x}", "bounds")
    if addr < 0 or end > unit.size_bytes:
        message = (
            f"tile {name} lies at {addr:#x} to {end:#x}; it must end within the"
            f" {unit.size_bytes:#x} bytes of {memory} on {arch.name}"
        )
        yield Diagnostic(message, span, kind="bounds")
    elif memory == "UB" and end > (limit := unit.size_bytes - arch.memory.ub.reserved_top_bytes):
        message = (
            f"tile {name} lies at {addr:#x} to {end:#x}; UB from {limit:#x} on is reserved on"
            f" {arch.name}"
        )
        yield Diagnostic(message, span, None, "reserved_memory", "warning")
