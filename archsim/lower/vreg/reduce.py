"""Reductions of rows and pairs on the vreg cores: a loop that goes on adding to a register."""

from dataclasses import replace

from archsim.arch import VregArch
from archsim.base.dtypes import F16, I8, I16, I32, U8, U16
from archsim.isa.operands import BoundInstr, Region, TileView
from archsim.isa.vreg import Tail, VectorFunction, VregLoop, VregNode, VregUop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import tile
from archsim.lower.vreg.accumulate import cvt, load, neutral, op, store, store_point
from archsim.lower.vreg.emit import form

_STEPS = {"TROWSUM": "VADD", "TROWMAX": "VMAX", "TROWMIN": "VMIN"}


def row_reduce(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst[r] = src[r, 0] op src[r, 1] op ...: each vector to one lane, lanes from left to right.

    The sum starts from +0, a maximum from the least value. Sums of i16 are kept in 32 bits and wrap
    at the end. Bytes go as two registers of wider elements, of the even and of the odd lanes.
    """
    src = tile(instr, "src")
    if src.dtype in (I8, U8):
        return _rows_of_bytes(instr, arch)
    name, step = instr.op.uops[arch.isa], _STEPS[instr.op.name]
    wide = I32 if step == "VADD" and src.dtype is I16 else src.dtype
    lanes = arch.vector.width_bytes // src.dtype.itemsize
    on = Tail(src.valid_cols, lanes)
    body = (
        load("v1", src, (src.row_bytes, arch.vector.width_bytes), lanes),
        VregUop(name, form(src.dtype), ("v2",), ("v1",), src.dtype, to=wide, pred=on),
        op(step, wide, "v0", "v0", "v2"),
    )
    first = op("VBR", wide, "v0", scalar=neutral(step, wide))
    last = [store_point(tile(instr, "dst"), "v0")]
    if wide is not src.dtype:
        last = [cvt("v3", "v0", wide, src.dtype, "wrap"), store_point(tile(instr, "dst"), "v3")]
    vectors = -(-src.valid_cols // lanes)
    return _of_rows(instr, (first, VregLoop(vectors, body, post_update=True), *last))


def _rows_of_bytes(instr: BoundInstr, arch: VregArch) -> Lowered:
    """Maximum or minimum of bytes: i8 in f16, u8 in u16."""
    src, dst = tile(instr, "src"), tile(instr, "dst")
    name, step = instr.op.uops[arch.isa], _STEPS[instr.op.name]
    wide, lanes, cols = F16 if src.dtype is I8 else U16, arch.vector.width_bytes, src.valid_cols
    half = lanes // 2
    parts = (("v2", "from_even", -(-cols // 2)), ("v3", "from_odd", cols // 2))
    body = (
        load("v1", src, (src.row_bytes, lanes), lanes),
        *(cvt(to, "v1", src.dtype, wide, word) for to, word, _ in parts),
        *(
            VregUop(name, form(wide), (v,), (v,), wide, pred=Tail(total, half))
            for v, _, total in parts
        ),
        op(step, wide, "v4", "v2", "v3"),
        op(step, wide, "v0", "v0", "v4"),
    )
    first = op("VBR", wide, "v0", scalar=neutral(step, wide))
    last = (cvt("v5", "v0", wide, src.dtype, "rint sat"), store_point(dst, "v5"))
    return _of_rows(instr, (first, VregLoop(-(-cols // lanes), body, True), *last))


def row_product(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst[r] = product of src[r, :]: vectors from left to right, then halves by halves.

    Masked lanes keep their product (a merging multiply).
    """
    src = tile(instr, "src")
    lanes = arch.vector.width_bytes // src.dtype.itemsize
    on = Tail(src.valid_cols, lanes)
    body = (
        load("v1", src, (src.row_bytes, arch.vector.width_bytes), lanes),
        replace(op("VMUL", src.dtype, "v0", "v0", "v1"), effect="merge", pred=on),
    )
    nodes: list[VregNode] = [
        op("VBR", src.dtype, "v0", scalar=1),
        VregLoop(-(-src.valid_cols // lanes), body, post_update=True),
    ]
    for _ in range(lanes.bit_length() - 1):
        kind = form(src.dtype)
        nodes.append(VregUop("VINTLV", kind, ("v2", "v3"), ("v0", "v0"), src.dtype))
        nodes.append(op("VMUL", src.dtype, "v0", "v2", "v3"))
    return _of_rows(instr, (*nodes, store_point(tile(instr, "dst"), "v0")))


def row_arg(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst[r] = column of the first greatest (least) lane of the row.

    Each vector gives a value and its index; the better of it and the best so far is selected, the
    first of equals stays. Indices of half lanes have 16 bits until they are stored.
    """
    src, dst = tile(instr, "src"), tile(instr, "dst")
    dtype = src.dtype
    lanes = arch.vector.width_bytes // dtype.itemsize
    greatest, kind = instr.op.name == "TROWARGMAX", form(dtype)
    index = U16 if dtype is F16 else dst.dtype
    name = instr.op.uops[arch.isa]
    found = VregUop(
        name, kind, ("v4",), ("v3",), dtype, effect="index", pred=Tail(src.valid_cols, lanes)
    )
    body = (
        load("v3", src, (src.row_bytes, arch.vector.width_bytes), lanes),
        found,
        VregUop("VDINTLV", kind, ("v5", "v6"), ("v4", "v4"), dtype),
        op("VADD", index, "v6", "v6", "v2"),
        VregUop("VCMP", kind, ("p0",), ("v0", "v5"), dtype, effect="ge" if greatest else "le"),
        op("VSEL", dtype, "v0", "p0", "v0", "v5"),
        op("VSEL", index, "v1", "p0", "v1", "v6"),
        op("VADDS", index, "v2", "v2", scalar=lanes),
    )
    start = neutral("VMAX" if greatest else "VMIN", dtype)
    first = (
        op("VBR", dtype, "v0", scalar=start),
        op("VBR", index, "v1", scalar=0),
        op("VBR", index, "v2", scalar=0),
    )
    last = [store_point(dst, "v1")]
    if index is not dst.dtype:
        last = [cvt("v7", "v1", index, dst.dtype, "from_even"), store_point(dst, "v7")]
    loop = VregLoop(-(-src.valid_cols // lanes), body, post_update=True)
    return _of_rows(instr, (*first, loop, *last))


def pair_sum(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst[r, c] = src[r, 2c] + src[r, 2c+1]: half a vector for each vector."""
    src, dst = tile(instr, "src"), tile(instr, "dst")
    width = arch.vector.width_bytes
    lanes = width // src.dtype.itemsize
    half = lanes // 2
    body = (
        load("v0", src, (src.row_bytes, width), lanes),
        VregUop(
            "VCPADD", form(src.dtype), ("v1",), ("v0",), src.dtype,
            pred=Tail(src.valid_cols, lanes),
        ),
        store(dst, "v1", (dst.row_bytes, width // 2), half, Tail(dst.valid_cols, half)),
    )  # fmt: skip
    inner = VregLoop(-(-src.valid_cols // lanes), body)
    function = VectorFunction((VregLoop(src.valid_rows, (inner,)),))
    return Lowered.over_tiles((function,), dst, [src])


def _of_rows(instr: BoundInstr, nodes: tuple[VregNode, ...]) -> Lowered:
    src, dst = tile(instr, "src"), tile(instr, "dst")
    read = (src.valid_region(),)
    written = column_region(dst, src.valid_rows)
    function = VectorFunction((VregLoop(src.valid_rows, nodes),))
    return Lowered((function,), read, (written,), read)


def column_region(dst: TileView, rows: int) -> Region:
    """One element of each row."""
    return replace(dst.valid_region(dst.dtype.itemsize), rows=rows)


FAMILIES: Families[VregArch] = {
    "pair_sum": pair_sum,
    "row_arg": row_arg,
    "row_product": row_product,
    "row_reduce": row_reduce,
}
