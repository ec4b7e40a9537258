"""Which micro-ops logic, shifts and fused arithmetic run, by shape and element type, on both cores.

Expected lists: worked out by hand from the header descriptions of the tile library.
"""

import pytest
from instrs import A2A3, A5, bind, spread, tile
from lane_model import region_bytes, script

from archsim.isa.simd import RowLoop, SimdUop
from archsim.isa.vreg import VregLoop
from archsim.lower import lower


def simd(op, *operands, tmp=None, **attrs):
    return script(lower(spread(bind(op, *operands, tmp=tmp, **attrs), 0x40000), A2A3))


def simd_uops(op, *operands, tmp=None):
    loops = lower(spread(bind(op, *operands, tmp=tmp), 0x40000), A2A3).uops
    assert all(isinstance(loop, RowLoop) for loop in loops)
    return [item for loop in loops for item in loop.body if isinstance(item, SimdUop)]


def vreg(op, *operands, **attrs):
    (function,) = lower(spread(bind(op, *operands, **attrs), 0x40000), A5).uops
    return " ".join(map(_node, function.nodes))


def _node(node):
    if isinstance(node, VregLoop):
        return f"{node.iters}{'+' * node.post_update}*({' '.join(map(_node, node.body))})"
    return node.op + (f".{node.mem.dist}" if node.mem and node.mem.dist != "norm" else "")


FULL, PART = ("4x256", "4x256", ""), ("4x256", "4x70", "cols")
ROWS_COUNTED = "count, m, vector_dup r0 x4, norm, m, b, "


@pytest.mark.parametrize(
    ("dtype", "shape", "expected"),
    [
        # 16-bit types walk as TADD does
        ("i16", FULL, "vand r8"),
        ("u16", PART, "m, vand r4, m"),
        # other types are 16-bit lanes, and never take the walks of equal row pitches
        ("i32", FULL, "vand r4 x4"),
        ("u32", PART, "vand r1 x4, m, vand r4, m"),
        ("u8", FULL, "vand r1 x4"),
        ("i8", PART, "m, vand r4, m"),
    ],
)
def test_tand_of_each_width(dtype, shape, expected):
    whole, valid, dynamic = shape
    t = tile(dtype, whole, valid, dynamic=dynamic)
    assert simd("tand", t, t, t) == expected
    assert simd("tor", t, t, t) == expected.replace("vand", "vor")


@pytest.mark.parametrize(
    ("dtype", "shape", "expected"),
    [
        ("i16", FULL, "vnot r8"),
        ("i32", FULL, "vnot r16"),
        ("u8", FULL, "vnot r4"),
        ("i16", PART, "m, vnot r4, m"),
        ("i32", PART, "count, m, vnot r0 x4, norm, m"),
        ("u8", ("4x256", "4x71", "cols"), "m, vnot r4, m"),
    ],
)
def test_tnot_of_each_width(dtype, shape, expected):
    whole, valid, dynamic = shape
    t = tile(dtype, whole, valid, dynamic=dynamic)
    assert simd("tnot", t, t) == expected


def test_a_mask_covers_pairs_of_bytes_and_the_last_one_alone():
    t = tile("u8", "4x256", "4x71", dynamic="cols")
    for op, *more in (("tand", t), ("tnot",), ("tor", t)):
        (uop,) = simd_uops(op, t, t, *more)
        assert (uop.mask.lanes, uop.dtype.name, uop.dst.repeat_stride) == (36, "i16", 256)
        written = lower(spread(bind(op, t, t, *more)), A2A3).writes
        assert written == (t.valid_region(72),)


def test_logic_with_a_scalar_fills_dst_first():
    t, part = tile("i16", "4x256"), tile("i16", *PART[:2], dynamic="cols")
    assert simd("tands", t, t, 3) == "count, m, vector_dup r0, norm, m, b, vand r8"
    assert simd("tors", part, part, 3) == ROWS_COUNTED + "m, vor r4, m"
    fill, combine = simd_uops("tands", t, t, 3)
    assert (fill.scalar, fill.dst.addr, combine.srcs[1].addr) == (3, 0, 0)
    assert combine.srcs[0].addr == 0x40000


def test_exclusive_or_is_made_of_four():
    t = tile("i16", "4x256")
    assert simd("txor", t, t, t, tmp=t) == "vor r8, b, vand r8, b, vnot r8, b, vand r8"
    steps = simd_uops("txor", t, t, t, tmp=t)
    dst, a, b, tmp = 0, 0x40000, 0x80000, 0xC0000
    assert [(u.dst.addr, [s.addr for s in u.srcs]) for u in steps] == [
        (tmp, [a, b]),
        (dst, [a, b]),
        (dst, [dst]),
        (dst, [dst, tmp]),
    ]
    filled = "count, m, vector_dup r0, norm, m, b, "
    assert simd("txors", t, t, 9, tmp=t) == (
        f"{filled}vor r8, b, {filled}vand r8, b, vnot r8, b, vand r8"
    )


def test_exclusive_or_writes_its_scratch():
    t = tile("i16", "4x256", "4x70")
    for op, second in (("txor", t), ("txors", 7)):
        instr = spread(bind(op, t, t, second, tmp=t))
        lowered = lower(instr, A2A3)
        tiles = (instr.dst[0], instr.tmp)
        want = region_bytes([part.valid_region() for part in tiles])
        assert region_bytes(lowered.writes) == want
        assert lowered.destroyed == ()


@pytest.mark.parametrize(("op", "name"), [("tshl", "left"), ("tshr", "right")])
def test_shifts_of_two_tiles_are_loops_of_the_scalar_unit(op, name):
    t = tile("i32", "2x512", "2x300")
    expected = f"b, {f'scalar_shift_{name} r255, scalar_shift_{name} r45, ' * 2}b"
    assert simd(op, t, t, t) == expected
    assert {uop.lanes for uop in simd_uops(op, t, t, t)} == {1}
    # five cycles an element, after the barrier
    assert A2A3.uop(f"scalar_shift_{name}", "i32").slope == 5
    assert A2A3.uop(f"scalar_shift_{name}", "i32").basis == "assumed"


def test_shifts_by_a_scalar_walk_as_tadds_does():
    t, part = tile("i32", "16x64"), tile("i32", "16x128", "16x80", dynamic="cols")
    assert simd("tshls", t, t, 3) == "vshl r16"
    assert simd("tshrs", part, part, 3) == "vshr r16, m, vshr r16, m"


@pytest.mark.parametrize(("dtype", "other"), [("i32", "u32"), ("i16", "u16")])
def test_a_right_shift_of_signed_values_departs_from_its_meaning_on_a2a3(dtype, other):
    t = tile(dtype)
    (note,) = lower(spread(bind("tshrs", t, t, 1)), A2A3).notes
    assert (note.kind, note.severity) == ("numerics", "warning")
    assert note.message == (
        f"tshrs on {dtype} shifts zeros in on a2a3, not copies of the sign: negative values become"
        " positive"
    )
    assert note.fix == f"use a {other} tile where that is meant"
    unsigned = tile(other)
    assert lower(spread(bind("tshrs", unsigned, unsigned, 1)), A2A3).notes == ()
    assert lower(spread(bind("tshls", t, t, 1)), A2A3).notes == ()
    assert lower(spread(bind("tshrs", t, t, 1)), A5).notes == ()


def test_filling_for_a_scalar_meets_the_library_fault_of_texpands():
    part = tile("i16", "16x64", "16x40")
    (note,) = lower(spread(bind("tands", part, part, 1)), A2A3).notes
    assert note.message.startswith("tands fills 640 consecutive elements of a static 16x64 tile")


@pytest.mark.parametrize(
    ("op", "name"),
    [("tmuladddst", "vmla"), ("tfusedmuladd", "vmadd"), ("tfusedmuladdrelu", "vmaddrelu")],
)
def test_accumulating_reads_the_destination(op, name):
    t = tile("f32", "16x128", "16x80", dynamic="cols")
    assert simd(op, t, t, t) == f"{name} r16, m, {name} r16, m"
    for arch in (A2A3, A5):
        instr = spread(bind(op, t, t, t))
        lowered = lower(instr, arch)
        assert lowered.reads == lowered.sources
        assert lowered.reads[0] == lowered.writes[0] == instr.dst[0].valid_region()
        assert len(lowered.reads) == 3


def test_sums_and_differences_of_three():
    t, part = tile(), tile("f32", "16x128", "16x80", dynamic="cols")
    assert simd("taddc", t, t, t, t) == "vadd r16, b, vadd r16"
    assert simd("tsubc", t, t, t, t) == "vsub r16, b, vadd r16"
    assert simd("taddsc", t, t, 2.0, t) == "vadds r16, b, vadd r16"
    two = "{0} r16, m, {0} r16, m"
    assert simd("taddc", *[part] * 4) == two.format("vadd") + ", b, " + two.format("vadd")
    first, then = simd_uops("tsubsc", t, t, 2.0, t)
    assert (first.scalar, then.scalar) == (-2.0, None)
    assert [source.addr for source in then.srcs] == [0, 0x80000]
    assert first.srcs[0].addr == 0x40000


@pytest.mark.parametrize(
    ("dtype", "value", "passed"),
    [("f32", 2.5, "-2.5"), ("f32", 0, "-0.0"), ("f32", -0.0, "0.0"), ("i32", 0, "0"),
     ("i32", -7, "7"), ("i16", -32768, "32768")],
)  # fmt: skip
def test_a_subtracted_scalar_is_added_negated(dtype, value, passed):
    t = tile(dtype)
    assert [str(uop.scalar) for uop in simd_uops("tsubs", t, t, value)] == [passed]


def test_negation_multiplies_by_minus_one():
    (uop,) = simd_uops("tneg", tile("i16"), tile("i16"))
    assert (uop.name, uop.scalar) == ("vmuls", -1)


@pytest.mark.parametrize(
    ("shape", "valid", "expected"),
    [
        ("16x64", "16x64", "vaxpy r16"),
        ("16x32", "16x32", "m, vaxpy r16, m"),  # narrower than a repeat
        ("16x128", "16x80", "vaxpy r16, m, vaxpy r16, m"),
        ("300x64", "300x48", "m, vaxpy r255, vaxpy r45, m"),
        ("300x64", "300x64", "vaxpy r255, vaxpy r45"),
        # more whole repeats than rows
        ("3x256", "3x192", "vaxpy r3 x3"),
        ("2x256", "2x192", "count, m, vaxpy r0 x2, norm, m"),
        # rows further apart than the repeat stride reaches: 255 blocks, 2040 floats
        ("4x2040", "4x40", "m, vaxpy r4, m"),
        ("4x2048", "4x40", "count, m, vaxpy r0 x4, norm, m"),
    ],
)
def test_taxpy_of_halves_into_floats(shape, valid, expected):
    dst = tile("f32", shape, valid)
    cols = int(shape.split("x")[1]) + int(shape.split("x")[1]) % 16
    src = tile("f16", f"{shape.split('x')[0]}x{cols}", valid)
    assert simd("taxpy", dst, src, 2.0) == expected
    assert {uop.lanes for uop in simd_uops("taxpy", dst, src, 2.0)} == {64}


def test_taxpy_of_one_type_walks_as_tadds_does():
    t, part = tile("f16", "4x256"), tile("f32", "2x192", "2x130")
    assert simd("taxpy", t, t, 2.0) == "vaxpy r8"
    assert simd("taxpy", part, part, 2.0) == "count, m, vaxpy r0 x2, norm, m"
    instr = spread(bind("taxpy", t, t, 2.0))
    assert lower(instr, A2A3).reads == tuple(
        part.valid_region() for part in (instr.src[0], instr.dst[0])
    )


@pytest.mark.parametrize(
    ("op", "scalar", "shape", "expected"),
    [
        ("tand", None, "4x64", "4+*(VLDS VLDS VAND VSTS)"),
        ("tor", None, "4x64", "4+*(VLDS VLDS VOR VSTS)"),
        ("txor", None, "4x64", "4+*(VLDS VLDS VXOR VSTS)"),
        ("tshl", None, "4x64", "4+*(VLDS VLDS VSHL VSTS)"),
        ("tshr", None, "4x64", "4+*(VLDS VLDS VSHR VSTS)"),
        ("tands", 3, "4x64", "VBR 4+*(VLDS VAND VSTS)"),
        ("tors", 3, "4x64", "VBR 4+*(VLDS VOR VSTS)"),
        ("txors", 3, "4x64", "VBR 4+*(VLDS VXOR VSTS)"),
        ("tshls", 3, "4x64", "4+*(VLDS VSHLS VSTS)"),
        ("tshrs", 3, "4x64", "4+*(VLDS VSHRS VSTS)"),
        ("tsubs", 3, "4x64", "4+*(VLDS VADDS VSTS)"),
    ],
)
def test_vector_bodies_of_integers(op, scalar, shape, expected):
    t = tile("i32", shape)
    sources = [t, t] if scalar is None else [t, scalar]
    assert vreg(op, t, *sources) == expected
    part = tile("i32", shape, "4x40")
    sources = [part, part] if scalar is None else [part, scalar]
    flat = expected[expected.index("(") :]
    before = "VBR " if expected.startswith("VBR") else ""
    assert vreg(op, part, *sources) == f"{before}4*(1*{flat})"


@pytest.mark.parametrize(
    ("op", "sources", "expected"),
    [
        ("tmuladddst", 2, "VLDS VLDS VLDS VMULA VSTS"),
        ("tfusedmuladd", 2, "VLDS VLDS VLDS VMADD VSTS"),
        ("tfusedmuladdrelu", 2, "VLDS VLDS VLDS VMADD VRELU VSTS"),
        ("tsubrelu", 2, "VLDS VLDS VSUB VRELU VSTS"),
        ("taddc", 3, "VLDS VLDS VLDS VADD VADD VSTS"),
        ("tsubc", 3, "VLDS VLDS VLDS VSUB VADD VSTS"),
        ("tabs", 1, "VLDS VABS VSTS"),
        ("tneg", 1, "VLDS VMULS VSTS"),
        ("trelu", 1, "VLDS VRELU VSTS"),
    ],
)
def test_vector_bodies_of_floats(op, sources, expected):
    t, part = tile(), tile("f32", "4x64", "4x40")
    assert vreg(op, *[t] * (sources + 1)) == f"16+*({expected})"
    assert vreg(op, *[part] * (sources + 1)) == f"4*(1*({expected}))"


def test_vector_bodies_with_a_scalar_between():
    t = tile()
    assert vreg("taddsc", t, t, 2.0, t) == "16+*(VLDS VLDS VADDS VADD VSTS)"
    assert vreg("tsubsc", t, t, 2.0, t) == "16+*(VLDS VLDS VADDS VADD VSTS)"
    assert vreg("tlrelu", t, t, 2.0) == "16+*(VLDS VLRELU VSTS)"


def test_taxpy_is_always_a_nest():
    t, h = tile(), tile("f16")
    assert vreg("taxpy", t, t, 2.0) == "16*(1*(VLDS VLDS VAXPY VSTS))"
    assert vreg("taxpy", t, h, 2.0) == "16*(1*(VLDS.unpk VCVT VLDS VAXPY VSTS))"


def test_a_difference_is_converted_as_a_sum_is():
    dst, src = tile("f16", "3x128"), tile("f32", "3x128")
    assert vreg("tsubreluconv", dst, src, src) == "3*(2*(VLDS VLDS VSUB VMAXS VCVT VSTS.pk))"
    assert simd("tsubreluconv", dst, src, src) == "vsubreluconv_f322f16 r2 x3"
    dst, src = tile("i8", "3x128"), tile("i16", "3x128")
    assert vreg("tsubreluconv", dst, src, src) == "3*(1*(VLDS VLDS VSUB VMAXS VMINS VCVT VSTS.pk))"
    assert simd("tsubreluconv", dst, src, src) == "vsubreluconv_s162s8 r1 x3"
