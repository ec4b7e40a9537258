"""TGATHER, TGATHERB and TSCATTER on the vreg cores."""

from collections.abc import Iterator
from dataclasses import replace

from archsim.arch import VregArch
from archsim.base.dtypes import DTYPES, I32, U32, DType
from archsim.isa.operands import MEMORY, BoundInstr, Region, TileView
from archsim.isa.patterns import PATTERNS
from archsim.isa.vreg import Tail, VectorFunction, VregLoop, VregMem, VregNode, VregUop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import number, tile
from archsim.lower.vreg.emit import Spot, form, nest

_BLOCK = 32


def gather(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst[r, c] = element indices[r, c] of src: VLDS index, VGATHER2, VSTS in a nest.

    As many lanes as the wider of index and element has. Narrower elements are gathered into wide
    lanes (VGATHER2_BC) and stored packed; narrower indices are widened by their load.
    """
    dst, src, indices = (tile(instr, name) for name in ("dst", "src", "indices"))
    bits = _bits(dst)
    width = max(bits.itemsize, indices.dtype.itemsize)
    name = "VGATHER2" if bits.itemsize == width else "VGATHER2_BC"
    mem = VregMem(src.addr, (0, 0), bits, _elements(src))

    def body(spot: Spot) -> tuple[VregUop, ...]:
        return (
            spot.load("v0", indices, dist=_dist("unpk", indices.dtype, width)),
            VregUop(name, form(bits), ("v1",), ("v0",), bits, mem, pred=spot.pred),
            spot.store(replace(dst, dtype=bits), "v1", dist=_dist("pk", bits, width)),
        )

    loop = nest(dst.valid_rows, dst.valid_cols, arch.vector.width_bytes // width, body)
    read = (src.valid_region(), indices.valid_region())
    reads = (src.whole_region(), indices.valid_region())
    return Lowered((VectorFunction((loop,)),), reads, (dst.valid_region(),), read)


def gather_pattern(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst[r] = the columns of src[r] that the pattern keeps: VLDS, VSQZ, VSTUR; VSTAR ends a row.

    P1111: loads and stores.
    """
    dst, src = tile(instr, "dst"), tile(instr, "src")
    bits = _bits(dst)
    lanes = arch.vector.width_bytes // bits.itemsize
    pattern = instr.attrs["maskPattern"]
    period = PATTERNS[pattern][0]
    if period == 1:
        return Lowered.over_tiles((VectorFunction((_copied(dst, src, bits, lanes),)),), dst, [src])
    share = lanes // period
    mem = VregMem(dst.addr, (dst.row_bytes, share * bits.itemsize), bits, share)
    spot = Spot(lanes, 0, nested=True, pred=None)
    kind, on = form(bits), Tail(dst.valid_cols, share)
    inner = VregLoop(
        -(-src.valid_cols // lanes),
        (
            spot.load("v0", replace(src, dtype=bits)),
            VregUop("VSQZ", kind, ("v1",), ("v0",), bits, effect=pattern),
            VregUop("VSTUR", kind, (), ("v1",), bits, mem, pred=on),
        ),
    )
    end = VregUop("VSTAR", kind, (), (), bits)
    function = VectorFunction((VregLoop(dst.valid_rows, (inner, end)),))
    return Lowered.over_tiles((function,), dst, [src])


def gather_compare(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst[r] = the columns c with src[r, c] > k (== k), close together; cdst[r] = how many.

    Per row: VCI, and per 64 columns VLDS, VCMPS, VSQZ of the numbers, VSTUR behind what is there,
    numbers + 64; then the count.
    """
    dst, src, counts = (tile(instr, name) for name in ("dst", "src", "cdst"))
    lanes, cols = arch.vector.width_bytes // 4, src.valid_cols
    spot = Spot(lanes, 0, nested=True, pred=Tail(cols, lanes))
    mem = VregMem(dst.addr, (dst.row_bytes, 0), I32, cols)
    mode, kind = instr.attrs["mode"], form(I32)
    compare = VregUop(
        "VCMPS", form(src.dtype), ("p0",), ("v0",), src.dtype,
        scalar=number(instr, "k"), effect=mode, pred=spot.pred,
    )  # fmt: skip
    inner = VregLoop(
        -(-cols // lanes),
        (
            spot.load("v0", src, dist=_dist("unpk", src.dtype, 4)),
            compare,
            VregUop("VSQZ", kind, ("v2",), ("v1",), I32, pred="p0"),
            VregUop("VSTUR", kind, ("a0",), ("v2", "p0", "a0"), I32, mem),
            VregUop("VADDS", kind, ("v1",), ("v1",), I32, scalar=lanes),
        ),
    )
    pitch = counts.row_bytes if counts.row_major else 4
    row = (
        VregUop("SPRCLR", kind, ("a0",), (), I32),
        VregUop("VCI", kind, ("v1",), (), I32, scalar=0, effect=f"inc {lanes}"),
        inner,
        VregUop("VSTAR", kind, (), (), I32),
        VregUop("SPRSTI", kind, (), ("a0",), I32, VregMem(counts.addr, (pitch,), I32, 1)),
    )
    function = VectorFunction((VregLoop(src.valid_rows, row),))
    written = (
        dst.valid_region(),
        Region(MEMORY[counts.loc], counts.addr, dst.valid_rows, 4, pitch),
    )
    read = (src.valid_region(),)
    return Lowered((function,), read, written, read)


def gather_blocks(instr: BoundInstr, arch: VregArch) -> Lowered:
    """Block b of dst[r] = the 32 bytes of src at offsets[r, b]: VLDS offsets, VGATHERB, VSTS.

    Rows outside, vectors of a row inside; the other order, for rows of many vectors, is not
    modelled.
    """
    dst, src, offsets = (tile(instr, name) for name in ("dst", "src", "offsets"))
    bits = _bits(dst)
    lanes, blocks = arch.vector.width_bytes // bits.itemsize, arch.vector.width_bytes // _BLOCK
    mem = VregMem(src.addr, (0, 0), bits, _elements(src))
    places = VregMem(offsets.addr, (offsets.row_bytes, 4 * blocks), U32, blocks)

    def body(spot: Spot) -> tuple[VregUop, ...]:
        return (
            VregUop("VLDS", form(U32), ("v0",), (), U32, places),
            VregUop("VGATHERB", form(bits), ("v1",), ("v0",), bits, mem, pred=spot.pred),
            spot.store(replace(dst, dtype=bits), "v1"),
        )

    loop = nest(dst.valid_rows, dst.valid_cols, lanes, body)
    used = -(-dst.valid_cols // (_BLOCK // bits.itemsize)) * 4
    where = Region(MEMORY[offsets.loc], offsets.addr, dst.valid_rows, used, offsets.row_bytes)
    read = (src.valid_region(), where)
    reads = (src.whole_region(), where)
    return Lowered((VectorFunction((loop,)),), reads, (dst.valid_region(),), read)


def scatter(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = 0, whole tile; then element indices[r, c] of dst = src[r, c].

    A loop of stores, a memory barrier, a nest of VLDS src, VLDS index, VSCATTER. Of equal indices
    in one vector the lowest lane stays; later vectors write over earlier ones.
    """
    dst, src, indices = (tile(instr, name) for name in ("dst", "src", "indices"))
    bits = _bits(dst)
    width = max(bits.itemsize, indices.dtype.itemsize)
    mem = VregMem(dst.addr, (0, 0), bits, _elements(dst))

    def body(spot: Spot) -> tuple[VregUop, ...]:
        return (
            spot.load("v1", replace(src, dtype=bits), dist=_dist("unpk", bits, width)),
            spot.load("v2", indices, dist=_dist("unpk", indices.dtype, width)),
            VregUop("VSCATTER", form(bits), (), ("v1", "v2"), bits, mem, pred=spot.pred),
        )

    lanes = arch.vector.width_bytes // width
    nodes = (*_zeros(dst, bits, arch), nest(src.valid_rows, src.valid_cols, lanes, body))
    read = (src.valid_region(), indices.valid_region())
    return Lowered((VectorFunction(nodes),), read, (dst.whole_region(),), read)


def scatter_pattern(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = 0, whole tile; then the columns of dst[r] that the pattern keeps = src[r].

    A vector is interleaved with zeros: once, or twice where one of four columns is kept; all the
    vectors that this gives are stored.
    """
    dst, src = tile(instr, "dst"), tile(instr, "src")
    bits = _bits(dst)
    lanes = arch.vector.width_bytes // bits.itemsize
    period, first = PATTERNS[instr.attrs["maskPattern"]]
    zeros = tuple(_zeros(dst, bits, arch))
    if period == 1:
        nodes = (*zeros, _copied(dst, src, bits, lanes))
    else:
        spread = tuple(_spread(period, first, bits))
        spot = Spot(lanes, 0, nested=True, pred=None)
        load = spot.load("v1", replace(src, dtype=bits))
        stores = _stores(dst, bits, lanes, period)
        inner = VregLoop(-(-src.valid_cols // lanes), (load, *spread, *stores))
        nodes = (*zeros, VregLoop(src.valid_rows, (inner,)))
    read = (src.valid_region(),)
    return Lowered((VectorFunction(nodes),), read, (dst.whole_region(),), read)


def _spread(period: int, first: int, bits: DType) -> Iterator[VregUop]:
    """The lanes of v1 with zeros (v0) between them, in v10 and v11, or v10 to v13."""

    def pair(to: int, source: str, behind: int) -> VregUop:
        order = ("v0", source) if behind else (source, "v0")
        return VregUop("VINTLV", form(bits), (f"v{to}", f"v{to + 1}"), order, bits)

    if period == 2:
        yield pair(10, "v1", first)
        return
    yield pair(2, "v1", first // 2)
    yield pair(10, "v2", first % 2)
    yield pair(12, "v3", first % 2)


def _stores(dst: TileView, bits: DType, lanes: int, period: int) -> Iterator[VregUop]:
    step = lanes * bits.itemsize
    for k in range(period):
        mem = VregMem(dst.addr + k * step, (dst.row_bytes, period * step), bits, lanes)
        on = Tail(dst.valid_cols, lanes, offset=k * lanes, stride=period * lanes)
        yield VregUop("VSTS", form(bits), (), (f"v{10 + k}",), bits, mem, pred=on)


def _zeros(dst: TileView, bits: DType, arch: VregArch) -> Iterator[VregNode]:
    """0 to every element of the tile, then a barrier."""
    lanes = arch.vector.width_bytes // bits.itemsize
    yield VregUop("VDUP", form(bits), ("v0",), (), bits, scalar=0)
    whole = replace(dst, dtype=bits)
    yield nest(dst.rows, dst.cols, lanes, lambda spot: (spot.store(whole, "v0"),))
    yield VregUop("MEM_BAR", form(bits), (), (), bits, effect="vst_vst")


def _copied(dst: TileView, src: TileView, bits: DType, lanes: int) -> VregLoop:
    to, source = (replace(t, dtype=bits) for t in (dst, src))

    def body(spot: Spot) -> tuple[VregUop, ...]:
        return spot.load("v1", source), spot.store(to, "v1")

    return nest(dst.valid_rows, dst.valid_cols, lanes, body)


def _bits(tile_: TileView) -> DType:
    return DTYPES[f"u{tile_.dtype.bits}"]


def _elements(tile_: TileView) -> int:
    """Elements from the first to the last of a tile, gaps between its rows included."""
    return (tile_.rows - 1) * tile_.row_stride + tile_.cols


def _dist(narrow: str, dtype: DType, width: int) -> str:
    return narrow if dtype.itemsize < width else "norm"


FAMILIES: Families[VregArch] = {
    "gather": gather,
    "gather_blocks": gather_blocks,
    "gather_compare": gather_compare,
    "gather_pattern": gather_pattern,
    "scatter": scatter,
    "scatter_pattern": scatter_pattern,
}
