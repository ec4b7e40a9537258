"""TFILLPAD* on the vreg cores. No lowering is published: the sequence is assumed."""

from dataclasses import replace

from archsim.arch import VregArch
from archsim.base.dtypes import DTYPES, DType
from archsim.isa.operands import BoundInstr, TileView
from archsim.isa.padding import pad_element
from archsim.isa.vreg import Tail, VectorFunction, VregLoop, VregMem, VregNode, VregUop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import tile
from archsim.lower.sides import overlap
from archsim.lower.vreg.emit import form


def fill_pad(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = src in the valid region of src, dst's pad value in the rest of the declared tile.

    The pad value is duplicated into a register once. 1. Vectors with valid lanes: load, select
    between them and the padding, store. 2. Vectors behind these in the valid rows: stores. 3. The
    rows below: stores. In place the vectors that are valid throughout are not touched.
    """
    dst, src = tile(instr, "dst"), tile(instr, "src")
    rows, cols = overlap(src)
    src = replace(src, valid_rows=rows, valid_cols=cols)
    bits = DTYPES[f"u{dst.dtype.bits}"]
    lanes = arch.vector.width_bytes // bits.itemsize
    in_place = instr.op.family == "fill_pad_in_place"
    first = src.valid_cols // lanes if in_place else 0
    mixed = -(-src.valid_cols // lanes)
    vectors = -(-dst.cols // lanes)
    value = int.from_bytes(pad_element(dst.pad, dst.dtype), "little")
    nodes: list[VregNode] = [VregUop("VDUP", form(bits), ("v0",), (), bits, scalar=value)]
    inner: list[VregNode] = []
    if mixed > first:
        inner.append(VregLoop(mixed - first, _mixed(dst, src, bits, lanes, first)))  # 1
    if vectors > mixed:
        inner.append(VregLoop(vectors - mixed, (_padding(dst, bits, lanes, 0, mixed),)))  # 2
    if inner and rows:
        nodes.append(VregLoop(src.valid_rows, tuple(inner)))
    if dst.rows > src.valid_rows:
        below = VregLoop(vectors, (_padding(dst, bits, lanes, src.valid_rows, 0),))
        nodes.append(VregLoop(dst.rows - src.valid_rows, (below,)))  # 3
    functions = (VectorFunction(tuple(nodes)),) if len(nodes) > 1 else ()
    read = (src.valid_region(),) if rows else ()
    return Lowered(functions, read, (dst.whole_region(),), read)


def _mixed(
    dst: TileView, src: TileView, bits: DType, lanes: int, first: int
) -> tuple[VregUop, ...]:
    """Vectors from number `first` of each row on, that hold a valid lane at least."""
    kind = form(bits)
    valid = Tail(src.valid_cols - first * lanes, lanes)
    inside = Tail(dst.cols - first * lanes, lanes)
    return (
        VregUop("VLDS", kind, ("v1",), (), bits, _mem(src, bits, lanes, 0, first)),
        VregUop("PLT", kind, ("p0",), (), bits, pred=valid),
        VregUop("VSEL", kind, ("v2",), ("p0", "v1", "v0"), bits, pred=inside),
        VregUop("VSTS", kind, (), ("v2",), bits, _mem(dst, bits, lanes, 0, first), pred=inside),
    )


def _padding(dst: TileView, bits: DType, lanes: int, row: int, first: int) -> VregUop:
    """A store of padding: vectors from number `first` on, in rows from `row` on."""
    mem = _mem(dst, bits, lanes, row, first)
    inside = Tail(dst.cols - first * lanes, lanes)
    return VregUop("VSTS", form(bits), (), ("v0",), bits, mem, pred=inside)


def _mem(tile: TileView, bits: DType, lanes: int, row: int, first: int) -> VregMem:
    step = lanes * bits.itemsize
    addr = tile.addr + row * tile.row_bytes + first * step
    return VregMem(addr, (tile.row_bytes, step), bits, lanes)


FAMILIES: Families[VregArch] = {
    "fill_pad": fill_pad,
    "fill_pad_expand": fill_pad,
    "fill_pad_in_place": fill_pad,
}
