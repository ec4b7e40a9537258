"""TADDDEQRELU on the simd cores: eight micro-ops a block, a barrier behind each."""

from dataclasses import replace

from archsim.arch import SimdArch
from archsim.base.dtypes import F32, I32
from archsim.isa.operands import BoundInstr, TileView
from archsim.isa.simd import FULL, Mask, RowLoop, SimdItem
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import data_tiles, number, scratch
from archsim.lower.simd.emit import (
    Item,
    Plane,
    Stream,
    chunks,
    fenced,
    masked,
    pack,
    partial,
)

_SHIFT = 2.0**17  # keeps the scaled value in range on the way


def add_dequantise_relu(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = half(max(0, (src0 + src1) * scale)), block by block.

    Whole repeats row by row; then, under one mask, the rest of every row. Each block runs the
    whole chain. Side effects in the valid region: src0 ends as the scaled f32 before the relu,
    src1 as the f32 behind it, tmp as zeros.
    """
    dst, src0, src1 = data_tiles(instr)
    tmp = scratch(instr)
    chain = _chain(dst, src0, src1, tmp, float(number(instr, "scale")), arch)
    lanes = chain[0].lanes
    whole, rest = divmod(dst.valid_cols, lanes)
    items: list[Item] = []
    body = [
        item
        for start, size in chunks(whole, arch.vector.repeat_max)
        for item in _block(chain, size, FULL, start * lanes)
    ]
    if body:
        items.append(RowLoop(dst.valid_rows, tuple(body)))
    if rest:
        tail = _block(chain, 1, partial(rest), whole * lanes)
        items += masked(RowLoop(dst.valid_rows, tail))
    read = (src0.valid_region(), src1.valid_region())
    used = replace(tmp.valid_region(dst.valid_cols * 4), rows=dst.valid_rows)
    written = (dst.valid_region(), *read, used)
    return Lowered(pack(items), read, written, read, destroyed=read)


def _chain(
    dst: TileView, src0: TileView, src1: TileView, tmp: TileView, scale: float, arch: SimdArch
) -> tuple[Stream, ...]:
    lanes = arch.vector.width_bytes // 4
    total, scaled, clamped = Plane.of(tmp), Plane.of(src0, F32), Plane.of(src1, F32)
    zeros = Plane.of(tmp, F32)
    factors = (1 / _SHIFT, scale, _SHIFT)
    return (
        Stream("vadd", I32, lanes, total, (Plane.of(src0), Plane.of(src1))),
        Stream("vconv_s322f32", I32, lanes, scaled, (total,)),
        *(Stream("vmuls", F32, lanes, scaled, (scaled,), scalar=factor) for factor in factors),
        Stream("vector_dup", F32, lanes, zeros, scalar=0.0),
        Stream("vmax", F32, lanes, clamped, (scaled, zeros)),
        Stream("vconv_f322f16", F32, lanes, Plane.of(dst), (clamped,)),
    )


def _block(chain: tuple[Stream, ...], repeat: int, mask: Mask, col: int) -> tuple[SimdItem, ...]:
    return fenced(*(step.uop(repeat, mask, col=col, looped=True) for step in chain))


FAMILIES: Families[SimdArch] = {
    "adddeqrelu": add_dequantise_relu,
}
