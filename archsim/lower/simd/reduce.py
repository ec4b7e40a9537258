"""Row reductions of the simd cores. Terms: E lanes a repeat, B elements a block, vr, vc valid."""

from collections.abc import Iterator
from dataclasses import replace

from archsim.arch import SimdArch
from archsim.base.dtypes import DType
from archsim.isa.operands import MEMORY, BoundInstr, Region, TileView
from archsim.isa.reductions import BLOCK_TREE_BYTES, by_blocks
from archsim.isa.simd import FULL, Access, Mask, RowLoop, SimdItem, SimdUop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import scratch, tile
from archsim.lower.simd.down import FLAGS, At, Down
from archsim.lower.simd.emit import BARRIER, COUNT, NORM, SET_MASK, Item, chunks, fenced, pack

_TREE_WIDTH = 256  # bytes of a repeat that the trees of blocks are made for
_COMBINE = {"TROWSUM": "vadd", "TROWMAX": "vmax", "TROWMIN": "vmin", "TROWPROD": "vmul"}


def row_reduce(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst[r] = src[r, 0] op src[r, 1] op ..., in the order that the shape decides.

    1. Integers: block by block, then the scalar unit (`_by_scalar_unit`).
    2. Exact static f32 shapes into a column, repeats of 256 bytes: a tree of blocks in tmp.
    3. vc == E: one counted reduction. 4. vc < E: masked ones, 255 rows each.
    5. E < vc < 2E: the first repeat copied to tmp, the rest combined with it, then reduced.
    6. vc >= 2E: repeats combined in tmp (`_pairwise` for sums, `_in_turn`), then reduced.
    """
    src, dst, tmp = tile(instr, "src"), tile(instr, "dst"), scratch(instr)
    if not src.dtype.is_float:
        return _by_scalar_unit(instr, arch)  # 1
    if by_blocks(src, dst) and arch.vector.width_bytes == _TREE_WIDTH:
        items: list[Item] = list(_block_tree(instr, arch))  # 2
        return _lowered(items, src, dst, (_bytes(tmp, BLOCK_TREE_BYTES),))
    name = instr.op.uops[arch.isa]
    rows, cols, dtype = src.valid_rows, src.valid_cols, src.dtype
    lanes = arch.vector.width_bytes // dtype.itemsize
    whole, rest = divmod(cols, lanes)
    source, partial_ = At.of(src), At.of(tmp, dtype)
    into = At.of(dst, lanes=1)
    if cols < lanes:
        items = list(Down(name, dtype, into, (source,), arch).part(rows, cols, fenced=True))  # 4
        return _lowered(items, src, dst)
    if cols == lanes:
        items = [*Down(name, dtype, into, (source,), arch).whole(rows), BARRIER]  # 3
        return _lowered(items, src, dst)
    step = _COMBINE[instr.op.name]
    if whole == 1:
        items = [_copy(source, partial_, rows, arch), BARRIER]  # 5
        items += _onto(step, partial_, source.right(lanes), rows, rest, arch)
    else:
        combine = _pairwise if step == "vadd" else _in_turn
        items = list(combine(step, partial_, source, rows, (whole, rest), arch))  # 6
    items += [*Down(name, dtype, into, (partial_,), arch).whole(rows), BARRIER]
    width = (max(1, whole // 2) if step == "vadd" else 1) * arch.vector.width_bytes
    used = replace(tmp.valid_region(width), rows=rows)
    return _lowered(items, src, dst, (used,))


def _onto(
    step: str, partial_: At, source: At, rows: int, cols: int, arch: SimdArch
) -> Iterator[Item]:
    """partial op= source: whole repeats where `cols` is 0, else masked ones; a barrier behind."""
    down = Down(step, source.dtype, partial_, (partial_, source), arch)
    yield from down.part(rows, cols) if cols else down.whole(rows)
    yield BARRIER


def _in_turn(
    step: str, into: At, source: At, rows: int, repeats: tuple[int, int], arch: SimdArch
) -> Iterator[Item]:
    """Repeats 0 and 1, the masked rest, then every further repeat."""
    whole, rest = repeats
    lanes = arch.vector.width_bytes // source.dtype.itemsize
    parts = [source.right(k * lanes) for k in range(whole + 1)]
    yield from Down(step, source.dtype, into, (parts[0], parts[1]), arch).whole(rows)
    yield BARRIER
    if rest:
        yield from _onto(step, into, parts[whole], rows, rest, arch)
    for part in parts[2:whole]:
        yield from _onto(step, into, part, rows, 0, arch)


def _pairwise(
    step: str, into: At, source: At, rows: int, repeats: tuple[int, int], arch: SimdArch
) -> Iterator[Item]:
    """Group i = repeat 2i + repeat 2i+1; an odd last repeat and the masked rest onto group 0; then
    pairs of groups, an odd last one onto the last pair, until group 0 is all."""
    whole, rest = repeats
    lanes = arch.vector.width_bytes // source.dtype.itemsize
    parts = [source.right(k * lanes) for k in range(whole + 1)]
    groups = [into.right(k * lanes) for k in range(whole // 2)]
    for i, group in enumerate(groups):
        yield from Down(step, source.dtype, group, (parts[2 * i], parts[2 * i + 1]), arch).whole(
            rows
        )
        yield BARRIER
    if whole % 2:
        yield from _onto(step, groups[0], parts[whole - 1], rows, 0, arch)
    if rest:
        yield from _onto(step, groups[0], parts[whole], rows, rest, arch)
    count = len(groups)
    while count > 1:
        for i in range(count // 2):
            pair = (groups[2 * i], groups[2 * i + 1])
            yield from Down(step, source.dtype, groups[i], pair, arch).whole(rows)
            yield BARRIER
        if count % 2:
            yield from _onto(step, groups[count // 2 - 1], groups[count - 1], rows, 0, arch)
        count //= 2


def _copy(source: At, into: At, rows: int, arch: SimdArch) -> RowLoop:
    """The first repeat of every row, in blocks."""
    lanes = arch.vector.block_bytes // source.dtype.itemsize
    sides = (
        Access(at.addr, at.dtype, repeat_stride=32, row_stride=at.pitch) for at in (into, source)
    )
    dst, src = sides
    blocks = arch.vector.width_bytes // arch.vector.block_bytes
    copy = SimdUop("copy_ubuf_to_ubuf", source.dtype, lanes, blocks, FULL, dst, (src,))
    return RowLoop(rows, (copy,))


def _block_tree(instr: BoundInstr, arch: SimdArch) -> Iterator[Item]:
    """Blocks to elements, neighbouring blocks combined, until one block a row is left.

    `vcg` makes an element of each block of a repeat; `pair` combines blocks 2i and 2i+1. All f32.
    """
    src, dst, tmp = tile(instr, "src"), tile(instr, "dst"), scratch(instr)
    dtype, rows = src.dtype, src.rows
    group = instr.op.uops[arch.isa].replace("vc", "vcg")
    step = _COMBINE[instr.op.name]
    lanes = arch.vector.width_bytes // dtype.itemsize

    def vcg(to: int, source: int, repeat: int) -> tuple[SimdItem, ...]:
        into = Access(to, dtype, repeat_stride=32, lanes=8)
        uop = SimdUop(group, dtype, lanes, repeat, FULL, into, (Access(source, dtype),))
        return fenced(uop)

    def pair(repeat: int) -> tuple[SimdItem, ...]:
        halves = tuple(Access(tmp.addr + k * 32, dtype, 64, 512) for k in (0, 1))
        return fenced(SimdUop(step, dtype, lanes, repeat, FULL, Access(tmp.addr, dtype), halves))

    yield from vcg(tmp.addr, src.addr, rows * src.cols // lanes)
    if src.cols >= 512:
        yield from vcg(tmp.addr, tmp.addr, rows * src.cols // lanes // 8)
    for repeat in {128: (rows // 8,), 256: (rows // 4, rows // 8), 1024: (1,)}.get(src.cols, ()):
        yield from pair(repeat)
    yield from vcg(dst.addr, tmp.addr, rows // 8)


def _by_scalar_unit(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """Row by row: a block of neutral values, every block of the row onto it, then its lanes by the
    scalar unit, between flags. In count mode, a barrier behind each micro-op."""
    src, dst, tmp = tile(instr, "src"), tile(instr, "dst"), scratch(instr)
    step, dtype, cols = _COMBINE[instr.op.name], src.dtype, src.valid_cols
    block = arch.vector.block_bytes // dtype.itemsize
    lanes = arch.vector.width_bytes // dtype.itemsize
    held = Access(tmp.addr, dtype)

    def count(name: str, size: int, *srcs: Access, scalar: float | None = None) -> SimdUop:
        mask = Mask("count", size)
        return SimdUop(name, dtype, lanes, 1, mask, held, srcs, scalar, argument=1)

    body: list[SimdItem] = [
        SET_MASK,
        *fenced(count("vector_dup", block, scalar=_start(step, dtype))),
    ]
    for col, size in chunks(cols, block):
        source = Access(src.addr + col * dtype.itemsize, dtype, row_stride=src.row_bytes)
        if size < block:
            body.append(SET_MASK)
        body += fenced(count(step, size, held, source))
    into = Access(dst.addr, dtype, row_stride=dst.row_bytes, lanes=1)
    fold = f"scalar_fold_{step[1:]}"
    body += [*FLAGS, SimdUop(fold, dtype, block, 1, FULL, into, (held,)), *FLAGS]
    items: list[Item] = [COUNT[0], RowLoop(src.valid_rows, tuple(body)), *NORM]
    return _lowered(items, src, dst, (_bytes(tmp, arch.vector.block_bytes),))


def _start(step: str, dtype: DType) -> int | float:
    """What changes nothing."""
    half = 1 << dtype.bits - 1
    return {"vadd": 0, "vmul": 1, "vmax": -half, "vmin": half - 1}[step]


def row_arg(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst[r] = column of the first greatest (least) lane. The sequence is assumed.

    Every repeat of every row to a value and an index in tmp, down the rows; then the scalar unit
    goes over those of each row, between flags.
    """
    src, dst, tmp = tile(instr, "src"), tile(instr, "dst"), scratch(instr)
    name, dtype, rows = instr.op.uops[arch.isa], src.dtype, src.valid_rows
    lanes = arch.vector.width_bytes // dtype.itemsize
    repeats = -(-src.valid_cols // lanes)
    items: list[Item] = []
    for k in range(repeats):
        pair = replace(At.of(tmp, dtype, lanes=2).right(2 * k))
        down = Down(name, dtype, pair, (At.of(src).right(k * lanes),), arch, effect="index")
        left = src.valid_cols - k * lanes
        items += down.groups(rows, FULL) if left >= lanes else down.part(rows, left)
    found = Access(tmp.addr, dtype, row_stride=tmp.row_bytes, lanes=2 * repeats)
    into = Access(dst.addr, dst.dtype, row_stride=dst.row_bytes, lanes=1)
    pick = SimdUop(
        f"scalar_pick_{name[2:]}", dtype, 2 * repeats, 1, FULL, into, (found,), scalar=lanes
    )
    items += [*FLAGS, RowLoop(rows, (pick,)), *FLAGS]
    used = replace(tmp.valid_region(2 * repeats * dtype.itemsize), rows=rows)
    return _lowered(items, src, dst, (used,))


def pair_sum(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst[r, c] = src[r, 2c] + src[r, 2c+1], down the rows. The sequence is assumed."""
    src, dst = tile(instr, "src"), tile(instr, "dst")
    name, rows = instr.op.uops[arch.isa], src.valid_rows
    lanes = arch.vector.width_bytes // src.dtype.itemsize
    items: list[Item] = []
    for col, size in chunks(src.valid_cols, lanes):
        into = At.of(dst, lanes=size // 2).right(col // 2)
        down = Down(name, src.dtype, into, (At.of(src).right(col),), arch)
        items += down.groups(rows, FULL) if size == lanes else down.part(rows, size)
    return Lowered.over_tiles(pack(items), dst, [src])


def _lowered(
    items: list[Item], src: TileView, dst: TileView, used: tuple[Region, ...] = ()
) -> Lowered:
    """Reads the valid region of src, writes one element a row, and scratch."""
    read = (src.valid_region(),)
    written = replace(dst.valid_region(dst.dtype.itemsize), rows=src.valid_rows)
    return Lowered(pack(items), read, (written, *used), read)


def _bytes(tmp: TileView, size: int) -> Region:
    return Region(MEMORY[tmp.loc], tmp.addr, 1, size, size)


FAMILIES: Families[SimdArch] = {
    "pair_sum": pair_sum,
    "row_arg": row_arg,
    "row_product": _by_scalar_unit,
    "row_reduce": row_reduce,
}
