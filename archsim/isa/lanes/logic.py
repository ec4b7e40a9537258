"""Exclusive or, and shifts: low bits of the element type.

A count must be 0 to the width less one; the cores leave others undefined. Here a greater or a
negative count moves every bit out.
"""

from collections.abc import Mapping

import numpy as np

from archsim.isa.lanes.arith import with_scalar
from archsim.isa.lanes.state import How, LaneOp, Lanes


def bit_xor(how: How, a: Lanes, b: Lanes) -> Lanes:
    """Bitwise a ^ b."""
    return np.bitwise_xor(a, b)


def shift_left(how: How, a: Lanes, b: Lanes) -> Lanes:
    """a << b; zeros come in."""
    return np.left_shift(a, b)


def shift_right(how: How, a: Lanes, b: Lanes) -> Lanes:
    """a >> b; copies of the sign come in for signed types, zeros for unsigned ones."""
    return np.right_shift(a, b)


def shift_right_logical(how: How, a: Lanes, b: Lanes) -> Lanes:
    """a >> b; zeros come in whatever the type."""
    bits = np.dtype(f"u{how.dtype.itemsize}")
    out: Lanes = np.right_shift(a.view(bits), np.asarray(b).view(bits)).view(a.dtype)
    return out


SIMD: Mapping[str, LaneOp] = {
    "vshl": LaneOp(with_scalar(shift_left)),
    "vshr": LaneOp(with_scalar(shift_right_logical)),  # the library passes arithmetic = false
    "scalar_shift_left": LaneOp(shift_left),
    "scalar_shift_right": LaneOp(shift_right),
}
VREG: Mapping[str, LaneOp] = {
    "VXOR": LaneOp(bit_xor),
    "VSHL": LaneOp(shift_left),
    "VSHR": LaneOp(shift_right),
    "VSHLS": LaneOp(with_scalar(shift_left)),
    "VSHRS": LaneOp(with_scalar(shift_right)),
}
