"""Tile instructions to micro-ops: one folder a style of vector unit, one function a family."""

from archsim.lower.dispatch import lower
from archsim.lower.lowered import Lowered

__all__ = ["Lowered", "lower"]
