"""Division, the reciprocal and roots on the simd cores, which all ignore `precision`.

Integers go through floats: i32 through f32, i16 through half, in place, which leaves the source
tile with the bits of floats.
"""

from collections.abc import Iterator
from dataclasses import replace

from archsim.arch import SimdArch
from archsim.base.dtypes import F16, F32, I16, I32, DType
from archsim.isa.operands import BoundInstr, Region, TileView
from archsim.isa.simd import Access, RowLoop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.notes import Notes, departs, ignored
from archsim.lower.operands import data_tiles, output
from archsim.lower.simd.elementwise import binary_over, expand_over, scalar_over, unary_over
from archsim.lower.simd.emit import BARRIER, COUNT, NORM, SET_MASK, Item, Plane, Stream, pack

_THROUGH = {I32: F32, I16: F16}  # what integers are divided as
_TO_FLOAT = {I32: "vconv_s322f32", I16: "vconv_s162f16"}
_TO_INTEGER = {I32: "vconv_f322s32z", I16: "vconv_f162s16z"}


def divide(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = src0 / src1."""
    dst, *srcs = data_tiles(instr)
    items, notes = binary_over(instr, "vdiv", dst, srcs, arch)
    return Lowered.over_tiles(pack(items), dst, srcs, notes + imprecise(instr, arch))


def divide_scalar(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = src / scalar, or scalar / src as written.

    1. Float tile / scalar in place: one multiplication by 1 / scalar.
    2. Floats: the scalar into dst, then the division, dst one of its operands.
    3. Integers: as 2, with dst and src turned into floats in place before and dst back after; src
       stays a tile of floats.
    """
    value = next(operand for operand in instr.src if isinstance(operand, int | float))
    return _divided(instr, value, isinstance(instr.src[0], TileView), arch)


def reciprocal(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = 1 / src: the division of 1 by a tile."""
    return _divided(instr, 1, False, arch)


def _divided(instr: BoundInstr, value: int | float, tile_first: bool, arch: SimdArch) -> Lowered:
    dst, src = data_tiles(instr)
    notes = imprecise(instr, arch)
    if dst.dtype.is_float and dst.addr == src.addr:
        factor = 1 / value if value else float("inf")
        items, more = scalar_over(instr, "vmuls", dst, [src], factor, arch)
        return Lowered.over_tiles(pack(items), dst, [src], notes + more)  # 1
    filled, more, _ = expand_over(instr, dst, value, arch)
    if dst.dtype.is_float:
        order = (src, dst) if tile_first else (dst, src)
        items, others = binary_over(instr, "vdiv", dst, order, arch)
        notes += tuple(dict.fromkeys(more + others))
        return Lowered.over_tiles(pack([*filled, BARRIER, *items]), dst, [src], notes)  # 2
    items = [*filled, BARRIER, *_as_floats(instr, dst, src, tile_first, arch)]
    lost = src.valid_region()
    lowered = Lowered.over_tiles(pack(items), dst, [src], notes + more + _rewritten(instr, arch))
    return replace(lowered, writes=(*lowered.writes, lost), destroyed=(lost,))  # 3


def _as_floats(
    instr: BoundInstr, dst: TileView, src: TileView, tile_first: bool, arch: SimdArch
) -> Iterator[Item]:
    """The division of integer tiles as floats, a barrier behind each step."""
    own = dst.dtype
    through = _THROUGH[own]
    for tile in (dst, src):
        yield from in_place(instr, tile, own, through, _TO_FLOAT[own], arch)
    wide, other = replace(dst, dtype=through), replace(src, dtype=through)
    order = (other, wide) if tile_first else (wide, other)
    yield from binary_over(instr, "vdiv", wide, order, arch)[0]
    yield BARRIER
    yield from in_place(instr, dst, through, own, _TO_INTEGER[own], arch)


def in_place(
    instr: BoundInstr, tile: TileView, source: DType, to: DType, name: str, arch: SimdArch
) -> Iterator[Item]:
    """A conversion of a tile's elements to a type of the same size, and a barrier."""
    before, after = replace(tile, dtype=source), replace(tile, dtype=to)
    yield from unary_over(instr, name, after, before, arch)[0]
    yield BARRIER


def _rewritten(instr: BoundInstr, arch: SimdArch) -> Notes:
    return departs(
        instr,
        f"{instr.op.mnemonic} of integers divides as floats on {arch.isa} and leaves the float"
        " bits in src",
        "load src again before it is used",
    )


def imprecise(instr: BoundInstr, arch: SimdArch) -> Notes:
    """These cores have one precision."""
    high = instr.attrs.get("precision") == "high"
    return ignored(instr, "precision=high", arch) if high else ()


def reciprocal_root(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = 1 / sqrt(src).

    1. Without tmp: the estimate of the device, modelled as correctly rounded.
    2. With tmp: a block of ones into tmp, then, row by row in count mode, the root, and the ones
       divided by it.
    """
    dst, src = data_tiles(instr)
    notes = imprecise(instr, arch)
    if instr.tmp is None:
        items, more = unary_over(instr, "vrsqrt", dst, src, arch)
        return Lowered.over_tiles(pack(items), dst, [src], notes + more)  # 1
    lanes, block = arch.vector.width_bytes // dst.dtype.itemsize, arch.vector.block_bytes
    ones, own = Plane.of(instr.tmp), Plane.of(dst)
    fill = Stream("vector_dup", dst.dtype, lanes, ones, scalar=1.0)
    rooted = Stream("vsqrt", dst.dtype, lanes, own, (Plane.of(src),))
    rows, cols = dst.valid_rows, dst.valid_cols
    divided = Stream("vdiv", dst.dtype, lanes, own, (ones, own)).counted(cols, looped=True)
    same_block = Access(instr.tmp.addr, dst.dtype, block_stride=0, repeat_stride=0)
    divided = replace(divided, srcs=(same_block, divided.srcs[1]))
    steps: list[Item] = [
        *COUNT,
        fill.counted(block // dst.dtype.itemsize),
        SET_MASK,
        RowLoop(rows, (rooted.counted(cols, looped=True),)),
        BARRIER,
        RowLoop(rows, (divided,)),
        *NORM,
    ]
    lowered = Lowered.over_tiles(pack(steps), dst, [src], notes)
    scratch = Region("UB", instr.tmp.addr, 1, block, block)
    return replace(lowered, writes=(*lowered.writes, scratch))  # 2


def through(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = op src by the micro-op of the row."""
    dst, src = output(instr), data_tiles(instr)[1]
    items, notes = unary_over(instr, instr.op.uops[arch.isa], dst, src, arch)
    return Lowered.over_tiles(pack(items), dst, [src], notes + imprecise(instr, arch))


FAMILIES: Families[SimdArch] = {
    "divide": divide,
    "divide_scalar": divide_scalar,
    "logarithm": through,
    "reciprocal": reciprocal,
    "reciprocal_root": reciprocal_root,
    "root": through,
}
