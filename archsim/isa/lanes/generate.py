"""Lanes out of numbers, counts of lanes, wide products; the stores of the scalar unit."""

from typing import Any

import numpy as np

from archsim.isa.lanes import arith, compare
from archsim.isa.lanes.arith import with_scalar
from archsim.isa.lanes.state import How, LaneOp, Lanes


def all_lanes(how: How) -> Lanes:
    """A predicate with every lane on: the count that limits the micro-op makes it partial."""
    return np.ones((), np.bool_)


def indices(how: How) -> Lanes:
    """The scalar in the first lane and one more in each further one, or less by the word `dec`.

    The words name the lanes of a register.
    """
    order, lanes = how.words
    steps = np.arange(int(lanes)).astype(how.dtype.np)
    return np.asarray(how.scalar + steps if order == "inc" else how.scalar - steps)


def count_bytes(how: How, counts: Lanes, values: Lanes) -> Lanes:
    """16-bit counts of byte values from the first one, a word, on; one more for each lane on."""
    before = np.ascontiguousarray(counts).view(np.uint16)
    first = int(how.words[0])
    found = values[..., np.newaxis] == np.arange(first, first + before.shape[-1])
    if how.on is not None:
        found = found & np.broadcast_to(how.on, values.shape)[..., np.newaxis]
    return np.asarray(before + found.sum(axis=-2, dtype=np.uint16))


def half_widened(how: How, a: Lanes) -> Lanes:
    """The lower or the upper half of the lanes in the wider type."""
    half = a.shape[-1] // 2
    kept = a[..., half:] if "upper" in how.words else a[..., :half]
    return np.asarray(kept, how.to.np)


def wide_product(how: How, a: Lanes, b: Lanes) -> Any:
    """The low and the high 32 bits of the exact product of unsigned numbers."""
    product = a.astype(np.uint64) * b.astype(np.uint64)
    return product.astype(np.uint32), (product >> np.uint64(32)).astype(np.uint32)


def shifted_right(how: How, a: Lanes, b: Any) -> Lanes:
    """a >> b: signs are kept, unsigned numbers filled with zeros."""
    return np.asarray(np.right_shift(a, b))


def bit_xor(how: How, a: Lanes, b: Lanes) -> Lanes:
    """Bitwise a ^ b."""
    return np.bitwise_xor(a, b)


SIMD: dict[str, LaneOp] = {
    "scalar_copy": LaneOp(arith.copy),
    "scalar_store": LaneOp(arith.dup),
    "vcmp_ge": LaneOp(compare.simd_compare("ge")),
    "vcmp_le": LaneOp(compare.simd_compare("le")),
    "vcopy": LaneOp(arith.copy),
}
VREG: dict[str, LaneOp] = {
    "PLT": LaneOp(all_lanes),
    "VCI": LaneOp(indices),
    "VDHIST": LaneOp(count_bytes, mixes=True),
    "VMULL": LaneOp(wide_product),
    "VSHRS": LaneOp(with_scalar(shifted_right)),
    "VUNPACK": LaneOp(half_widened, mixes=True),
    "VXOR": LaneOp(bit_xor),
}
