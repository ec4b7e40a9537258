"""Remainders and powers on the simd cores: chains of whole-tile steps through UB.

The steps are those that the device's results show; their sequence and their use of scratch are
assumed. Scratch holds tiles like dst, then a row of mask bits for each row of dst, then the words
through which a selection gets the address of its mask. A barrier stands behind every step.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import inf

from archsim.arch import SimdArch
from archsim.base.dtypes import F32, I32, U8
from archsim.isa.operands import BoundInstr, TileView
from archsim.isa.simd import RowLoop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.notes import Notes, departs
from archsim.lower.operands import data_tiles, number, scratch
from archsim.lower.simd.divide import imprecise, in_place
from archsim.lower.simd.elementwise import binary_over, expand_over, scalar_over, unary_over
from archsim.lower.simd.emit import BARRIER, NORM, Item, Plane, Stream, pack
from archsim.lower.simd.select import compare_items, select_items

_BLOCK_BYTES = 32


@dataclass(slots=True)
class Chain:
    """Steps over whole tiles, in order; `spare` are the tiles in scratch."""

    instr: BoundInstr
    arch: SimdArch
    spare: tuple[TileView, ...] = ()
    mask: TileView | None = None
    words: int = 0
    items: list[Item] = field(default_factory=list)

    @staticmethod
    def over(instr: BoundInstr, dst: TileView, tiles: int, arch: SimdArch) -> "Chain":
        """A chain whose scratch has `tiles` tiles like dst."""
        addr, size = scratch(instr).addr, dst.rows * dst.cols * dst.dtype.itemsize
        spare = tuple(
            replace(dst, addr=addr + k * size, row_stride=dst.cols, name="tmp")
            for k in range(tiles)
        )
        lanes = arch.vector.width_bytes // dst.dtype.itemsize
        bits = -(-dst.cols // lanes) * lanes // 8
        pitch = -(-bits // _BLOCK_BYTES) * _BLOCK_BYTES
        mask = TileView(
            "tmp", dst.loc, U8, dst.rows, pitch, dst.valid_rows, pitch, addr + tiles * size, pitch
        )
        return Chain(instr, arch, spare, mask, mask.addr + dst.rows * pitch)

    def step(self, items: Iterable[Item]) -> None:
        """Some micro-ops and the barrier behind them."""
        self.items += [*items, BARRIER]

    def op(self, name: str, dst: TileView, *srcs: TileView) -> None:
        """A micro-op of two tiles."""
        self.step(binary_over(self.instr, name, dst, srcs, self.arch)[0])

    def unary(self, name: str, dst: TileView, src: TileView) -> None:
        """A micro-op of one tile."""
        self.step(unary_over(self.instr, name, dst, src, self.arch)[0])

    def by(self, name: str, dst: TileView, src: TileView, value: int | float) -> None:
        """A micro-op of a tile and a number."""
        self.step(scalar_over(self.instr, name, dst, [src], value, self.arch)[0])

    def fill(self, dst: TileView, value: int | float) -> None:
        """A number into a tile."""
        self.step(expand_over(self.instr, dst, value, self.arch)[0])

    def choose(self, dst: TileView, on_true: TileView, on_false: TileView) -> None:
        """dst = on_true where the mask is set, else on_false."""
        assert self.mask is not None
        self.step(select_items(dst, self.mask, on_true, on_false, self.words, self.arch))

    def where(self, src: TileView, mode: str, value: float) -> None:
        """The mask: src <mode> value."""
        assert self.mask is not None
        self.step(compare_items(self.mask, src, value, mode, self.arch))

    def where_equal(self, a: TileView, b: TileView) -> None:
        """The mask: a == b, row by row, whole repeats."""
        assert self.mask is not None
        lanes = self.arch.vector.width_bytes // a.dtype.itemsize
        stream = Stream(
            "vcmpv_eq", a.dtype, lanes, Plane.mask(self.mask), (Plane.of(a), Plane.of(b))
        )
        repeats = -(-a.valid_cols // lanes)
        self.step((*NORM, RowLoop(a.valid_rows, (stream.uop(repeats, looped=True),))))

    def lowered(self, dst: TileView, srcs: list[TileView], notes: Notes) -> Lowered:
        """What the chain is, with its scratch among the bytes written."""
        assert self.mask is not None
        used = [tile.valid_region() for tile in self.spare]
        bits = self.mask.valid_region()
        words = replace(bits, addr=self.words, rows=1, row_bytes=_BLOCK_BYTES)
        lowered = Lowered.over_tiles(pack(self.items[:-1]), dst, srcs, notes)
        return replace(lowered, writes=(*lowered.writes, *used, bits, words))


def remainder(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = src0 - floor(src0 / src1) * src1, with the sign of src1; f32, or i32 as f32.

    i32 sources are turned into f32 in place and back: values beyond 2^24 are altered in them.
    """
    dst, src0, src1 = data_tiles(instr)
    wide = [replace(tile, dtype=F32) for tile in (dst, src0, src1)]
    chain = Chain.over(instr, wide[0], 1, arch)
    _turn(chain, (src0, src1), dst, "vconv_s322f32")
    to, a, b = wide
    chain.op("vdiv", to, a, b)
    chain.unary("vconv_f322f32f", to, to)
    chain.op("vmul", to, to, b)
    chain.op("vsub", to, a, to)
    chain.op("vmul", chain.spare[0], to, b)
    chain.where(chain.spare[0], "lt", 0.0)
    chain.op("vadd", chain.spare[0], to, b)
    chain.choose(to, chain.spare[0], to)
    return _finished(chain, dst, [src0, src1])


def remainder_scalar(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """As `remainder`, the scalar in place of src1; dst holds it first."""
    dst, src = data_tiles(instr)
    value = float(number(instr, "scalar"))
    to, a = (replace(tile, dtype=F32) for tile in (dst, src))
    chain = Chain.over(instr, to, 1, arch)
    _turn(chain, (src,), dst, "vconv_s322f32")
    _quotient(chain, to, a, value, "vconv_f322f32f")
    chain.by("vmuls", chain.spare[0], to, value)
    chain.where(chain.spare[0], "lt", 0.0)
    chain.by("vadds", chain.spare[0], to, value)
    chain.choose(to, chain.spare[0], to)
    return _finished(chain, dst, [src])


def _turn(chain: Chain, tiles: tuple[TileView, ...], dst: TileView, name: str) -> None:
    """Integer sources from one type of 32 bits to the other, in place."""
    types = (I32, F32) if name == "vconv_s322f32" else (F32, I32)
    if dst.dtype is I32:
        for tile in tiles:
            chain.items += in_place(chain.instr, tile, *types, name, chain.arch)


def _finished(chain: Chain, dst: TileView, srcs: list[TileView]) -> Lowered:
    """The results and the sources back in their own type."""
    _turn(chain, (dst, *srcs), dst, "vconv_f322s32r")
    lowered = chain.lowered(dst, srcs, _beyond(chain.instr, dst, chain.arch))
    if dst.dtype is not I32:
        return lowered
    rewritten = tuple(src.valid_region() for src in srcs)
    return replace(lowered, writes=(*lowered.writes, *rewritten), destroyed=rewritten)


def _beyond(instr: BoundInstr, dst: TileView, arch: SimdArch) -> Notes:
    what = (
        "works in f32: values beyond 2^24 give wrong results and are altered in the sources"
        if dst.dtype is I32
        else "rounds the quotient: where it is beyond 2^24 the result is wrong"
    )
    return departs(instr, f"{instr.op.mnemonic} of {dst.dtype} {what} on {arch.isa}, as the device")


def _quotient(chain: Chain, to: TileView, a: TileView, value: float, rounding: str) -> None:
    """to = a - round(a / value) * value."""
    chain.fill(to, value)
    chain.op("vdiv", to, a, to)
    chain.unary(rounding, to, to)
    chain.by("vmuls", to, to, value)
    chain.op("vsub", to, a, to)


def modulo(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = src0 - trunc(src0 / src1) * src1, with the sign of src0."""
    dst, src0, src1 = data_tiles(instr)
    chain = Chain(instr, arch)
    chain.op("vdiv", dst, src0, src1)
    chain.unary("vconv_f322f32z", dst, dst)
    chain.op("vmul", dst, dst, src1)
    chain.op("vsub", dst, src0, dst)
    return _without_scratch(chain, dst, [src0, src1])


def modulo_scalar(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = src - trunc(src / scalar) * scalar, with the sign of src; the scalar fills dst."""
    dst, src = data_tiles(instr)
    chain = Chain(instr, arch)
    _quotient(chain, dst, src, float(number(instr, "scalar")), "vconv_f322f32z")
    return _without_scratch(chain, dst, [src])


def _without_scratch(chain: Chain, dst: TileView, srcs: list[TileView]) -> Lowered:
    notes = _beyond(chain.instr, dst, chain.arch) + imprecise(chain.instr, chain.arch)
    return Lowered.over_tiles(pack(chain.items[:-1]), dst, srcs, notes)


def power(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = src0 ** src1 of f32, by `_raise`."""
    dst, src0, src1 = data_tiles(instr)
    chain = Chain.over(instr, dst, 3, arch)
    _raise(chain, dst, src0, src1)
    return chain.lowered(dst, [src0, src1], ())


def power_scalar(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = src ** scalar of f32: the scalar fills a tile of scratch first."""
    dst, src = data_tiles(instr)
    chain = Chain.over(instr, dst, 4, arch)
    spread = chain.spare[3]
    chain.fill(spread, float(number(instr, "scalar")))
    _raise(chain, dst, src, spread)
    return chain.lowered(dst, [src], ())


def _raise(chain: Chain, dst: TileView, a: TileView, b: TileView) -> None:
    """dst = exp(ln|a| * b), and then, the later the stronger:

    1. a < 0 and b odd: negated.
    2. a == 0: 0 for b > 0, else infinity.
    3. a == -1 and b infinite: 1.
    4. b == 0: 1.
    """
    t, u, v = chain.spare[:3]
    chain.unary("vabs", dst, a)
    chain.unary("vln", dst, dst)
    chain.op("vmul", dst, dst, b)
    chain.unary("vexp", dst, dst)
    chain.by("vmuls", t, dst, -1.0)
    chain.by("vmuls", u, b, 0.5)
    chain.unary("vconv_f322f32z", v, u)
    chain.where_equal(u, v)
    chain.choose(t, dst, t)
    chain.unary("vconv_f322f32z", u, b)
    chain.where_equal(u, b)
    chain.choose(t, t, dst)
    chain.where(a, "lt", 0.0)
    chain.choose(dst, t, dst)  # 1
    chain.fill(t, 0.0)
    chain.fill(u, inf)
    chain.where(b, "gt", 0.0)
    chain.choose(t, t, u)
    chain.where(a, "eq", 0.0)
    chain.choose(dst, t, dst)  # 2
    chain.fill(t, 1.0)
    chain.unary("vabs", u, b)
    chain.where(u, "eq", inf)
    chain.choose(u, t, dst)
    chain.where(a, "eq", -1.0)
    chain.choose(dst, u, dst)  # 3
    chain.where(b, "eq", 0.0)
    chain.choose(dst, t, dst)  # 4


FAMILIES: Families[SimdArch] = {
    "modulo": modulo,
    "modulo_scalar": modulo_scalar,
    "power": power,
    "power_scalar": power_scalar,
    "remainder": remainder,
    "remainder_scalar": remainder_scalar,
}
