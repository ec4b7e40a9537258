"""One instruction on one core, as the rules look at it."""

from collections.abc import Mapping
from dataclasses import dataclass

from archsim.arch import ArchConfig
from archsim.isa.conversions import Pair
from archsim.isa.operands import BoundInstr, GmView, Operand, TileView


@dataclass(frozen=True, slots=True)
class Case:
    """A bound instruction, a core, and whether the tool may allocate scratch."""

    instr: BoundInstr
    arch: ArchConfig
    may_allocate: bool
    operands: Mapping[str, Operand]

    @staticmethod
    def of(instr: BoundInstr, arch: ArchConfig, may_allocate: bool) -> "Case":
        """The case of an instruction on a core, operands looked up once."""
        return Case(instr, arch, may_allocate, instr.operands)

    def has(self, name: str) -> bool:
        """Whether the operand was given."""
        return name in self.operands

    def tile(self, name: str) -> TileView:
        """The tile operand `name`."""
        operand = self.operands[name]
        assert isinstance(operand, TileView), f"{name} of {self.instr.op.name} is no tile"
        return operand

    def window(self, name: str) -> GmView:
        """The operand `name` in global memory."""
        operand = self.operands[name]
        assert isinstance(operand, GmView), f"{name} of {self.instr.op.name} is no tensor window"
        return operand

    def number(self, name: str) -> int | float:
        """The scalar operand `name`."""
        operand = self.operands[name]
        assert isinstance(operand, int | float), f"{name} of {self.instr.op.name} is no number"
        return operand

    @property
    def pair(self) -> Pair:
        """Element types of the first source and of dst; without such a source, dst's twice.

        Masks and operands of a fixed type do not count.
        """
        dst = _dtype(self.instr.dst[0])
        if dst is None:  # a number, of the type that it is read as
            dst = _dtype(self.instr.src[0])
        typed = (
            a.name for a in self.instr.op.ins if a.kind != "mask" and not (a.scratch or a.dtype)
        )
        sources = (_dtype(self.operands[name]) for name in typed if name in self.operands)
        assert dst is not None
        return (next((s for s in sources if s is not None), dst), dst)

    @property
    def others(self) -> tuple[str, ...]:
        """The other core generations that have the instruction."""
        return tuple(isa for isa in self.instr.op.dtypes if isa != self.arch.isa)


def _dtype(operand: Operand) -> str | None:
    return operand.dtype.name if isinstance(operand, TileView | GmView) else None
