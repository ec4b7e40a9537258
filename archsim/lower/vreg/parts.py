"""TEXTRACT and TINSERT on the vreg cores: loads and stores row by row. The sequence is assumed."""

from dataclasses import replace

from archsim.arch import VregArch
from archsim.isa.operands import MEMORY, BoundInstr, Region, TileView
from archsim.isa.vreg import Tail, VectorFunction, VregMem, VregUop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import tile
from archsim.lower.parts import both_parts, is_element
from archsim.lower.vreg.emit import Spot, form, nest


def part(instr: BoundInstr, arch: VregArch) -> Lowered:
    """A part of a tile.

    1. One element: a broadcast load and a store of one lane.
    2. Else a nest over its rows; in nz over its column groups, whose last one is moved whole.
    """
    dst, src = both_parts(instr)
    if is_element(tile(instr, "dst" if instr.op.family == "extract" else "src")):
        return _element(dst, src)  # 1

    def body(spot: Spot) -> tuple[VregUop, ...]:
        return spot.load("v0", src), spot.store(dst, "v0")

    lanes = arch.vector.width_bytes // dst.dtype.itemsize
    function = VectorFunction((nest(dst.valid_rows, dst.valid_cols, lanes, body),))  # 2
    return Lowered.over_tiles((function,), dst, (replace(src, valid_cols=dst.valid_cols),))


def _element(dst: TileView, src: TileView) -> Lowered:
    dtype = dst.dtype
    load = VregMem(src.addr, (), dtype, 1, "brc")
    store = VregMem(dst.addr, (), dtype, 1, "onept")
    function = VectorFunction(
        (
            VregUop("VLDS", form(dtype), ("v0",), (), dtype, load),
            VregUop("VSTS", form(dtype), (), ("v0",), dtype, store, pred=Tail(1, 1)),
        )
    )
    size = dtype.itemsize
    cells = [Region(MEMORY[t.loc], t.addr, 1, size, size) for t in (dst, src)]
    return Lowered((function,), (cells[1],), (cells[0],), (cells[1],))


FAMILIES: Families[VregArch] = {
    "extract": part,
    "insert": part,
}
