"""Reductions of the vreg cores: a register of partial results, a loop that goes on adding to it."""

from collections.abc import Sequence
from dataclasses import replace

from archsim.arch import VregArch
from archsim.base.dtypes import F16, I8, I16, I32, U8, U16, DType
from archsim.isa.operands import BoundInstr, Region, TileView
from archsim.isa.vreg import Tail, VectorFunction, VregLoop, VregMem, VregNode, VregUop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import scratch, tile
from archsim.lower.vreg.emit import conversion_form, form

Steps = tuple[int, ...]
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
        _load("v1", src, (src.row_bytes, arch.vector.width_bytes), lanes),
        VregUop(name, form(src.dtype), ("v2",), ("v1",), src.dtype, to=wide, pred=on),
        _op(step, wide, "v0", "v0", "v2"),
    )
    first = _op("VBR", wide, "v0", scalar=_start(step, wide))
    last = [_point(tile(instr, "dst"), "v0")]
    if wide is not src.dtype:
        last = [_cvt("v3", "v0", wide, src.dtype, "wrap"), _point(tile(instr, "dst"), "v3")]
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
        _load("v1", src, (src.row_bytes, lanes), lanes),
        *(_cvt(to, "v1", src.dtype, wide, word) for to, word, _ in parts),
        *(
            VregUop(name, form(wide), (v,), (v,), wide, pred=Tail(total, half))
            for v, _, total in parts
        ),
        _op(step, wide, "v4", "v2", "v3"),
        _op(step, wide, "v0", "v0", "v4"),
    )
    first = _op("VBR", wide, "v0", scalar=_start(step, wide))
    last = (_cvt("v5", "v0", wide, src.dtype, "rint sat"), _point(dst, "v5"))
    return _of_rows(instr, (first, VregLoop(-(-cols // lanes), body, True), *last))


def row_product(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst[r] = product of src[r, :]: vectors from left to right, then halves by halves.

    Masked lanes keep their product (a merging multiply).
    """
    src = tile(instr, "src")
    lanes = arch.vector.width_bytes // src.dtype.itemsize
    on = Tail(src.valid_cols, lanes)
    body = (
        _load("v1", src, (src.row_bytes, arch.vector.width_bytes), lanes),
        replace(_op("VMUL", src.dtype, "v0", "v0", "v1"), effect="merge", pred=on),
    )
    nodes: list[VregNode] = [
        _op("VBR", src.dtype, "v0", scalar=1),
        VregLoop(-(-src.valid_cols // lanes), body, post_update=True),
    ]
    for _ in range(lanes.bit_length() - 1):
        kind = form(src.dtype)
        nodes.append(VregUop("VINTLV", kind, ("v2", "v3"), ("v0", "v0"), src.dtype))
        nodes.append(_op("VMUL", src.dtype, "v0", "v2", "v3"))
    return _of_rows(instr, (*nodes, _point(tile(instr, "dst"), "v0")))


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
        _load("v3", src, (src.row_bytes, arch.vector.width_bytes), lanes),
        found,
        VregUop("VDINTLV", kind, ("v5", "v6"), ("v4", "v4"), dtype),
        _op("VADD", index, "v6", "v6", "v2"),
        VregUop("VCMP", kind, ("p0",), ("v0", "v5"), dtype, effect="ge" if greatest else "le"),
        _op("VSEL", dtype, "v0", "p0", "v0", "v5"),
        _op("VSEL", index, "v1", "p0", "v1", "v6"),
        _op("VADDS", index, "v2", "v2", scalar=lanes),
    )
    start = _start("VMAX" if greatest else "VMIN", dtype)
    first = (
        _op("VBR", dtype, "v0", scalar=start),
        _op("VBR", index, "v1", scalar=0),
        _op("VBR", index, "v2", scalar=0),
    )
    last = [_point(dst, "v1")]
    if index is not dst.dtype:
        last = [_cvt("v7", "v1", index, dst.dtype, "from_even"), _point(dst, "v7")]
    loop = VregLoop(-(-src.valid_cols // lanes), body, post_update=True)
    return _of_rows(instr, (*first, loop, *last))


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
        body = (_row("v1", src, 0, 1, width), _op(name, dtype, "v0", "v0", "v1"))  # 2
        start = _op("VBR", dtype, "v0", scalar=_start(name, dtype))
        nodes: tuple[VregNode, ...] = (start, VregLoop(rows, body))
    else:
        pair = (
            _row("v1", src, 1, 2, width),
            _row("v2", src, 2, 2, width),
            _op(name, dtype, "v3", "v1", "v2"),
            _op(name, dtype, "v0", "v0", "v3"),
        )
        nodes = (_row("v0", src, 0, 0, width, looped=False),)  # 1
        if rows > 2:
            nodes += (VregLoop((rows - 1) // 2, pair, post_update=True),)
        if rows % 2 == 0:
            last = _row("v1", src, rows - 1, 0, width, looped=False)
            nodes += (last, _op(name, dtype, "v0", "v0", "v1"))
    on = Tail(src.valid_cols, lanes)
    store = _store(dst, "v0", (width,), lanes, on)
    loop = VregLoop(-(-src.valid_cols // lanes), (*nodes, store))
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
        nodes.append(_fence(src.dtype))
    lanes = width // src.dtype.itemsize
    on = Tail(src.valid_cols, lanes)
    copy = (
        _load("v0", level, (width,), lanes),
        _store(dst, "v0", (width,), lanes, on),
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
            _load("v0", first, read, lanes),
            _load("v1", second, read, lanes),
            _op("VADD", dtype, "v2", "v0", "v1"),
            _store(to, "v2", write, lanes, on),
        )
        return VregLoop(vectors, added)

    target = replace(tmp, dtype=dtype)
    inner = body(at(0), at(1), target, (2 * pitch, width), (tmp.row_bytes, width))
    nodes: list[VregNode] = [VregLoop(rows // 2, (inner,))]
    if rows % 2:
        last = replace(target, addr=tmp.addr + (rows // 2 - 1) * tmp.row_bytes)
        nodes += [_fence(dtype), body(last, at(rows - 1), last, (width,), (width,))]
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
        _row("v3", src, 1, 1, width),
        VregUop("VCMP", kind, ("p0",), ("v0", "v3"), dtype, effect=mode),
        _op("VSEL", dtype, "v0", "p0", "v0", "v3"),
        _op("VADDS", index, "v2", "v2", scalar=1),
        _op("VSEL", index, "v1", "p0", "v1", "v2"),
    )
    nodes: list[VregNode] = [
        _row("v0", src, 0, 0, width, looped=False),
        _op("VBR", index, "v1", scalar=0),
        _op("VBR", index, "v2", scalar=0),
    ]
    if rows > 1:
        nodes.append(VregLoop(rows - 1, body, post_update=True))
    if index is dst.dtype:
        nodes.append(_store(dst, "v1", (width,), lanes, Tail(cols, lanes)))
    else:
        nodes += _widened_store(dst, cols, lanes)
    return _of_columns(instr, (VregLoop(-(-cols // lanes), tuple(nodes)),))


def _widened_store(dst: TileView, cols: int, lanes: int) -> list[VregNode]:
    """v1, `lanes` numbers of 16 bits, as two vectors of 32 bits."""
    half, size = lanes // 2, dst.dtype.itemsize
    nodes: list[VregNode] = [
        _cvt("v4", "v1", U16, dst.dtype, "from_even"),
        _cvt("v5", "v1", U16, dst.dtype, "from_odd"),
        VregUop("VINTLV", form(dst.dtype), ("v6", "v7"), ("v4", "v5"), dst.dtype),
    ]
    for k, register in enumerate(("v6", "v7")):
        on = Tail(cols, half, offset=k * half, stride=lanes)
        part = replace(dst, addr=dst.addr + k * half * size)
        nodes.append(_store(part, register, (lanes * size,), half, on))
    return nodes


def pair_sum(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst[r, c] = src[r, 2c] + src[r, 2c+1]: half a vector for each vector."""
    src, dst = tile(instr, "src"), tile(instr, "dst")
    width = arch.vector.width_bytes
    lanes = width // src.dtype.itemsize
    half = lanes // 2
    body = (
        _load("v0", src, (src.row_bytes, width), lanes),
        VregUop(
            "VCPADD", form(src.dtype), ("v1",), ("v0",), src.dtype,
            pred=Tail(src.valid_cols, lanes),
        ),
        _store(dst, "v1", (dst.row_bytes, width // 2), half, Tail(dst.valid_cols, half)),
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


def _of_columns(instr: BoundInstr, nodes: tuple[VregNode, ...]) -> Lowered:
    src, dst = tile(instr, "src"), tile(instr, "dst")
    read = (src.valid_region(),)
    return Lowered((VectorFunction(nodes),), read, (replace(dst.valid_region(), rows=1),), read)


def _start(step: str, dtype: DType) -> int | float:
    """What changes nothing: 0, 1, the least or the greatest value."""
    if step in ("VADD", "VMUL"):
        return 0 if step == "VADD" else 1
    if dtype.is_float:
        return float("-inf") if step == "VMAX" else float("inf")
    half = 1 << dtype.bits - 1
    low, high = (-half, half - 1) if dtype.name[0] == "i" else (0, 2 * half - 1)
    return low if step == "VMAX" else high


def _op(name: str, dtype: DType, dst: str, *src: str, scalar: int | float | None = None) -> VregUop:
    return VregUop(name, form(dtype), (dst,), src, dtype, scalar=scalar)


def _cvt(dst: str, src: str, source: DType, to: DType, effect: str) -> VregUop:
    kind = conversion_form(source, to)
    return VregUop("VCVT", kind, (dst,), (src,), source, to=to, effect=effect)


def _load(register: str, src: TileView, steps: Sequence[int], lanes: int) -> VregUop:
    mem = VregMem(src.addr, tuple(steps), src.dtype, lanes)
    return VregUop("VLDS", form(src.dtype), (register,), (), src.dtype, mem)


def _row(
    register: str, src: TileView, row: int, step: int, width: int, *, looped: bool = True
) -> VregUop:
    """A vector of columns of `row`, `step` rows further in each iteration."""
    steps = (width, step * src.row_bytes) if looped else (width,)
    moved = replace(src, addr=src.addr + row * src.row_bytes)
    return _load(register, moved, steps, width // src.dtype.itemsize)


def _store(
    dst: TileView, register: str, steps: Sequence[int], lanes: int, on: Tail | None
) -> VregUop:
    mem = VregMem(dst.addr, tuple(steps), dst.dtype, lanes)
    return VregUop("VSTS", form(dst.dtype), (), (register,), dst.dtype, mem, pred=on)


def _point(dst: TileView, register: str) -> VregUop:
    """The lowest lane to the first element of a row."""
    mem = VregMem(dst.addr, (dst.row_bytes,), dst.dtype, 1, "onept")
    return VregUop("VSTS", form(dst.dtype), (), (register,), dst.dtype, mem)


def _fence(dtype: DType) -> VregUop:
    return VregUop("MEM_BAR", form(dtype), (), (), dtype, effect="vst_vld")


FAMILIES: Families[VregArch] = {
    "col_arg": col_arg,
    "col_reduce": col_reduce,
    "col_sum": col_sum,
    "pair_sum": pair_sum,
    "row_arg": row_arg,
    "row_product": row_product,
    "row_reduce": row_reduce,
}
