"""Rules of instructions on regions, generators and quantisation: each broken alone."""

from dataclasses import replace

import pytest
from instrs import A2A3, A5, ARCHS, tile

from archsim.check import check
from archsim.isa.operands import BoundInstr, Loc, TileView
from archsim.isa.tile_ops import FORMS

F, H, N, SMALL = tile("f32"), tile("f16"), tile("i32"), tile("f32", "16x64", "16x40")
COLUMN = tile("f32", "16x1", row_major=False)
BLOCKS = tile("f32", "16x8")
PADDED = tile("f32", pad="max")
BINS = tile("u32", "16x256")
LEGAL = {
    "tpartadd": (0, [F], [F, SMALL]),
    "tpartargmax": (0, [F, N], [F, SMALL, N, replace(N, valid_cols=40)]),
    "tconcat": (0, [tile("f32", "16x128")], [F, F]),
    "tfillpad": (0, [PADDED], [SMALL]),
    "tfillpad_expand": (0, [tile("f32", "17x128", pad="zero")], [SMALL]),
    "tfillpad_inplace": (0, [PADDED], [SMALL]),
    "tci": (0, [N], [7]),
    "ttri": (0, [F], [0]),
    "trandom": (0, [tile("u32")], [1, 2, 3, 4, 5, 6]),
    "thistogram": (0, [BINS], [tile("u8"), tile("u8", "16x32", "16x1")]),
    "tquant": (0, [tile("i8")], [F, COLUMN]),
    "tquant offset": (1, [tile("u8")], [F, COLUMN, COLUMN]),
    "tdequant": (0, [F], [tile("i16"), BLOCKS, BLOCKS]),
}


def built(name: str, **changes: object) -> BoundInstr:
    """A legal instruction with operands replaced by name; tiles 0x4000 bytes apart."""
    form, outs, ins = LEGAL[name]
    op = FORMS[name.split()[0]][form]
    names = [arg.name for arg in (*op.outs, *op.ins) if not arg.scratch]
    placed = []
    for at, (key, old) in enumerate(zip(names, [*outs, *ins], strict=True)):
        operand = changes.get(key, old)
        if isinstance(operand, TileView) and operand.addr == 0:
            same = name == "tfillpad_inplace" and key not in changes
            operand = replace(operand, addr=0 if same else 0x4000 * at)
        placed.append(operand)
    tmp = changes.get("tmp")
    if op.scratch and "tmp" not in changes:
        tmp = tile("i32", addr=0x20000)
    return BoundInstr(op, tuple(placed[: len(outs)]), tuple(placed[len(outs) :]), tmp)


def messages(instr: BoundInstr, isa: str) -> list[str]:
    return [fault.message for fault in check(instr, ARCHS[isa], may_allocate=False)]


@pytest.mark.parametrize(
    ("isa", "name"), [(i, n) for n in LEGAL for i in ARCHS if i in FORMS[n.split()[0]][0].dtypes]
)
def test_legal(isa: str, name: str) -> None:
    assert messages(built(name), isa) == []


ELSEWHERE = " on a2a3; a5 allows it"
IGNORED = " on a2a3; a5 accepts and ignores any tmp"
BOTH = {
    "one covers": (
        built("tpartadd", src0=SMALL, src1=tile("f32", "16x64", "8x64")),
        "src0 16x40 and src1 8x64 are valid, must be the 16x64 of dst for one and lie in it",
    ),
    "none is greater": (
        built("tpartadd", dst=SMALL, src0=SMALL, src1=F),
        "src0 16x40 and src1 16x64 are valid, must be the 16x40 of dst for one and lie in it",
    ),
    "the narrower source apart": (
        built("tpartadd", dst=replace(F, addr=0x8000)),
        "dst overlaps src1, must not: src1 has 40 of its 64 valid columns",
    ),
    "the narrower indices apart": (
        built("tpartargmax", dstIdx=replace(N, addr=0x14000)),
        "dstIdx overlaps src1Idx, must not: src1Idx has 40 of its 64 valid columns",
    ),
    "index type": (
        built(
            "tpartargmax",
            dstIdx=F,
            src0Idx=F,
            src1Idx=SMALL,
        ),
        "dstIdx is f32, must be i32 or u32",
    ),
    "index types agree": (
        built("tpartargmax", src0Idx=tile("u32")),
        "src0Idx is u32, must be i32 like dstIdx",
    ),
    "indices have their values' region": (
        built("tpartargmax", src1Idx=N),
        "src1Idx has valid 16x64, must have 16x40 like src1",
    ),
    "columns add up": (
        built("tconcat", src1=SMALL),
        "dst has 128 valid columns, must have 104: 64 + 40",
    ),
    "concatenated rows": (
        built("tconcat", src1=tile("f32", "16x64", "8x64")),
        "src1 has 8 valid rows, must have 16 like dst",
    ),
    "concatenated apart": (
        built("tconcat", dst=tile("f32", "16x128", addr=0x8000)),
        "dst at 0x8000 to 0xa000 overlaps src1 at 0x8000 to 0x9000, must not",
    ),
    "a pad value": (
        built("tfillpad", dst=F),
        "dst has pad null, must have zero, max or min to fill with",
    ),
    "equal declared shapes": (
        built("tfillpad", src=tile("f32", "8x64")),
        "src is 8x64, must be 16x64 like dst",
    ),
    "fits": (
        built("tfillpad_expand", src=tile("f32", "32x64")),
        "src is 32x64, must fit in the 17x128 of dst",
    ),
    "in place": (
        built("tfillpad_inplace", src=SMALL),
        "src is at 0x4000, must be where dst is, at 0x0",
    ),
    "start fits": (
        built("tci", dst=tile("i16"), start=70000),
        "start is 70000, must be a whole number of 16 bits for i16",
    ),
    "diagonal is whole": (
        built("ttri", diagonal=1.5),
        "diagonal is 1.5, must be a whole number of 32 bits",
    ),
    "scale is f32": (built("tdequant", scale=tile("i32", "16x8")), "scale is i32, must be f32"),
    "a scale a row": (
        built("tdequant", scale=tile("f32", "8x8")),
        "scale has 8 valid rows, must have 16 like dst",
    ),
    "one column of offsets": (
        built("tdequant", offset=tile("f32", "16x8", row_major=False)),
        "offset is column-major with 8 columns, must be row-major or have one",
    ),
    "dequantised region": (
        built("tdequant", src=tile("i16", "16x64", "16x40")),
        "src has valid 16x40, must have 16x64 like dst",
    ),
    "offsets are f32": (
        built("tquant offset", offset=replace(COLUMN, dtype=N.dtype)),
        "offset is i32, must be f32",
    ),
    "scales in UB": (
        built("tquant", scale=replace(COLUMN, loc=Loc.MAT)),
        "scale is in mat, must be in vec",
    ),
}


@pytest.mark.parametrize("isa", ARCHS)
@pytest.mark.parametrize("name", BOTH)
def test_rules_of_both_cores(isa: str, name: str) -> None:
    instr, message = BOTH[name]
    assert message in messages(instr, isa)


ONLY_A2A3 = {
    "scratch": (
        built("tquant", tmp=None),
        "tquant has no tmp, must have one on a2a3; a5 accepts and ignores any tmp",
    ),
    "scratch is great enough": (
        built("tquant", tmp=tile("i32", "8x64", addr=0x20000)),
        "tmp has 2048 bytes, must have 4096" + IGNORED,
    ),
    "a column of scales": (
        built("tquant", scale=BLOCKS),
        "scale is row-major, must be column-major with one column" + ELSEWHERE,
    ),
    "source and destination apart": (
        built("tquant", dst=tile("i8", addr=0x4000)),
        "dst at 0x4000 to 0x4400 overlaps src at 0x4000 to 0x5000, must not" + ELSEWHERE,
    ),
    "scratch apart": (
        built("tquant", tmp=tile("i32", addr=0x4000)),
        "tmp at 0x4000 to 0x5000 overlaps src at 0x4000 to 0x5000, must not" + IGNORED,
    ),
}


@pytest.mark.parametrize("name", ONLY_A2A3)
def test_rules_of_a2a3(name: str) -> None:
    instr, message = ONLY_A2A3[name]
    assert messages(instr, "a2a3") == [message]
    assert messages(instr, "a5") == []


ONLY_A5 = {
    "words": (
        built("trandom", key1=1 << 33),
        "key1 is 8589934592, must be a whole number of 32 bits",
    ),
    "bins": (
        built("thistogram", dst=tile("u32")),
        "dst has 64 valid columns, must have 256",
    ),
    "idx is u8": (built("thistogram", idx=tile("i8", "16x32", "16x1")), "idx is i8, must be u8"),
    "idx has the rows": (
        built("thistogram", idx=tile("u8", "8x32", "8x1")),
        "idx has 8 valid rows, must have 16 like dst",
    ),
}


@pytest.mark.parametrize("name", ONLY_A5)
def test_rules_of_a5(name: str) -> None:
    instr, message = ONLY_A5[name]
    assert messages(instr, "a5") == [message]


@pytest.mark.parametrize("name", ["trandom", "thistogram"])
def test_what_a2a3_lacks_it_says_why(name: str) -> None:
    reason = "its vector unit has no such micro-op and no sequence is published"
    assert messages(built(name), "a2a3") == [f"a2a3 has no {name}: {reason}; a5 has"]


def test_a_type_of_the_other_form_names_the_types() -> None:
    (message,) = messages(built("tquant", dst=tile("u8")), "a5")
    assert message == "tquant takes f32 -> i8; f32 -> u8 is not among them (nor on a2a3)"


def test_the_tool_makes_the_smallest_scratch() -> None:
    (fault,) = check(built("tquant", tmp=None), A2A3, may_allocate=False)
    assert fault.fix == (
        "give it a tmp tile of i32 16x64, or let the tool place one: `alloc: auto`"
    )
    assert check(built("tquant", tmp=None), A2A3, may_allocate=True) == []
    assert check(built("tquant", tmp=None), A5, may_allocate=False) == []
