"""Lanes out of nothing or one by one: copies of lanes, the scalar unit's stores."""

import numpy as np

from archsim.isa.lanes import arith, compare
from archsim.isa.lanes.state import How, LaneOp, Lanes


def all_lanes(how: How) -> Lanes:
    """A predicate with every lane on: the count that limits the micro-op makes it partial."""
    return np.ones((), np.bool_)


SIMD: dict[str, LaneOp] = {
    "scalar_copy": LaneOp(arith.copy),
    "scalar_store": LaneOp(arith.dup),
    "vcmp_ge": LaneOp(compare.simd_compare("ge")),
    "vcmp_le": LaneOp(compare.simd_compare("le")),
    "vcopy": LaneOp(arith.copy),
}
VREG: dict[str, LaneOp] = {
    "PLT": LaneOp(all_lanes),
}
