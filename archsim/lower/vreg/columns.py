"""Column reductions of the vreg cores: vectors of columns, row onto row or in pairs."""

from dataclasses import replace

from archsim.arch import VregArch
from archsim.base.dtypes import F16, U16
from archsim.isa.operands import BoundInstr, TileView
from archsim.isa.vreg import Tail, VectorFunction, VregLoop, VregNode, VregUop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import scratch, tile
from archsim.lower.vreg.accumulate import cvt, fence, load, load_row, neutral, op, store
from archsim.lower.vreg.emit import form

Steps = tuple[int, ...]


def col_reduce(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst[c] = src[0, c] op src[1, c] op ..., a vector of columns at a time.

    1. By default rows in pairs: acc = row 0, then acc op (row 2k+1 op row 2k+2), an odd row last.
    2. Without post-update: from the neutral value, row by row.
    """
    src, dst = tile(instr, "src"), tile(instr, "dst")
    name, dtype, rows = instr.op.uops[arch.isa], src.dtype, src.valid_rows
    width = arch.vector.width_bytes
    lanes = width // dtype.itemsize
    if "NO_POST" in instr.attrs.get("vf_impl", ""):
        body = (load_row("v1", src, 0, 1, width), op(name, dtype, "v0", "v0", "v1"))  # 2
        start = op("VBR", dtype, "v0", scalar=neutral(name, dtype))
        nodes: tuple[VregNode, ...] = (start, VregLoop(rows, body))
    else:
        pair = (
            load_row("v1", src, 1, 2, width),
            load_row("v2", src, 2, 2, width),
            op(name, dtype, "v3", "v1", "v2"),
            op(name, dtype, "v0", "v0", "v3"),
        )
        nodes = (load_row("v0", src, 0, 0, width, looped=False),)  # 1
        if rows > 2:
            nodes += (VregLoop((rows - 1) // 2, pair, post_update=True),)
        if rows % 2 == 0:
            last = load_row("v1", src, rows - 1, 0, width, looped=False)
            nodes += (last, op(name, dtype, "v0", "v0", "v1"))
    on = Tail(src.valid_cols, lanes)
    stored = store(dst, "v0", (width,), lanes, on)
    loop = VregLoop(-(-src.valid_cols // lanes), (*nodes, stored))
    return _of_columns(instr, (loop,))


def col_sum(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst[c] = sum of src[:, c]: as `col_reduce`, or with binary=true in pairs of rows through tmp.

    In pairs: rows 2i and 2i+1 to row i of tmp, an odd last row onto the last of those, and again
    until one is left; a memory barrier behind every level. tmp keeps partial sums.
    """
    src, dst = tile(instr, "src"), tile(instr, "dst")
    if instr.attrs.get("binary") != "true":
        return col_reduce(instr, arch)
    width = arch.vector.width_bytes
    nodes: list[VregNode] = []
    level, rows = src, src.valid_rows
    used = 0
    while rows > 1:
        tmp = scratch(instr)
        nodes += _pairs(level, tmp, rows, src, width)
        level, rows = replace(tmp, dtype=src.dtype), rows // 2
        used = max(used, rows)
        nodes.append(fence(src.dtype))
    lanes = width // src.dtype.itemsize
    on = Tail(src.valid_cols, lanes)
    copy = (
        load("v0", level, (width,), lanes),
        store(dst, "v0", (width,), lanes, on),
    )
    nodes.append(VregLoop(-(-src.valid_cols // lanes), copy))
    lowered = _of_columns(instr, tuple(nodes))
    if not used:
        return lowered
    size = src.valid_cols * src.dtype.itemsize
    held = replace(scratch(instr).valid_region(size), rows=used)
    return replace(lowered, writes=(*lowered.writes, held))


def _pairs(level: TileView, tmp: TileView, rows: int, src: TileView, width: int) -> list[VregNode]:
    """One level of the tree: `rows` rows of `level` to half as many rows of `tmp`."""
    dtype, cols = src.dtype, src.valid_cols
    lanes = width // dtype.itemsize
    vectors, on = -(-cols // lanes), Tail(cols, lanes)
    pitch = level.row_bytes

    def at(row: int) -> TileView:
        return replace(level, addr=level.addr + row * pitch, dtype=dtype)

    def body(
        first: TileView, second: TileView, to: TileView, read: Steps, write: Steps
    ) -> VregLoop:
        added = (
            load("v0", first, read, lanes),
            load("v1", second, read, lanes),
            op("VADD", dtype, "v2", "v0", "v1"),
            store(to, "v2", write, lanes, on),
        )
        return VregLoop(vectors, added)

    target = replace(tmp, dtype=dtype)
    inner = body(at(0), at(1), target, (2 * pitch, width), (tmp.row_bytes, width))
    nodes: list[VregNode] = [VregLoop(rows // 2, (inner,))]
    if rows % 2:
        last = replace(target, addr=tmp.addr + (rows // 2 - 1) * tmp.row_bytes)
        nodes += [fence(dtype), body(last, at(rows - 1), last, (width,), (width,))]
    return nodes


def col_arg(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst[c] = row of the first greatest (least) element of column c. The sequence is assumed.

    A vector of columns at a time: the better of the next row and the best so far, and the number of
    its row. Row numbers of half lanes have 16 bits until they are stored.
    """
    src, dst = tile(instr, "src"), tile(instr, "dst")
    dtype, width, rows, cols = src.dtype, arch.vector.width_bytes, src.valid_rows, src.valid_cols
    lanes, kind = width // dtype.itemsize, form(dtype)
    index = U16 if dtype is F16 else dst.dtype
    mode = "ge" if instr.op.name == "TCOLARGMAX" else "le"
    body = (
        load_row("v3", src, 1, 1, width),
        VregUop("VCMP", kind, ("p0",), ("v0", "v3"), dtype, effect=mode),
        op("VSEL", dtype, "v0", "p0", "v0", "v3"),
        op("VADDS", index, "v2", "v2", scalar=1),
        op("VSEL", index, "v1", "p0", "v1", "v2"),
    )
    nodes: list[VregNode] = [
        load_row("v0", src, 0, 0, width, looped=False),
        op("VBR", index, "v1", scalar=0),
        op("VBR", index, "v2", scalar=0),
    ]
    if rows > 1:
        nodes.append(VregLoop(rows - 1, body, post_update=True))
    if index is dst.dtype:
        nodes.append(store(dst, "v1", (width,), lanes, Tail(cols, lanes)))
    else:
        nodes += _widened_store(dst, cols, lanes)
    return _of_columns(instr, (VregLoop(-(-cols // lanes), tuple(nodes)),))


def _widened_store(dst: TileView, cols: int, lanes: int) -> list[VregNode]:
    """v1, `lanes` numbers of 16 bits, as two vectors of 32 bits."""
    half, size = lanes // 2, dst.dtype.itemsize
    nodes: list[VregNode] = [
        cvt("v4", "v1", U16, dst.dtype, "from_even"),
        cvt("v5", "v1", U16, dst.dtype, "from_odd"),
        VregUop("VINTLV", form(dst.dtype), ("v6", "v7"), ("v4", "v5"), dst.dtype),
    ]
    for k, register in enumerate(("v6", "v7")):
        on = Tail(cols, half, offset=k * half, stride=lanes)
        part = replace(dst, addr=dst.addr + k * half * size)
        nodes.append(store(part, register, (lanes * size,), half, on))
    return nodes


def _of_columns(instr: BoundInstr, nodes: tuple[VregNode, ...]) -> Lowered:
    src, dst = tile(instr, "src"), tile(instr, "dst")
    read = (src.valid_region(),)
    return Lowered((VectorFunction(nodes),), read, (replace(dst.valid_region(), rows=1),), read)


FAMILIES: Families[VregArch] = {
    "col_arg": col_arg,
    "col_reduce": col_reduce,
    "col_sum": col_sum,
}
