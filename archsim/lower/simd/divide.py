"""Division, the reciprocal and roots on the simd cores, which all ignore `precision`.

Integers go through floats: i32 through f32, i16 through half, in place, which leaves the source
tile with the bits of floats.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import copysign, inf

from archsim.arch import SimdArch
from archsim.base.dtypes import F16, F32, I16, I32, DType
from archsim.isa.lanes.narrow import as_element
from archsim.isa.operands import BoundInstr, Region, TileView
from archsim.isa.simd import Access, RowLoop, SimdUop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.notes import Notes, departs, ignored
from archsim.lower.operands import data_tiles, output
from archsim.lower.simd.elementwise import binary_over, scalar_over, unary_over
from archsim.lower.simd.emit import (
    BARRIER,
    COUNT,
    NORM,
    SET_MASK,
    Item,
    Plane,
    Stream,
    fenced,
    pack,
)

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
    2. Otherwise the walk of a tile and a scalar, each of its micro-ops in several: the scalar into
       dst, then the division, dst one of its operands.
    3. Integers: dst and src are turned into floats in place before it, dst back after; src stays
       a tile of floats.
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
        items, more = scalar_over(instr, "vmuls", dst, [src], _inverse(value, dst.dtype), arch)
        return Lowered.over_tiles(pack(items), dst, [src], notes + more)  # 1
    walked, more = scalar_over(instr, "vdiv", dst, [src], value, arch)
    items = [part for item in walked for part in _in_steps(item, tile_first)]
    lowered = Lowered.over_tiles(pack(items), dst, [src], notes + more)
    if dst.dtype.is_float:
        return lowered  # 2
    lost = src.valid_region()
    return replace(
        lowered,
        writes=(*lowered.writes, lost),
        destroyed=(lost,),
        notes=lowered.notes + _rewritten(instr, arch),
    )  # 3


def _inverse(value: int | float, dtype: DType) -> float:
    """1 / scalar, the scalar in the element type first."""
    element = float(as_element(value, dtype))
    return 1 / element if element else copysign(inf, element)


def _in_steps(item: Item, tile_first: bool) -> Iterator[Item]:
    """A micro-op of the walk as the steps of the division on its lanes; else the item itself."""
    if isinstance(item, RowLoop):
        steps = (step for inner in item.body for step in _in_steps(inner, tile_first))
        yield RowLoop(item.rows, tuple(s for s in steps if not isinstance(s, RowLoop)))
    elif not isinstance(item, SimdUop):
        yield item
    elif item.dtype.is_float:
        yield from (_filled(item), BARRIER, _quotient(item, item.dtype, tile_first))
    else:
        yield from fenced(*_as_floats(item, tile_first))


def _filled(uop: SimdUop) -> SimdUop:
    return replace(uop, name="vector_dup", srcs=())


def _quotient(uop: SimdUop, dtype: DType, tile_first: bool) -> SimdUop:
    src, dst = (replace(access, dtype=dtype) for access in (uop.srcs[0], uop.dst))
    order = (src, dst) if tile_first else (dst, src)
    return replace(uop, name="vdiv", dtype=dtype, dst=dst, srcs=order, scalar=None)


def _as_floats(uop: SimdUop, tile_first: bool) -> Iterator[SimdUop]:
    """The division of integers as floats of their size."""
    own, through = uop.dtype, _THROUGH[uop.dtype]

    def turned(name: str, access: Access, source: DType, to: DType) -> SimdUop:
        before, after = replace(access, dtype=source), replace(access, dtype=to)
        return replace(uop, name=name, dtype=source, dst=after, srcs=(before,), scalar=None)

    yield _filled(uop)
    for access in (uop.dst, uop.srcs[0]):
        yield turned(_TO_FLOAT[own], access, own, through)
    yield _quotient(uop, through, tile_first)
    yield turned(_TO_INTEGER[own], uop.dst, through, own)


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
