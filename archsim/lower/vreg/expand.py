"""Broadcasts of the vreg cores: a load that spreads one element, or one vector for all rows."""

from dataclasses import replace

from archsim.arch import VregArch
from archsim.base.dtypes import F32, DType
from archsim.isa.operands import BoundInstr, TileView
from archsim.isa.vreg import Tail, VectorFunction, VregLoop, VregMem, VregNode, VregUop
from archsim.lower.expansions import col_sides, row_sides
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import tile
from archsim.lower.vreg.emit import Spot, form, nest


def row_expand(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst[r, :] = src[r].

    1. A static column-major source of 2- or 4-byte elements, dst one block wide: every element to a
       block, 8 of them a vector.
    2. Otherwise row by row: load, the lowest lane to all, stores.
    """
    dst, src = tile(instr, "dst"), tile(instr, "src")
    width, size = arch.vector.width_bytes, dst.dtype.itemsize
    read = (replace(src.valid_region(size), rows=dst.valid_rows),)
    if _is_block_column(dst, src, arch):
        per_vector, lanes = 8, width // size
        mem = VregMem(src.addr, (per_vector * size,), src.dtype, lanes, "e2b")
        load = VregUop("VLDS", form(src.dtype), ("v0",), (), src.dtype, mem)
        on = Tail(dst.valid_rows * (lanes // per_vector), lanes)
        loop = VregLoop(-(-dst.valid_rows // per_vector), (load, _store(dst, (width,), lanes, on)))
        return Lowered((VectorFunction((loop,)),), read, (dst.valid_region(),), read)  # 1
    lanes = width // size
    load = VregUop(
        "VLDS", form(src.dtype), ("v1",), (), src.dtype,
        VregMem(src.addr, (src.row_bytes,), src.dtype, 1),
    )  # fmt: skip
    spread = VregUop("VDUP", form(src.dtype), ("v0",), ("v1",), src.dtype)
    store = _store(dst, (dst.row_bytes, width), lanes, Tail(dst.valid_cols, lanes))
    inner = VregLoop(-(-dst.valid_cols // lanes), (store,))
    function = VectorFunction((VregLoop(dst.valid_rows, (load, spread, inner)),))
    return Lowered((function,), read, (dst.valid_region(),), read)  # 2


def _is_block_column(dst: TileView, src: TileView, arch: VregArch) -> bool:
    block = arch.memory.ub.alignment_bytes
    one_block = dst.valid_cols * dst.dtype.itemsize == dst.row_bytes == block
    known = src.static_rows and dst.static_rows and dst.static_cols
    return one_block and known and not src.row_major and dst.dtype.itemsize in (2, 4)


def row_expand_op(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst[r, c] = whole[r, c] op column[r]; the column from a block a row or element by element.

    One broadcast load a row, then the row's vectors. Half exponentials of differences take two
    micro-ops, those of f32 one. The whole tile is the left operand, wherever it is written.
    """
    dst = tile(instr, "dst")
    whole, column, notes = row_sides(instr)
    lanes = arch.vector.width_bytes // dst.dtype.itemsize
    dist = "blk" if column.row_major else "brc"
    mem = VregMem(column.addr, (column.row_bytes,), column.dtype, lanes, dist)
    spread = VregUop("VLDS", form(column.dtype), ("v1",), (), column.dtype, mem)
    spot = Spot(lanes, 0, nested=True, pred=Tail(dst.valid_cols, lanes))
    body = (
        spot.load("v0", whole),
        *_operation(instr, spot, dst.dtype, arch),
        spot.store(dst, "v2"),
    )
    inner = VregLoop(-(-dst.valid_cols // lanes), body)
    function = VectorFunction((VregLoop(dst.valid_rows, (spread, inner)),))
    read = (whole.valid_region(), column.valid_region())
    return Lowered((function,), read, (dst.valid_region(),), read, notes=notes)


def _operation(instr: BoundInstr, spot: Spot, dtype: DType, arch: VregArch) -> tuple[VregUop, ...]:
    """v2 = v0 op v1."""
    if instr.op.uops:
        return (spot.op(instr.op.uops[arch.isa], "v2", "v0", "v1", dtype=dtype),)
    if dtype is F32:
        return (spot.op("VEXPDIF", "v2", "v0", "v1", dtype=dtype),)
    return (
        spot.op("VSUB", "v3", "v0", "v1", dtype=dtype),
        spot.op("VEXP", "v2", "v3", dtype=dtype),
    )


def col_expand(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst[:, c] = src[0, c]: a vector of columns is loaded once and stored to every row.

    The last, partial vector has rows of its own.
    """
    dst, src = tile(instr, "dst"), tile(instr, "src")
    width = arch.vector.width_bytes
    lanes = width // dst.dtype.itemsize
    whole, rest = divmod(dst.valid_cols, lanes)
    nodes: list[VregNode] = []
    if whole:
        load = _load(src, 0, (width,), lanes)
        rows = VregLoop(dst.valid_rows, (_store(dst, (width, dst.row_bytes), lanes, None),))
        nodes.append(VregLoop(whole, (load, rows)))
    if rest:
        behind = replace(dst, addr=dst.addr + whole * width)
        on = Tail(rest, lanes, steady=True)
        nodes.append(_load(src, whole * width, (), lanes))
        nodes.append(VregLoop(dst.valid_rows, (_store(behind, (dst.row_bytes,), lanes, on),)))
    read = (replace(src.valid_region(), rows=1),)
    return Lowered((VectorFunction(tuple(nodes)),), read, (dst.valid_region(),), read)


def col_expand_op(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst[r, c] = whole[r, c] op row[c], every vector of every row with a load of both."""
    dst = tile(instr, "dst")
    whole, row, notes = col_sides(instr)
    same_row = replace(row, row_stride=0)
    lanes = arch.vector.width_bytes // dst.dtype.itemsize

    def body(spot: Spot) -> tuple[VregUop, ...]:
        loads = (spot.load("v0", whole), spot.load("v1", same_row))
        return (*loads, *_operation(instr, spot, dst.dtype, arch), spot.store(dst, "v2"))

    function = VectorFunction((nest(dst.valid_rows, dst.valid_cols, lanes, body),))
    read = (whole.valid_region(), replace(row.valid_region(), rows=1))
    return Lowered((function,), read, (dst.valid_region(),), read, notes=notes)


def _load(src: TileView, ahead: int, steps: tuple[int, ...], lanes: int) -> VregUop:
    mem = VregMem(src.addr + ahead, steps, src.dtype, lanes)
    return VregUop("VLDS", form(src.dtype), ("v0",), (), src.dtype, mem)


def _store(dst: TileView, steps: tuple[int, ...], lanes: int, on: Tail | None) -> VregUop:
    mem = VregMem(dst.addr, steps, dst.dtype, lanes)
    return VregUop("VSTS", form(dst.dtype), (), ("v0",), dst.dtype, mem, pred=on)


FAMILIES: Families[VregArch] = {
    "col_expand": col_expand,
    "col_expand_op": col_expand_op,
    "row_expand": row_expand,
    "row_expand_op": row_expand_op,
}
