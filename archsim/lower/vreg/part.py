"""TPART* and TCONCAT on the vreg cores. No lowering is published: the sequences are assumed."""

from collections.abc import Sequence
from dataclasses import replace

from archsim.arch import VregArch
from archsim.isa.operands import BoundInstr, TileView
from archsim.isa.vreg import VectorFunction, VregLoop, VregNode, VregUop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import data_tiles, tile
from archsim.lower.sides import overlap, same_valid, sides
from archsim.lower.vreg.emit import Body, Spot, form, nest, path_of, walk


def part(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = src0 op src1 where both are valid, else the valid one.

    1. Both have the valid region of dst: as the plain instruction.
    2. One has fewer rows: a nest over its rows, then copies of the other's further rows.
    3. One has fewer columns: a copy of the other, a memory barrier, the operation on dst.
    4. One is empty: a copy of the other.
    """
    dst, *srcs = data_tiles(instr)
    lanes = arch.vector.width_bytes // dst.dtype.itemsize
    whole, small = sides(dst, srcs)
    name, rows, cols = instr.op.uops[arch.isa], *overlap(small)

    def operation(first: TileView, second: TileView) -> Body:
        return lambda spot: (
            spot.load("v0", first),
            spot.load("v1", second),
            spot.op(name, "v2", "v0", "v1", dtype=dst.dtype),
            spot.store(dst, "v2"),
        )

    if same_valid(small, dst):
        path = path_of(instr, [dst, *srcs])
        function = walk(path, rows, cols, lanes, operation(*srcs))  # 1
        return Lowered.over_tiles((function,), dst, srcs)
    nodes: list[VregNode] = []
    if rows and cols == dst.valid_cols:
        nodes.append(nest(rows, cols, lanes, operation(*srcs)))  # 2
        nodes += _copy(dst, whole, rows, lanes)
    else:
        nodes += _copy(dst, whole, 0, lanes)  # 3, 4
        if rows:
            onto = [dst if src is whole else src for src in srcs]
            barrier = [_barrier(dst)] if nodes else []
            nodes += [*barrier, nest(rows, cols, lanes, operation(*onto))]
    functions = (VectorFunction(tuple(nodes)),) if nodes else ()
    return Lowered.over_tiles(functions, dst, srcs if rows else [whole])


def part_arg(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = src0 where src0 >= src1 (<=), else src1, and the indices of whichever it is.

    As `part`, on values and indices alike, 64 lanes an iteration; halves are spread to the lanes
    of their indices by the load.
    """
    dst, index, src0, src1, index0, index1 = data_tiles(instr)
    lanes = arch.vector.width_bytes // index.dtype.itemsize
    whole, small = sides(dst, [src0, src1])
    whole_index = index0 if whole is src0 else index1
    rows, cols = overlap(small)
    values, indices = [src0, src1], [index0, index1]
    mode = "ge" if instr.op.name == "TPARTARGMAX" else "le"
    narrows = 0 < cols < dst.valid_cols
    if narrows:
        values = [dst if src is whole else src for src in values]
        indices = [index if src is whole_index else src for src in indices]
    first = rows if cols == dst.valid_cols else 0
    value_lanes = arch.vector.width_bytes // dst.dtype.itemsize
    copies: list[VregNode] = [
        *_copy(dst, whole, first, value_lanes),
        *_copy(index, whole_index, first, lanes),
    ]
    nodes = copies if narrows or not rows else []
    if rows:
        if nodes:
            nodes.append(_barrier(dst))
        nodes.append(nest(rows, cols, lanes, _selection(mode, dst, index, values, indices)))
        nodes += [] if narrows else copies
    read = [src0, src1, index0, index1] if rows else [whole, whole_index]
    functions = (VectorFunction(tuple(nodes)),) if nodes else ()
    lowered = Lowered.over_tiles(functions, dst, read)
    return replace(lowered, writes=(*lowered.writes, index.valid_region()))


def _selection(
    mode: str,
    dst: TileView,
    index: TileView,
    values: Sequence[TileView],
    indices: Sequence[TileView],
) -> Body:
    is_half = dst.dtype.itemsize < index.dtype.itemsize
    load, store = ("unpk", "pk") if is_half else ("norm", "norm")

    def body(spot: Spot) -> tuple[VregUop, ...]:
        return (
            spot.load("v0", values[0], dist=load),
            spot.load("v1", values[1], dist=load),
            spot.load("v2", indices[0]),
            spot.load("v3", indices[1]),
            spot.op("VCMP", "p0", "v0", "v1", dtype=dst.dtype, effect=mode),
            spot.op("VSEL", "v4", "p0", "v0", "v1", dtype=dst.dtype),
            spot.op("VSEL", "v5", "p0", "v2", "v3", dtype=index.dtype),
            spot.store(dst, "v4", dist=store),
            spot.store(index, "v5"),
        )

    return body


def concat(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst[r] = src0[r] and src1[r] behind each other.

    Two nests of loads and stores; where the columns of src0 are no whole blocks, the stores of
    src1 are those of unaligned streams (VSTUS).
    """
    dst, src0, src1 = (tile(instr, name) for name in ("dst", "src0", "src1"))
    lanes = arch.vector.width_bytes // dst.dtype.itemsize
    start = src0.valid_cols * dst.dtype.itemsize
    head = replace(dst, valid_cols=src0.valid_cols)
    behind = replace(dst, addr=dst.addr + start, valid_cols=src1.valid_cols)
    name = "VSTUS" if start % arch.memory.ub.alignment_bytes else "VSTS"
    nodes = (*_copy(head, src0, 0, lanes), *_copy(behind, src1, 0, lanes, name))
    functions = (VectorFunction(nodes),) if nodes else ()
    return Lowered.over_tiles(functions, dst, [src0, src1])


def _copy(
    dst: TileView, src: TileView, first: int, lanes: int, name: str = "VSTS"
) -> tuple[VregLoop, ...]:
    """dst = src from row `first` on; nothing where both are one tile."""
    in_place = (dst.addr, dst.row_bytes) == (src.addr, src.row_bytes)
    if in_place or dst.valid_rows == first or dst.valid_cols < 1:
        return ()
    to, source = (replace(t, addr=t.addr + first * t.row_bytes) for t in (dst, src))

    def body(spot: Spot) -> tuple[VregUop, ...]:
        return spot.load("v0", source), replace(spot.store(to, "v0"), op=name)

    return (nest(dst.valid_rows - first, dst.valid_cols, lanes, body),)


def _barrier(dst: TileView) -> VregUop:
    return VregUop("MEM_BAR", form(dst.dtype), (), (), dst.dtype, effect="vst_vld")


FAMILIES: Families[VregArch] = {
    "concat": concat,
    "part": part,
    "part_arg": part_arg,
}
