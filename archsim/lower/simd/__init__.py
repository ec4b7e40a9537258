"""Lowering for cores whose vector unit works from UB to UB: one function for each family."""

from types import MappingProxyType

from archsim.arch import SimdArch
from archsim.lower.lowered import Families
from archsim.lower.simd import (
    axpy,
    columns,
    convert,
    copy,
    dequantise,
    divide,
    elementwise,
    expand,
    fill,
    gather,
    generate,
    logic,
    part,
    quantise,
    reduce,
    remainder,
    select,
    sort,
    transpose,
)

_MODULES = (
    divide,
    remainder,
    axpy,
    logic,
    convert,
    copy,
    dequantise,
    elementwise,
    select,
    part,
    fill,
    generate,
    quantise,
    columns,
    expand,
    reduce,
    gather,
    sort,
    transpose,
)
FAMILIES: Families[SimdArch] = MappingProxyType(
    {family: function for module in _MODULES for family, function in module.FAMILIES.items()}
)
