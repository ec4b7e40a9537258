"""Rules on one instruction, on declarations, and the scratch that instructions need."""

from archsim.check.instruction import check, pair_text
from archsim.check.program import check_program_static
from archsim.check.scratch import scratch_tile

__all__ = ["check", "check_program_static", "pair_text", "scratch_tile"]
