"""The rules of logic, shifts and fused arithmetic, each broken alone; whole messages asserted."""

from dataclasses import replace

import pytest
from instrs import A2A3, ARCHS, bind, spread, tile

from archsim.check import check, scratch_tile

F, H, N, S, B = tile(), tile("f16"), tile("i32"), tile("i16"), tile("i8", "16x64")
LEGAL = {
    "tand": bind("tand", N, N, N),
    "txor": bind("txor", N, N, N, tmp=N),
    "tshl": bind("tshl", B, B, B),
    "tands": bind("tands", N, N, 3),
    "txors": bind("txors", N, N, 3, tmp=N),
    "tshls": bind("tshls", N, N, 31),
    "tshrs": bind("tshrs", S, S, 15),
    "taddc": bind("taddc", F, F, F, F),
    "taddsc": bind("taddsc", F, F, 2.0, F),
    "tsubsc": bind("tsubsc", N, N, 2, N),
    "tneg": bind("tneg", N, N),
    "tnot": bind("tnot", B, B),
    "trelu": bind("trelu", N, N),
    "tmuladddst": bind("tmuladddst", H, H, H),
    "tsubrelu": bind("tsubrelu", F, F, F),
    "taxpy": bind("taxpy", F, H, 2.0),
    "tsubreluconv": bind("tsubreluconv", H, F, F),
}


def messages(instr, isa="a2a3", may_allocate=False):
    return [fault.message for fault in check(instr, ARCHS[isa], may_allocate=may_allocate)]


def apart(instr):
    return spread(instr, 0x3000)


def changed(name, **changes):
    instr = LEGAL[name]
    names = [arg.name for arg in instr.op.ins if not arg.scratch]
    src = tuple(changes.get(n, old) for n, old in zip(names, instr.src, strict=True))
    tmp = changes.get("tmp", instr.tmp)
    return apart(replace(instr, dst=(changes.get("dst", instr.dst[0]),), src=src, tmp=tmp))


@pytest.mark.parametrize("isa", ARCHS)
@pytest.mark.parametrize("name", LEGAL)
def test_legal_instructions_have_no_fault(isa, name):
    assert messages(apart(LEGAL[name]), isa) == []


SMALL = tile("i32", valid="8x64")
BOTH = [
    ("tand", {"src1": tile("u32")}, "src1 is u32, must be i32 like dst"),
    ("tand", {"src0": SMALL}, "src0 has valid 8x64, must have 16x64 like dst"),
    ("tand", {"src0": tile("i32", row_major=False)}, "src0 is column-major, must be row-major"),
    ("txor", {"src1": SMALL}, "src1 has valid 8x64, must have 16x64 like dst"),
    ("tshl", {"src1": tile("u8")}, "src1 is u8, must be i8 like dst"),
    ("tands", {"scalar": 0.5}, "scalar is 0.5, must be a whole number of 32 bits for i32"),
    ("tands", {"src": SMALL}, "src has valid 8x64, must have 16x64 like dst"),
    ("txors", {"scalar": 1 << 32},
     "scalar is 4294967296, must be a whole number of 32 bits for i32"),
    ("tshls", {"scalar": 32}, "scalar is 32, must be 0 to 31 for i32"),
    ("tshls", {"scalar": -1}, "scalar is -1, must be 0 to 31 for i32"),
    ("tshrs", {"scalar": 16}, "scalar is 16, must be 0 to 15 for i16"),
    ("taddc", {"src2": tile(valid="8x64")}, "src2 has valid 8x64, must have 16x64 like dst"),
    ("taddc", {"src2": H}, "src2 is f16, must be f32 like dst"),
    ("taddsc", {"src1": H}, "src1 is f16, must be f32 like dst"),
    ("tsubsc", {"scalar": 0.5}, "scalar is 0.5, must be a whole number of 32 bits for i32"),
    ("tneg", {"src": SMALL}, "src has valid 8x64, must have 16x64 like dst"),
    ("tnot", {"src": tile("u8")}, "src is u8, must be i8 like dst"),
    ("tmuladddst", {"src1": F}, "src1 is f32, must be f16 like dst"),
    ("tsubrelu", {"src0": tile(valid="16x8")}, "src0 has valid 16x8, must have 16x64 like dst"),
    ("taxpy", {"src": tile("f16", valid="16x8")}, "src has valid 16x8, must have 16x64 like dst"),
    ("tsubreluconv", {"src1": H}, "src1 is f16, must be f32 like src0"),
]  # fmt: skip


@pytest.mark.parametrize("isa", ARCHS)
@pytest.mark.parametrize(("name", "changes", "message"), BOTH)
def test_a_rule_of_both_cores(isa, name, changes, message):
    assert messages(changed(name, **changes), isa) == [message]


IGNORES = "; a5 accepts and ignores any tmp"
OF_A2A3 = [
    ("txor", {"tmp": tile("u32")}, "tmp is u32, must be i32 like dst on a2a3" + IGNORES),
    ("txor", {"tmp": SMALL}, "tmp has valid 8x64, must have 16x64 like dst on a2a3" + IGNORES),
    ("txors", {"tmp": tile("u32")}, "tmp is u32, must be i32 like dst on a2a3" + IGNORES),
    ("txors", {"tmp": tile("i32", row_major=False)},
     "tmp is column-major, must be row-major on a2a3" + IGNORES),
]  # fmt: skip


@pytest.mark.parametrize(("name", "changes", "message"), OF_A2A3)
def test_a_rule_of_a2a3(name, changes, message):
    assert messages(changed(name, **changes)) == [message]
    assert messages(changed(name, **changes), "a5") == []


OVERLAPS = [
    ("txor", "dst", "src0"), ("txor", "dst", "src1"), ("txor", "tmp", "src0"),
    ("txor", "tmp", "src1"), ("txor", "tmp", "dst"), ("txors", "dst", "src"),
    ("txors", "tmp", "src"), ("txors", "tmp", "dst"), ("tands", "dst", "src"),
    ("taddc", "dst", "src2"), ("taddsc", "dst", "src1"), ("tsubsc", "dst", "src1"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "first", "second"), OVERLAPS)
def test_operands_that_a2a3_must_have_apart(name, first, second):
    instr = apart(LEGAL[name])
    at = {n: o for n, o in instr.operands.items() if hasattr(o, "addr")}
    place = at[second].addr
    moved = replace(at[first], addr=place)
    broken = replace(instr, tmp=moved) if first == "tmp" else replace(instr, dst=(moved,))
    (message,) = messages(broken)
    spans = f"at {place:#x} to {place + at[first].size_bytes:#x}"
    head = f"{first} {spans} overlaps {second} {spans}, must not on a2a3"
    assert message == head + (IGNORES if first == "tmp" else "; a5 allows it")
    assert messages(broken, "a5") == []


def test_in_place_is_legal_elsewhere():
    for name in ("tand", "tshl", "tshls", "tneg", "tnot", "tmuladddst", "tsubrelu"):
        instr = LEGAL[name]
        same = [instr.dst[0] if hasattr(o, "addr") else o for o in instr.src]
        for isa in ARCHS:
            assert messages(replace(instr, src=tuple(same)), isa) == []


def test_exclusive_or_needs_scratch_on_a2a3_alone():
    for name in ("txor", "txors"):
        instr = replace(apart(LEGAL[name]), tmp=None)
        assert messages(instr) == [f"{name} has no tmp, must have one on a2a3" + IGNORES]
        assert messages(instr, "a5") == messages(instr, may_allocate=True) == []
        assert [str(part) for part in scratch_tile(instr, A2A3)] == ["i32", "16", "64"]


@pytest.mark.parametrize(
    ("name", "dtype", "shapes"),
    [("tabs", "i32", "a5"), ("tshls", "i8", "a5"), ("tadds", "u32", "a5"), ("tneg", "bf16", "a5")],
)
def test_types_that_one_core_lacks(name, dtype, shapes):
    t = tile(dtype)
    scalar = [1] if name in ("tshls", "tadds") else []
    instr = apart(bind(name, t, t, *scalar))
    (message,) = messages(instr)
    assert message.startswith(f"{name} takes ")
    assert f"{dtype} is not among them" in message
    assert messages(instr, shapes) == []
