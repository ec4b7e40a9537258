"""What regions, generators and quantisation are made of, path by path, on both cores."""

from dataclasses import replace

import pytest
from instrs import A2A3, A5, tile
from lane_model import region_bytes, script, simd_written_bytes

from archsim.isa.operands import BoundInstr, Region, TileView
from archsim.isa.tile_ops import FORMS
from archsim.isa.vreg import VregLoop, VregNode
from archsim.lower import Lowered, lower

F, N, BYTES = tile("f32", "3x64"), tile("i32", "3x64"), tile("i8", "3x64")
COLUMN = tile("f32", "8x1", "3x1", row_major=False)
ROWS = tile("f32", "3x8")
TMP = tile("i32", "8x64", addr=0x20000)


def instruction(name, outs, ins, *, form=0, tmp=None, **attrs):
    """Operands 0x4000 bytes apart, destinations first."""
    placed = [
        replace(operand, addr=0x4000 * at) if isinstance(operand, TileView) else operand
        for at, operand in enumerate((*outs, *ins))
    ]
    count = len(outs)
    return BoundInstr(FORMS[name][form], tuple(placed[:count]), tuple(placed[count:]), tmp, attrs)


def functions(lowered: Lowered) -> str:
    """Vector functions as text: `3*(VLDS, VSTS)` is a loop of three."""

    def words(node: VregNode) -> str:
        if isinstance(node, VregLoop):
            return f"{node.iters}*({', '.join(map(words, node.body))})"
        return node.op

    return " | ".join(", ".join(map(words, function.nodes)) for function in lowered.uops)


COPIES = "count, m, vcopy r0 x3, norm, m"
SCALARS = "set_flag, wait_flag, set_flag, wait_flag, vadds r1, b, vmuls r1, b"
CONVERSIONS = "set_ctrl, vconv_f322s32r r1 x3, set_ctrl, b"
PATHS = {
    "both valid": (
        instruction("tpartadd", [F], [F, F]),
        "vadd r3",
        "3*(VLDS, VLDS, VADD, VSTS)",
    ),
    "rows are missing": (
        instruction("tpartmax", [F], [F, tile("f32", "3x64", "2x64")]),
        "count, m, vmax r0 x2, norm, m, count, m, vcopy r0, norm, m",
        "2*(1*(VLDS, VLDS, VMAX, VSTS)), 1*(1*(VLDS, VSTS))",
    ),
    "columns are missing": (
        instruction("tpartmul", [F], [tile("f32", "3x64", "3x40"), F]),
        f"{COPIES}, b, count, m, vmul r0 x3, norm, m",
        "3*(1*(VLDS, VSTS)), MEM_BAR, 3*(1*(VLDS, VLDS, VMUL, VSTS))",
    ),
    "one is empty": (
        instruction("tpartmin", [F], [tile("f32", "3x64", "0x0"), F]),
        COPIES,
        "3*(1*(VLDS, VSTS))",
    ),
    "indices": (
        instruction("tpartargmin", [F, N], [F, F, N, N]),
        ", ".join(["m, vcmp_le r1, b, vsel r1 x2, m"] * 3).replace("m, m,", "m x2,"),
        "3*(1*(VLDS, VLDS, VLDS, VLDS, VCMP, VSEL, VSEL, VSTS, VSTS))",
    ),
    "whole blocks behind each other": (
        instruction("tconcat", [tile("f32", "3x128")], [F, F]),
        f"{COPIES}, {COPIES}",
        "3*(1*(VLDS, VSTS)), 3*(1*(VLDS, VSTS))",
    ),
    "a begun block behind": (
        instruction(
            "tconcat",
            [tile("f32", "3x128", "3x100")],
            [tile("f32", "3x64", "3x37"), tile("f32", "3x64", "3x63")],
        ),
        f"{COPIES}, b, scalar_copy r63 x3, b",
        "3*(1*(VLDS, VSTS)), 3*(1*(VLDS, VSTUS))",
    ),
    "padding": (
        instruction("tfillpad", [tile("f32", "4x64", pad="max")], [tile("f32", "4x64", "3x37")]),
        "copy_ubuf_to_ubuf r5 x3, b, m, vector_dup r3, m, count, m, vector_dup r0 x3, norm, m,"
        " count, m, vector_dup r0, norm, m",
        "VDUP, 3*(1*(VLDS, PLT, VSEL, VSTS)), 1*(1*(VSTS))",
    ),
    "padding from an odd byte on": (
        instruction("tfillpad", [tile("u8", "3x64", pad="max")], [tile("u8", "3x64", "3x37")]),
        "copy_ubuf_to_ubuf r2 x3, b, scalar_store r1 x3, b, m, vector_dup r3, m",
        "VDUP, 3*(1*(VLDS, PLT, VSEL, VSTS))",
    ),
    "padding of a wider tile": (
        instruction("tfillpad_expand", [tile("f32", "3x192", pad="zero")], [F]),
        "copy_ubuf_to_ubuf r8 x3, b, count, m, vector_dup r0 x3, norm, m",
        "VDUP, 3*(1*(VLDS, PLT, VSEL, VSTS), 2*(VSTS))",
    ),
    "one run of numbers": (
        instruction("tci", [N], [5]),
        "scalar_store r1 x192",
        "VCI, 3*(VSTS, VADDS)",
    ),
    "numbers row by row": (
        instruction("tci", [tile("i32", "2x128", "2x100")], [5]),
        "scalar_store r1 x200",
        "VCI, 2*(VSTS, VADDS), VCI, 2*(VSTS, VADDS)",
    ),
    "a triangle": (
        instruction("ttri", [F], [0], upper="true"),
        "count, m, vector_dup r0 x3, b, m, vector_dup r0, m, vector_dup r0, norm, m",
        "VDUP, VDUP, 1*(PLT, VSEL, VSTS), 1*(PLT, VSEL, VSTS), 1*(PLT, VSEL, VSTS)",
    ),
    "dequantised bytes": (
        instruction("tdequant", [F], [BYTES, ROWS, ROWS]),
        "count, m, "
        + "vconv_s82f16 r0, b, vconv_f162f32 r0, b, " * 3
        + f"norm, m, count, m, {SCALARS}, {SCALARS}, {SCALARS}, norm, m",
        "3*(VLDS, VLDS, 1*(VLDS, VCVT, VCVT, VSUB, VMUL, VSTS))",
    ),
    "dequantised halfwords": (
        instruction("tdequant", [F], [tile("i16", "3x64"), ROWS, ROWS]),
        "count, m, "
        + "vconv_s162f32 r0, b, " * 3
        + f"norm, m, count, m, {SCALARS}, {SCALARS}, {SCALARS}, norm, m",
        "3*(VLDS, VLDS, 1*(VLDS, VCVT, VSUB, VMUL, VSTS))",
    ),
    "quantised": (
        instruction("tquant", [BYTES], [F, COLUMN], tmp=TMP),
        f"vbrcb r1, b, vmul r3, b, {CONVERSIONS}, set_ctrl, set_deqscale, b, vconv_deq r1 x3,"
        " set_ctrl, b, set_ctrl, m, vconv_f162s8r r3, m, set_ctrl, b",
        "3*(1*(VLDS, VLDS, VMUL, VCVT, VCVT, VCVT, VCVT, VSTS))",
    ),
    "quantised with an offset": (
        instruction("tquant", [tile("u8", "3x64")], [F, COLUMN, COLUMN], form=1, tmp=TMP),
        f"vbrcb r1, b, vmul r3, b, vbrcb r1, b, vadd r3, b, {CONVERSIONS}, set_ctrl, set_deqscale,"
        " b, vconv_deq r1 x3, set_ctrl, b, set_ctrl, m, vconv_f162u8r r3, m, set_ctrl, b",
        "3*(1*(VLDS, VLDS, VMUL, VLDS, VADD, VCVT, VCVT, VCVT, VCVT, VSTS))",
    ),
}


@pytest.mark.parametrize("name", PATHS)
def test_micro_ops_of_each_path(name):
    instr, simd, vreg = PATHS[name]
    assert script(lower(instr, A2A3)) == simd
    assert functions(lower(instr, A5)) == vreg


HISTOGRAMS = {
    "0": "VLDS, PLT, VSHRS, VCMP, VDUP, VAND, VDHIST, VDHIST",
    "1": "VLDS, PLT, VSHRS, VDHIST, VDHIST",
}


@pytest.mark.parametrize("byte", HISTOGRAMS)
def test_bytes_are_counted_row_by_row(byte):
    src, idx = tile("u16", "3x256"), tile("u8", "3x32", "3x1")
    instr = instruction("thistogram", [tile("u32", "3x256")], [src, idx], byte=byte)
    picked = "VLDS, VCVT, " if byte == "0" else ""
    widened = ", ".join(["VUNPACK, VSTS"] * 4)
    expected = f"3*(VDUP, VDUP, {picked}2*({HISTOGRAMS[byte]}), {widened})"
    assert functions(lower(instr, A5)) == expected
    assert len(lower(instr, A5).reads) == (2 if byte == "0" else 1)


@pytest.mark.parametrize(("rounds", "count"), [("10", 20), ("7", 14)])
def test_a_round_of_philox_has_two_products(rounds, count):
    numbers = [1, 2, 3, 4, 5, 6]
    text = functions(
        lower(instruction("trandom", [tile("u32", "3x64")], numbers, rounds=rounds), A5)
    )
    assert text.count("VMULL") == count
    part = instruction("trandom", [tile("u32", "3x128", "3x70")], numbers, rounds=rounds)
    text = functions(lower(part, A5))
    assert "3*(1*(VMULL" in text  # a loop over the rows, one turn for each
    assert text.count("VSTS") == 2  # 70 columns are in two of the four vectors


def test_a_full_tile_in_place_needs_no_padding():
    src = tile("f32", "4x64")
    instr = BoundInstr(FORMS["tfillpad_inplace"][0], (replace(src, pad="max"),), (src,))
    assert lower(instr, A2A3).uops == ()
    assert lower(instr, A5).uops == ()


def test_padding_in_place_writes_no_valid_byte():
    src = tile("f32", "4x64", "3x37")
    dst = replace(src, valid_rows=4, valid_cols=64, pad="min")
    lowered = lower(BoundInstr(FORMS["tfillpad_inplace"][0], (dst,), (src,)), A2A3)
    assert lowered.reads == (src.valid_region(),)  # so that it waits for who writes src
    valid = {row * 256 + k for row in range(3) for k in range(37 * 4)}
    assert simd_written_bytes(lowered) == set(range(4 * 256)) - valid
    assert lowered.writes == (
        Region("UB", 37 * 4, 3, 27 * 4, 256),
        Region("UB", 3 * 256, 1, 256, 256),
    )


def test_more_than_255_rows_are_padded_in_pieces():
    src = tile("f32", "300x64", "300x61")
    dst = replace(src, valid_cols=64, pad="zero")
    lowered = lower(BoundInstr(FORMS["tfillpad_inplace"][0], (dst,), (src,)), A2A3)
    assert script(lowered) == "m, vector_dup r255, vector_dup r45, m"


def test_the_index_and_the_mask_of_a_part_are_among_its_effects():
    values, indices = tile("f16", "3x128"), tile("i32", "3x128")
    instr = instruction("tpartargmax", [values, indices], [values, values, indices, indices])
    lowered = lower(instr, A2A3)
    image = Region("UB", A2A3.memory.ub.size_bytes - 32, 1, 16, 16)
    assert lowered.writes == (*(out.valid_region() for out in instr.dst), image)
    assert lowered.sources == tuple(src.valid_region() for src in instr.src)
    assert lower(instr, A5).writes == tuple(out.valid_region() for out in instr.dst)


def test_what_quantisation_leaves_behind_on_a2a3():
    instr = instruction("tquant", [BYTES], [F, COLUMN], tmp=TMP)
    lowered = lower(instr, A2A3)
    dst, src, scale = instr.dst[0], *instr.src
    read = [src.valid_region(), scale.valid_region()]
    assert region_bytes(lowered.sources) == region_bytes(read)
    words = Region("UB", TMP.addr, 1, 3 * 256, 3 * 256)
    assert lowered.writes == (dst.valid_region(), src.valid_region(), words)
    assert lower(instr, A5).writes == (dst.valid_region(),)


@pytest.mark.parametrize("shape", ["1x256", "61x128", "4x1024"])
@pytest.mark.parametrize("cols", [1, 100, 128])
def test_random_words_need_no_more_registers_than_there_are(shape, cols):
    numbers = [1, 2, 3, 4, 5, 6]
    rows = shape.split("x")[0]
    lowered = lower(instruction("trandom", [tile("u32", shape, f"{rows}x{cols}")], numbers), A5)

    def names(node: VregNode) -> set[str]:
        if isinstance(node, VregLoop):
            return {name for inner in node.body for name in names(inner)}
        return {name for name in node.dst if name.startswith("v")}

    used = {name for function in lowered.uops for node in function.nodes for name in names(node)}
    assert len(used) <= A5.vector.physical_registers.value
