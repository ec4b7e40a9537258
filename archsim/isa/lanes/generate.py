"""Lanes out of nothing or one by one: copies of lanes, the scalar unit's stores."""

from archsim.isa.lanes import arith, compare
from archsim.isa.lanes.state import LaneOp

SIMD: dict[str, LaneOp] = {
    "scalar_copy": LaneOp(arith.copy),
    "vcmp_ge": LaneOp(compare.simd_compare("ge")),
    "vcmp_le": LaneOp(compare.simd_compare("le")),
    "vcopy": LaneOp(arith.copy),
}
VREG: dict[str, LaneOp] = {}
