"""Lowering for cores whose vector unit works from UB to UB: one function for each family."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from archsim.arch import SimdArch
from archsim.isa.operands import BoundInstr
from archsim.lower.lowered import Lowered
from archsim.lower.simd.convert import add_relu_convert, convert
from archsim.lower.simd.copy import copy
from archsim.lower.simd.dequantise import add_dequantise_relu
from archsim.lower.simd.elementwise import binary, expands, scalar, unary
from archsim.lower.simd.select import compare_scalar, prelu, select

FAMILIES: Mapping[str, Callable[[BoundInstr, SimdArch], Lowered]] = MappingProxyType(
    {
        "adddeqrelu": add_dequantise_relu,
        "addreluconv": add_relu_convert,
        "binary": binary,
        "compare_scalar": compare_scalar,
        "convert": convert,
        "expands": expands,
        "move": copy,
        "prelu": prelu,
        "scalar": scalar,
        "select": select,
        "unary": unary,
    }
)
