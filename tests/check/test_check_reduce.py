"""The rules of reductions and broadcasts: legal ones pass, each rule broken alone."""

import pytest
from instrs import A2A3, A5, ARCHS, bind, spread, tile

from archsim.check import check, scratch_tile

F, H, N = tile("f32"), tile("f16"), tile("i32")
COLUMN = tile("f32", "16x1", row_major=False)
PLACES = tile("i32", "16x1", row_major=False)
BLOCKS = tile("f32", "16x8")
ROW = tile("f32", "1x64")
NUMBERS = tile("i32", "1x64")
HALF = tile("f32", "16x32")
WIDE = tile("f32", "16x200", "16x192")


def messages(instr, arch, may_allocate=False):
    found = check(spread(instr, 0x6000), arch, may_allocate=may_allocate)
    return [fault.message for fault in found]


LEGAL = [
    bind("trowsum", COLUMN, F, tmp=F),
    bind("trowmax", BLOCKS, F, tmp=F),
    bind("trowprod", COLUMN, F, tmp=tile("f32", "1x8")),
    bind("trowsum", PLACES, N, tmp=tile("i32", "1x8")),
    bind("trowargmax", PLACES, F, tmp=F),
    bind("tcolsum", ROW, F),
    bind("tcolsum", ROW, F, tmp=tile("f32", "8x64"), binary="true"),
    bind("tcolmax", ROW, F),
    bind("tcolargmin", NUMBERS, F, tmp=tile("f32", "1x128")),
    bind("tpairreducesum", HALF, F),
    bind("trowexpand", F, COLUMN),
    bind("trowexpandsub", F, F, COLUMN),
    bind("trowexpandsub", F, F, COLUMN, tmp=tile("f32", "16x8")),
    bind("trowexpandsub", F, COLUMN, F),
    bind("trowexpandmul", F, F, BLOCKS),
    bind("tcolexpand", F, ROW),
    bind("tcolexpandadd", F, F, ROW),
    bind("tcolexpandadd", F, ROW, F),
]


@pytest.mark.parametrize("isa", ARCHS)
@pytest.mark.parametrize("instr", LEGAL, ids=lambda instr: instr.op.mnemonic)
def test_legal_ones_have_no_fault(isa, instr):
    assert messages(instr, ARCHS[isa]) == []


@pytest.mark.parametrize("isa", ARCHS)
@pytest.mark.parametrize(
    ("instr", "message"),
    [
        (bind("trowsum", tile("f32", "16x8", row_major=False), F, tmp=F),
         "dst is column-major with 8 columns, must be row-major or have one"),
        (bind("trowsum", COLUMN, tile(row_major=False), tmp=F),
         "src is column-major, must be row-major"),
        (bind("trowsum", tile("f32", "8x1", row_major=False), F, tmp=F),
         "src has 16 valid rows, must have 8 like dst"),
        (bind("trowargmax", COLUMN, F, tmp=F), "dst is f32, must be i32 or u32"),
        (bind("tcolsum", tile("f32", "1x64", "1x60"), F),
         "src has 64 valid columns, must have 60 like dst"),
        (bind("tcolsum", ROW, F, binary="true"), "tcolsum has no tmp, must have one"),
        (bind("tcolsum", ROW, F, tmp=tile("f32", "7x64"), binary="true"),
         "tmp has 7 rows of 256 bytes, must have 8 of 256"),
        (bind("tcolsum", ROW, F, tmp=tile("f32", "8x56"), binary="true"),
         "tmp has 8 rows of 224 bytes, must have 8 of 256"),
        (bind("tpairreducesum", tile("f32", "16x40", "16x30"), F),
         "src has 64 valid columns, must have 60: a pair for each of dst"),
        (bind("trowexpandadd", F, F, F),
         "src0 has valid 16x64, src1 16x64, must have 16x64 like dst in one and 16 rows of one"
         " column-major or 8 row-major columns in the other"),
        (bind("tcolexpandadd", F, F, tile("f32", "1x64", "1x60")),
         "src0 has valid 16x64, src1 1x60, must have 16x64 like dst in one and a row of 64 columns"
         " in the other"),
        (bind("trowexpand", F, tile("f32", "16x8", row_major=False)),
         "src is column-major with 8 columns, must be row-major or have one"),
    ],
)  # fmt: skip
def test_a_rule_of_both_cores(isa, instr, message):
    # Whatever else a core asks of the same operand is asked elsewhere.
    assert message in messages(instr, ARCHS[isa])


@pytest.mark.parametrize(
    ("instr", "message"),
    [
        (bind("trowsum", COLUMN, F), "trowsum has no tmp, must have one"),
        (bind("trowsum", COLUMN, F, tmp=tile("f32", "16x56")),
         "tmp has 16 rows of 224 bytes, must have 16 of 256"),
        (bind("trowsum", COLUMN, tile("f32", "16x256"), tmp=F),
         "tmp has 16 rows of 256 bytes, must have 16 of 512"),
        (bind("trowmax", tile("f32", "8x1", row_major=False), tile("f32", "8x1024"),
              tmp=tile("f32", "8x64")),
         "tmp has 8 rows of 256 bytes, must have 8 of 512"),
        (bind("trowexpandadd", F, F, BLOCKS, tmp=F),
         "tmp is given, must not be: no source is column-major"),
        (bind("trowexpandadd", F, F, COLUMN, tmp=tile("f32", "8x8")),
         "tmp has 256 bytes, must have 512"),
        (bind("tcolargmax", NUMBERS, F, tmp=ROW), "tmp has 256 bytes, must have 512"),
    ],
)  # fmt: skip
def test_a_rule_of_a2a3_alone(instr, message):
    assert messages(instr, A2A3) == [f"{message} on a2a3; a5 accepts and ignores any tmp"]
    assert messages(instr, A5) == []


def test_one_column_is_spread_on_a5():
    instr = bind("trowexpand", F, BLOCKS)
    assert messages(instr, A2A3) == []
    assert messages(instr, A5) == ["src has 8 valid columns, must have 1 on a5; a2a3 allows it"]
    dynamic = tile("f32", "16x8", dynamic="cols")
    assert messages(bind("trowexpand", F, dynamic), A5) == []


def test_scratch_that_is_not_needed_is_not_asked_for():
    for isa in ARCHS.values():
        assert scratch_tile(bind("tcolsum", ROW, F), isa) is None
    assert scratch_tile(bind("trowsum", COLUMN, F), A5) is None


def test_a_type_that_one_core_has():
    byte = tile("i8", "16x64")
    instr = bind("trowmax", tile("i8", "16x32"), byte, tmp=F)
    assert messages(instr, A5) == []
    assert messages(instr, A2A3) == [
        "trowmax takes i32, i16, f16, f32 on a2a3; i8 is not among them (a5 takes it)"
    ]


def test_dynamic_tiles_are_given_scratch_to_grow_into_and_need_what_they_use():
    src = tile("f32", "16x256", "16x64", dynamic="cols")
    instr = bind("trowsum", COLUMN, src, tmp=F)
    assert messages(instr, A2A3) == []
    found = scratch_tile(instr, A2A3)
    assert found is not None
    assert found[1:] == (16, 128)
