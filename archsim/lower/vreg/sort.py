"""TSORT32 and TMRGSORT on the vreg cores.

The scalar unit issues their micro-ops outside of vector functions there; here they stand in one,
with the loads and stores that they do themselves, so that they have a time: an assumed one.
"""

from collections.abc import Iterator

from archsim.arch import VregArch
from archsim.base.dtypes import U32, DType
from archsim.isa.operands import MEMORY, BoundInstr, Region, TileView
from archsim.isa.vreg import Tail, VectorFunction, VregLoop, VregMem, VregNode, VregUop
from archsim.lower.lowered import Families, Lowered, Watch
from archsim.lower.operands import number, scratch, tile
from archsim.lower.vreg.emit import form

GROUP = 32
_RECORD = 8


def sort(instr: BoundInstr, arch: VregArch) -> Lowered:
    """Each 32 columns of a row in falling order, as records of value and index.

    What lies behind the last value comes last (the library copies a part of a group to tmp and
    fills it with the least value; equal values would then be told apart by what lies there).
    """
    dst, src, idx = (tile(instr, name) for name in ("dst", "src", "idx"))
    size, groups = src.dtype.itemsize, -(-src.valid_cols // GROUP)
    one = idx.valid_rows == 1
    values = VregMem(src.addr, (src.row_bytes, GROUP * size), src.dtype, GROUP)
    indices = VregMem(idx.addr, (0 if one else idx.row_bytes, GROUP * 4), U32, GROUP)
    records = VregMem(dst.addr, (dst.row_bytes, GROUP * _RECORD), U32, GROUP * _RECORD // 4)
    inner = VregLoop(
        groups,
        (
            VregUop("VLDS", form(src.dtype), ("v0",), (), src.dtype, values),
            VregUop("VLDS", form(U32), ("v1",), (), U32, indices),
            VregUop(
                "VBITSORT", form(src.dtype), ("v2",), ("v0", "v1"), src.dtype,
                pred=Tail(src.valid_cols, GROUP),
            ),
            VregUop("VSTS", form(U32), (), ("v2",), U32, records),
        ),
    )  # fmt: skip
    function = VectorFunction((VregLoop(src.valid_rows, (inner,)),))
    used = Region(MEMORY[idx.loc], idx.addr, idx.valid_rows, src.valid_cols * 4, idx.row_bytes)
    read = (src.valid_region(), used)
    written = (dst.valid_region(groups * GROUP * _RECORD),)
    return Lowered((function,), read, written, read, watched=(Watch.sorted_nan(src),))


def merge_blocks(instr: BoundInstr, arch: VregArch) -> Lowered:
    """Each four sorted blocks of src, blockLen elements long, as one."""
    dst, src = tile(instr, "dst"), tile(instr, "src")
    group = 4 * int(number(instr, "blockLen")) * src.dtype.itemsize
    repeat = src.valid_cols * src.dtype.itemsize // group
    to, source = (VregMem(t.addr, (group,), U32, group // 4) for t in (dst, src))
    body = (
        VregUop("VLDS", form(U32), ("v0",), (), U32, source),
        VregUop("VMRGSORT4", form(src.dtype), ("v1",), ("v0",), U32, effect=src.dtype.name),
        VregUop("VSTS", form(U32), (), ("v1",), U32, to),
    )
    return Lowered.over_tiles((VectorFunction((VregLoop(repeat, body),)),), dst, [src])


def merge_lists(instr: BoundInstr, arch: VregArch) -> Lowered:
    """Two to four sorted lists as one: a merge into tmp, the counts, a copy.

    Where it stops at the first list that is used up (`exhausted`), nobody says what lies behind
    the records that it took: here what a whole merge puts there.
    """
    dst, executed, tmp = tile(instr, "dst"), tile(instr, "executed"), scratch(instr)
    lists = [tile(instr, f"src{k}") for k in range(4) if f"src{k}" in instr.operands]
    words = [t.valid_cols * t.dtype.itemsize // 4 for t in lists]
    total = sum(words)
    nodes = tuple(_merge(dst.dtype, executed, tmp, lists, words, instr))
    lanes = arch.vector.width_bytes // 4
    copy = tuple(
        VregUop(op, form(U32), to, source, U32, VregMem(addr, (4 * lanes,), U32, lanes), pred=on)
        for op, to, source, addr, on in (
            ("VLDS", ("v8",), (), tmp.addr, None),
            ("VSTS", (), ("v8",), dst.addr, Tail(total, lanes)),
        )
    )
    function = VectorFunction((*nodes, VregLoop(-(-total // lanes), copy)))
    read = tuple(t.valid_region() for t in lists)
    written = (
        dst.valid_region(),
        Region(MEMORY[executed.loc], executed.addr, 1, 8, 8),
        Region(MEMORY[tmp.loc], tmp.addr, 1, total * 4, total * 4),
    )
    return Lowered((function,), read, written, read)


def _merge(
    dtype: DType,
    executed: TileView,
    tmp: TileView,
    lists: list[TileView],
    words: list[int],
    instr: BoundInstr,
) -> Iterator[VregNode]:
    names = tuple(f"v{k}" for k in range(len(lists)))
    for name, source, count in zip(names, lists, words, strict=True):
        mem = VregMem(source.addr, (), U32, count)
        yield VregUop("VLDS", form(U32), (name,), (), U32, mem)
    effect = dtype.name
    if instr.attrs.get("exhausted") == "true":
        effect += " exhausted"
    yield VregUop("VMRGSORT4", form(dtype), ("v7",), names, U32, effect=effect)
    yield VregUop("VSTS", form(U32), (), ("v7",), U32, VregMem(tmp.addr, (), U32, sum(words)))
    yield VregUop("SPR_STATUS", form(U32), ("a0",), names, U32, effect=effect)
    counts = VregMem(executed.addr, (), executed.dtype, 4)
    yield VregUop("SPRSTI", form(executed.dtype), (), ("a0",), executed.dtype, counts)
    yield VregUop("MEM_BAR", form(U32), (), (), U32, effect="vst_vld")


FAMILIES: Families[VregArch] = {
    "merge_blocks": merge_blocks,
    "merge_lists": merge_lists,
    "sort": sort,
}
