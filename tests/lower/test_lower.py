"""`lower` as a whole: every instruction, type and core; notes; regions; what runs nothing."""

import pytest
from instrs import A2A3, A5, ARCHS, bind, spread, tile, window
from lane_model import region_bytes

from archsim.base.dtypes import DTYPES
from archsim.isa.conversions import THROUGH_WIDER
from archsim.isa.lanes.tables import SIMD, VREG
from archsim.isa.pipes import Pipe
from archsim.isa.simd import SimdUop
from archsim.isa.tile_ops import FORMS
from archsim.isa.vreg import VregLoop
from archsim.lower import Lowered, lower
from archsim.lower.simd.wrap import CHAINS
from archsim.numerics.irregular import IRREGULAR
from archsim.numerics.vreg_order import GATHERS
from archsim.schedule.alone import Question, bind_alone

LEGAL = [
    pytest.param(
        isa, op, pair, id=f"{isa}-{op.mnemonic}{op.form and ':' + op.form}-{'-'.join(pair)}"
    )
    for forms in FORMS.values()
    for op in forms
    for isa, pairs in op.dtypes.items()
    for pair in pairs
    if op.pipe is Pipe.V
]


def instruction(isa, op, pair):
    """The instruction on tiles at their own places, of the shape that shows it."""
    source, to = (DTYPES[name] for name in pair)
    attrs = {key: op.keys[key][0] for key in op.requires}
    asked = Question(op, source, to, op.sample, op.sample, "", op.sample_scalar, attrs)
    return bind_alone(asked, ARCHS[isa])


def micro_ops(lowered):
    for part in lowered.uops:
        yield from _inside(part)


def _inside(part):
    for item in getattr(part, "body", ()) or getattr(part, "nodes", ()):
        if isinstance(item, VregLoop):
            yield from _inside(item)
        else:
            yield item


@pytest.mark.parametrize(("isa", "op", "pair"), LEGAL)
def test_every_legal_instruction_lowers_to_micro_ops_that_have_a_meaning(isa, op, pair):
    lowered = lower(instruction(isa, op, pair), ARCHS[isa])
    names = [item.name for item in micro_ops(lowered) if isinstance(item, SimdUop)]
    known = {**SIMD, **IRREGULAR}
    if isa == "a5":
        names = [item.op for item in micro_ops(lowered)]
        moves = ("VLDS", "VSTS", "PLDS", "PSTS", "PINTLV", "PDINTLV", "PUNPACK", "MEM_BAR", "VSTUS")
        moves += (*GATHERS, "VSCATTER", "VSTUR", "VSTAR", "SPRSTI")
        known = {**VREG, **dict.fromkeys(moves)}
    assert names or op.mnemonic == "tfillpad_inplace"  # a full tile has nothing to fill
    assert set(names) <= set(known)


@pytest.mark.parametrize(("isa", "op", "pair"), LEGAL)
def test_every_simd_micro_op_has_a_cost(isa, op, pair):
    if isa == "a2a3":
        for item in micro_ops(lower(instruction(isa, op, pair), A2A3)):
            if isinstance(item, SimdUop):
                A2A3.uop(item.name, item.dtype.name)


def test_reads_writes_and_sources_of_a_plain_instruction():
    dst, a, b = (tile("f32", "4x64", "3x40", addr=k << 12) for k in range(3))
    for arch in (A2A3, A5):
        lowered = lower(bind("tadd", dst, a, b), arch)
        assert lowered.writes == (dst.valid_region(),)
        assert lowered.reads == lowered.sources == (a.valid_region(), b.valid_region())
        assert lowered.destroyed == lowered.notes == ()


def test_scratch_and_padding_are_no_sources():
    t = tile("f32", "4x64", "4x40")
    instr = spread(bind("tprelu", t, t, t, tmp=tile("u8", "5x32")))
    lowered = lower(instr, A2A3)
    sources = [operand.valid_region() for operand in instr.src]
    assert region_bytes(lowered.sources) == region_bytes(sources)
    masks = {instr.tmp.addr + row * 32 + k for row in range(4) for k in range(8)}
    words = {instr.tmp.addr + 4 * 32 + k for k in range(8)}
    written = region_bytes([instr.dst[0].valid_region()])
    assert region_bytes(lowered.writes) == masks | words | written


def test_binding_an_address_runs_nothing():
    assert lower(bind("tassign", tile(), 0x100), A2A3) == Lowered(())
    assert lower(bind("tsubview", tile(), tile(), 0, 0), A5) == Lowered(())


@pytest.mark.parametrize("valid", ["0x64", "16x0"])
def test_an_empty_valid_region_runs_nothing(valid):
    t = tile("f32", "16x64", valid, dynamic="both")
    assert lower(bind("tadd", t, t, t), A2A3) == Lowered(())
    assert lower(bind("tload", t, window("f32", (0, 64))), A5) == Lowered(())


def notes(arch, op, *operands, **attrs):
    found = lower(spread(bind(op, *operands, **attrs)), arch).notes
    return [(note.kind, note.severity, note.message) for note in found]


def test_precision_is_ignored_on_a2a3():
    expected = [("portability", "warning", "precision=high of texp is ignored on a2a3")]
    assert notes(A2A3, "texp", tile(), tile(), precision="high") == expected
    assert notes(A5, "texp", tile(), tile(), precision="high") == []
    assert notes(A2A3, "texp", tile(), tile(), precision="default") == []


def test_vf_impl_is_ignored_on_a2a3():
    key = {"vf_impl": "2D_POST_UPDATE"}
    expected = [("portability", "warning", "vf_impl=2D_POST_UPDATE of tmuls is ignored on a2a3")]
    assert notes(A2A3, "tmuls", tile(), tile(), 2, **key) == expected
    assert notes(A2A3, "tmuls", tile(), tile(), 2, vf_impl="DEFAULT") == []
    assert notes(A5, "tmuls", tile(), tile(), 2, **key) == []


def test_texpands_of_a_static_partial_tile_meets_a_library_fault_on_a2a3():
    part = tile("f32", "16x64", "16x40")
    ((kind, severity, message),) = notes(A2A3, "texpands", part, 1)
    assert (kind, severity) == ("numerics", "warning")
    assert message == (
        "texpands fills 640 consecutive elements of a static 16x64 tile on a2a3, not its valid"
        " 16x40 region: a fault of the device library; the valid region is simulated"
    )
    assert notes(A2A3, "texpands", tile("f32", "16x64", "16x40", dynamic="cols"), 1) == []
    assert notes(A2A3, "texpands", tile(), 1) == []
    assert notes(A5, "texpands", part, 1) == []


@pytest.mark.parametrize("mode", ["lt", "le", "gt", "ge"])
def test_ordering_of_i32_departs_from_its_meaning_on_a2a3(mode):
    operands = (tile("u8", "16x32"), tile("i32"), 0)
    expected = f"tcmps mode={mode} on i32 compares for equality on a2a3, whatever the mode"
    assert notes(A2A3, "tcmps", *operands, mode=mode) == [("numerics", "warning", expected)]
    assert notes(A5, "tcmps", *operands, mode=mode) == []
    assert notes(A2A3, "tcmps", *operands, mode="eq") == []
    assert notes(A2A3, "tcmps", *operands, mode="ne") == []


@pytest.mark.parametrize("dtype", ["i16", "u16"])
def test_16_bit_integers_compare_as_halves_on_a2a3(dtype):
    operands = (tile("u8", "16x32"), tile(dtype), 0)
    expected = (
        f"tcmps on {dtype} compares the bits as half numbers on a2a3: some values are negative,"
        " NaN or equal to 0"
    )
    assert notes(A2A3, "tcmps", *operands, mode="eq") == [("numerics", "warning", expected)]
    assert notes(A5, "tcmps", *operands, mode="eq") == []


def test_rows_beyond_the_repeat_stride_meet_a_library_fault():
    # One element more than a repeat, rows 8192 bytes apart, no more rows than lanes of a repeat.
    expected = (
        "tadd loses whole repeats of 65 columns on a2a3 where rows are more than 8160 bytes apart"
        " and there are at most 64 of them: a fault of the device library; the valid region is"
        " simulated"
    )
    found = {
        rows: notes(A2A3, "tadd", *[tile("f32", f"{rows}x2048", "40x65", dynamic="cols")] * 3)
        for rows in (64, 65)
    }
    assert found == {64: [("numerics", "warning", expected)], 65: []}
    fits = tile("f32", "64x2048", "40x63", dynamic="cols")
    assert notes(A2A3, "tadd", fits, fits, fits) == []


def test_saturation_is_heard_for_some_pairs_only_on_a2a3():
    pair = (tile("i32"), tile("f32"))
    expected = [("portability", "warning", "sat=off without tmp of tcvt is ignored on a2a3")]
    assert notes(A2A3, "tcvt", *pair, sat="off") == expected
    assert notes(A2A3, "tcvt", *pair, sat="off", tmp=tile("u8", "1x32")) == []
    assert notes(A2A3, "tcvt", tile("i8"), tile("f16"), sat="off") == []
    assert notes(A5, "tcvt", *pair, sat="off") == []


@pytest.mark.parametrize("arch", [A2A3, A5])
def test_odd_rounding_is_for_f32_to_f16(arch):
    expected = [
        ("numerics", "warning", "rmode=odd of tcvt works for f32 -> f16 only; it runs as trunc")
    ]
    assert notes(arch, "tcvt", tile("i32"), tile("f32"), rmode="odd") == expected
    assert notes(arch, "tcvt", tile("f16"), tile("f32"), rmode="odd") == []
    # An exact conversion has no rounding to get wrong.
    assert notes(arch, "tcvt", tile("f32"), tile("f16"), rmode="odd") == []


def test_the_table_of_wrapping_pairs_is_what_lowering_has_chains_for():
    assert {(a.name, b.name) for a, b in CHAINS} == set(THROUGH_WIDER)
