"""Reductions and broadcasts: which micro-ops in which order, each path by its condition."""

import pytest
from instrs import A2A3, A5, bind, spread, tile
from lane_model import region_bytes, script, simd_written_bytes

from archsim.isa.operands import Region
from archsim.isa.vreg import VregLoop
from archsim.lower import lower

F = tile("f32")


def column(rows: int, dtype: str = "f32"):
    return tile(dtype, f"{rows}x1", row_major=False)


def row(cols: int, dtype: str = "f32"):
    return tile(dtype, f"1x{cols}")


def scratch(shape: str, dtype: str = "f32"):
    return tile(dtype, shape)


def text(instr) -> str:
    return script(lower(spread(instr, 0x8000), A2A3))


COUNTED = "count, m, {}, norm, m"
WHOLE = COUNTED.format("vcadd r0") + ", b"


def sums(shape: str, valid: str = "", dynamic: str = "", dtype: str = "f32") -> str:
    src = tile(dtype, shape, valid, dynamic=dynamic)
    wide = tile(dtype, f"{src.rows}x1024")
    return text(bind("trowsum", column(src.rows, dtype), src, tmp=wide))


@pytest.mark.parametrize(
    ("shape", "valid", "dynamic", "expected"),
    [
        ("16x32", "", "", "m, vcadd r16, b, m"),
        ("16x64", "", "", WHOLE),
        ("16x72", "16x63", "", "m, vcadd r16, b, m"),
        ("300x32", "", "", "m, vcadd r255, b, vcadd r45, b, m"),
        ("255x32", "", "", "m, vcadd r255, b, vcadd r0, b, m"),
        ("16x72", "16x65", "",
         "copy_ubuf_to_ubuf r8 x16, b, m, vadd r16, m, b, " + WHOLE),
        ("64x128", "", "cols", COUNTED.format("vadd r0") + ", b, " + WHOLE),
        ("16x200", "16x192", "",
         ", ".join([COUNTED.format("vadd r0"), "b"] * 2) + ", " + WHOLE),
        ("16x328", "16x322", "",  # two pairs, an odd repeat, a rest, then one pair of groups
         ", ".join([COUNTED.format("vadd r0"), "b"] * 3) + ", m, vadd r16, m, b, "
         + COUNTED.format("vadd r0") + ", b, " + WHOLE),
        ("4x2048", "4x64", "", WHOLE),  # rows of 256 blocks: one micro-op each
    ],
)  # fmt: skip
def test_row_sums(shape, valid, dynamic, expected):
    if shape == "4x2048":
        expected = "count, m, vcadd r0 x4, norm, m, b"
    assert sums(shape, valid, dynamic) == expected


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("64x128", "vcgmax r128, b, vmax r8, b, vcgmax r8, b"),
        ("32x256", "vcgmax r128, b, vmax r8, b, vmax r4, b, vcgmax r4, b"),
        ("16x512", "vcgmax r128, b, vcgmax r16, b, vcgmax r2, b"),
        ("8x1024", "vcgmax r128, b, vcgmax r16, b, vmax r1, b, vcgmax r1, b"),
    ],
)
def test_full_static_f32_tiles_into_a_column(shape, expected):
    rows = int(shape.split("x")[0])
    tmp = scratch("32x128")
    assert text(bind("trowmax", column(rows), tile("f32", shape), tmp=tmp)) == expected
    into_rows = text(bind("trowmax", tile("f32", f"{rows}x8"), tile("f32", shape), tmp=tmp))
    assert into_rows.startswith("count, m, vmax r0")
    dynamic = tile("f32", shape, dynamic="cols")
    assert text(bind("trowmax", column(rows), dynamic, tmp=tmp)) == into_rows


def test_maxima_go_on_repeat_by_repeat():
    turns = ", ".join([COUNTED.format("vmax r0"), "b"] * 2)
    instr = bind("trowmax", column(16), tile("f32", "16x200", "16x194"), tmp=scratch("16x64"))
    first, rest = COUNTED.format("vmax r0") + ", b", "m, vmax r16, m, b"
    assert text(instr) == f"{first}, {rest}, {first}, {WHOLE.replace('vcadd', 'vcmax')}"
    assert turns == f"{first}, {first}"


def test_integers_and_products_go_through_the_scalar_unit():
    instr = bind(
        "trowsum", column(2, "i32"), tile("i32", "2x24", "2x20"), tmp=scratch("1x8", "i32")
    )
    sync = "set_flag, wait_flag"
    added = "vadd r1, b, vadd r1, b, m, vadd r1, b"
    per_row = f"m, vector_dup r1, b, {added}, {sync}, scalar_fold_add r1, {sync}"
    assert text(instr) == f"count, {per_row}, {per_row}, norm, m"
    instr = bind("trowprod", column(1), tile("f32", "1x8"), tmp=scratch("1x8"))
    assert text(instr) == (
        f"count, m, vector_dup r1, b, vmul r1, b, {sync}, scalar_fold_mul r1, {sync}, norm, m"
    )


def test_columns():
    copy = "copy_ubuf_to_ubuf r8"
    steps = ", ".join(["vmax r0", "b"] * 3)
    assert text(bind("tcolmax", row(64), tile("f32", "4x64"))) == (
        f"{copy}, b, count, m, {steps}, norm, m, b"
    )
    narrow = ", ".join(["vmax r1", "b"] * 3)
    assert text(bind("tcolmax", row(32), tile("f32", "4x32"))) == (
        f"copy_ubuf_to_ubuf r4, b, m, {narrow}, m, b"
    )
    assert text(bind("tcolmax", row(64), tile("f32", "1x64"))) == f"{copy}, b"
    both = text(bind("tcolprod", row(72), tile("f32", "2x72")))
    assert both == "copy_ubuf_to_ubuf r9, b, count, m, vmul r0, b, norm, m x2, vmul r1, b, m, b"


def test_column_sums():
    copy = "copy_ubuf_to_ubuf r8"
    assert text(bind("tcolsum", row(64), tile("f32", "3x64"))) == (
        f"{copy}, b, count, m, vadd r0, b, vadd r0, b, norm, m"
    )
    assert text(bind("tcolsum", row(64), tile("f32", "1x64"))) == copy
    tree = bind("tcolsum", row(64), tile("f32", "5x64"), tmp=scratch("2x64"), binary="true")
    assert text(tree) == (
        "count, m, vadd r0 x2, b, vadd r0, b, norm, m,"  # two pairs, the odd row onto row 0
        f" count, m, vadd r0, b x2, norm, m, {copy}, b"
    )


def test_one_value_a_row():
    assert text(bind("trowexpandmul", F, F, column(16))) == "vbrcb r2, b, vmul r16"
    assert text(bind("trowexpandmul", F, F, tile("f32", "16x8"))) == "vmul r16"
    wide = tile("f32", "16x136", "16x130")
    assert text(bind("trowexpandadd", wide, wide, column(16))) == (
        "vbrcb r2, b, vadd r16 x2, m, vadd r16, m"
    )
    long = tile("f32", "2x256")
    assert text(bind("trowexpandadd", long, long, tile("f32", "2x8"))) == (
        "count, m, vadd r0 x2, norm, m"  # more repeats a row than rows
    )
    assert text(bind("trowexpandexpdif", F, F, column(16))) == "vbrcb r2, b, vsub r16, b, vexp r16"
    tall = tile("f32", "256x64")
    assert text(bind("trowexpandsub", tall, tall, column(256))) == (
        "b, vbrcb r30, b, vsub r240, b, vbrcb r2, b, vsub r16"
    )
    assert text(bind("trowexpandsub", tall, tall, tile("f32", "256x8"))) == "vsub r255, vsub r1"


def test_blocks_of_rows_lie_in_tmp_or_in_the_reserved_top():
    instr = spread(bind("trowexpandmul", F, F, column(16)), 0x4000)
    top = Region("UB", 184 * 1024, 1, 512, 512)
    assert top in lower(instr, A2A3).writes
    tmp = tile("f32", "16x8", addr=0x10000)
    given = bind("trowexpandmul", F, tile(addr=0x4000), column(16), tmp=tmp)
    assert Region("UB", 0x10000, 1, 512, 512) in lower(given, A2A3).writes


def test_values_to_whole_rows_and_columns():
    sync = "set_flag, wait_flag, set_flag, wait_flag, vector_dup r0"
    assert text(bind("trowexpand", tile("f32", "2x64"), column(2))) == (
        f"count, m, {sync}, {sync}, norm, m"
    )
    assert text(bind("trowexpand", tile("f32", "48x8"), column(48))) == "vbrcb r6"
    assert text(bind("tcolexpand", F, row(64))) == "copy_ubuf_to_ubuf r8 x16"
    assert text(bind("tcolexpandmul", F, F, row(64))) == "vmul r16"
    part = tile("f32", "3x64", "3x60")
    narrow = tile("f32", "1x64", "1x60")
    assert text(bind("tcolexpandmul", part, part, narrow)) == "count, m, vmul r0 x3, norm, m"
    assert text(bind("tcolexpandexpdif", F, F, row(64))) == "vsub r16, b, vexp r16"
    assert text(bind("tcolexpandexpdif", part, part, narrow)) == (
        "count, m, vsub r0, b, vexp r0, vsub r0, b, vexp r0, vsub r0, b, vexp r0, norm, m"
    )


@pytest.mark.parametrize(
    "instr",
    [
        bind("trowsum", column(16), tile("f32", "16x200", "16x194"), tmp=scratch("16x128")),
        bind("trowmin", tile("f32", "16x8"), F, tmp=F),
        bind("trowsum", column(8, "i32"), tile("i32", "8x24"), tmp=scratch("1x8", "i32")),
        bind("tcolsum", row(64), tile("f32", "7x64"), tmp=scratch("3x64"), binary="true"),
        bind("tcolmax", row(72), tile("f32", "7x72")),
        bind("trowexpandmul", F, F, column(16), tmp=scratch("16x8")),
        bind("trowexpand", F, column(16)),
        bind("tcolexpandexpdif", F, F, row(64)),
        bind("trowargmax", column(16, "i32"), tile("f32", "16x136", "16x130"), tmp=F),
        bind("tcolargmax", row(100 // 8 * 8, "i32"), tile("f32", "5x96"), tmp=row(192)),
        bind("tpairreducesum", tile("f32", "16x32"), F),
    ],
    ids=lambda instr: instr.op.mnemonic,
)
def test_what_is_written_is_what_is_named(instr):
    lowered = lower(spread(instr, 0x8000), A2A3)
    written = simd_written_bytes(lowered)
    assert written <= region_bytes(lowered.writes)
    assert region_bytes(lowered.writes[:1]) <= written


def words(nodes) -> str:
    """A vector function as text: `4(...)` a loop of four."""
    return " ".join(
        f"{node.iters}({words(node.body)})" if isinstance(node, VregLoop) else node.op
        for node in nodes
    )


def function(instr) -> str:
    (found,) = lower(spread(instr, 0x8000), A5).uops
    return words(found.nodes)


@pytest.mark.parametrize(
    ("instr", "expected"),
    [
        (bind("trowsum", column(16), tile("f32", "16x200", "16x194")),
         "16(VBR 4(VLDS VCADD VADD) VSTS)"),
        (bind("trowmax", column(16), F), "16(VBR 1(VLDS VCMAX VMAX) VSTS)"),
        (bind("trowsum", column(16, "i16"), tile("i16", "16x64")),
         "16(VBR 1(VLDS VCADD VADD) VCVT VSTS)"),
        (bind("trowmin", column(32, "i8"), tile("i8", "32x64")),
         "32(VBR 1(VLDS VCVT VCVT VCMIN VCMIN VMIN VMIN) VCVT VSTS)"),
        (bind("trowprod", column(16), F),
         "16(VBR 1(VLDS VMUL) " + " ".join(["VINTLV VMUL"] * 6) + " VSTS)"),
        (bind("trowargmax", column(16, "i32"), F),
         "16(VBR VBR VBR 1(VLDS VCMAX VDINTLV VADD VCMP VSEL VSEL VADDS) VSTS)"),
        (bind("tcolmax", row(72), tile("f32", "6x72")),
         "2(VLDS 2(VLDS VLDS VMAX VMAX) VLDS VMAX VSTS)"),
        (bind("tcolmax", row(72), tile("f32", "6x72"), vf_impl="2D_NO_POST_UPDATE"),
         "2(VBR 6(VLDS VMAX) VSTS)"),
        (bind("tcolsum", row(64), tile("f32", "5x64"), tmp=scratch("2x64"), binary="true"),
         "2(1(VLDS VLDS VADD VSTS)) MEM_BAR 1(VLDS VLDS VADD VSTS) MEM_BAR"
         " 1(1(VLDS VLDS VADD VSTS)) MEM_BAR 1(VLDS VSTS)"),
        (bind("tpairreducesum", tile("f32", "16x32"), F), "16(1(VLDS VCPADD VSTS))"),
        (bind("trowexpand", tile("f32", "16x136"), column(16)), "16(VLDS VDUP 3(VSTS))"),
        (bind("trowexpand", tile("f32", "48x8"), column(48)), "6(VLDS VSTS)"),
        (bind("trowexpandsub", F, F, column(16)), "16(VLDS 1(VLDS VSUB VSTS))"),
        (bind("trowexpandexpdif", F, F, column(16)), "16(VLDS 1(VLDS VEXPDIF VSTS))"),
        (bind("tcolexpandexpdif", tile("f16"), tile("f16"), row(64, "f16")),
         "16(1(VLDS VLDS VSUB VEXP VSTS))"),
        (bind("tcolexpand", tile("f32", "16x136"), row(136)),
         "2(VLDS 16(VSTS)) VLDS 16(VSTS)"),
    ],
    ids=lambda value: value.op.mnemonic if hasattr(value, "op") else "",
)  # fmt: skip
def test_vector_functions(instr, expected):
    assert function(instr) == expected


@pytest.mark.parametrize(
    ("source", "dist"), [(column(16), "brc"), (tile("f32", "16x8"), "blk")], ids=["col", "blocks"]
)
def test_how_a5_spreads_a_value(source, dist):
    (found,) = lower(spread(bind("trowexpandmul", F, F, source), 0x8000), A5).uops
    assert found.nodes[0].body[0].mem.dist == dist


@pytest.mark.parametrize("arch", [A2A3, A5], ids=["a2a3", "a5"])
def test_a_difference_written_the_other_way_round_is_told(arch):
    (note,) = lower(spread(bind("trowexpandsub", F, column(16), F), 0x8000), arch).notes
    assert note.message == (
        "trowexpandsub takes its whole tile as the left operand, although it is written second"
    )
    assert note.severity == "warning"
    assert lower(spread(bind("trowexpandadd", F, column(16), F), 0x8000), arch).notes == ()
