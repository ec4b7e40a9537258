"""TCI, TTRI, TRANDOM and THISTOGRAM on the vreg cores. The sequences are assumed."""

from collections.abc import Iterator

from archsim.arch import VregArch
from archsim.base.dtypes import U8, U16, U32, DType
from archsim.isa.operands import BoundInstr, TileView
from archsim.isa.vreg import Tail, VectorFunction, VregLoop, VregMem, VregNode, VregUop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import number, output, tile
from archsim.lower.triangle import left_lanes
from archsim.lower.vreg.emit import conversion_form, form


def arange(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = start + k, or start - k, for the k-th valid element, row by row.

    For each run of consecutive elements (the tile where it is full, else a row): VCI, then a loop
    that stores a vector and adds its lanes.
    """
    dst, start = output(instr), int(number(instr, "start"))
    step = -1 if instr.attrs.get("descending") == "true" else 1
    is_full = dst.valid_cols == dst.row_stride or dst.valid_rows == 1
    rows, cols = dst.valid_rows, dst.valid_cols
    runs, length = (1, rows * cols) if is_full else (rows, cols)
    lanes, kind = arch.vector.width_bytes // dst.dtype.itemsize, form(dst.dtype)
    words = f"{'inc' if step > 0 else 'dec'} {lanes}"
    nodes: list[VregNode] = []
    for run in range(runs):
        first = start + step * run * cols
        addr = dst.addr + run * dst.row_bytes
        mem = VregMem(addr, (lanes * dst.dtype.itemsize,), dst.dtype, lanes)
        on = Tail(length, lanes)
        body = (
            VregUop("VSTS", kind, (), ("v0",), dst.dtype, mem, pred=on),
            VregUop("VADDS", kind, ("v0",), ("v0",), dst.dtype, scalar=step * lanes),
        )
        nodes.append(VregUop("VCI", kind, ("v0",), (), dst.dtype, scalar=first, effect=words))
        nodes.append(VregLoop(-(-length // lanes), body))
    return Lowered((VectorFunction(tuple(nodes)),), writes=(dst.valid_region(),))


def triangle(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst[r, c] = 1 where c <= r + diagonal (upper: c >= r + diagonal), else 0.

    Both values in registers; for every row a loop: a predicate of the lanes before the change, a
    select, a store.
    """
    dst, diagonal = output(instr), int(number(instr, "diagonal"))
    upper = instr.attrs.get("upper") == "true"
    lanes, kind = arch.vector.width_bytes // dst.dtype.itemsize, form(dst.dtype)
    left, right = (0, 1) if upper else (1, 0)
    nodes: list[VregNode] = [
        VregUop("VDUP", kind, (f"v{value}",), (), dst.dtype, scalar=value) for value in (0, 1)
    ]
    inside = Tail(dst.valid_cols, lanes)
    for row in range(dst.valid_rows):
        before = Tail(left_lanes(row, diagonal, dst.valid_cols, upper=upper), lanes)
        sources = ("p0", f"v{left}", f"v{right}")
        step = lanes * dst.dtype.itemsize
        mem = VregMem(dst.addr + row * dst.row_bytes, (step,), dst.dtype, lanes)
        body = (
            VregUop("PLT", kind, ("p0",), (), dst.dtype, pred=before),
            VregUop("VSEL", kind, ("v2",), sources, dst.dtype, pred=inside),
            VregUop("VSTS", kind, (), ("v2",), dst.dtype, mem, pred=inside),
        )
        nodes.append(VregLoop(-(-dst.valid_cols // lanes), body))
    return Lowered((VectorFunction(tuple(nodes)),), writes=(dst.valid_region(),))


def histogram(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst[r, b] = how many elements of row r of src have b as the byte that is counted.

    1. u8: the element itself; idx is not read.
    2. u16, byte=1: the upper byte; idx is not read.
    3. u16, byte=0: the lower byte of those elements whose upper byte is idx[r].
    Each row: registers of 16-bit counts from zero, each for as many byte values as it has lanes
    (two of 256 bytes: VDHIST of the lower and of the upper half of the values), a VDHIST of each
    for each vector, then the counts widened to 32 bits.
    """
    dst, src, idx = (tile(instr, name) for name in ("dst", "src", "idx"))
    picks = src.dtype is U16 and instr.attrs.get("byte") == "0"
    width = arch.vector.width_bytes
    firsts = range(0, 256, width // U16.itemsize)
    row: list[VregNode] = [_dup(f"counts{first}", src.dtype) for first in firsts]
    if picks:
        mem = VregMem(idx.addr, (idx.row_bytes,), U8, 1, "brc")
        row.append(VregUop("VLDS", form(U8), ("v2",), (), U8, mem))
        row.append(_cvt("v3", "v2", U8, U16))
    lanes = width // src.dtype.itemsize
    chunk = VregLoop(-(-src.valid_cols // lanes), tuple(_counts(src, lanes, firsts, picks)))
    nodes = (*row, chunk, *_widened(dst, firsts, width))
    function = VectorFunction((VregLoop(dst.valid_rows, nodes),))
    read = (src.valid_region(), *([idx.valid_region(1)] if picks else []))
    return Lowered((function,), read, (dst.valid_region(),), read)


def _counts(src: TileView, lanes: int, firsts: range, picks: bool) -> Iterator[VregUop]:
    """Add the bytes of one vector to the counts."""
    own, kind = src.dtype, form(src.dtype)
    mem = VregMem(src.addr, (src.row_bytes, lanes * own.itemsize), own, lanes)
    inside = Tail(src.valid_cols, lanes)
    yield VregUop("VLDS", kind, ("v4",), (), own, mem)
    yield VregUop("PLT", kind, ("p0",), (), own, pred=inside)
    byte, mask = "v4", "p0"
    if own is U16:
        yield VregUop("VSHRS", kind, ("v5",), ("v4",), own, scalar=8)
        byte = "v5"
    if picks:
        yield VregUop("VCMP", kind, ("p1",), ("v5", "v3"), own, effect="eq", pred=inside)
        yield _dup("v6", U16, 0xFF)
        yield VregUop("VAND", kind, ("v7",), ("v4", "v6"), own)
        byte, mask = "v7", "p1"
    for first in firsts:
        held, words = f"counts{first}", str(first)
        yield VregUop("VDHIST", kind, (held,), (held, byte), own, effect=words, pred=mask)


def _widened(dst: TileView, firsts: range, width: int) -> Iterator[VregUop]:
    """256 counts of 16 bits to 32, a store for each half of a register."""
    kind, lanes = conversion_form(U16, U32), width // U32.itemsize
    for first in firsts:
        for half, part in enumerate(("lower", "upper")):
            start = first + half * lanes
            wide, held = f"wide{start}", (f"counts{first}",)
            yield VregUop("VUNPACK", kind, (wide,), held, U16, to=U32, effect=part)
            mem = VregMem(dst.addr + start * U32.itemsize, (dst.row_bytes,), U32, lanes)
            yield VregUop("VSTS", form(U32), (), (wide,), U32, mem)


def _dup(register: str, dtype: DType, value: int = 0) -> VregUop:
    return VregUop("VDUP", form(dtype), (register,), (), dtype, scalar=value)


def _cvt(dst: str, src: str, source: DType, to: DType) -> VregUop:
    return VregUop("VCVT", conversion_form(source, to), (dst,), (src,), source, to=to)


FAMILIES: Families[VregArch] = {
    "arange": arange,
    "histogram": histogram,
    "triangle": triangle,
}
