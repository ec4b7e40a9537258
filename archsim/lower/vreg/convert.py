"""TCVT on the vreg cores: load, convert, store, in the forms that element widths ask for."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from archsim.arch import VregArch
from archsim.base.dtypes import (
    DTYPES,
    F4E1M2,
    F4E2M1,
    F8E4M3,
    F8E5M2,
    F16,
    F32,
    HIF8,
    I8,
    I16,
    I32,
    U8,
    DType,
)
from archsim.isa.conversions import CONVERSIONS, MODES, Conversion, keeps_low_bits
from archsim.isa.operands import BoundInstr, TileView
from archsim.isa.vreg import Tail, VectorFunction, VregUop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.notes import Notes, departs
from archsim.lower.operands import data_tiles
from archsim.lower.vreg.emit import (
    FOURTH_BYTES,
    Body,
    Path,
    Spot,
    conversion_form,
    flat,
    form,
    fourth_bytes,
    nest,
    path_of,
)
from archsim.lower.vreg.nibbles import convert_nibbles


def convert(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = convert(src).

    1. Flat: one loop, without post-update unless `vf_impl` names it.
    2. Nested by default: rows with post-update; a narrowing to half the width loads even and odd
       elements at once and merges the two results.
    3. Nested without post-update: the body of the flat loop.
    4. Four bytes to one and back: the same body in every loop, behind a prologue of its own.
    5. To and from 4 bits: `convert_nibbles`.
    Turning saturation off cuts through a wider integer in 1 and 3: f32 -> i16, f16 -> i16,
    f16 -> i8.
    """
    dst, src = data_tiles(instr)
    pair = (src.dtype.name, dst.dtype.name)
    row = CONVERSIONS[arch.isa][pair]
    wraps = keeps_low_bits(arch.isa, pair, instr.attrs.get("sat"), has_scratch=False)
    words = _words(src.dtype, dst.dtype, row, instr.attrs.get("rmode", "none"), wraps)
    if 4 in (src.dtype.bits, dst.dtype.bits):
        function = convert_nibbles(instr, arch, words)  # 5
        return Lowered.over_tiles((function,), dst, [src], _notes(instr, row))
    shape = _Shape(dst, src, words, arch.vector.width_bytes)
    own = _own_form(src.dtype, dst.dtype)
    plain = _WRAPS.get((src.dtype, dst.dtype), own) if wraps else own
    path, rows, cols = path_of(instr, [dst, src]), dst.valid_rows, dst.valid_cols
    if path in (Path.FLAT, Path.FLAT_POST):
        is_post = instr.attrs.get("vf_impl", "").endswith("D_POST_UPDATE")
        lanes, body = plain(shape)
        function = flat(rows * cols, lanes, body, post_update=is_post)  # 1
    elif instr.attrs.get("vf_impl", "").endswith("NO_POST_UPDATE"):
        lanes, body = plain(shape)
        function = VectorFunction((nest(rows, cols, lanes, body),))  # 3
    else:
        lanes, body = _merged(shape) if shape.halves else own(shape)
        function = VectorFunction((nest(rows, cols, lanes, body, post_update=True),))  # 2
    function = VectorFunction((*_prologue(own), *function.nodes))
    return Lowered.over_tiles((function,), dst, [src], _notes(instr, row))


def _notes(instr: BoundInstr, row: Conversion) -> Notes:
    if instr.attrs.get("rmode") != "odd" or not row.modes or "o" in row.modes:
        return ()
    taken = MODES.get(row.default, "rint")
    return departs(instr, f"rmode=odd of tcvt works for f32 -> f16 only; it runs as {taken}")


class _Shape:
    """One conversion: tiles, the words of its VCVT, and how element widths compare."""

    def __init__(self, dst: TileView, src: TileView, words: str, width_bytes: int) -> None:
        self.dst, self.src, self.words = dst, src, words
        wide, narrow = src.dtype.itemsize, dst.dtype.itemsize
        self.lanes = width_bytes // max(wide, narrow)
        self.halves = wide == 2 * narrow <= 4
        self.load_dist = "unpk" if wide < narrow else "norm"
        self.store_dist = "pk" if wide > narrow else "norm"


Shaped = tuple[int, Body]  # elements an iteration, and its body


def _own_form(source: DType, to: DType) -> Callable[["_Shape"], Shaped]:
    """Four bytes to one and back have a form of their own (4)."""
    if {source.bits, to.bits} == {8, 32}:
        return _bytes_spread if source.bits == 8 else _bytes_gathered
    return _plain


def _words(source: DType, to: DType, row: Conversion, rmode: str, wraps: bool) -> str:
    """Rounding mode and saturation; results in f32 and 8-bit floats take the control bits as they
    find them."""
    words = [MODES[letter]] if (letter := row.rounding(rmode)) else []
    if to not in (F32, F8E4M3, F8E5M2, HIF8, F4E2M1, F4E1M2):
        words.append("wrap" if wraps else "sat")
    return " ".join(words)


def _plain(shape: _Shape) -> Shaped:
    """One vector of the wider type an iteration."""

    def body(spot: Spot) -> tuple[VregUop, ...]:
        source, to = shape.src.dtype, shape.dst.dtype
        if source is to:
            converted = spot.op("VTRC", "v1", "v0", dtype=to, effect=shape.words)
        else:
            converted = spot.cvt("v1", "v0", source, to, shape.words)
        return (
            spot.load("v0", shape.src, dist=shape.load_dist),
            converted,
            spot.store(shape.dst, "v1", dist=shape.store_dist),
        )

    return shape.lanes, body


def _merged(shape: _Shape) -> Shaped:
    """Two vectors an iteration: even and odd elements, converted into halves of one register."""
    lanes = 2 * shape.lanes
    bits = DTYPES[f"u{shape.dst.dtype.bits}"]

    def body(spot: Spot) -> tuple[VregUop, ...]:
        source, to = shape.src.dtype, shape.dst.dtype
        kind = conversion_form(source, to)

        def part(dst: str, src: str, which: str) -> VregUop:
            words = f"{shape.words} part_{which}".strip()
            return VregUop("VCVT", kind, (dst,), (src,), source, to=to, effect=words)

        mem = spot.mem(shape.src, dist="dintlv")
        return (
            VregUop("VLDS", form(source), ("v0", "v1"), (), source, mem),
            part("v2", "v1", "odd"),
            part("v3", "v0", "even"),
            spot.op("VOR", "v4", "v2", "v3", dtype=bits),
            spot.store(shape.dst, "v4"),
        )

    return lanes, body


def _bytes_gathered(shape: _Shape) -> Shaped:
    """Each result in the lowest byte of its element; every fourth byte is gathered and stored."""

    def body(spot: Spot) -> tuple[VregUop, ...]:
        words = f"{shape.words} part_even".strip()
        return (
            spot.load("v0", shape.src),
            spot.cvt("v1", "v0", shape.src.dtype, shape.dst.dtype, words),
            *fourth_bytes("v2", "v1"),
            spot.store(shape.dst, "v2"),
        )

    return shape.lanes, body


def _bytes_spread(shape: _Shape) -> Shaped:
    """A load of 128 bytes, spread over two registers of words by a register of zeros.

    The two mask unpackings of the library, for the predicates of the stores, are left out.
    """
    lanes = shape.lanes

    def body(spot: Spot) -> tuple[VregUop, ...]:
        source, to = shape.src.dtype, shape.dst.dtype
        kind, words = conversion_form(source, to), f"{shape.words} from_even".strip()
        widened, stored = [], []
        for half in range(2):
            on = spot.pred and Tail(spot.pred.total, lanes, offset=half * lanes, stride=2 * lanes)
            out, mem = f"v{half + 3}", spot.mem(shape.dst, lanes=lanes, ahead=half * lanes)
            widened.append(
                VregUop("VCVT", kind, (out,), (f"v{half + 1}",), source, to=to, effect=words)
            )
            stored.append(VregUop("VSTS", form(to), (), (out,), to, mem, pred=on))
        spread = VregUop("VINTLV", form(U8), ("v1", "v2"), ("v0", "vz"), U8)
        return (spot.load("v0", shape.src, dist="unpk"), spread, *widened, *stored)

    return 2 * lanes, body


def _prologue(plain: Callable[[_Shape], Shaped]) -> tuple[VregUop, ...]:
    """What stays in registers over all iterations: indices of every fourth byte, or zeros."""
    if plain is _bytes_spread:
        return (VregUop("VDUP", form(U8), ("vz",), (), U8, scalar=0),)
    if plain is _bytes_gathered:
        return FOURTH_BYTES
    return ()


def _f32_through_i32(shape: _Shape) -> Shaped:
    def body(spot: Spot) -> tuple[VregUop, ...]:
        return (
            spot.load("v0", shape.src),
            spot.cvt("v1", "v0", F32, I32, _clamping(shape)),
            spot.cvt("v2", "v1", I32, I16, "wrap"),
            spot.store(shape.dst, "v2", dist="pk"),
        )

    return shape.lanes, body


def _f16_through_i32(shape: _Shape) -> Shaped:
    def body(spot: Spot) -> tuple[VregUop, ...]:
        return (
            spot.load("v0", shape.src, dist="unpk"),
            spot.cvt("v1", "v0", F16, I32, _clamping(shape)),
            spot.cvt("v2", "v1", I32, I16, "wrap"),
            spot.store(shape.dst, "v2", dist="pk"),
        )

    return shape.lanes // 2, body


def _f16_through_i16(shape: _Shape) -> Shaped:
    """f16 -> i16, low eight bits kept, back to f16, to i8: -1 for an infinity."""

    def body(spot: Spot) -> tuple[VregUop, ...]:
        return (
            spot.load("v0", shape.src),
            spot.cvt("v1", "v0", F16, I16, shape.words),
            spot.op("VDUP", "v2", dtype=I16, scalar=0x00FF),
            spot.op("VAND", "v3", "v1", "v2", dtype=I16),
            spot.cvt("v4", "v3", I16, F16, "rint"),
            spot.cvt("v5", "v4", F16, I8, shape.words),
            spot.store(shape.dst, "v5", dist="pk"),
        )

    return shape.lanes, body


def _clamping(shape: _Shape) -> str:
    return shape.words.replace("wrap", "sat")


_WRAPS: Mapping[tuple[DType, DType], Callable[[_Shape], Shaped]] = MappingProxyType(
    {(F32, I16): _f32_through_i32, (F16, I16): _f16_through_i32, (F16, I8): _f16_through_i16}
)


FAMILIES: Families[VregArch] = {
    "convert": convert,
}
