"""TTRANS, TINTERLEAVE and TDEINTERLEAVE on the vreg cores."""

from collections.abc import Iterator
from dataclasses import replace

from archsim.arch import VregArch
from archsim.base.dtypes import DTYPES, I32, DType
from archsim.isa.operands import BoundInstr, TileView
from archsim.isa.vreg import Tail, VectorFunction, VregLoop, VregMem, VregNode, VregUop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import tile
from archsim.lower.vreg.emit import Spot, form, nest


def transpose(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst[c, r] = src[r, c], column-wise: for each column of src a gather of 64 of its elements.

    Per vector: VCI, VMINS (the last valid row), VMULS (the pitch), VADDS, VGATHER2, VSTS. The
    column and the first row go into the address here, so that VADDS adds 0. Two-byte and one-byte
    elements are gathered into 32-bit lanes and stored packed.
    """
    dst, src = tile(instr, "dst"), tile(instr, "src")
    bits = DTYPES[f"u{src.dtype.bits}"]
    lanes = arch.vector.width_bytes // 4
    whole = (src.rows - 1) * src.row_stride + src.cols
    steps = (bits.itemsize, lanes * src.row_bytes)
    mem = VregMem(src.addr, steps, bits, whole)
    narrow = bits.itemsize < 4
    name, dist = ("VGATHER2_BC", "pk") if narrow else ("VGATHER2", "norm")

    def body(spot: Spot) -> tuple[VregUop, ...]:
        last = min(src.valid_rows, lanes) - 1
        return (
            VregUop("VCI", form(I32), ("v0",), (), I32, scalar=0, effect=f"inc {lanes}"),
            spot.op("VMINS", "v1", "v0", dtype=I32, scalar=last),
            spot.op("VMULS", "v2", "v1", dtype=I32, scalar=src.row_stride),
            spot.op("VADDS", "v3", "v2", dtype=I32, scalar=0),
            VregUop(name, form(bits), ("v4",), ("v3",), bits, mem, pred=spot.pred),
            spot.store(replace(dst, dtype=bits), "v4", dist=dist),
        )

    loop = nest(src.valid_cols, src.valid_rows, lanes, body)
    return Lowered.over_tiles((VectorFunction((loop,)),), dst, [src])


def interleave(instr: BoundInstr, arch: VregArch) -> Lowered:
    """src0[0], src1[0], src0[1], ...: the first half of a row to dst0, the rest to dst1.

    A vector of a destination is the lower half of VINTLV of half a vector of each source; where
    the columns are odd, dst1 begins with src1. The sequence is assumed.
    """
    dst0, dst1, src0, src1 = (tile(instr, name) for name in ("dst0", "dst1", "src0", "src1"))
    cols, (dtype, lanes) = dst0.valid_cols, _lanes(dst0, arch)
    half = lanes // 2 * dtype.itemsize
    swapped = (src1, cols // 2), (src0, cols - cols // 2)
    sides = ((dst0, (src0, 0), (src1, 0)), (dst1, *(swapped if cols % 2 else swapped[::-1])))
    loops: list[VregNode] = []
    for dst, first, second in sides:

        def body(
            spot: Spot,
            dst: TileView = dst,
            sources: tuple[tuple[TileView, int], ...] = (first, second),
        ) -> tuple[VregUop, ...]:
            loads = (
                _load(f"v{k}", src, ahead, half, dtype, lanes)
                for k, (src, ahead) in enumerate(sources)
            )
            pair = VregUop("VINTLV", form(dtype), ("v2", "v3"), ("v0", "v1"), dtype)
            return (*loads, pair, spot.store(replace(dst, dtype=dtype), "v2"))

        loops.append(nest(dst.valid_rows, cols, lanes, body))
    return _two(loops, dst0, dst1, (src0, src1))


def deinterleave(instr: BoundInstr, arch: VregArch) -> Lowered:
    """Of src0 and src1 behind each other the even elements to dst0, the odd ones to dst1.

    Two vectors of a source go through VDINTLV; stores that do not begin at whole blocks are those
    of unaligned streams (VSTUS). Where the columns are odd, src1 begins with an odd element. The
    sequence is assumed.
    """
    dst0, dst1, src0, src1 = (tile(instr, name) for name in ("dst0", "dst1", "src0", "src1"))
    cols, (dtype, lanes) = dst0.valid_cols, _lanes(dst0, arch)
    more, less = cols - cols // 2, cols // 2
    behind = ((dst1, less, more), (dst0, more, less))
    parts = (
        (src0, ((dst0, 0, more), (dst1, 0, less))),
        (src1, behind if cols % 2 else ((dst0, more, more), (dst1, less, less))),
    )
    loops = [
        node
        for src, targets in parts
        for node in _split(src, targets, cols, dtype, lanes, arch.memory.ub.alignment_bytes)
    ]
    return _two(loops, dst0, dst1, (src0, src1))


Target = tuple[TileView, int, int]  # tile, first column, columns


def _split(
    src: TileView,
    targets: tuple[Target, ...],
    cols: int,
    dtype: DType,
    lanes: int,
    alignment: int,
) -> Iterator[VregNode]:
    """Even and odd elements of every row of a source, to one target each."""
    step = 2 * lanes * dtype.itemsize

    def body(spot: Spot) -> tuple[VregUop, ...]:
        loads = (_load(f"v{k}", src, k * lanes, step, dtype, lanes) for k in range(2))
        pair = VregUop("VDINTLV", form(dtype), ("v2", "v3"), ("v0", "v1"), dtype)
        stores = []
        for k, (dst, first, count) in enumerate(targets):
            if not count:
                continue
            at = replace(dst, dtype=dtype, addr=dst.addr + first * dtype.itemsize)
            some = replace(spot, pred=Tail(count, lanes))
            stored = some.store(at, f"v{2 + k}")
            aligned = first * dtype.itemsize % alignment == 0
            stores.append(stored if aligned else replace(stored, op="VSTUS"))
        return (*loads, pair, *stores)

    pairs = -(-cols // (2 * lanes))
    spot = Spot(lanes, 0, nested=True, pred=None)
    yield VregLoop(src.valid_rows, (VregLoop(pairs, body(spot)),))


def _lanes(tile_: TileView, arch: VregArch) -> tuple[DType, int]:
    bits = DTYPES[f"u{tile_.dtype.bits}"]
    return bits, arch.vector.width_bytes // bits.itemsize


def _load(register: str, src: TileView, ahead: int, step: int, dtype: DType, lanes: int) -> VregUop:
    """A whole register from `ahead` elements behind the row's start, `step` bytes an iteration."""
    mem = VregMem(src.addr + ahead * dtype.itemsize, (src.row_bytes, step), dtype, lanes)
    return VregUop("VLDS", form(dtype), (register,), (), dtype, mem)


def _two(
    loops: list[VregNode], dst0: TileView, dst1: TileView, srcs: tuple[TileView, TileView]
) -> Lowered:
    lowered = Lowered.over_tiles((VectorFunction(tuple(loops)),), dst0, srcs)
    return replace(lowered, writes=(*lowered.writes, dst1.valid_region()))


FAMILIES: Families[VregArch] = {
    "deinterleave": deinterleave,
    "interleave": interleave,
    "transpose": transpose,
}
