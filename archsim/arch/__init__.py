"""Chips: one frozen `ArchConfig` from a chip file, every number with its basis and source."""

from archsim.arch.config import ArchConfig, SimdArch, VregArch
from archsim.arch.loading import chip_names, load, parse_override
from archsim.arch.parts import (
    Events,
    Memory,
    MemoryUnit,
    Numerics,
    PathCost,
    PipeConfig,
    Scalar,
    UnifiedBuffer,
)
from archsim.arch.provenance import Provenance
from archsim.arch.quantity import Basis, Quantity
from archsim.arch.schema import json_schema
from archsim.arch.simd import SimdUopRow, SimdVector, UopCost
from archsim.arch.vreg import VregUopRow, VregVector

__all__ = [
    "ArchConfig",
    "Basis",
    "Events",
    "Memory",
    "MemoryUnit",
    "Numerics",
    "PathCost",
    "PipeConfig",
    "Provenance",
    "Quantity",
    "Scalar",
    "SimdArch",
    "SimdUopRow",
    "SimdVector",
    "UnifiedBuffer",
    "UopCost",
    "VregArch",
    "VregUopRow",
    "VregVector",
    "chip_names",
    "json_schema",
    "load",
    "parse_override",
]
