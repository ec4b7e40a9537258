"""Each rule of data movement, broken by itself: the whole message."""

from dataclasses import replace

import pytest
from instrs import ARCHS, bind, tile, window

from archsim.check import check


def nz(dtype="f16", shape="32x64", valid=""):
    return replace(tile(dtype, shape, valid, row_major=False), slayout="row_major")


def laid(view, layout):
    return replace(view, layout=layout)


def columns(shape="16x6", valid="", dtype="f32"):
    return tile(dtype, shape, valid, row_major=False)


BLOCKS = laid(window("f16", (4, 2, 16, 16)), "nz")
FULL = tile("f16", "32x64")
CASES = [
    (
        ("tload", replace(nz(), row_major=True), BLOCKS),
        ["dst is zz, must be row-major, column-major or nz"],
    ),
    (
        ("tload", replace(nz(), fractal=1024), BLOCKS),
        ["dst has a fractal of 1024 bytes, must have 512"],
    ),
    (("tload", nz(), window("f16", (32, 64))), ["src is nd, must be nz like dst"]),
    (
        ("tload", FULL, laid(window("f16", (32, 64), (1, 32)), "dn")),
        ["src is dn, must be nd like dst"],
    ),
    (
        ("tload", FULL, window("f16", (32, 64), (64, 2))),
        ["src has a last stride of 2, must have 1"],
    ),
    (
        ("tload", columns(), laid(window("f32", (16, 6), (2, 32)), "dn")),
        ["src has a row stride of 2, must have 1"],
    ),
    (
        ("tload", nz(), laid(window("f16", (4, 4, 8, 16)), "nz")),
        ["src has last dimensions 8x16, must have 16x16: blocks of nz"],
    ),
    (
        ("tload", nz(), laid(window("f16", (4, 2, 16, 16), (1024, 512, 32, 1)), "nz")),
        ["src has last strides 512, 32, 1, must have 256, 16, 1: its blocks are contiguous"],
    ),
    (
        ("tload", nz("i64", "16x4"), laid(window("i64", (1, 1, 16, 4)), "nz")),
        ["dst is nz of i64, must be row-major or column-major"],
    ),
    (
        ("tload", columns("16x6", "15x6"), laid(window("f32", (16, 6), (1, 16)), "dn")),
        ["src is 16x6, must be 15x6 like the valid region of dst"],
    ),
    (
        ("tmov", columns("16x8"), tile("f32", "16x8")),
        ["src is row-major, must be column-major like dst"],
    ),
    (
        ("textract", columns(), columns(), 0, 0),
        [
            "dst is column-major, must be row-major or nz",
            "src is column-major, must be row-major or nz",
        ],
    ),
    (("textract", nz(shape="16x32"), FULL, 0, 0), ["src is row-major, must be nz like dst"]),
    (
        ("textract", tile("f16", "16x32"), FULL, 17, 0),
        ["dst reaches to (33, 32) of src, must end in its 32x64"],
    ),
    (
        ("textract", tile("f16", "16x32"), FULL, -1, 0),
        ["row and col are -1 and 0, must be integers of at least 0"],
    ),
    (
        ("tinsert", FULL, tile("f16", "16x32"), 0, 8),
        ["col is 8, 16 bytes into a row, must start at a multiple of 32"],
    ),
    (
        ("textract", nz(shape="16x32"), nz(), 8, 0),
        ["(row, col) is (8, 0), must be multiples of (16, 16) in nz"],
    ),
    (
        ("mgather", tile("f32", "4x8"), window("f32", (16, 16)), tile("i16", "4x16", "4x8")),
        ["idx is i16, must be i32 or u32"],
    ),
    (
        ("mgather", tile("f32", "4x8"), window("f32", (16, 16), (32, 1)), tile("i32", "4x8")),
        ["mem has gaps or another order, must be a dense nd tensor: indices count in it"],
    ),
    (
        ("tsetval", tile("f32", "4x8"), 32, 1.0),
        ["offset is 32, must be 0 to 31, an element of dst"],
    ),
    (
        ("tsetval", tile("f32", "4x8"), float("nan"), 1.0),
        ["offset is nan, must be 0 to 31, an element of dst"],
    ),
    (
        ("textract", tile("f32", "4x8"), tile("f32", "8x8"), float("inf"), float("nan")),
        ["row and col are inf and nan, must be integers of at least 0"],
    ),
    (
        ("tsetval", tile("i8", "4x32"), 0, 300),
        ["val is 300, must be a whole number of 8 bits for i8"],
    ),
    (
        ("treshape", tile("f32", "4x8"), tile("f16", "4x32")),
        ["dst has 128 bytes, must have 256 like src"],
    ),
]


def messages(instr, isa):
    return [fault.message for fault in check(instr, ARCHS[isa], may_allocate=False)]


@pytest.mark.parametrize("isa", ARCHS)
@pytest.mark.parametrize(("operands", "wanted"), CASES)
def test_a_rule_of_both_cores(isa, operands, wanted):
    assert messages(bind(*operands), isa) == wanted


@pytest.mark.parametrize("isa", ARCHS)
@pytest.mark.parametrize(
    ("dtype", "gm", "wanted"),
    [
        ("u8", "u8", "src is u8, must be one of f32, f16, bf16, i32, i16, i8 with atomic=add"),
        ("i32", "f32", "dst is f32, must be i32 like src with atomic=add"),
    ],
)
def test_types_of_an_atomic_store(isa, dtype, gm, wanted):
    instr = bind("tstore", window(gm, (2, 32)), tile(dtype, "2x32"), atomic="add")
    assert messages(instr, isa) == [wanted]


@pytest.mark.parametrize(
    ("operands", "wanted"),
    [
        (
            ("tload", columns("8x4096"), laid(window("f32", (8, 4096), (1, 8)), "dn")),
            "src has 4096 columns, must have fewer than 4096 on a2a3; a5 allows it",
        ),
        (
            ("textract", tile("i8", "4x32", "4x7"), tile("i8", "4x32"), 0, 0),
            "dst has 7 valid columns of one byte, must have an even number on a2a3; a5 allows it",
        ),
    ],
)
def test_a_rule_of_a2a3_alone(operands, wanted):
    assert messages(bind(*operands), "a2a3") == [wanted]
    assert messages(bind(*operands), "a5") == []
