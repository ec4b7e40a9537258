"""Rules of quantisation with shared exponents: each broken alone."""

from dataclasses import replace

import pytest
from instrs import A5, ARCHS, tile

from archsim.check import check
from archsim.isa.operands import BoundInstr, Loc
from archsim.isa.tile_ops import FORMS

MX = next(op for op in FORMS["tquant"] if op.form == "mx")
LEGAL = {
    "dst": tile("f8e4m3", "16x96", "16x70", addr=0x0000),
    "exponents": tile("u8", "16x32", "16x3", addr=0x4000),
    "src": tile("f32", "16x96", "16x70", addr=0x8000),
    "tmp": tile("f32", "16x8", addr=0xC000),
}


def built(**changes):
    t = {**LEGAL, **changes}
    return BoundInstr(MX, (t["dst"], t["exponents"]), (t["src"],), t["tmp"], {"mode": "mx"})


def changed(name, **fields):
    return built(**{name: replace(LEGAL[name], **fields)})


def messages(instr, isa="a5"):
    return [fault.message for fault in check(instr, ARCHS[isa], may_allocate=False)]


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_legal(dtype):
    assert messages(built(src=tile(dtype, "16x96", "16x70", addr=0x8000))) == []


BROKEN = {
    "dst in UB": (changed("dst", loc=Loc.MAT), "dst is in mat, must be in vec"),
    "exponents in UB": (changed("exponents", loc=Loc.MAT), "exponents is in mat, must be in vec"),
    "src in UB": (changed("src", loc=Loc.MAT), "src is in mat, must be in vec"),
    "tmp in UB": (changed("tmp", loc=Loc.MAT), "tmp is in mat, must be in vec"),
    "dst by rows": (changed("dst", row_major=False), "dst is column-major, must be row-major"),
    "exponents by rows": (
        built(exponents=tile("u8", "32x3", "16x3", addr=0x4000, row_major=False)),
        "exponents is column-major, must be row-major",
    ),
    "src by rows": (changed("src", row_major=False), "src is column-major, must be row-major"),
    "tmp by rows": (changed("tmp", row_major=False), "tmp is column-major, must be row-major"),
    "one region": (
        changed("src", valid_cols=71),
        "src has valid 16x71, must have 16x70 like dst",
    ),
    "bytes": (
        built(exponents=tile("i8", "16x32", "16x3", addr=0x4000)),
        "exponents is i8, must be u8",
    ),
    "too few exponents": (
        changed("exponents", valid_cols=2),
        "exponents has valid 16x2, must have 16x3: one for every 32 columns of dst",
    ),
    "too many exponents": (
        changed("exponents", valid_cols=4),
        "exponents has valid 16x4, must have 16x3: one for every 32 columns of dst",
    ),
    "rows of exponents": (
        changed("exponents", valid_rows=15),
        "exponents has valid 15x3, must have 16x3: one for every 32 columns of dst",
    ),
    "rows of scratch": (
        built(tmp=tile("f32", "15x8", addr=0xC000)),
        "tmp has 15 rows of 32 bytes, must have 16 of 32",
    ),
    "no scratch": (built(tmp=None), "tquant has no tmp, must have one"),
    "dst on src": (
        changed("dst", addr=0x8000),
        "dst at 0x8000 to 0x8600 overlaps src at 0x8000 to 0x9800, must not",
    ),
    "exponents on src": (
        changed("exponents", addr=0x97E0),
        "exponents at 0x97e0 to 0x99e0 overlaps src at 0x8000 to 0x9800, must not",
    ),
    "exponents on dst": (
        changed("exponents", addr=0x05E0),
        "exponents at 0x5e0 to 0x7e0 overlaps dst at 0x0 to 0x600, must not",
    ),
    "tmp on dst": (
        changed("tmp", addr=0x05E0),
        "tmp at 0x5e0 to 0x7e0 overlaps dst at 0x0 to 0x600, must not",
    ),
    "tmp on exponents": (
        changed("tmp", addr=0x41E0),
        "tmp at 0x41e0 to 0x43e0 overlaps exponents at 0x4000 to 0x4200, must not",
    ),
    "tmp on src": (
        changed("tmp", addr=0x97E0),
        "tmp at 0x97e0 to 0x99e0 overlaps src at 0x8000 to 0x9800, must not",
    ),
    "types": (
        built(dst=tile("f8e5m2", "16x96", "16x70")),
        "tquant takes f32 -> f8e4m3, f16 -> f8e4m3, bf16 -> f8e4m3; f32 -> f8e5m2 is not among"
        " them",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_each_rule_alone(name):
    instr, message = BROKEN[name]
    assert messages(instr) == [message]


def test_scratch_has_four_bytes_for_every_group_of_a_row():
    def with_tmp(cols):
        wide = {
            "dst": tile("f8e4m3", "4x288", addr=0x0000),
            "exponents": tile("u8", "4x32", "4x9", addr=0x4000),
            "src": tile("f16", "4x288", addr=0x8000),
        }
        return built(**wide, tmp=tile("f32", f"4x{cols}", addr=0xC000))

    assert messages(with_tmp(16)) == []
    assert messages(with_tmp(8)) == ["tmp has 4 rows of 32 bytes, must have 4 of 64"]


def test_the_tool_makes_the_smallest_scratch():
    (fault,) = check(built(tmp=None), A5, may_allocate=False)
    assert fault.fix == "give it a tmp tile of f32 16x8, or let the tool place one: `alloc: auto`"
    assert check(built(tmp=None), A5, may_allocate=True) == []


def test_scratch_covers_the_whole_tile_where_the_valid_region_may_grow():
    src = tile("f32", "16x288", "3x70", addr=0x8000, dynamic="both")
    exponents = tile("u8", "16x32", "3x3", addr=0x4000, dynamic="both")
    dst = tile("f8e4m3", "16x288", "3x70", dynamic="both")
    (fault,) = check(built(dst=dst, exponents=exponents, src=src, tmp=None), A5, may_allocate=False)
    assert fault.fix == "give it a tmp tile of f32 16x16, or let the tool place one: `alloc: auto`"


def test_a2a3_says_why_not():
    assert messages(built(), "a2a3") == [
        "a2a3 has no mx form of tquant: it has neither 8-bit floats nor shared exponents; a5 has"
    ]
