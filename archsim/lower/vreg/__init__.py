"""Lowering for cores whose vector unit works on vector registers: one function for each family."""

from types import MappingProxyType

from archsim.arch import VregArch
from archsim.lower.lowered import Families
from archsim.lower.vreg import (
    columns,
    convert,
    divide,
    elementwise,
    expand,
    fill,
    fused,
    gather,
    generate,
    part,
    parts,
    quantise,
    quantise_groups,
    random,
    reduce,
    remainder,
    select,
    sort,
    transpose,
)

_MODULES = (
    divide,
    convert,
    elementwise,
    fused,
    select,
    part,
    fill,
    generate,
    random,
    quantise,
    quantise_groups,
    expand,
    reduce,
    remainder,
    columns,
    gather,
    sort,
    transpose,
    parts,
)
FAMILIES: Families[VregArch] = MappingProxyType(
    {family: function for module in _MODULES for family, function in module.FAMILIES.items()}
)
