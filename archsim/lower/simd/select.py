"""Compare, select by mask, and TPRELU that is made of both, on the simd cores."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from archsim.arch import SimdArch
from archsim.base.dtypes import F16, F32, I16, I32, U16, U32
from archsim.isa.operands import MEMORY, BoundInstr, Region, TileView
from archsim.isa.simd import Control, RowLoop, SimdUop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.notes import Notes, departs
from archsim.lower.operands import data_tiles, number, output, scratch, tile
from archsim.lower.simd.elementwise import binary_items
from archsim.lower.simd.emit import (
    BARRIER,
    COUNT,
    NORM,
    SET_MASK,
    Item,
    Plane,
    Stream,
    chunks,
    pack,
)
from archsim.lower.simd.walks import Walk


def compare_scalar(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """Bit (r, c) of dst = src[r, c] <mode> scalar.

    `ne` is `eq` and an inversion of the whole rows of dst. Bits behind the valid columns, up to
    the end of the last repeat, compare what lies there.
    """
    src, mode = tile(instr, "src"), instr.attrs.get("mode", "eq")
    items = compare_items(output(instr), src, number(instr, "scalar"), mode, arch)
    return _compared(instr, items, (src,), arch)


def compare(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """Bit (r, c) of dst = src0[r, c] <mode> src1[r, c].

    As `compare_scalar`, but all pieces of a row before those of the next. `ne` is `eq` inverted.
    """
    dst, srcs = output(instr), (tile(instr, "src0"), tile(instr, "src1"))
    name = f"vcmpv_{_device_mode(srcs[0], instr.attrs.get('mode', 'eq'))}"
    lanes = arch.vector.width_bytes // srcs[0].dtype.itemsize
    planes = tuple(map(Plane.of, srcs))
    stream = Stream(name, srcs[0].dtype, lanes, Plane.mask(dst), planes)
    body = tuple(_mask_pieces(stream, srcs[0].valid_cols, arch))
    return _compared(instr, (*NORM, RowLoop(srcs[0].valid_rows, body)), srcs, arch)


def _compared(
    instr: BoundInstr, items: Iterable[Item], srcs: tuple[TileView, ...], arch: SimdArch
) -> Lowered:
    """A comparison, inverted where the core compares for equality instead of `ne`."""
    dst, src, mode = output(instr), srcs[0], instr.attrs.get("mode", "eq")
    items, written = list(items), _mask_region(dst, src, arch)
    if mode == "ne":
        items += [BARRIER, *_inversion(dst, src.valid_rows, arch)]
        written = dst.valid_region(dst.cols * dst.dtype.itemsize)
        written = replace(written, rows=src.valid_rows)
    read = tuple(src.valid_region() for src in srcs)
    return Lowered(pack(items), read, (written,), read, notes=_compare_notes(instr, src, mode))


def _device_mode(src: TileView, mode: str) -> str:
    """32-bit integers know equality only; `ne` is inverted behind it."""
    return "eq" if src.dtype is I32 or mode == "ne" else mode


def _mask_pieces(stream: Stream, cols: int, arch: SimdArch) -> Iterator[SimdUop]:
    """The whole repeats of a row, at most 240 a micro-op, the last ones past its end."""
    limit = min(arch.vector.compare_repeat_max, arch.vector.repeat_max)
    for start, size in chunks(-(-cols // stream.lanes), limit):
        yield stream.uop(size, col=start * stream.lanes, looped=True)


def compare_items(
    dst: TileView, src: TileView, value: int | float, mode: str, arch: SimdArch
) -> Iterator[Item]:
    """Whole repeats of every row, at most 240 each, packed behind each other in the row of dst.

    First the pieces of 240 repeats, row by row; then, in a second pass, what is left of each row.
    """
    name = f"vcmpvs_{_device_mode(src, mode)}"
    lanes = arch.vector.width_bytes // src.dtype.itemsize
    stream = Stream(name, src.dtype, lanes, Plane.mask(dst), (Plane.of(src),), scalar=value)
    pieces = list(_mask_pieces(stream, src.valid_cols, arch))
    has_rest = pieces[-1].repeat < min(arch.vector.compare_repeat_max, arch.vector.repeat_max)
    passes = (pieces[:-1], pieces[-1:]) if has_rest else (pieces, [])
    yield from NORM
    for body in passes:
        if body:
            yield RowLoop(src.valid_rows, tuple(body))


def select(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = src0 where the mask bit is 1, else src1; the address of each mask row goes through
    tmp."""
    dst, tmp = output(instr), scratch(instr)
    mask, *srcs = (tile(instr, name) for name in ("mask", "src0", "src1"))
    items = select_items(dst, mask, srcs[0], srcs[1], tmp.addr, arch)
    bits = replace(mask.valid_region(-(-dst.valid_cols // 8)), rows=dst.valid_rows)
    read = (bits, *(src.valid_region() for src in srcs))
    return Lowered(
        pack(items), read, (dst.valid_region(), _address_words(tmp, tmp.addr, dst)), read
    )


def select_scalar(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = src where the mask bit is 1, else scalar.

    The scalar unit leaves the scalar in tmp and the compare mask takes it from there; then one
    micro-op of count mode a row.
    """
    dst, tmp, mask, src = output(instr), scratch(instr), tile(instr, "mask"), tile(instr, "src")
    value, dtype = number(instr, "scalar"), dst.dtype
    lanes = arch.vector.width_bytes // dtype.itemsize
    keep = Stream("scalar_store", dtype, 1, Plane.of(replace(tmp, dtype=dtype)), scalar=value)
    planes = (Plane.mask(mask), Plane.of(src))
    pick = Stream("vsel", dtype, lanes, Plane.of(dst), planes, scalar=value)
    rows = RowLoop(dst.valid_rows, (pick.counted(dst.valid_cols, looped=True, argument=1),))
    handed = (Control("set_flag"), Control("wait_flag"), Control("set_cmpmask"), BARRIER)
    items = (keep.uop(1), *COUNT, *handed, rows, *NORM)
    bits = replace(mask.valid_region(-(-dst.valid_cols // 8)), rows=dst.valid_rows)
    read = (bits, src.valid_region())
    size = dtype.itemsize
    held = Region(MEMORY[tmp.loc], tmp.addr, 1, size, size)
    return Lowered(pack(items), read, (dst.valid_region(), held), read)


def select_items(
    dst: TileView, mask: TileView, on_true: TileView, on_false: TileView, words: int, arch: SimdArch
) -> Iterator[Item]:
    """Row by row: the mask row's address to `words` in UB, from there to the compare mask, select.

    Everything in count mode. Two-byte elements are selected as f16, four-byte ones as f32.
    """
    dtype, count = (F32, 2) if dst.dtype.itemsize == 4 else (F16, 4)
    width = arch.vector.width_bytes
    point = Stream(
        "vector_dup",
        U32,
        width // 4,
        Plane(words, U32, 0),
        scalar=mask.addr,
        scalar_step=mask.row_bytes,
    )
    planes = (Plane.mask(mask), Plane.of(on_true, dtype), Plane.of(on_false, dtype))
    pick = Stream("vsel", dtype, width // dtype.itemsize, Plane.of(dst, dtype), planes)
    yield COUNT[0]
    yield RowLoop(
        dst.valid_rows,
        (
            SET_MASK,
            point.counted(count, looped=True, argument=1),
            BARRIER,
            Control("set_cmpmask"),
            BARRIER,
            SET_MASK,
            pick.counted(dst.valid_cols, looped=True, argument=1),
        ),
    )
    yield from NORM


def prelu(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = src0 > 0 ? src0 : src0 * src1, in three steps with barriers between.

    1. dst = src0 * src1. 2. The mask src0 > 0 in rows of tmp. 3. Select src0 or dst; the address
    words of the masks go to the row of tmp behind them. tmp ends holding masks and words.
    """
    dst, src0, src1 = data_tiles(instr)
    tmp = scratch(instr)
    product, notes = binary_items(instr, "vmul", arch)
    words = tmp.addr + dst.valid_rows * tmp.row_bytes
    items = (
        *product,
        BARRIER,
        *compare_items(tmp, src0, 0, "gt", arch),
        BARRIER,
        BARRIER,
        *select_items(dst, tmp, src0, dst, words, arch),
    )
    read = (src0.valid_region(), src1.valid_region())
    written = (dst.valid_region(), _mask_region(tmp, src0, arch), _address_words(tmp, words, dst))
    return Lowered(pack(items), read, written, read, notes=notes)


def _inversion(dst: TileView, rows: int, arch: SimdArch) -> Iterator[Item]:
    plane = Plane.of(dst, U16)
    stream = Stream("vnot", U16, arch.vector.width_bytes // 2, plane, (plane,))
    width = dst.cols * dst.dtype.itemsize // 2
    walk = Walk.over(stream, rows, width, arch)
    return walk.count() if dst.cols == dst.row_stride else walk.count_rows()


def _mask_region(dst: TileView, src: TileView, arch: SimdArch) -> Region:
    lanes = arch.vector.width_bytes // src.dtype.itemsize
    width = -(-src.valid_cols // lanes) * lanes // 8
    return replace(dst.valid_region(width), rows=src.valid_rows)


def _address_words(tmp: TileView, addr: int, dst: TileView) -> Region:
    size = 8 if dst.dtype.itemsize == 4 else 16
    return Region(MEMORY[tmp.loc], addr, 1, size, size)


def _compare_notes(instr: BoundInstr, src: TileView, mode: str) -> Notes:
    name = instr.op.mnemonic
    if src.dtype is I32 and mode not in ("eq", "ne"):
        return departs(
            instr,
            f"{name} mode={mode} on i32 compares for equality on a2a3, whatever the mode",
            "compare as f32, or use a5",
        )
    if src.dtype in (I16, U16):
        return departs(
            instr,
            f"{name} on {src.dtype} compares the bits as half numbers on a2a3: some values are"
            " negative, NaN or equal to 0",
            "convert to f16 or f32 first, or use a5",
        )
    return ()


FAMILIES: Families[SimdArch] = {
    "compare": compare,
    "compare_scalar": compare_scalar,
    "prelu": prelu,
    "select": select,
    "select_scalar": select_scalar,
}
