"""Which micro-ops divide, take remainders, roots and logarithms, and what is said about them."""

import pytest
from instrs import A2A3, A5, bind, spread, tile
from lane_model import script

from archsim.isa.vreg import VregLoop
from archsim.lower import lower

GAP = 0x40000


def run(op, *operands, tmp=None, **attrs):
    return script(lower(spread(bind(op, *operands, tmp=tmp, **attrs), GAP), A2A3))


def notes(op, arch, *operands, tmp=None, **attrs):
    lowered = lower(spread(bind(op, *operands, tmp=tmp, **attrs), GAP), arch)
    return [note.message for note in lowered.notes]


def body(op, *operands, **attrs):
    """What runs before the loop, and one iteration."""
    (function,) = lower(spread(bind(op, *operands, **attrs), GAP), A5).uops
    words = []
    for node in function.nodes:
        inner = node.body if isinstance(node, VregLoop) else (node,)
        words += [f"{u.op}[{u.effect}]" if u.effect else u.op for u in inner]
    return " ".join(words)


@pytest.mark.parametrize(
    ("dtype", "shape", "dynamic", "expected"),
    [
        # published: vector_dup 40, barrier, vdiv 94 for 16x64
        ("f32", "16x64", "", "vector_dup r16, b, vdiv r16"),
        # every micro-op of the walk of a tile and a scalar becomes the whole sequence
        ("f16", "63x64", "", "vector_dup r31, b, vdiv r31, m, vector_dup r1, b, vdiv r1, m"),
        ("f32", "16x80", "cols", "vector_dup r16, b, vdiv r16, m, vector_dup r16, b, vdiv r16, m"),
        ("f32", "16x96", "", "count, m, vector_dup r0, b, vdiv r0, norm, m"),
        (
            "i32",
            "16x64",
            "",
            "vector_dup r16, b, vconv_s322f32 r16, b, vconv_s322f32 r16, b, vdiv r16, b,"
            " vconv_f322s32z r16, b",
        ),
        (
            "i16",
            "4x128",
            "",
            "vector_dup r4, b, vconv_s162f16 r4, b, vconv_s162f16 r4, b, vdiv r4, b,"
            " vconv_f162s16z r4, b",
        ),
    ],
)
@pytest.mark.parametrize("scalar_first", [False, True])
def test_a_scalar_goes_through_dst_before_the_division(
    dtype, shape, dynamic, expected, scalar_first
):
    dst, src = (tile(dtype, shape, dynamic=dynamic) for _ in range(2))
    operands = (3, src) if scalar_first else (src, 3)
    assert run("tdivs", dst, *operands) == expected


def test_the_reciprocal_divides_one_by_the_tile():
    lowered = lower(spread(bind("trecip", tile(), tile()), GAP), A2A3)
    fill, _, division = lowered.uops[0].body
    assert (fill.name, fill.scalar) == ("vector_dup", 1)
    assert [access.addr for access in division.srcs] == [0, GAP]  # dst, which holds 1, by src


@pytest.mark.parametrize(
    ("scalar", "factor"), [(4.0, 0.25), (0.0, float("inf")), (-0.0, float("-inf"))]
)
def test_a_float_tile_in_place_is_multiplied_by_the_inverse(scalar, factor):
    lowered = lower(bind("tdivs", tile(), tile(), scalar), A2A3)
    (uop,) = lowered.uops[0].body
    assert (uop.name, uop.repeat, uop.scalar) == ("vmuls", 16, factor)


def test_the_inverse_is_of_the_scalar_in_the_element_type():
    half = tile("f16")
    (uop,) = lower(bind("tdivs", half, half, 0.1), A2A3).uops[0].body
    assert uop.scalar == 1 / 0.0999755859375  # half(0.1)


@pytest.mark.parametrize("dtype", ["i32", "i16"])
def test_an_integer_source_is_destroyed(dtype):
    lowered = lower(spread(bind("tdivs", tile(dtype), tile(dtype), 3), GAP), A2A3)
    assert [region.addr for region in lowered.destroyed] == [GAP]
    assert [note.message for note in lowered.notes] == [
        "tdivs of integers divides as floats on a2a3 and leaves the float bits in src"
    ]


def test_three_reciprocal_roots():
    dst, src = tile("f32", "4x96"), tile("f32", "4x96")
    assert run("trsqrt", tile(), tile()) == "vrsqrt r16"
    assert run("trsqrt", dst, src, tmp=tile("f32", "1x8")) == (
        "count, m, vector_dup r0, m, vsqrt r0 x4, b, vdiv r0 x4, norm, m"
    )
    for tmp in (None, tile("f32", "1x8")):
        (function,) = lower(bind("trsqrt", dst, src, tmp=tmp), A5).uops
        assert [uop.op for uop in function.nodes[1].body] == ["VLDS", "VSQRT", "VDIV", "VSTS"]


@pytest.mark.parametrize(("op", "name"), [("tsqrt", "vsqrt"), ("tlog", "vln")])
def test_one_precision_on_a2a3(op, name):
    assert run(op, tile(), tile()) == f"{name} r16"
    assert notes(op, A2A3, tile(), tile(), precision="high") == [
        f"precision=high of {op} is ignored on a2a3"
    ]


def test_a_modulo_needs_no_scratch_and_its_steps_are_not_fused():
    assert run("tfmod", tile(), tile(), tile()) == (
        "vdiv r16, b, vconv_f322f32z r16, b, vmul r16, b, vsub r16"
    )


SIGN = "vmul r2, b, norm, m, vcmpvs_lt r1 x2, b, vadd r2, b, count"
ROW = "m, vector_dup r1, b, set_cmpmask, b, m, vsel r1"


@pytest.mark.parametrize("dtype", ["f32", "i32"])
def test_a_remainder_fixes_its_sign_and_turns_integers_in_place(dtype):
    operands = [tile(dtype, "2x64") for _ in range(3)]
    text = run("trem", *operands, tmp=tile(dtype, "4x64"))
    steps = f"vdiv r2, b, vconv_f322f32f r2, b, vmul r2, b, vsub r2, b, {SIGN}, {ROW}, {ROW}"
    before = "vconv_s322f32 r2, b, vconv_s322f32 r2, b, "
    behind = ", b, vconv_f322s32r r2, b, vconv_f322s32r r2, b, vconv_f322s32r r2"
    expected = f"{steps}, norm, m"
    assert text == (before + expected + behind if dtype == "i32" else expected)


@pytest.mark.parametrize(
    ("op", "dtype", "precision", "expected"),
    [
        ("tdiv", "f32", "default", "VLDS VLDS VDIV VSTS"),
        ("tdiv", "f32", "high", "VLDS VLDS VDIV_SOFT VSTS"),
        ("tdiv", "i32", "high", "VLDS VLDS VDIV VSTS"),
        ("trecip", "f16", "default", "VBR VLDS VDIV VSTS"),
        ("trecip", "f16", "high", "VBR VLDS VDIV_SOFT VSTS"),
        ("tsqrt", "f32", "high", "VLDS VSQRT_SOFT VSTS"),
        ("trsqrt", "f16", "high", "VDUP VLDS VSQRT_SOFT VDIV_SOFT VSTS"),
        ("tlog", "f32", "default", "VLDS VLN VSTS"),
        ("tlog", "f32", "high", "VLDS VCMPS[lt] VMULS VSEL VLN VADDS VSEL VSTS"),
        ("tfmod", "f32", "default", "VLDS VLDS VDIV VTRC[trunc] VMUL VSUB VSTS"),
        ("tfmod", "f32", "high", "VLDS VLDS VMOD_SOFT VSTS"),
        (
            "tfmod",
            "f16",
            "default",
            "VLDS VLDS VCVT VCVT VDIV VTRC[trunc] VMUL VSUB VCVT[rint] VSTS",
        ),
        ("tfmod", "u16", "high", "VLDS VLDS VMOD VSTS"),
    ],
)
def test_bodies_of_the_vreg_core(op, dtype, precision, expected):
    count = 3 if op in ("tdiv", "tfmod") else 2
    operands = [tile(dtype, "4x128") for _ in range(count)]
    assert body(op, *operands, precision=precision) == expected


FIX = "VMUL VCMPS[lt] VADD VSEL"


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("f32", f"VLDS VLDS VDIV VTRC[floor] VMUL VSUB {FIX} VSTS"),
        ("f16", f"VLDS VLDS VCVT VCVT VDIV VTRC[floor] VMUL VSUB VCVT[trunc] {FIX} VSTS"),
        ("i16", "VLDS VLDS VMOD VSTS"),
    ],
)
def test_remainders_of_the_vreg_core(dtype, expected):
    assert body("trem", *(tile(dtype) for _ in range(3))) == expected


def test_which_register_divides_which():
    for operands, order in (((tile(), 2.0), ("v0", "v1")), ((2.0, tile()), ("v1", "v0"))):
        (function,) = lower(bind("tdivs", tile(), *operands), A5).uops
        assert function.nodes[1].body[1].src == order


ZERO = "{} of integers: what a division by 0 gives on a5 is not known; all bits of such lanes are"
SIGNS = "{} of integers of mixed signs: whose sign the result has on a5 is not known;"


@pytest.mark.parametrize(
    ("op", "dtype", "last", "expected"),
    [
        ("tdiv", "i32", None, []),
        ("tdiv", "f32", None, []),
        ("tdivs", "i32", 3, []),
        ("tdivs", "i32", 0, [ZERO]),
        ("trem", "i16", None, [SIGNS]),
        ("trem", "u16", None, []),
        ("tfmods", "i32", 7, [SIGNS]),
    ],
)
def test_what_is_not_known_of_integers_is_said(op, dtype, last, expected):
    second = tile(dtype) if last is None else last
    found = notes(op, A5, tile(dtype), tile(dtype), second)
    endings = {ZERO: " 1 here", SIGNS: " numerics.vmod_sign chooses"}
    assert found == [text.format(op) + endings[text] for text in expected]


@pytest.mark.parametrize(
    ("arch", "op", "expected"),
    [
        (A2A3, "tfmod", "tfmod of f32 rounds the quotient: where it is beyond 2^24 the result is"
         " wrong on a2a3, as the device"),
        (A5, "trem", "trem rounds the quotient on a5: where it is beyond 2^24 the result is wrong,"
         " as on the device"),
    ],
)  # fmt: skip
def test_large_quotients_are_said_to_be_wrong(arch, op, expected):
    assert notes(op, arch, tile(), tile(), tile()) == [expected]
