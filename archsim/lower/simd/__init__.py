"""Lowering for cores whose vector unit works from UB to UB: one function for each family."""

from types import MappingProxyType

from archsim.arch import SimdArch
from archsim.lower.lowered import Families
from archsim.lower.simd import (
    convert,
    copy,
    dequantise,
    elementwise,
    fill,
    generate,
    part,
    quantise,
    select,
)

_MODULES = (convert, copy, dequantise, elementwise, select, part, fill, generate, quantise)
FAMILIES: Families[SimdArch] = MappingProxyType(
    {family: function for module in _MODULES for family, function in module.FAMILIES.items()}
)
