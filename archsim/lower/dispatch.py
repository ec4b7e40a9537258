"""`lower`: from one bound tile instruction to what the core runs for it."""

from dataclasses import replace

from archsim.arch import ArchConfig, SimdArch, VregArch
from archsim.isa.families.scalar_unit import BINDERS
from archsim.isa.operands import BoundInstr, TileView
from archsim.lower import indexed, moves, scalar_unit, simd, vreg
from archsim.lower.lowered import Lowered
from archsim.lower.notes import ignored

_MOVES = {
    "load": moves.load,
    "store": moves.store,
    "prefetch": moves.prefetch,
    "gather_memory": indexed.gather,
    "scatter_memory": indexed.scatter,
}
_SCALAR = {"set_value": scalar_unit.set_value, "get_value": scalar_unit.get_value}
# The other source is copied, or all is padding.
_SOURCES_MAY_BE_EMPTY = (
    "concat", "fill_pad", "fill_pad_expand", "fill_pad_in_place", "part", "part_arg",
)  # fmt: skip


def lower(instr: BoundInstr, arch: ArchConfig) -> Lowered:
    """The micro-ops of a legal instruction on this core, and the bytes that it touches.

    `archsim.check.check` must have found no error in it. An empty valid region gives no micro-ops.
    """
    family = instr.op.family
    operands = instr.dst if family in _SOURCES_MAY_BE_EMPTY else (*instr.dst, *instr.src)
    tiles = (operand for operand in operands if isinstance(operand, TileView))
    if family in BINDERS or any(t.valid_rows < 1 or t.valid_cols < 1 for t in tiles):
        return Lowered(())
    if family in _MOVES:
        return _MOVES[family](instr, arch)
    if family in _SCALAR:
        return _SCALAR[family](instr)
    if isinstance(arch, VregArch):
        return vreg.FAMILIES[family](instr, arch)
    assert isinstance(arch, SimdArch), f"{arch.name} has a vector unit of no known style"
    lowered = simd.FAMILIES[family](instr, arch)
    if instr.attrs.get("vf_impl", "DEFAULT") != "DEFAULT":
        notes = lowered.notes + ignored(instr, f"vf_impl={instr.attrs['vf_impl']}", arch)
        return replace(lowered, notes=notes)
    return lowered
