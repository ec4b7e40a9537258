"""Each rule of the instructions that move elements: one operand breaks just it."""

from dataclasses import replace

import pytest
from instrs import ARCHS

from archsim.base.dtypes import DTYPES
from archsim.check import check
from archsim.isa.operands import Loc
from archsim.schedule.alone import bind_alone, question


def legal(isa, op, dtype="f32", shape="4x64", **keys):
    return bind_alone(question(op, dtype, shape, None, keys), ARCHS[isa])


def broken(instr, name, **changes):
    """The instruction with fields of one operand changed; `dtype` by its name."""
    if "dtype" in changes:
        changes["dtype"] = DTYPES[changes["dtype"]]
    names = [arg.name for arg in instr.op.outs]
    if name in names:
        dst = list(instr.dst)
        dst[names.index(name)] = replace(dst[names.index(name)], **changes)
        return replace(instr, dst=tuple(dst))
    if name == "tmp":
        return replace(instr, tmp=replace(instr.tmp, **changes))
    given = [a.name for a in instr.op.ins if not a.scratch and a.name not in instr.omitted]
    src = list(instr.src)
    at = given.index(name)
    src[at] = replace(src[at], **changes) if changes else None
    return replace(instr, src=tuple(src))


def messages(instr, isa):
    return [fault.message for fault in check(instr, ARCHS[isa], may_allocate=False)]


LEGAL = [
    ("ttrans", "f32", {}),
    ("ttrans", "i8", {}),
    ("tgather", "f16", {}),
    ("tgather", "f32", {"maskPattern": "P0101"}),
    ("tgather", "f16", {"maskPattern": "P1000"}),
    ("tgather", "f32,i32", {"mode": "gt"}),
    ("tgatherb", "f32", {}),
    ("tscatter", "i8", {}),
    ("tscatter", "f32", {"maskPattern": "P1010"}),
    ("tsort32", "f16", {}),
    ("tmrgsort", "f32", {}),
    ("tmrgsort", "f32", {"form": "single"}),
]


@pytest.mark.parametrize("isa", ARCHS)
@pytest.mark.parametrize(("op", "dtype", "keys"), LEGAL)
def test_legal_ones_have_no_fault(isa, op, dtype, keys):
    assert messages(legal(isa, op, dtype, **keys), isa) == []


FAULTS = [
    ("ttrans", "f32", {}, "src", {"dtype": "f16"},
     "src is f16, must have elements of 4 bytes like dst"),
    ("ttrans", "f32", {}, "dst", {"valid_rows": 63},
     "dst has valid 63x4, must have 64x4: src turned"),
    ("tgather", "f32", {}, "indices", {"dtype": "f32"},
     "indices is f32, must be an integer type of {bits} bits"),
    ("tgather", "f32", {}, "indices", {"valid_rows": 3},
     "indices has valid 3x64, must have 4x64 like dst"),
    ("tgather", "f32", {"maskPattern": "P0101"}, "src", {"valid_cols": 60},
     "dst has 32 valid columns, must have 30: P0101 keeps 1 of 2 of the 60 of src"),
    ("tgather", "f32,i32", {"mode": "gt"}, "cdst", {"dtype": "i16"},
     "cdst is i16, must be i32 or u32"),
    ("tgather", "f32,i32", {"mode": "gt"}, "cdst", {"valid_rows": 3},
     "cdst has 3 valid rows, must have 4 like dst"),
    ("tgatherb", "f32", {}, "offsets", {"dtype": "i32"}, "offsets is i32, must be u32"),
    ("tgatherb", "f32", {}, "offsets", {"valid_cols": 7},
     "offsets has valid 4x7, must cover 4x8: a block each"),
    ("tscatter", "f32", {}, "indices", {"dtype": "i16"},
     "indices is i16, must be an integer type of 32 bits for f32"),
    ("tscatter", "i8", {}, "indices", {"dtype": "i32"},
     "indices is i32, must be an integer type of 16 bits for i8"),
    ("tscatter", "f32", {}, "indices", {"valid_cols": 63},
     "indices has valid 4x63, must have 4x64 like src"),
    ("tscatter", "f32", {"maskPattern": "P1010"}, "src", {"valid_cols": 31},
     "src has 31 valid columns, must have 32: P1010 keeps 1 of 2 of the 64 of dst"),
    ("tsort32", "f32", {}, "idx", {"dtype": "i32"}, "idx is i32, must be u32"),
    ("tsort32", "f32", {}, "idx", {"valid_rows": 2},
     "idx has valid 2x64, must have 4x64 like src, or one row"),
    ("tsort32", "f32", {}, "dst", {"valid_cols": 126},
     "dst has valid 4x126, must have 4x128: 8 bytes for each of the 4x64 of src"),
    ("tmrgsort", "f32", {}, "src1", {"dtype": "f16"}, "src1 is f16, must be f32 like dst"),
    ("tmrgsort", "f32", {}, "executed", {"dtype": "i32"},
     "executed is i32 1x4 in vec, must be u16 1x4 in vec"),
    ("tmrgsort", "f32", {}, "dst", {"valid_cols": 510},
     "dst has 510 valid columns, must have 512: 256 + 256"),
    ("tmrgsort", "f32", {"form": "single", "blockLen": "32"}, "src", {"pad": "zero"},
     "blockLen is 32, must be a multiple of 64"),
    ("tmrgsort", "f32", {"form": "single", "blockLen": "128"}, "src", {"pad": "zero"},
     "src has 256 valid columns, must be 1 to 255 times four blocks of 128"),
]  # fmt: skip


@pytest.mark.parametrize("isa", ARCHS)
@pytest.mark.parametrize(("op", "dtype", "keys", "name", "changes", "message"), FAULTS)
def test_one_fault(isa, op, dtype, keys, name, changes, message):
    instr = broken(legal(isa, op, dtype, **keys), name, **changes)
    want = message.format(bits="32" if isa == "a2a3" else "16 or 32")
    assert messages(instr, isa) == [want]


def test_rows_of_a_pattern_are_packed_on_a2a3():
    narrow = legal("a2a3", "tgather", maskPattern="P0101")
    wide = broken(narrow, "dst", cols=40, row_stride=40, addr=4096)
    assert messages(wide, "a2a3") == [
        "dst has 32 valid columns in rows 40 apart, must have as many: rows are packed on a2a3;"
        " a5 allows it"
    ]
    assert messages(wide, "a5") == []


@pytest.mark.parametrize(
    ("op", "dtype", "need"), [("ttrans", "f32", 4096), ("tgather", "f16", 1024)]
)
def test_scratch_must_be_there_and_hold_enough(op, dtype, need):
    instr = legal("a2a3", op, dtype, "16x64" if op == "ttrans" else "4x64")
    small = broken(instr, "tmp", cols=instr.tmp.cols - 8, row_stride=instr.tmp.cols - 8)
    has = small.tmp.size_bytes
    elsewhere = " on a2a3; a5 accepts and ignores any tmp"
    assert messages(small, "a2a3") == [f"tmp has {has} bytes, must have {need}{elsewhere}"]
    without = replace(instr, tmp=None)
    assert messages(without, "a2a3") == [f"{op} has no tmp, must have one{elsewhere}"]
    assert messages(without, "a5") == []


def test_a_group_of_records_needs_its_whole_room():
    instr = legal("a5", "tsort32", "f32", "1x64")
    instr = broken(instr, "src", valid_cols=40)
    instr = broken(broken(instr, "idx", valid_cols=40), "dst", valid_cols=80, cols=80)
    assert messages(instr, "a5") == [
        "dst has rows of 320 bytes, must have 512: groups of 32 are written whole"
    ]


@pytest.mark.parametrize(
    ("op", "first", "second"), [("ttrans", "dst", "src"), ("tsort32", "dst", "idx")]
)
def test_operands_apart(op, first, second):
    instr = legal("a5", op)
    at = instr.operands[first].addr
    moved = broken(instr, second, addr=at)
    (message,) = messages(moved, "a5")
    assert message.startswith(f"{first} at 0x0 to ")
    assert f"overlaps {second} at 0x0 to" in message


def test_merged_records_must_not_run_into_a_list():
    instr = legal("a5", "tmrgsort")
    moved = broken(instr, "tmp", addr=instr.operands["src1"].addr)
    assert messages(moved, "a5") == ["tmp overlaps src1, must not"]


def test_interleaved_tiles():
    instr = legal("a5", "tinterleave")
    assert messages(instr, "a5") == []
    assert messages(broken(instr, "src1", valid_cols=63), "a5") == [
        "src1 has valid 4x63, must have 4x64 like dst0"
    ]
    assert messages(instr, "a2a3") == [
        "a2a3 has no tinterleave: its vector unit has no interleaving micro-op; a5 has"
    ]


def test_lists_lie_in_vec():
    instr = broken(legal("a5", "tmrgsort"), "src1", loc=Loc.MAT)
    assert "src1 is in mat, must be in vec" in messages(instr, "a5")
