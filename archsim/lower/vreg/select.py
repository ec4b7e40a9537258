"""Compare and select by mask on the vreg cores: always nests of rows.

Masks are packed bits in UB. Four-byte elements go two vectors an iteration, so that a mask image
of 128 bits is loaded or stored at once.
"""

from dataclasses import replace

from archsim.arch import VregArch
from archsim.base.dtypes import U8
from archsim.isa.operands import BoundInstr, TileView
from archsim.isa.vreg import Tail, VectorFunction, VregLoop, VregMem, VregNode, VregUop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import number, output, tile
from archsim.lower.vreg.emit import Spot, form


def compare_scalar(instr: BoundInstr, arch: VregArch) -> Lowered:
    """Bit (r, c) of dst = src[r, c] <mode> scalar; lanes behind the valid columns give 0.

    An image covers one vector, two of four-byte elements, whose masks a shuffle joins: an odd last
    one is loaded and compared all the same, and stored with its second half empty.
    """
    return _compared(instr, (tile(instr, "src"),), number(instr, "scalar"), arch)


def compare(instr: BoundInstr, arch: VregArch) -> Lowered:
    """Bit (r, c) of dst = src0[r, c] <mode> src1[r, c]; otherwise as `compare_scalar`."""
    return _compared(instr, (tile(instr, "src0"), tile(instr, "src1")), None, arch)


def _compared(
    instr: BoundInstr, srcs: tuple[TileView, ...], value: int | float | None, arch: VregArch
) -> Lowered:
    dst, src, mode = output(instr), srcs[0], instr.attrs.get("mode", "eq")
    lanes = arch.vector.width_bytes // src.dtype.itemsize
    vectors = _vectors_per_image(src)
    image = vectors * lanes
    cols = src.valid_cols
    spot = Spot(image, 0, nested=True, pred=None)
    kind = form(src.dtype)
    registers = [tuple(f"{n}{k}" for n in "vw"[: len(srcs)]) for k in range(vectors)]
    loads = [
        spot.load(register, source, lanes=lanes, ahead=k * lanes)
        for k in range(vectors)
        for register, source in zip(registers[k], srcs, strict=True)
    ]
    compares = [
        VregUop(
            instr.op.uops[arch.isa], kind, (f"p{k}",), registers[k], src.dtype, scalar=value,
            effect=mode, pred=Tail(cols, lanes, offset=k * lanes, stride=image),
        )
        for k in range(vectors)
    ]  # fmt: skip
    masks = tuple(f"p{k}" for k in range(vectors))
    shuffled: tuple[VregUop, ...] = ()
    if vectors == 2:
        packed = ("pd0", "pd1")
        shuffled, masks = (VregUop("PDINTLV", form(U8), packed, masks, U8),), packed
    stored = VregUop("PSTS", form(U8), (), masks, U8, _image(dst, 0, image))
    images = -(-cols // image)
    inner = VregLoop(images, (*loads, *compares, *shuffled, stored))
    written = replace(dst.valid_region(images * image // 8), rows=src.valid_rows)
    read = tuple(source.valid_region() for source in srcs)
    function = VectorFunction((VregLoop(src.valid_rows, (inner,)),))
    return Lowered((function,), read, (written,), read)


def select(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = src0 where the mask bit is 1, else src1.

    1. One- and two-byte elements: a vector an iteration.
    2. Four-byte elements: pairs of vectors; an odd last vector of every row in a second loop over
       the rows, behind a memory barrier.
    """
    srcs = (tile(instr, "src0"), tile(instr, "src1"))
    return _selected(instr, srcs, (), arch)


def select_scalar(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = src where the mask bit is 1, else scalar, which is duplicated once ahead of the loops.

    Otherwise as `select`; tmp is left alone.
    """
    dst = output(instr)
    value = number(instr, "scalar")
    spread = VregUop("VDUP", form(dst.dtype), ("vs",), (), dst.dtype, scalar=value)
    return _selected(instr, (tile(instr, "src"),), (spread,), arch)


def _selected(
    instr: BoundInstr, srcs: tuple[TileView, ...], ahead: tuple[VregUop, ...], arch: VregArch
) -> Lowered:
    dst, mask = output(instr), tile(instr, "mask")
    lanes = arch.vector.width_bytes // dst.dtype.itemsize
    vectors = -(-dst.valid_cols // lanes)
    per_image = _vectors_per_image(dst)
    pairs, left = divmod(vectors, per_image)
    loops: list[VregNode] = list(ahead)
    if pairs:
        body = _selection(dst, mask, srcs, lanes, per_image, 0)
        loops.append(VregLoop(dst.valid_rows, (VregLoop(pairs, body),)))
    if pairs and left:
        loops.append(VregUop("MEM_BAR", form(dst.dtype), (), (), dst.dtype, effect="vst_vld"))
    if left:
        last = _selection(dst, mask, srcs, lanes, 1, pairs * per_image)
        loops.append(VregLoop(dst.valid_rows, (VregLoop(1, last),)))
    bits = replace(mask.valid_region(-(-dst.valid_cols // 8)), rows=dst.valid_rows)
    read = (bits, *(src.valid_region() for src in srcs))
    return Lowered((VectorFunction(tuple(loops)),), read, (dst.valid_region(),), read)


def _selection(
    dst: TileView,
    mask: TileView,
    srcs: tuple[TileView, ...],
    lanes: int,
    count: int,
    before: int,
) -> tuple[VregUop, ...]:
    """`count` vectors of every row behind its first `before` ones, with one mask image."""
    image = count * lanes
    first = before * lanes
    spot = Spot(image, first, nested=True, pred=None)
    masks = tuple(f"p{k}" for k in range(count))
    loads, picks, stores = [], [], []
    for k in range(count):
        ahead = k * lanes
        registers = (f"v{2 * k}", f"v{2 * k + 1}" if len(srcs) > 1 else "vs")
        for register, src in zip(registers, srcs, strict=False):
            loads.append(spot.load(register, src, lanes=lanes, ahead=ahead))
        on = Tail(dst.valid_cols - first, lanes, offset=ahead, stride=image)
        result, kind = f"v{2 * count + k}", form(dst.dtype)
        picks.append(VregUop("VSEL", kind, (result,), (masks[k], *registers), dst.dtype, pred=on))
        mem = spot.mem(dst, lanes=lanes, ahead=ahead)
        stores.append(VregUop("VSTS", kind, (), (result,), dst.dtype, mem, pred=on))
    return (*_mask_loads(mask, masks, first, image, dst.dtype.itemsize), *loads, *picks, *stores)


def _mask_loads(
    mask: TileView, masks: tuple[str, ...], first: int, image: int, itemsize: int
) -> tuple[VregUop, ...]:
    """The mask image; bits of four-byte lanes are spread by a shuffle before they can select."""
    mem = _image(mask, first, image)
    if itemsize < 4:
        return (VregUop("PLDS", form(U8), masks, (), U8, mem),)
    packed = tuple(f"pi{k}" for k in range(len(masks)))
    shuffle = "PINTLV" if len(masks) == 2 else "PUNPACK"
    return (
        VregUop("PLDS", form(U8), packed, (), U8, mem),
        VregUop(shuffle, form(U8), masks, packed, U8),
    )


def _vectors_per_image(tile: TileView) -> int:
    return 2 if tile.dtype.itemsize == 4 else 1


def _image(mask: TileView, first: int, lanes: int) -> VregMem:
    """The bits of `lanes` lanes an iteration, from lane `first` of each row on."""
    return VregMem(mask.addr + first // 8, (mask.row_bytes, lanes // 8), U8, lanes, "bits")


FAMILIES: Families[VregArch] = {
    "compare": compare,
    "compare_scalar": compare_scalar,
    "select": select,
    "select_scalar": select_scalar,
}
