"""Lowering for cores whose vector unit works on vector registers: one function for each family."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from archsim.arch import VregArch
from archsim.isa.operands import BoundInstr
from archsim.lower.lowered import Lowered
from archsim.lower.vreg.convert import convert
from archsim.lower.vreg.elementwise import binary, copy, expands, scalar, unary
from archsim.lower.vreg.fused import add_dequantise_relu, add_relu_convert
from archsim.lower.vreg.select import compare_scalar, select

FAMILIES: Mapping[str, Callable[[BoundInstr, VregArch], Lowered]] = MappingProxyType(
    {
        "adddeqrelu": add_dequantise_relu,
        "addreluconv": add_relu_convert,
        "binary": binary,
        "compare_scalar": compare_scalar,
        "convert": convert,
        "expands": expands,
        "move": copy,
        "prelu": binary,
        "scalar": scalar,
        "select": select,
        "unary": unary,
    }
)
