"""Every rule broken alone, the whole message asserted; legal instructions pass on both cores."""

from dataclasses import replace

import pytest
from instrs import A2A3, A5, ARCHS, bind, spread, tile, window

from archsim.base.source import Source, Span
from archsim.check import check, scratch_tile
from archsim.check.rules import RULES
from archsim.check.scratch import scratch_bytes
from archsim.isa.operands import BoundInstr, Loc
from archsim.isa.tile_ops import CONSTRAINTS, FORMS
from archsim.lower import lower

F, H, N = tile("f32"), tile("f16"), tile("i32")
MASK, WIDE = tile("u8", "16x32"), tile("u8", "17x32")
LEGAL = {
    "tload": bind("tload", F, window("f32", (16, 64))),
    "tstore": bind("tstore", window("f32", (16, 64)), F),
    "tmov": bind("tmov", F, F),
    "tadd": bind("tadd", F, F, F),
    "tadds": bind("tadds", F, F, 2.5),
    "texp": bind("texp", F, F),
    "texpands": bind("texpands", F, 0.5),
    "tcmps": bind("tcmps", MASK, F, 0, mode="gt"),
    "tsel": bind("tsel", F, MASK, F, F, tmp=tile("u8", "1x32")),
    "tcvt": bind("tcvt", H, F, rmode="rint"),
    "tprelu": bind("tprelu", F, F, F, tmp=WIDE),
    "taddreluconv": bind("taddreluconv", H, F, F),
    "tadddeqrelu": bind("tadddeqrelu", H, N, N, 0.1, tmp=N),
    "tassign": bind("tassign", F, 0x100),
    "tsubview": bind("tsubview", F, F, 0, 0),
}


def faults(instr, arch, may_allocate=False):
    return check(instr, arch, may_allocate=may_allocate)


def messages(instr, arch, may_allocate=False):
    return [fault.message for fault in faults(instr, arch, may_allocate)]


def broken(name, **changes):
    """The legal instruction `name` with operands replaced by name, spread over UB."""
    instr = LEGAL[name]
    names = [arg.name for arg in instr.op.ins if not arg.scratch]
    src = tuple(changes.get(n, old) for n, old in zip(names, instr.src, strict=True))
    dst = (changes.get("dst", instr.dst[0]),)
    tmp = changes.get("tmp", instr.tmp)
    return spread(BoundInstr(instr.op, dst, src, tmp, instr.attrs), 0x6000)


@pytest.mark.parametrize("isa", ARCHS)
@pytest.mark.parametrize("name", LEGAL)
def test_legal_instructions_have_no_fault(isa, name):
    assert messages(broken(name), ARCHS[isa]) == []


RULES_OF_BOTH = [
    # what is broken, on both cores, and the whole message
    ("tadd", {"src1": H}, "src1 is f16, must be f32 like dst"),
    ("tmov", {"src": H}, "src is f16, must be f32 like dst"),
    ("texp", {"dst": H}, "src is f32, must be f16 like dst"),
    ("taddreluconv", {"src1": H}, "src1 is f16, must be f32 like src0"),
    ("tsel", {"src0": N}, "src0 is i32, must be f32 like dst"),
    ("tadd", {"src0": tile(row_major=False)}, "src0 is column-major, must be row-major"),
    ("taddreluconv", {"dst": tile("f16", row_major=False)},
     "dst is column-major, must be row-major"),
    ("tadds", {"src": tile(loc=Loc.MAT)}, "src is in mat, must be in vec"),
    ("tload", {"dst": tile(loc=Loc.MAT)}, "dst is in mat, must be in vec"),
    ("tadd", {"src0": tile(valid="8x64")}, "src0 has valid 8x64, must have 16x64 like dst"),
    ("texp", {"src": tile(valid="16x32")}, "src has valid 16x32, must have 16x64 like dst"),
    ("tcvt", {"src": tile(valid="16x32")}, "src has valid 16x32, must have 16x64 like dst"),
    ("tcmps", {"src": tile(valid="8x64")}, "src has 8 valid rows, must have 16 like dst"),
    ("tcmps", {"dst": tile("f32")}, "dst is f32, must be an integer type: it holds packed bits"),
    ("tsel", {"mask": tile("f16")}, "mask is f16, must be an integer type: it holds packed bits"),
    ("tsel", {"mask": tile("u8", "8x32")},
     "mask has 8 rows of 256 bits, must cover the 16x64 of dst"),
    ("texpands", {"dst": N}, "scalar is 0.5, must be a whole number of 32 bits for i32"),
    ("tadds", {"src": N, "dst": N}, "scalar is 2.5, must be a whole number of 32 bits for i32"),
    ("tload", {"src": window("f32", (8, 64))},
     "src is 8x64, must be 16x64 like the valid region of dst"),
    ("tload", {"src": window("f32", (2, 4, 64))},
     "src is 8x64, must be 16x64 like the valid region of dst"),
    ("tstore", {"dst": window("f32", (16, 60))},
     "dst is 16x60, must be 16x64 like the valid region of src"),
    ("tload", {"src": window("f16", (16, 64))},
     "src is f16, must have elements of 4 bytes like dst (f32)"),
    ("tload", {"src": replace(window("f32", (16, 64)), layout="dn")},
     "src is dn, must be nd like dst"),
    ("tload", {"src": window("f32", (16, 64), (1, 16))},
     "src has a last stride of 16, must have 1"),
]  # fmt: skip


@pytest.mark.parametrize("isa", ARCHS)
@pytest.mark.parametrize(("name", "changes", "message"), RULES_OF_BOTH)
def test_a_rule_of_both_cores(isa, name, changes, message):
    assert messages(broken(name, **changes), ARCHS[isa]) == [message]


@pytest.mark.parametrize("isa", ARCHS)
@pytest.mark.parametrize("valid", ["0x64", "16x0", "-1x64"])
@pytest.mark.parametrize("name", ["tadds", "taddreluconv"])
def test_an_empty_valid_region(isa, valid, name):
    source, to = tile("f32"), tile("f32" if name == "tadds" else "f16")
    rows, cols = map(int, valid.split("x"))
    empty = {"valid_rows": rows, "valid_cols": cols}
    dst, src = replace(to, **empty), replace(source, **empty)
    names = ["src"] if name == "tadds" else ["src0", "src1"]
    instr = broken(name, dst=dst, **dict.fromkeys(names, src))
    message = f"dst has valid {valid}, must have at least one row and one column"
    assert messages(instr, ARCHS[isa]) == [message]
    (fault,) = faults(instr, ARCHS[isa])
    assert (fault.kind, fault.severity) == ("shape", "error")


IGNORES = "; a5 accepts and ignores any tmp"
RULES_OF_A2A3 = [
    ("tprelu", {"tmp": tile("f32", "17x16")}, "input",
     "tmp is f32, must be u8 on a2a3" + IGNORES),
    ("tprelu", {"tmp": tile("u8", "17x32", "16x32")}, "shape",
     "tmp has 16 valid rows, must have more than the 16 of dst on a2a3" + IGNORES),
    ("tprelu", {"tmp": tile("u8", "17x32", loc=Loc.MAT)}, "input",
     "tmp is in mat, must be in vec on a2a3" + IGNORES),
    ("tprelu", {"tmp": tile("u8", "17x32", row_major=False)}, "input",
     "tmp is column-major, must be row-major on a2a3" + IGNORES),
    ("tprelu", {n: tile("f32", "16x320") for n in ("dst", "src0", "src1")}, "shape",
     "tmp has rows of 32 bytes, must have 40: bits for whole repeats on a2a3" + IGNORES),
    ("tadddeqrelu", {"tmp": tile("f32")}, "input",
     "tmp is f32, must be i32 on a2a3" + IGNORES),
    ("tadddeqrelu", {"tmp": tile("i32", "16x64", "16x56")}, "shape",
     "tmp has valid 16x56, must cover the 16x64 of dst on a2a3" + IGNORES),
    ("tadddeqrelu", {"tmp": tile("i32", "16x64", "15x64")}, "shape",
     "tmp has valid 15x64, must cover the 16x64 of dst on a2a3" + IGNORES),
    ("tmov", {"src": tile("f32", "16x128", "16x64")}, "shape",
     "src is 16x128, must be 16x64 like dst on a2a3; a5 allows it"),
    ("tload", {"src": window("f32", (8, 8)), "dst": tile("f32", "4096x8", "8x8")}, "shape",
     "dst has 4096 rows, must have fewer than 4096 on a2a3; a5 allows it"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "changes", "kind", "message"), RULES_OF_A2A3)
def test_a_rule_of_a2a3_alone(name, changes, kind, message):
    instr = broken(name, **changes)
    (fault,) = faults(instr, A2A3)
    assert (fault.message, fault.kind, fault.severity) == (message, kind, "error")
    assert messages(instr, A5) == []


def test_4095_rows_are_one_transfer():
    instr = broken("tload", src=window("f32", (4095, 8)), dst=tile("f32", "4095x8"))
    assert messages(instr, A2A3) == []


def at(base, addr):
    return replace(base, addr=addr)


OVERLAPS = [
    ("tprelu", "dst", "src0"),
    ("tprelu", "dst", "src1"),
    ("tprelu", "src0", "src1"),
    ("tprelu", "tmp", "dst"),
    ("tprelu", "tmp", "src0"),
    ("tprelu", "tmp", "src1"),
    ("tadddeqrelu", "src0", "src1"),
    ("tadddeqrelu", "tmp", "src0"),
    ("tadddeqrelu", "tmp", "src1"),
]


@pytest.mark.parametrize(("name", "first", "second"), OVERLAPS)
def test_operands_that_must_not_overlap_on_a2a3(name, first, second):
    instr = broken(name)
    two = instr.operands[second]
    size = instr.operands[first].size_bytes

    def moved(addr):
        placed = {**instr.operands, first: at(instr.operands[first], addr)}
        src = tuple(placed[a.name] for a in instr.op.ins if not a.scratch)
        return replace(instr, dst=(placed["dst"],), src=src, tmp=placed["tmp"])

    # `first` begins in the last block of `second`, then right behind it.
    end = two.addr + two.size_bytes
    message = (
        f"{first} at {end - 32:#x} to {end - 32 + size:#x} overlaps {second} at {two.addr:#x} to"
        f" {end:#x}, must not on a2a3; a5 "
    )
    message += "accepts and ignores any tmp" if first == "tmp" else "allows it"
    (fault,) = faults(moved(end - 32), A2A3)
    assert (fault.message, fault.kind) == (message, "overlap")
    assert messages(moved(end), A2A3) == []
    assert messages(moved(end - 32), A5) == []


def test_views_side_by_side_in_one_tile_do_not_overlap():
    left = tile("i32", "16x32", stride=64, addr=0x8000)
    right = replace(left, addr=left.addr + 32 * 4)
    tmp = tile("i32", "16x32", addr=0x10000)
    instr = bind("tadddeqrelu", tile("f16", "16x32"), left, right, 0.1, tmp=tmp)
    assert messages(instr, A2A3) == []
    closer = replace(right, addr=right.addr - 32)
    (message,) = messages(replace(instr, src=(left, closer, 0.1)), A2A3)
    assert message.startswith(
        "src0 at 0x8000 to 0x8f80 overlaps src1 at 0x8060 to 0x8fe0, must not"
    )


def test_the_destination_of_an_elementwise_instruction_may_be_a_source():
    assert messages(bind("tadd", F, F, F), A2A3) == []


DTYPES = [
    ("a2a3", "taddreluconv", {"dst": tile("i8")},
     "taddreluconv takes f32 -> f16, f16 -> i8, i16 -> i8; f32 -> i8 is not among them"
     " (nor on a5)"),
    ("a5", "taddreluconv", {"dst": tile("i8")},
     "taddreluconv takes f32 -> f16, f16 -> i8, i16 -> i8; f32 -> i8 is not among them"
     " (nor on a2a3)"),
    ("a2a3", "tadd", dict.fromkeys(("dst", "src0", "src1"), tile("bf16")),
     "tadd takes i32, i16, f16, f32 on a2a3; bf16 is not among them (a5 takes it)"),
    ("a5", "texp", dict.fromkeys(("dst", "src"), N),
     "texp takes f16, f32; i32 is not among them (nor on a2a3)"),
    ("a2a3", "tcmps", {"src": tile("bf16")},
     "tcmps takes i32 -> u8, f32 -> u8, f16 -> u8, u16 -> u8, i16 -> u8 on a2a3; bf16 -> u8 is not"
     " among them (a5 takes it)"),
    ("a2a3", "tsel", dict.fromkeys(("dst", "src0", "src1"), tile("i8")),
     "tsel takes i16, u16, f16, bf16, i32, u32, f32 on a2a3; i8 is not among them (a5 takes it)"),
    ("a2a3", "tprelu", dict.fromkeys(("dst", "src0", "src1"), N),
     "tprelu takes f16, f32; i32 is not among them (nor on a5)"),
    ("a5", "tadddeqrelu", {"dst": F},
     "tadddeqrelu takes i32 -> f16; i32 -> f32 is not among them (nor on a2a3)"),
]  # fmt: skip


@pytest.mark.parametrize(("isa", "name", "changes", "message"), DTYPES)
def test_an_element_type_that_a_core_does_not_take(isa, name, changes, message):
    assert messages(broken(name, **changes), ARCHS[isa]) == [message]


def test_a_conversion_that_only_the_other_core_has():
    (message,) = messages(broken("tcvt", dst=tile("u16"), src=N), A2A3)
    assert message.endswith("on a2a3; i32 -> u16 is not among them (a5 takes it)")
    (message,) = messages(broken("tcvt", dst=H, src=N), A5)
    assert message.endswith("on a5; i32 -> f16 is not among them (a2a3 takes it)")


def test_an_instruction_that_a_core_does_not_have():
    instr = broken("tadd")
    only_a5 = replace(instr.op, dtypes={"a5": instr.op.dtypes["a5"]})
    assert messages(replace(instr, op=only_a5), A2A3) == ["a2a3 has no tadd; a5 has"]
    assert messages(replace(instr, op=only_a5), A5) == []


@pytest.mark.parametrize(
    ("name", "fix"),
    [("tprelu", "u8 17x32"), ("tadddeqrelu", "i32 16x64"), ("tsel", "u8 1x32")],
)
def test_scratch_that_the_core_needs_and_the_tool_may_not_allocate(name, fix):
    instr = broken(name, tmp=None)
    (fault,) = faults(instr, A2A3)
    assert fault.message == f"{name} has no tmp, must have one on a2a3{IGNORES}"
    assert fault.fix == f"give it a tmp tile of {fix}, or let the tool place one: `alloc: auto`"
    assert messages(instr, A2A3, may_allocate=True) == []
    assert messages(instr, A5) == []


def test_scratch_of_tsel_holds_the_address_words():
    # A tile has 32 bytes at least; a view of 8 bytes is enough for four-byte elements only.
    small = replace(tile("u8", "1x32"), cols=8, valid_cols=8)
    assert messages(broken("tsel", tmp=small), A2A3) == []
    halves = dict.fromkeys(("dst", "src0", "src1"), H)
    assert messages(broken("tsel", tmp=small, **halves), A2A3) == [
        "tmp has 8 bytes, must have 16 on a2a3" + IGNORES
    ]


@pytest.mark.parametrize(
    ("source", "to", "shape", "sat", "needs"),
    [
        ("f16", "i16", "2x128", "off", 256),
        ("f16", "i8", "2x128", "off", 256),
        ("f16", "i8", "2x128", "on", 0),
        ("f16", "i16", "2x128", None, 256),
        ("f32", "i16", "2x128", "off", 2 * 256),
        ("f32", "i16", "9x80", "off", 9 * 256),
        ("f32", "i16", "300x16", "off", 255 * 256),
        ("f32", "i32", "300x16", "off", 0),
    ],
)
def test_scratch_of_wrapping_conversions(source, to, shape, sat, needs):
    attrs = {"sat": sat} if sat else {}
    tmp = tile("u8", f"1x{needs or 32}", addr=0x10000)
    instr = bind("tcvt", tile(to, shape, addr=0x8000), tile(source, shape), tmp=tmp, **attrs)
    assert scratch_bytes(instr, A2A3) == needs
    assert messages(instr, A2A3) == []
    used = [region for region in lower(instr, A2A3).writes if region.addr == tmp.addr]
    assert [region.end - region.addr for region in used] == ([needs] if needs else [])
    if needs:
        short = replace(instr, tmp=tile("u8", f"1x{needs - 32}", addr=0x10000))
        assert messages(short, A2A3) == [
            f"tmp has {needs - 32} bytes, must have {needs} on a2a3" + IGNORES
        ]
        assert messages(short, A5) == []


@pytest.mark.parametrize(
    ("isa", "dtype", "cols", "bytes_needed"),
    [
        ("a2a3", "f32", 256, 32),
        ("a2a3", "f32", 257, 40),
        ("a2a3", "f16", 257, 48),
        ("a5", "f32", 256, 32),
        ("a5", "f32", 257, 48),
        ("a5", "f16", 256, 32),
        ("a5", "i8", 257, 64),
    ],
)
def test_a_row_of_a_mask_holds_what_a_comparison_writes(isa, dtype, cols, bytes_needed):
    per_block = 32 // tile(dtype).dtype.itemsize
    declared = -(-cols // per_block) * per_block
    src = tile(dtype, f"4x{declared}", f"4x{cols}", addr=0x4000)
    dst = tile("u8", "4x32")
    found = messages(bind("tcmps", dst, src, 0), ARCHS[isa])
    message = f"dst has rows of 32 bytes, must have {bytes_needed}: bits for whole repeats"
    assert found == ([message] if bytes_needed > 32 else [])
    wide = bind("tcmps", tile("u8", "4x64"), src, 0)
    assert messages(wide, ARCHS[isa]) == []
    (written,) = lower(wide, ARCHS[isa]).writes
    assert written.row_bytes == bytes_needed


@pytest.mark.parametrize("isa", ARCHS)
def test_a_tile_at_an_address_that_is_no_multiple_of_its_memorys_alignment(isa):
    (fault,) = faults(bind("texpands", tile(addr=0x2010, name="ta"), 1), ARCHS[isa])
    assert fault.message == "tile ta is at 0x2010; it must be at a multiple of 32 bytes"
    assert (fault.fix, fault.kind) == ("use 0x2020", "bounds")


@pytest.mark.parametrize("isa", ARCHS)
def test_a_tile_that_ends_behind_its_memory(isa):
    size = ARCHS[isa].memory.ub.size_bytes
    (fault,) = faults(bind("texpands", tile(addr=size - 4064, name="ta"), 1), ARCHS[isa])
    assert fault.message == (
        f"tile ta lies at {size - 4064:#x} to {size + 32:#x}; it must end within the {size:#x}"
        f" bytes of UB on {isa}"
    )
    assert (fault.kind, fault.severity) == ("bounds", "error")


@pytest.mark.parametrize("isa", ARCHS)
def test_the_reserved_top_of_ub_is_a_warning(isa):
    ub = ARCHS[isa].memory.ub
    limit = ub.size_bytes - ub.reserved_top_bytes
    (fault,) = faults(bind("texpands", tile(addr=limit - 4064, name="ta"), 1), ARCHS[isa])
    assert fault.message == (
        f"tile ta lies at {limit - 4064:#x} to {limit + 32:#x}; UB from {limit:#x} on is reserved"
        f" on {isa}"
    )
    assert (fault.kind, fault.severity) == ("reserved_memory", "warning")
    assert faults(bind("texpands", tile(addr=limit - 4096), 1), ARCHS[isa]) == []


def test_an_ignored_scratch_may_lie_anywhere():
    stray = replace(tile("f32", "1x8"), addr=0x7FFFFFF1)
    assert messages(broken("tprelu"), A5) == []
    assert messages(replace(broken("tprelu"), tmp=stray), A5) == []


@pytest.mark.parametrize(
    ("value", "dtype", "fits"),
    [
        (127, "i8", True), (255, "i8", True), (-128, "i8", True), (256, "i8", False),
        (-129, "i8", False), (-1, "u8", True), (3.0, "i16", True), (3.5, "i16", False),
        (float("inf"), "i32", False), (float("nan"), "i32", False), (float("nan"), "f16", True),
        (1e300, "f32", True), (2**32 - 1, "u32", True), (2**32, "u32", False),
    ],
)  # fmt: skip
def test_scalars_fit_the_bits_of_integers(value, dtype, fits):
    bits = tile(dtype).dtype.bits
    message = f"scalar is {value}, must be a whole number of {bits} bits for {dtype}"
    assert messages(bind("texpands", tile(dtype), value), A5) == ([] if fits else [message])


def test_all_faults_come_at_once_at_the_instruction():
    span = Span(Source("p.yaml", ("- taddreluconv c <- a, b",)), 1, 3, 22)
    instr = broken("taddreluconv", dst=tile("i8"), src1=tile("f16", valid="8x64"))
    found = faults(replace(instr, span=span), A2A3)
    assert [(fault.message, fault.span) for fault in found] == [
        ("taddreluconv takes f32 -> f16, f16 -> i8, i16 -> i8; f32 -> i8 is not among them"
         " (nor on a5)", span),
        ("src1 is f16, must be f32 like src0", span),
        ("src1 has valid 8x64, must have 16x64 like dst", span),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "shape", "valid", "dynamic", "expected"),
    [
        ("tprelu", "16x64", "16x64", "", ("u8", 17, 32)),
        ("tprelu", "16x64", "3x7", "", ("u8", 4, 32)),
        ("tprelu", "16x64", "3x7", "both", ("u8", 17, 32)),
        ("tprelu", "4x512", "4x257", "", ("u8", 5, 64)),
        ("tadddeqrelu", "16x64", "16x64", "", ("i32", 16, 64)),
        ("tadddeqrelu", "16x64", "5x9", "", ("i32", 5, 16)),
        ("tadddeqrelu", "16x64", "5x9", "cols", ("i32", 5, 64)),
        ("tsel", "16x64", "16x64", "", ("u8", 1, 32)),
    ],
)
def test_the_smallest_scratch_is_legal(name, shape, valid, dynamic, expected):
    types = {"tprelu": ("f32", "f32"), "tadddeqrelu": ("f16", "i32"), "tsel": ("f32", "f32")}
    to, source = (tile(dtype, shape, valid, dynamic=dynamic) for dtype in types[name])
    changes = {"dst": to, "src0": source, "src1": source, "tmp": None}
    instr = broken(name, **changes)
    dtype, rows, cols = scratch_tile(instr, A2A3)
    assert (dtype.name, rows, cols) == expected
    assert scratch_tile(instr, A5) is None
    tmp = tile(dtype.name, f"{rows}x{cols}")
    assert messages(broken(name, **{**changes, "tmp": tmp}), A2A3) == []


@pytest.mark.parametrize("name", ["tadd", "tcvt", "tload", "taddreluconv"])
def test_instructions_that_need_no_scratch(name):
    assert scratch_tile(LEGAL[name], A2A3) is None


def test_every_rule_has_a_test_and_every_test_a_rule():
    named = {c.rule for rules in CONSTRAINTS.values() for own in rules.values() for c in own}
    assert named == set(RULES)


def test_every_family_has_rules_on_every_core():
    families = {op.family for forms in FORMS.values() for op in forms}
    assert all(families == set(rules) for rules in CONSTRAINTS.values())
