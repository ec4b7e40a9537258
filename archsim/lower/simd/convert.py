"""Conversions of the simd cores: the fused add-relu-convert and TCVT."""

from dataclasses import replace

from archsim.arch import SimdArch
from archsim.base.dtypes import F16, I32, DType
from archsim.isa.conversions import CONVERSIONS, MODES, Conversion, keeps_low_bits
from archsim.isa.operands import BoundInstr, TileView
from archsim.isa.simd import Control
from archsim.lower.lowered import Families, Lowered
from archsim.lower.notes import Notes, departs, ignored
from archsim.lower.operands import data_tiles
from archsim.lower.simd.emit import BARRIER, Stream, pack
from archsim.lower.simd.walks import Walk
from archsim.lower.simd.wrap import CHAINS

SET_CTRL = Control("set_ctrl")


def add_relu_convert(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = convert(max(0, src0 + src1)), or of src0 - src1: one fused micro-op for every row.

    Whole repeats row by row, never merged; then, under one mask, the rest of every row in a
    micro-op of its own. Lanes follow the source type; nothing but dst is written.
    """
    dst, *srcs = data_tiles(instr)
    name = f"{instr.op.uops[arch.isa]}_{pair_name(srcs[0].dtype, dst.dtype)}"
    walk = Walk.over(Stream.over(name, dst, srcs, arch), dst.valid_rows, dst.valid_cols, arch)
    items = (*walk.along_rows(), *walk.tail(row_by_row=True))
    return Lowered.over_tiles(pack(items), dst, srcs)


def convert(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = convert(src), between two writes of the control register that sets saturation.

    1. i32 to f16: with a scale of 1, set before.
    2. Saturation off and a scratch tile: f32 -> i16, f16 -> i16 and f16 -> i8 go through i32 in
       the scratch, so that low bits are kept.
    3. Otherwise one micro-op: whole repeats row by row, then the rest down the rows.
    Turning saturation off counts for the pairs that keep low bits by default, and with a scratch.
    """
    dst, src = data_tiles(instr)
    pair = (src.dtype.name, dst.dtype.name)
    row = CONVERSIONS[arch.isa][pair]
    wraps = keeps_low_bits(arch.isa, pair, instr.attrs.get("sat"), instr.tmp is not None)
    notes = _notes(instr, dst, row, wraps, arch)
    stream = _stream(src, dst, row.rounding(instr.attrs.get("rmode", "none")), wraps, arch)
    walk = Walk.over(stream, dst.valid_rows, dst.valid_cols, arch)
    lowered = Lowered.over_tiles((), dst, [src], notes)
    chain = CHAINS.get((src.dtype, dst.dtype)) if wraps and instr.tmp else None
    if chain is not None and instr.tmp is not None:
        items, scratch = chain(walk, instr.tmp)  # 2
        lowered = replace(lowered, writes=(*lowered.writes, scratch))
    elif stream.name == "vconv_deq":
        items = (Control("set_deqscale"), BARRIER, *walk.rows_then_tail())  # 1
    else:
        items = tuple(walk.rows_then_tail())  # 3
    return replace(lowered, uops=pack((SET_CTRL, *items, SET_CTRL)))


def pair_name(source: DType, to: DType) -> str:
    """Two element types as micro-op names spell them: f322f16, s322f32."""
    return "2".join(dtype.name.replace("i", "s") for dtype in (source, to))


def _stream(src: TileView, dst: TileView, rounding: str, wraps: bool, arch: SimdArch) -> Stream:
    if (src.dtype, dst.dtype) == (I32, F16):
        return Stream.over("vconv_deq", dst, [src], arch, scalar=1.0)
    name = f"vconv_{pair_name(src.dtype, dst.dtype)}{rounding}"
    effect = ("wrap" if wraps else "sat") if dst.dtype.is_integer else ""
    return Stream.over(name, dst, [src], arch, effect=effect)


def _notes(instr: BoundInstr, dst: TileView, row: Conversion, wraps: bool, arch: SimdArch) -> Notes:
    notes: Notes = ()
    if instr.attrs.get("sat") == "off" and dst.dtype.is_integer and not wraps:
        notes += ignored(instr, "sat=off without tmp", arch)
    if instr.attrs.get("rmode") == "odd" and row.modes and "o" not in row.modes:
        taken = MODES.get(row.default, "rint")
        notes += departs(instr, f"rmode=odd of tcvt works for f32 -> f16 only; it runs as {taken}")
    return notes


FAMILIES: Families[SimdArch] = {
    "convert": convert,
    "addreluconv": add_relu_convert,
}
