"""TCVT between bf16 and the 4-bit floats on the vreg cores: two elements a byte.

A tile of 4-bit elements is read and written as bytes. Of an odd row the last byte's high half is
written as 0. That lanes behind the valid ones are cleared by an OR under the predicate is assumed.
"""

from archsim.arch import VregArch
from archsim.base.dtypes import BF16, U8, U16
from archsim.isa.operands import BoundInstr, TileView
from archsim.isa.vreg import Tail, VectorFunction, VregMem, VregNode, VregUop
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

_NARROW, _WIDE = 128, 256  # elements an iteration: to 4 bits, and back


def convert_nibbles(instr: BoundInstr, arch: VregArch, words: str) -> VectorFunction:
    """The vector function of one conversion.

    1. To 4 bits: dst is cleared; then, 128 elements an iteration, converted, gathered from every
       fourth byte and stored.
    2. From 4 bits: 128 bytes an iteration, spread over two registers, each converted and stored.
    """
    dst, src = data_tiles(instr)
    path = path_of(instr, [dst, src])
    if dst.dtype.bits == 4:
        clear = VregUop("VDUP", form(U8), ("vz",), (), U8, scalar=0)
        ordered = VregUop("MEM_BAR", form(U8), (), (), U8, effect="vst_vst")
        return VectorFunction(
            (
                clear,
                *_loops(path, dst, _NARROW, lambda spot: (_stored(spot, dst, "vz"),)),
                ordered,
                *FOURTH_BYTES,
                *_loops(path, dst, _NARROW, lambda spot: _narrowed(spot, dst, src, words)),
            )
        )
    zeros = VregUop("VDUP", form(U8), ("vz",), (), U8, scalar=0)
    return VectorFunction((zeros, *_loops(path, dst, _WIDE, lambda s: _widened(s, dst, src))))


def _loops(path: Path, dst: TileView, lanes: int, body: Body) -> tuple[VregNode, ...]:
    rows, cols = dst.valid_rows, dst.valid_cols
    if path in (Path.FLAT, Path.FLAT_POST):
        return flat(rows * cols, lanes, body, post_update=False).nodes
    return (nest(rows, cols, lanes, body, post_update=True),)


def _bytes(spot: Spot, tile: TileView) -> VregMem:
    """The bytes of an iteration's elements in a tile of 4-bit ones."""
    rows = (tile.row_bytes,) if spot.nested else ()
    size = spot.lanes // 2
    return VregMem(tile.addr + spot.first // 2, (*rows, size), U8, size)


def _stored(spot: Spot, dst: TileView, register: str) -> VregUop:
    assert spot.pred is not None
    half = Tail(-(-spot.pred.total // 2), spot.lanes // 2)
    return VregUop("VSTS", form(U8), (), (register,), U8, _bytes(spot, dst), pred=half)


def _narrowed(spot: Spot, dst: TileView, src: TileView, words: str) -> tuple[VregUop, ...]:
    kind = conversion_form(BF16, dst.dtype)
    return (
        spot.load("v0", src),
        spot.op("VOR", "v1", "v0", "v0", dtype=U16),
        VregUop("VCVT", kind, ("v2",), ("v1",), BF16, to=dst.dtype, effect=f"{words} part_even"),
        *fourth_bytes("v3", "v2"),
        _stored(spot, dst, "v3"),
    )


def _widened(spot: Spot, dst: TileView, src: TileView) -> tuple[VregUop, ...]:
    assert spot.pred is not None
    lanes, kind = spot.lanes // 2, conversion_form(src.dtype, BF16)
    widened, stored = [], []
    for half in range(2):
        on = Tail(spot.pred.total, lanes, offset=half * lanes, stride=spot.lanes)
        out, mem = f"v{half + 3}", spot.mem(dst, lanes=lanes, ahead=half * lanes)
        widened.append(
            VregUop("VCVT", kind, (out,), (f"v{half + 1}",), src.dtype, to=BF16, effect="from_even")
        )
        stored.append(VregUop("VSTS", form(BF16), (), (out,), BF16, mem, pred=on))
    load = VregUop("VLDS", form(U8), ("v0",), (), U8, _bytes(spot, src))
    spread = VregUop("VINTLV", form(U8), ("v1", "v2"), ("v0", "vz"), U8)
    return (load, spread, *widened, *stored)
