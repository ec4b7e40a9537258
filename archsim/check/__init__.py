"""Rules on one instruction, the scratch that it needs, and (`check.program`) on declarations."""

from archsim.check.instruction import check, pair_text
from archsim.check.scratch import scratch_tile

__all__ = ["check", "pair_text", "scratch_tile"]
