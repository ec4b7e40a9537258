"""Which micro-ops the simd core runs: published groupings, with the repeat argument of each.

Source of the expected lists: runs of the public cost model of pto-isa at commit f35e7f60, and the
decompositions of its totals.
"""

import pytest
from instrs import A2A3, bind, spread, tile
from lane_model import script

from archsim.arch import load
from archsim.lower import lower


def run(op, *operands, tmp=None, step=0x40000, **attrs):
    return script(lower(spread(bind(op, *operands, tmp=tmp, **attrs), step), A2A3))


COUNT_ROWS = "count, m, vadd r0 x{}, norm, m"


@pytest.mark.parametrize(
    ("dtype", "shape", "valid", "expected"),
    [
        ("f32", "2x192", "2x130", COUNT_ROWS.format(2)),
        ("f32", "1x192", "1x130", "vadd r2, m, vadd r1, m"),
        ("f32", "2x128", "2x100", COUNT_ROWS.format(2)),
        ("f32", "2x128", "2x64", "vadd r1 x2"),
        ("f32", "300x64", "300x48", "m, vadd r255, vadd r45, m"),
        ("f32", "300x32", "300x20", "m, vadd r255, vadd r45, m"),
        ("f32", "300x128", "300x80", "vadd r1 x300, m, vadd r255, vadd r45, m"),
        ("f32", "8x2048", "8x1000", COUNT_ROWS.format(8)),
        ("f32", "40x2048", "40x40", "m, vadd r1 x40, m"),
        ("f16", "16x128", "16x100", "m, vadd r16, m"),
        ("f32", "16x128", "16x80", "vadd r16, m, vadd r16, m"),
        ("f32", "16x64", "16x48", "m, vadd r16, m"),
        ("f32", "16x48", "16x48", "m, vadd r16, m"),
    ],
)
def test_tadd_with_dynamic_valid_columns(dtype, shape, valid, expected):
    t = tile(dtype, shape, valid, dynamic="cols")
    assert run("tadd", t, t, t) == expected


@pytest.mark.parametrize(
    ("dtype", "shape", "expected"),
    [
        ("f16", "16x128", "vadd r16"),
        ("f32", "16x64", "vadd r16"),
        ("f32", "128x128", "count, m, vadd r0, norm, m"),
        ("f32", "64x192", "vadd r192"),
        ("f32", "64x96", "count, m, vadd r0, norm, m"),
        ("f32", "16x80", "count, m, vadd r0, norm, m"),
        ("f32", "64x32", "m, vadd r64, m"),
        # 255 repeats is the last count that fits the repeat field.
        ("f32", "255x64", "vadd r255"),
        ("f32", "256x64", "count, m, vadd r0, norm, m"),
    ],
)
def test_tadd_of_full_static_tiles(dtype, shape, expected):
    t = tile(dtype, shape)
    assert run("tadd", t, t, t) == expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [(255, "m, vadd r255, m"), (256, "vadd r128")],
)
def test_tiles_narrower_than_a_repeat_are_walked_down_to_255_rows(rows, expected):
    t = tile("f32", f"{rows}x32")
    assert run("tadd", t, t, t) == expected


@pytest.mark.parametrize(
    ("valid", "dynamic", "expected"),
    [
        ("16x128", "", "vadd r32"),
        ("16x128", "cols", "vadd r32"),  # full at run time
        ("1x128", "both", "vadd r2"),  # one row at run time
        ("1x40", "both", "vadd r0, m, vadd r1, m"),
        ("1x100", "both", "count, m, vadd r0, norm, m"),  # ends inside a repeat
    ],
)
def test_contiguity_at_run_time_counts_for_two_inputs(valid, dynamic, expected):
    t = tile("f32", "16x128", valid, dynamic=dynamic)
    assert run("tadd", t, t, t) == expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [(4, "vadd r2 x4"), (5, "vadd r5 x2")],
)
def test_at_least_as_many_rows_as_repeats_and_one_are_walked_down(rows, expected):
    t = tile("f32", f"{rows}x256", f"{rows}x128", dynamic="cols")
    assert run("tadd", t, t, t) == expected


def test_different_row_pitches_run_heads_row_by_row_and_the_rest_down():
    dst = tile("f32", "4x256", "4x160")
    src = tile("f32", "4x192", "4x160")
    assert run("tadd", dst, src, src) == "vadd r2 x4, m, vadd r4, m"


def test_different_pitches_beyond_the_repeat_stride_run_the_rest_row_by_row():
    dst = tile("f32", "4x2048", "4x160")
    src = tile("f32", "4x192", "4x160")
    assert run("tadd", dst, src, src) == "vadd r2 x4, m, vadd r1 x4, m"


def test_long_rows_go_in_pieces_of_255_repeats():
    dst = tile("f16", "2x32896", "2x32896")
    src = tile("f16", "2x32912", "2x32896")
    assert run("tadd", dst, src, src, step=0x100000) == ", ".join(["vadd r255, vadd r2"] * 2)


@pytest.mark.parametrize(
    ("op", "dtype", "shape", "valid", "dynamic", "expected"),
    [
        ("tadds", "f32", "16x64", "16x64", "", "vadds r16"),
        ("tmuls", "f32", "16x64", "16x64", "", "vmuls r16"),
        ("tmins", "f32", "16x64", "16x64", "", "vmins r16"),
        ("tmaxs", "f32", "16x64", "16x64", "", "vmaxs r16"),
        ("tadds", "f32", "16x64", "16x48", "", "m, vadds r16, m"),
        ("tadds", "f32", "16x80", "16x80", "cols", "vadds r16, m, vadds r16, m"),
        ("tadds", "f32", "16x64", "16x64", "cols", "vadds r16"),
        # no path of its own for narrow tiles: 16 x 48 are twelve repeats in a row
        ("tmuls", "f32", "16x48", "16x48", "", "vmuls r12"),
        ("tmuls", "f32", "7x448", "7x448", "", "vmuls r49"),
        ("tmuls", "f32", "16x80", "16x80", "", "count, m, vmuls r0, norm, m"),
        ("tmuls", "f32", "256x64", "256x64", "", "count, m, vmuls r0, norm, m"),
        ("tmuls", "f32", "1x192", "1x130", "both", "vmuls r2, m, vmuls r1, m"),
        # contiguous at run time is not enough here
        ("tmuls", "f32", "2x128", "2x128", "cols", "vmuls r2 x2"),
        ("tmuls", "f32", "1x192", "1x192", "", "vmuls r3"),
    ],
)
def test_tile_and_scalar(op, dtype, shape, valid, dynamic, expected):
    t = tile(dtype, shape, valid, dynamic=dynamic)
    assert run(op, t, t, 2) == expected


def test_the_conditions_of_rows_hold_for_both_tiles_of_a_scalar_instruction():
    dst = tile("f32", "2x128", "2x100")
    assert run("tmuls", dst, dst, 2) == "count, m, vmuls r0 x2, norm, m"
    tall = tile("f32", "9x128", "2x100")
    assert run("tmuls", dst, tall, 2) == "vmuls r2, m, vmuls r2, m"


@pytest.mark.parametrize(
    ("shape", "valid", "dynamic", "expected"),
    [
        ("64x64", "64x64", "", "vexp r64"),
        ("64x128", "64x128", "", "vexp r128"),
        ("16x48", "16x48", "", "vexp r12"),
        ("16x64", "16x48", "", "m, vexp r16, m"),
        ("128x128", "128x128", "", "count, m, vexp r0, norm, m"),
        ("16x80", "16x80", "", "vexp r20"),  # rows may end inside a repeat
        ("16x72", "16x72", "cols", "vexp r18"),  # full at run time
        ("16x128", "1x100", "both", "vexp r1, m, vexp r1, m"),
        ("2x192", "2x130", "", "count, m, vexp r0 x2, norm, m"),
        ("2x192", "2x128", "", "vexp r2 x2"),
        ("3x10", "3x10", "", "vexp r0, m, vexp r1, m"),
    ],
)
def test_texp(shape, valid, dynamic, expected):
    t = tile("f32", shape, valid, dynamic=dynamic)
    assert run("texp", t, t) == expected


TSEL_ROW = "m, vector_dup r1, b, set_cmpmask, b, m, vsel r1"
CHAIN = (
    "vadd r{0}, b, vconv_s322f32 r{0}, b, vmuls r{0}, b, vmuls r{0}, b, vmuls r{0}, b,"
    " vector_dup r{0}, b, vmax r{0}, b, vconv_f322f16 r{0}, b"
)


@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_tprelu(dtype):
    t = tile(dtype, "16x16")
    expected = ", ".join(
        ["m, vmul r16, m, b, norm, m, vcmpvs_gt r1 x16, b x2, count"] + [TSEL_ROW] * 16
    )
    found = run("tprelu", t, t, t, tmp=tile("u8", "17x32"))
    assert found == expected + ", norm, m"


def test_tsel():
    t, mask = tile("f32", "3x64"), tile("u8", "3x32")
    rows = ", ".join(["count", *[TSEL_ROW] * 3, "norm, m"])
    assert run("tsel", t, mask, t, t, tmp=tile("u8", "1x32")) == rows


@pytest.mark.parametrize(
    ("shape", "valid", "expected"),
    [
        ("16x64", "16x64", "vaddreluconv_f322f16 r1 x16"),
        ("64x64", "64x48", "m, vaddreluconv_f322f16 r1 x64, m"),
        ("16x80", "16x80", "vaddreluconv_f322f16 r1 x16, m, vaddreluconv_f322f16 r1 x16, m"),
        ("2x16400", "2x16384", "vaddreluconv_f322f16 r255, vaddreluconv_f322f16 r1, " * 2),
    ],
)
def test_taddreluconv_runs_every_row_by_itself(shape, valid, expected):
    src, dst = tile("f32", shape, valid), tile("f16", shape, valid)
    assert run("taddreluconv", dst, src, src) == expected.rstrip(", ")


@pytest.mark.parametrize(
    ("source", "to", "name"),
    [("f32", "f16", "f322f16"), ("f16", "i8", "f162s8"), ("i16", "i8", "s162s8")],
)
def test_taddreluconv_is_named_by_its_types(source, to, name):
    src, dst = tile(source, "1x128"), tile(to, "1x128")
    repeats = 2 if source == "f32" else 1
    assert run("taddreluconv", dst, src, src) == f"vaddreluconv_{name} r{repeats}"


@pytest.mark.parametrize(
    ("shape", "valid", "expected"),
    [
        ("16x16", "16x16", ", ".join(["m", *[CHAIN.format(1)] * 16, "m"])),
        ("2x64", "2x64", ", ".join([CHAIN.format(1)] * 2)),
        ("2x128", "2x128", ", ".join([CHAIN.format(2)] * 2)),
        ("2x80", "2x80", ", ".join([*[CHAIN.format(1)] * 2, "m", *[CHAIN.format(1)] * 2, "m"])),
    ],
)
def test_tadddeqrelu_runs_the_chain_on_every_block(shape, valid, expected):
    source, dst = tile("i32", shape, valid), tile("f16", shape, valid)
    assert run("tadddeqrelu", dst, source, source, 0.5, tmp=source) == expected


@pytest.mark.parametrize(
    ("source", "to", "shape", "attrs", "expected"),
    [
        ("f32", "f16", "16x48", {}, "m, vconv_f322f16r r16, m"),
        ("f32", "f16", "3x64", {}, "vconv_f322f16r r1 x3"),
        ("f32", "f16", "3x64", {"rmode": "odd"}, "vconv_f322f16o r1 x3"),
        ("f32", "f32", "3x64", {"rmode": "floor"}, "vconv_f322f32f r1 x3"),
        ("f32", "i32", "3x64", {}, "vconv_f322s32z r1 x3"),
        ("f32", "i32", "3x64", {"rmode": "rint"}, "vconv_f322s32r r1 x3"),
        ("f16", "f32", "2x64", {"rmode": "floor"}, "vconv_f162f32 r1 x2"),
        ("i32", "f32", "2x64", {}, "vconv_s322f32 r1 x2"),
        ("i32", "f32", "2x64", {"rmode": "round"}, "vconv_s322f32a r1 x2"),
        ("i16", "f16", "2x128", {"rmode": "ceil"}, "vconv_s162f16c r1 x2"),
        ("u8", "f16", "2x128", {}, "vconv_u82f16 r1 x2"),
        ("f16", "u8", "2x128", {"rmode": "trunc"}, "vconv_f162u8z r1 x2"),
        ("f32", "bf16", "2x64", {}, "vconv_f322bf16r r1 x2"),
        ("f32", "i64", "2x64", {}, "vconv_f322s64z r2 x2"),
        ("i64", "f32", "2x32", {"rmode": "floor"}, "vconv_s642f32f r1 x2"),
        ("i64", "i32", "2x32", {}, "vconv_s642s32 r1 x2"),
        ("i32", "i64", "3x16", {}, "m, vconv_s322s64 r3, m"),
        ("f32", "f16", "2x160", {}, "vconv_f322f16r r2 x2, m, vconv_f322f16r r2, m"),
        ("i32", "f16", "2x64", {}, "set_deqscale, b, vconv_deq r1 x2"),
    ],
)
def test_tcvt(source, to, shape, attrs, expected):
    found = run("tcvt", tile(to, shape), tile(source, shape), **attrs)
    assert found == f"set_ctrl, {expected}, set_ctrl"


def test_tcvt_of_rows_beyond_the_repeat_stride_takes_them_one_by_one():
    src, dst = tile("f32", "3x2048", "3x16"), tile("f16", "3x2048", "3x16")
    assert run("tcvt", dst, src) == "set_ctrl, m, vconv_f322f16r r1 x3, m, set_ctrl"


def test_tcvt_tail_of_more_than_255_rows_is_split():
    src, dst = tile("f32", "300x16"), tile("f16", "300x16")
    found = run("tcvt", dst, src)
    assert found == "set_ctrl, m, vconv_f322f16r r255, vconv_f322f16r r45, m, set_ctrl"


WRAP = "vconv_f322s32z r{0}, b, vconv_s322s16 r{0}"


def test_tcvt_with_scratch_wraps_through_i32():
    src, dst = tile("f32", "3x80"), tile("i16", "3x80")
    found = run("tcvt", dst, src, tmp=tile("i32", "3x64"))
    head = ", ".join([WRAP.format(1)] * 3)
    assert found == f"set_ctrl, {head}, m, {WRAP.format(3)}, m, set_ctrl"


def test_tcvt_with_scratch_and_saturation_is_plain():
    src, dst = tile("f32", "3x80"), tile("i16", "3x80")
    found = run("tcvt", dst, src, tmp=tile("i32", "3x64"), sat="on")
    assert found == "set_ctrl, vconv_f322s16z r1 x3, m, vconv_f322s16z r3, m, set_ctrl"


def test_tcvt_of_half_to_i16_with_scratch_goes_by_64_lanes():
    src, dst = tile("f16", "2x144", "2x130"), tile("i16", "2x144", "2x130")
    found = run("tcvt", dst, src, tmp=tile("i32", "1x64"), rmode="rint")
    steps = [word for word in found.split(", ") if not word.startswith("m")]
    chunk = ["vconv_f162s32r r1", "b", "vconv_s322s16 r1", "b"]
    # Two rows of two chunks each, then what is left of both rows.
    assert steps == ["set_ctrl", *chunk * 6, "set_ctrl"]


def test_tcvt_of_half_to_i8_with_scratch_is_six_steps():
    src, dst = tile("f16", "1x64"), tile("i8", "1x64")
    found = run("tcvt", dst, src, tmp=tile("i32", "1x64"))
    steps = (
        "vconv_f162s32z r1, b, vconv_s322s16 r1, b, vector_dup r1, b, vand r1, b,"
        " vconv_s162f16 r1, b, vconv_f162s8z r1, b"
    )
    assert found == f"set_ctrl, m x2, {steps}, m x2, set_ctrl"


@pytest.mark.parametrize(
    ("dtype", "shape", "valid", "dynamic", "expected"),
    [
        ("f32", "16x64", "16x64", "", "count, m, vector_dup r0, norm, m"),
        ("f32", "16x64", "16x40", "", "count, m, vector_dup r0 x16, norm, m"),
        ("f32", "16x64", "16x64", "cols", "count, m, vector_dup r0 x16, norm, m"),
        ("f32", "16x64", "1x40", "both", "count, m, vector_dup r0, norm, m"),
        ("f32", "1x64", "1x40", "", "count, m, vector_dup r0, norm, m"),
    ],
)
def test_texpands(dtype, shape, valid, dynamic, expected):
    assert run("texpands", tile(dtype, shape, valid, dynamic=dynamic), 3) == expected


@pytest.mark.parametrize(
    ("mode", "dtype", "expected"),
    [
        ("gt", "f32", "norm, m, vcmpvs_gt r1 x16"),
        ("eq", "f16", "norm, m, vcmpvs_eq r1 x16"),
        ("le", "i32", "norm, m, vcmpvs_eq r1 x16"),  # 32-bit integers know equality only
        ("ge", "i16", "norm, m, vcmpvs_ge r1 x16"),
        ("ne", "f32", "norm, m, vcmpvs_eq r1 x16, b, count, m, vnot r0, norm, m"),
    ],
)
def test_tcmps(mode, dtype, expected):
    found = run("tcmps", tile("u8", "16x32"), tile(dtype, "16x64"), 0, mode=mode)
    assert found == expected


@pytest.mark.parametrize(
    ("mode", "dtype", "cols", "expected"),
    [
        ("lt", "f32", 64, "norm, m, vcmpv_lt r1 x2"),
        ("ge", "f16", 129, "norm, m, vcmpv_ge r2 x2"),
        ("lt", "i32", 64, "norm, m, vcmpv_eq r1 x2"),
        ("ne", "f32", 64, "norm, m, vcmpv_eq r1 x2, b, count, m, vnot r0, norm, m"),
        # unlike a scalar one, all pieces of a row before the next row
        ("gt", "f32", 241 * 64, "norm, m, vcmpv_gt r240, vcmpv_gt r1, vcmpv_gt r240, vcmpv_gt r1"),
    ],
)
def test_tcmp(mode, dtype, cols, expected):
    t = tile(dtype, f"2x{cols}")
    assert run("tcmp", tile("u8", "2x4096"), t, t, mode=mode) == expected


def test_tsels():
    t, tmp = tile("f32", "3x64"), tile("f32", "1x8")
    assert run("tsels", t, tile("u8", "3x32"), t, 1.0, tmp=tmp) == (
        "scalar_store r1, count, m, set_flag, wait_flag, set_cmpmask, b, vsel r1 x3, norm, m"
    )


@pytest.mark.parametrize(
    ("cols", "expected"),
    [
        (240 * 64, "norm, m, vcmpvs_gt r240 x2"),
        (240 * 64 + 8, "norm, m, vcmpvs_gt r240 x2, vcmpvs_gt r1 x2"),
        (480 * 64, "norm, m, vcmpvs_gt r240 x4"),
    ],
)
def test_tcmps_takes_240_repeats_a_micro_op(cols, expected):
    src, dst = tile("f32", f"2x{cols}"), tile("u8", "2x4096")
    assert run("tcmps", dst, src, 0, mode="gt") == expected


def test_a_core_with_fewer_repeats_limits_compares_too():
    core = load("a2a3", [("vector.repeat_max", "3")])
    instr = spread(bind("tcmps", tile("u8", "2x32"), tile("f32", "2x256"), 0, mode="gt"))
    assert script(lower(instr, core)) == "norm, m, vcmpvs_gt r3 x2, vcmpvs_gt r1 x2"


@pytest.mark.parametrize(
    ("shape", "valid", "expected"),
    [
        ("64x128", "64x128", "copy_ubuf_to_ubuf r1024"),
        ("64x128", "63x125", "copy_ubuf_to_ubuf r16 x63"),
        ("64x128", "1x125", "copy_ubuf_to_ubuf r16"),
        ("16x64", "16x64", "copy_ubuf_to_ubuf r128"),
    ],
)
def test_tmov_copies_whole_blocks(shape, valid, expected):
    t = tile("f32", shape, valid)
    assert run("tmov", t, t) == expected
