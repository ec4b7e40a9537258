"""Elementwise instructions of the simd cores: two tiles, tile and scalar, one tile, a scalar.

The library picks among several walks by shape; which one decides the time. Every function names
its conditions in the order in which they are tried. Terms: E lanes a repeat; Rows, Cols the
declared shape, vr, vc the valid one; q = Cols // E; "full": static valid columns fill the tile.
"""

from collections.abc import Iterator, Sequence

from archsim.arch import SimdArch
from archsim.base.dtypes import U16
from archsim.isa.operands import BoundInstr, Region, TileView
from archsim.lower.lowered import Families, Lowered
from archsim.lower.notes import Notes, departs, ignored
from archsim.lower.operands import data_tiles, negated, number, output
from archsim.lower.simd.emit import BARRIER, Item, Plane, Stream, pack
from archsim.lower.simd.walks import Walk


def binary(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = src0 op src1, elementwise, by the walks of `binary_items`."""
    dst, *srcs = data_tiles(instr)
    items, notes = binary_items(instr, instr.op.uops[arch.isa], arch)
    return Lowered.over_tiles(pack(items), dst, srcs, notes)


def accumulate(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = op(dst, src0, src1), elementwise: as `binary`, with dst the first of three sources."""
    dst, *srcs = data_tiles(instr)
    items, notes = binary_over(instr, instr.op.uops[arch.isa], dst, [dst, *srcs], arch)
    return Lowered.over_tiles(pack(items), dst, [dst, *srcs], notes)


def binary_then(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = (src0 op src1) op src2: two of `binary`, a barrier between them.

    That the library has no micro-op for both is assumed. dst holds the first result on the way.
    """
    dst, src0, src1, src2 = data_tiles(instr)
    first, then = instr.op.uops[arch.isa].split()
    items, notes = binary_over(instr, first, dst, [src0, src1], arch)
    more, _ = binary_over(instr, then, dst, [dst, src2], arch)
    return Lowered.over_tiles(pack([*items, BARRIER, *more]), dst, [src0, src1, src2], notes)


def binary_items(instr: BoundInstr, name: str, arch: SimdArch) -> tuple[list[Item], Notes]:
    """The micro-ops `name` over dst, src0 and src1 by `binary_over`, and what there is to say."""
    dst, *srcs = data_tiles(instr)
    return binary_over(instr, name, dst, srcs, arch)


def binary_over(
    instr: BoundInstr, name: str, dst: TileView, srcs: Sequence[TileView], arch: SimdArch
) -> tuple[list[Item], Notes]:
    """The micro-ops `name` over tiles of one valid shape, and what there is to say about them.

    1. One row pitch, Rows <= 255 and Cols < E: one masked micro-op down the rows.
    2. One row pitch, and full or Rows == 1: flat; counted where rows end inside a repeat or more
       than 255 repeats are declared.
    3. One row pitch, and vc == Cols or vr == 1 at run time: as 2, by the valid shape.
    4. One row pitch otherwise: `_strided`.
    5. Row pitches that differ: whole repeats row by row, then the rest down the rows.
    """
    walk = _walk(Stream.over(name, dst, srcs, arch), dst, arch)
    if any(src.row_bytes != dst.row_bytes for src in srcs):
        return list(walk.rows_then_tail()), ()  # 5
    if dst.rows <= walk.repeat_max and dst.cols < walk.stream.lanes and walk.strides_fit:
        return list(walk.narrow()), ()  # 1
    if _is_full(dst) or dst.rows == 1:
        return list(_contiguous(walk, dst.rows, dst.cols)), ()  # 2
    if _fills_rows(dst) or dst.valid_rows == 1:
        return list(_contiguous(walk, dst.valid_rows, dst.valid_cols)), ()  # 3
    return _strided(instr, walk, (dst,), arch)  # 4


def scalar(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = src op scalar, elementwise, by the walks of `scalar_over`."""
    return _with_number(instr, number(instr, "scalar"), arch)


def sub_scalar(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = src - scalar: the micro-op adds the negated scalar."""
    return _with_number(instr, negated(number(instr, "scalar"), output(instr).dtype), arch)


def negate(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = src * -1."""
    return _with_number(instr, -1, arch)


def _with_number(instr: BoundInstr, value: int | float, arch: SimdArch) -> Lowered:
    dst, src = data_tiles(instr)
    items, notes = scalar_over(instr, instr.op.uops[arch.isa], dst, [src], value, arch)
    return Lowered.over_tiles(pack(items), dst, [src], notes)


def scalar_then(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = (src0 op scalar) op src1: as `scalar`, then as `binary`, a barrier between them.

    That the library has no micro-op for both is assumed. dst holds the first result on the way.
    """
    return _scalar_then(instr, number(instr, "scalar"), arch)


def sub_scalar_then(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = (src0 - scalar) op src1, as `scalar_then` with the negated scalar."""
    return _scalar_then(instr, negated(number(instr, "scalar"), output(instr).dtype), arch)


def _scalar_then(instr: BoundInstr, value: int | float, arch: SimdArch) -> Lowered:
    dst, src0, src1 = data_tiles(instr)
    first, then = instr.op.uops[arch.isa].split()
    items, notes = scalar_over(instr, first, dst, [src0], value, arch)
    more, others = binary_over(instr, then, dst, [dst, src1], arch)
    return Lowered.over_tiles(pack([*items, BARRIER, *more]), dst, [src0, src1], notes or others)


def scalar_over(
    instr: BoundInstr,
    name: str,
    dst: TileView,
    srcs: Sequence[TileView],
    value: int | float,
    arch: SimdArch,
) -> tuple[list[Item], Notes]:
    """The micro-ops `name` over tiles and a number, and what there is to say about them.

    1. Both tiles full, or Rows == 1 in both: flat; counted where rows end inside a repeat or more
       than 255 repeats are declared. A tile whose valid columns are dynamic is never full.
    2. Otherwise `_strided`.
    """
    walk = _walk(Stream.over(name, dst, srcs, arch, scalar=value), dst, arch)
    if _are_contiguous(dst, srcs[0]):
        return list(_contiguous(walk, dst.rows, dst.cols)), ()  # 1
    return _strided(instr, walk, (dst, srcs[0]), arch)  # 2


def unary(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = op src, elementwise, by the walks of `unary_over`."""
    dst, src = data_tiles(instr)
    items, notes = unary_over(instr, instr.op.uops[arch.isa], dst, src, arch)
    if instr.attrs.get("precision") == "high":
        notes += ignored(instr, "precision=high", arch)
    return Lowered.over_tiles(pack(items), dst, [src], notes)


def unary_over(
    instr: BoundInstr, name: str, dst: TileView, src: TileView, arch: SimdArch
) -> tuple[list[Item], Notes]:
    """The micro-ops `name` over dst and src, and what there is to say about them.

    1. Both tiles full, or Rows == 1 in both: flat, counted where more than 255 repeats are
       declared. Rows may end inside a repeat.
    2. Equal declared shapes, and vc == Cols or vr == 1 at run time: as 1, by the valid shape.
    3. Otherwise `_strided`.
    """
    walk = _walk(Stream.over(name, dst, [src], arch), dst, arch)
    same_shape = (dst.rows, dst.cols, dst.row_stride) == (src.rows, src.cols, src.row_stride)
    if _are_contiguous(dst, src):
        return list(_contiguous(walk, dst.rows, dst.cols, may_be_ragged=True)), ()  # 1
    if same_shape and (_fills_rows(dst) or dst.valid_rows == 1):
        rows, cols = dst.valid_rows, dst.valid_cols
        return list(_contiguous(walk, rows, cols, may_be_ragged=True)), ()  # 2
    return _strided(instr, walk, (dst,), arch)  # 3


def expands(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = scalar in the valid region, by the walks of `expand_over`."""
    dst = output(instr)
    items, notes, written = expand_over(instr, dst, number(instr, "scalar"), arch)
    return Lowered(pack(items), writes=(written,), notes=notes)


def expand_over(
    instr: BoundInstr, dst: TileView, value: int | float, arch: SimdArch
) -> tuple[list[Item], Notes, Region]:
    """The micro-ops that fill a tile with a number, what there is to say, and the bytes written.

    In count mode. Single bytes are duplicated in pairs.
    1. Full, one row declared or one row valid: all lanes at once.
    2. Otherwise row by row. For a static, partly valid tile the library takes path 1 all the same
       and fills consecutive lanes; the documented meaning is kept here, with a warning.
    """
    dtype, cols = dst.dtype, dst.valid_cols
    if dtype.itemsize == 1:
        value, dtype, cols = (int(value) & 0xFF) * 0x0101, U16, -(-cols // 2)
    lanes = arch.vector.width_bytes // dtype.itemsize
    stream = Stream("vector_dup", dtype, lanes, Plane.of(dst, dtype), scalar=value)
    walk = Walk.over(stream, dst.valid_rows, cols, arch)
    one_run = _is_full(dst) or dst.rows == 1 or dst.valid_rows == 1
    notes: Notes = ()
    if not one_run and dst.static_cols:
        notes = departs(
            instr,
            f"{instr.op.mnemonic} fills {dst.valid_rows * dst.valid_cols} consecutive elements of"
            f" a static {dst.rows}x{dst.cols} tile on {arch.isa}, not its valid"
            f" {dst.valid_rows}x{dst.valid_cols} region: a fault of the device library; the valid"
            " region is simulated",
            "make the valid columns dynamic, or use a tile of just that size",
        )
    items = walk.count() if one_run else walk.count_rows()
    return list(items), notes, dst.valid_region(cols * dtype.itemsize)


def _walk(stream: Stream, dst: TileView, arch: SimdArch) -> Walk:
    return Walk.over(stream, dst.valid_rows, dst.valid_cols, arch)


def _contiguous(walk: Walk, rows: int, cols: int, *, may_be_ragged: bool = False) -> Iterator[Item]:
    """Flat, or counted where `rows` x `cols` take more than 255 repeats or end inside one."""
    lanes = walk.stream.lanes
    ragged = cols > lanes and cols % lanes != 0 and not may_be_ragged
    too_many = -(-rows * cols // lanes) > walk.repeat_max
    return walk.count() if ragged or too_many else walk.flat()


def _strided(
    instr: BoundInstr, walk: Walk, shapes: Sequence[TileView], arch: SimdArch
) -> tuple[list[Item], Notes]:
    """Rows that do not follow each other.

    1. q > 1 and Rows * q < 4: row by row in count mode.
    2. Rows < q + 1: row by row, in count mode where vc ends inside a repeat.
    3. Rows <= 255 and row pitches within the repeat stride: down the columns.
    4. Otherwise whole repeats row by row, then the rest. For Rows <= E the library sends all of a
       row to the tail, whose mask covers one repeat only: simulated as documented, with a warning.
    Conditions 1 and 2 must hold for every tile of `shapes`, the destination first.
    """
    dst, lanes = shapes[0], walk.stream.lanes
    per_row = dst.cols // lanes
    if per_row > 1 and all(tile.rows * per_row < 4 for tile in shapes):
        return list(walk.count_rows()), ()  # 1
    if all(tile.rows < per_row + 1 for tile in shapes):
        items = walk.count_rows() if dst.valid_cols % lanes else walk.along_rows()
        return list(items), ()  # 2
    if dst.rows <= walk.repeat_max and walk.strides_fit:
        return list(walk.down_columns()), ()  # 3
    notes: Notes = ()
    if dst.rows <= lanes <= dst.valid_cols:
        notes = departs(
            instr,
            f"{instr.op.mnemonic} loses whole repeats of {dst.valid_cols} columns on {arch.isa}"
            f" where rows are more than {walk.stride_bytes_max} bytes apart and there are at most"
            f" {lanes} of them: a fault of the device library; the valid region is simulated",
            "split the tile by columns",
        )
    return list(walk.rows_then_tail()), notes  # 4


def _is_full(tile: TileView) -> bool:
    """Whether the tile's valid columns were known to fill its rows when it was compiled."""
    return tile.static_cols and _fills_rows(tile)


def _fills_rows(tile: TileView) -> bool:
    return tile.valid_cols == tile.cols == tile.row_stride


def _are_contiguous(dst: TileView, src: TileView) -> bool:
    return (_is_full(dst) and _is_full(src)) or dst.rows == src.rows == 1


FAMILIES: Families[SimdArch] = {
    "accumulate": accumulate,
    "binary": binary,
    "binary_then": binary_then,
    "expands": expands,
    "negate": negate,
    "scalar": scalar,
    "scalar_then": scalar_then,
    "sub_scalar": sub_scalar,
    "sub_scalar_then": sub_scalar_then,
    "unary": unary,
}
