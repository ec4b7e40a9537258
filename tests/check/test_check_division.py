"""Rules of division, remainders and powers: each broken by itself."""

from dataclasses import replace

import pytest
from instrs import A2A3, A5, bind, tile

from archsim.check import check

FAR, FURTHER, FURTHEST = 0x4000, 0x8000, 0xC000


def messages(instr, arch=A2A3):
    return [fault.message for fault in check(instr, arch, may_allocate=False)]


def scratch(dtype="f32", shape="20x64"):
    return tile(dtype, shape, addr=FURTHEST)


def remainder(a=FAR, b=FURTHER, tmp=None):
    return bind("trem", tile(), tile(addr=a), tile(addr=b), tmp=tmp or scratch(shape="40x64"))


def test_legal_ones_have_no_fault():
    assert messages(remainder()) == []
    assert messages(bind("tdivs", tile(), tile(addr=FAR), 2.0)) == []
    assert messages(bind("trsqrt", tile(), tile(addr=FAR), tmp=scratch(shape="1x8"))) == []
    assert messages(bind("trsqrt", tile(), tile(addr=FAR))) == []


IGNORED = "; a5 accepts and ignores any tmp"


@pytest.mark.parametrize(
    ("instr", "expected"),
    [
        (
            bind("tdivs", tile(), 2.0, tile()),
            "dst overlaps src, must not but for a float tile / scalar in place",
        ),
        (
            bind("tdivs", tile("i32"), tile("i32"), 2),
            "dst overlaps src, must not but for a float tile / scalar in place",
        ),
        (
            bind("tdivs", tile(), tile(addr=0x100), 2.0),
            "dst overlaps src, must not but for a float tile / scalar in place",
        ),
        (
            bind("trecip", tile(), tile()),
            "dst at 0x0 to 0x1000 overlaps src at 0x0 to 0x1000, must not",
        ),
        (remainder(a=0), "dst at 0x0 to 0x1000 overlaps src0 at 0x0 to 0x1000, must not"),
        (remainder(b=0), "dst at 0x0 to 0x1000 overlaps src1 at 0x0 to 0x1000, must not"),
        (
            remainder(b=FAR),
            "src0 at 0x4000 to 0x5000 overlaps src1 at 0x4000 to 0x5000, must not",
        ),
        # 16 rows of 64 lanes: a tile, 16 rows of 32 bytes of bits, a block of words
        (remainder(tmp=scratch(shape="18x64")), "tmp has 4608 bytes, must have 4640"),
        (remainder(tmp=scratch("i32", "40x64")), "tmp is i32, must be f32 like dst"),
        (replace(remainder(), tmp=None), "trem has no tmp, must have one"),
        (
            bind("trsqrt", tile(), tile(addr=FAR), tmp=tile("f32", "1x8", addr=FAR)),
            "tmp at 0x4000 to 0x4020 overlaps src at 0x4000 to 0x5000, must not",
        ),
    ],
)
def test_rules_of_a2a3(instr, expected):
    elsewhere = IGNORED if "tmp" in expected else "; a5 allows it"
    assert messages(instr) == [f"{expected} on a2a3{elsewhere}"]
    assert messages(instr, A5) == []


def test_in_place_is_for_a_float_tile_by_a_scalar():
    assert messages(bind("tdivs", tile(), tile(), 2.0)) == []
    assert messages(bind("tdivs", tile(), 2.0, tile()), A5) == []


@pytest.mark.parametrize(
    ("op", "dtype", "expected"),
    [
        ("tdiv", "i32", "tdiv takes f16, f32 on a2a3; i32 is not among them (a5 takes it)"),
        ("tdiv", "bf16", "tdiv takes f16, f32 on a2a3; bf16 is not among them (nor on a5)"),
        ("tfmod", "f16", "tfmod takes f32 on a2a3; f16 is not among them (a5 takes it)"),
    ],
)
def test_element_types(op, dtype, expected):
    operands = [tile(dtype, addr=addr) for addr in (0, FAR, FURTHER)]
    assert messages(bind(op, *operands)) == [expected]


def test_a_scalar_fits_the_element_type():
    (message,) = messages(bind("tdivs", tile("i16"), tile("i16", addr=FAR), 0.5))
    assert message == "scalar is 0.5, must be a whole number of 16 bits for i16"
