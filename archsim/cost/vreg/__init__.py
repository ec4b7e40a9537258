"""Time of vector functions on a vreg core, an out-of-order machine simulated cycle by cycle.

One file a unit: `dispatch` (in order, loop gates), `registers` (rename), `ports` (queues and
execution ports), `memory` (loads, stores, banks), `core` (their order within a cycle). `program`
and `reuse` prepare the code, `tables` its costs, `skip` jumps over periods of loops, `timing` is
the way in. No data is involved: the time depends on shapes, addresses and the configuration only.
"""

from archsim.cost.vreg.timing import UbBanks, VfTiming, VregCost, vf_cycles

__all__ = ["UbBanks", "VfTiming", "VregCost", "vf_cycles"]
