"""Which micro-ops turn, gather, scatter, sort and merge, at both sides of every condition.

Source of the A2A3 lists: the decompositions of the public cost model's totals (pto-isa at
f35e7f60) and the device headers; of the A5 lists: the device headers.
"""

import pytest
from instrs import A2A3, A5
from lane_model import script

from archsim.isa.vreg import VregLoop
from archsim.lower import lower
from archsim.schedule.alone import bind_alone, question


def simd(op, dtype, shape, valid=None, **keys):
    return script(lower(bind_alone(question(op, dtype, shape, valid, keys), A2A3), A2A3))


def vreg(op, dtype, shape, valid=None, **keys):
    lowered = lower(bind_alone(question(op, dtype, shape, valid, keys), A5), A5)
    return " | ".join(text(function.nodes) for function in lowered.uops)


def text(nodes):
    return " ".join(
        f"{n.iters}*({text(n.body)})"
        if isinstance(n, VregLoop)
        else n.op + (f".{n.mem.dist}" if n.mem and n.mem.dist != "norm" else "")
        for n in nodes
    )


VA = "set_va_reg_sb x4, "


@pytest.mark.parametrize(
    ("dtype", "shape", "expected"),
    [
        # Two column blocks; four.
        (
            "f32",
            "16x16",
            2 * f"{VA}scatter_vnchwconv_b32 r1, " + "b, copy_ubuf_to_ubuf r32",
        ),
        (
            "f16",
            "64x64",
            4 * f"{VA}scatter_vnchwconv_b16 r4, " + "b, copy_ubuf_to_ubuf r256",
        ),
        # One-byte elements: eight addresses, a micro-op for each quarter of the block.
        (
            "i8",
            "64x32",
            f"{VA[:-3]}8, scatter_vnchwconv_b8 r2 x4, b, copy_ubuf_to_ubuf r64",
        ),
        # Rows of dst are no whole groups of 16: the scalar unit.
        ("f32", "8x16", "b, scalar_copy r16 x8, b"),
        (
            "i8",
            "32x64",
            2 * f"{VA[:-3]}8, scatter_vnchwconv_b8 r1 x4, " + "b, copy_ubuf_to_ubuf r64",
        ),
        ("f32", "24x8", "b, scalar_copy r8 x24, b"),
    ],
)
def test_turning_on_a2a3(dtype, shape, expected):
    assert simd("ttrans", dtype, shape) == expected


def test_rows_left_over_make_one_group_along_the_column_blocks():
    """20 valid rows: a group of 16 for each of three blocks, then the rest with three repeats."""
    copies = ", b, copy_ubuf_to_ubuf r3 x24"
    groups = ", ".join([f"{VA}scatter_vnchwconv_b32 r1"] * 3 + [f"{VA}scatter_vnchwconv_b32 r3"])
    assert simd("ttrans", "f32", "32x24", "20x24") == groups + copies


def test_gather_by_index_row_by_row():
    row = "m, vmuls r1, b, vgather r1"
    for dtype in ("f32", "f16"):
        want = ", ".join(["count", row, row, row, "norm", "m"])
        assert simd("tgather", dtype, "3x64") == want


def test_offsets_of_four_byte_elements_go_to_dst_and_of_two_byte_ones_to_scratch():
    for dtype, in_dst in (("f32", True), ("f16", False)):
        instr = bind_alone(question("tgather", dtype, "3x64", None, {}), A2A3)
        lowered = lower(instr, A2A3)
        scaled = lowered.uops[1].body[1]
        assert (instr.tmp is None) is in_dst
        assert scaled.dst.addr == (instr.dst[0].addr if in_dst else instr.tmp.addr)
        assert len(lowered.writes) == (1 if in_dst else 2)


@pytest.mark.parametrize(
    ("op", "keys", "expected"),
    [
        ("tgather", {"maskPattern": "P0101"}, "count, m, vreducev2 r4, norm, m"),
        ("tgather", {"maskPattern": "P1111"}, "copy_ubuf_to_ubuf r32"),
        (
            "tgather",
            {"mode": "gt"},
            "b, scalar_store r1 x64, b, "
            + "m, vcmpvs_gt r1, b, m, vreducev2 r1, b, scalar_count r1, b, " * 4
            + "norm, m",
        ),
        ("tgatherb", {}, "count, m, vgatherb r1 x4, norm, m"),
        ("tscatter", {}, "count, m, vector_dup r0, norm, m, b, scalar_scatter r64 x4, b"),
        (
            "tscatter",
            {"maskPattern": "P0010"},
            "count, m, vector_dup r0, norm, m, b, scalar_copy r16 x4, b",
        ),
    ],
)
def test_other_gathers_and_scatters_on_a2a3(op, keys, expected):
    assert simd(op, "f32,i32" if "mode" in keys else "f32", "4x64", **keys) == expected


SORT_TAIL = "copy_ubuf_to_ubuf r{}, b, m, vector_dup r1, b, vbitsort r{}, b, m"


@pytest.mark.parametrize(
    ("shape", "valid", "expected"),
    [
        ("2x128", None, "vbitsort r4, b, vbitsort r4, b"),
        ("1x8192", None, "vbitsort r255, b, vbitsort r1, b"),
        ("1x64", "1x63", SORT_TAIL.format(8, 2)),
        ("1x8160", "1x8159", SORT_TAIL.format(1020, 255)),
        # Longer rows: only the last group goes through scratch.
        ("1x8192", "1x8161", "vbitsort r255, b, " + SORT_TAIL.format(1, 1)),
    ],
)
def test_sorting_on_a2a3(shape, valid, expected):
    assert simd("tsort32", "f32", shape, valid) == expected


def test_scratch_of_a_sort_only_where_a_group_is_not_whole():
    for cols, needs in ((64, False), (63, True)):
        instr = bind_alone(question("tsort32", "f32", "1x64", f"1x{cols}", {}), A2A3)
        assert (instr.tmp is not None) is needs
    grows = bind_alone(question("tsort32", "f32", "1x64", None, {"dynamic": "cols"}), A2A3)
    assert grows.tmp is not None


def test_merging_on_a2a3():
    assert simd("tmrgsort", "f32", "1x256", form="single", blockLen="64") == "vmrgsort4 r1"
    assert simd("tmrgsort", "f32", "1x512", form="single", blockLen="64") == "vmrgsort4 r2"
    assert simd("tmrgsort", "f32", "1x256") == (
        "vmrgsort4 r1, b, scalar_status r1, b, copy_ubuf_to_ubuf r64"
    )


ZEROS = "VDUP 4*({}*(VSTS)) MEM_BAR "


@pytest.mark.parametrize(
    ("op", "dtype", "keys", "expected"),
    [
        ("ttrans", "f32", {}, "64*(1*(VCI VMINS VMULS VADDS VGATHER2 VSTS))"),
        ("ttrans", "f16", {}, "64*(1*(VCI VMINS VMULS VADDS VGATHER2_BC VSTS.pk))"),
        ("tgather", "f32", {}, "4*(1*(VLDS VGATHER2 VSTS))"),
        ("tgather", "i8", {}, "4*(1*(VLDS VGATHER2_BC VSTS.pk))"),
        ("tgather", "f32", {"maskPattern": "P1010"}, "4*(1*(VLDS VSQZ VSTUR) VSTAR)"),
        ("tgather", "f32", {"maskPattern": "P1111"}, "4*(1*(VLDS VSTS))"),
        (
            "tgather",
            "f16,i32",
            {"mode": "eq"},
            "4*(SPRCLR VCI 1*(VLDS.unpk VCMPS VSQZ VSTUR VADDS) VSTAR SPRSTI)",
        ),
        ("tgatherb", "f32", {}, "4*(1*(VLDS VGATHERB VSTS))"),
        ("tscatter", "f32", {}, ZEROS.format(1) + "4*(1*(VLDS VLDS VSCATTER))"),
        ("tscatter", "i8", {}, ZEROS.format(1) + "4*(1*(VLDS.unpk VLDS VSCATTER))"),
        (
            "tscatter",
            "f32",
            {"maskPattern": "P0101"},
            ZEROS.format(1) + "4*(1*(VLDS VINTLV VSTS VSTS))",
        ),
        (
            "tscatter",
            "f32",
            {"maskPattern": "P0100"},
            ZEROS.format(1) + "4*(1*(VLDS VINTLV VINTLV VINTLV VSTS VSTS VSTS VSTS))",
        ),
        ("tinterleave", "f32", {}, " ".join(["4*(1*(VLDS VLDS VINTLV VSTS))"] * 2)),
        ("tdeinterleave", "f32", {}, " ".join(["4*(1*(VLDS VLDS VDINTLV VSTS VSTS))"] * 2)),
        ("tsort32", "f32", {}, "4*(2*(VLDS VLDS VBITSORT VSTS))"),
        (
            "tmrgsort",
            "f32",
            {},
            "VLDS VLDS VMRGSORT4 VSTS SPR_STATUS SPRSTI MEM_BAR 8*(VLDS VSTS)",
        ),
        ("tmrgsort", "f32", {"form": "single"}, "1*(VLDS VMRGSORT4 VSTS)"),
    ],
)
def test_vector_functions_on_a5(op, dtype, keys, expected):
    assert vreg(op, dtype, "4x64", **keys) == expected


def test_halves_of_odd_rows_are_stored_unaligned():
    unaligned = "2*(1*(VLDS VLDS VDINTLV VSTUS VSTUS))"
    assert vreg("tdeinterleave", "f32", "2x24", "2x23") == (
        f"2*(1*(VLDS VLDS VDINTLV VSTS VSTS)) {unaligned}"
    )
