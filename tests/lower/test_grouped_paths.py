"""What quantisation with shared exponents is made of, and which bytes it says it touches."""

from dataclasses import replace

import pytest
from instrs import A5, tile

from archsim.isa.operands import BoundInstr, Region
from archsim.isa.tile_ops import FORMS
from archsim.isa.vreg import Tail, VregLoop, VregNode, VregUop
from archsim.lower import lower

MX = next(op for op in FORMS["tquant"] if op.form == "mx")
HALVES = "VLDS, VCVT, VCVT, VCVT, VCVT"
WORDS = "VLDS, VLDS, VDINTLV, VDINTLV"
MAXIMA = "VABS, VABS, VABS, VABS, VMAX, VMAX, VMAX, VCGMAX, VSTS"
FACTORS = "VLDS, VAND, VSHRS, VCMPS, VCMPS, VSEL, VSUB, VSUB, VSHLS, VSEL, VSEL, VSTS, VSTS"
PACKED = "VMUL, VCVT, VSELR, MEM_BAR, VSTS"


def lowered(dtype, shape, valid=""):
    src, dst = tile(dtype, shape, valid, addr=0x8000), tile("f8e4m3", shape, valid)
    rows = src.valid_rows
    groups = -(-src.valid_cols // 32)
    exponents = tile("u8", f"{rows}x128", f"{rows}x{groups}", addr=0x4000)
    tmp = tile("f32", f"{rows}x128", addr=0x20000)
    return lower(BoundInstr(MX, (dst, exponents), (src,), tmp, {"mode": "mx"}), A5)


def words(node: VregNode) -> str:
    if isinstance(node, VregLoop):
        return f"{node.iters}*({', '.join(map(words, node.body))})"
    return node.op


def uops(nodes) -> list[VregUop]:
    return [u for n in nodes for u in (uops(n.body) if isinstance(n, VregLoop) else [n])]


@pytest.mark.parametrize(
    ("dtype", "shape", "valid", "counts"),
    [
        ("f32", "3x256", "", (1, 1, 4)),
        ("f32", "3x288", "3x257", (2, 1, 5)),
        ("f16", "3x2048", "", (8, 1, 32)),
        ("bf16", "3x2080", "3x2049", (9, 2, 33)),
    ],
)
def test_three_passes_with_barriers_between(dtype, shape, valid, counts):
    split, widened = (WORDS, "") if dtype == "f32" else (HALVES, "VCVT, ")
    passes, groups, vectors = counts
    (function,) = lowered(dtype, shape, valid).uops
    assert ", ".join(map(words, function.nodes)) == (
        f"3*({passes}*({split}, {MAXIMA})), MEM_BAR, VBR, VBR, VBR, VBR, VBR,"
        f" 3*({groups}*({FACTORS})), MEM_BAR, VCI, VMULS, VCI, VCMPS,"
        f" 3*({vectors}*(VLDS, VLDS, VSEL, VLDS, {widened}{PACKED}))"
    )
    barriers = [u.effect for u in uops(function.nodes) if u.op == "MEM_BAR"]
    assert barriers == ["vst_vld", "vst_vld", "vst_vst"]


@pytest.mark.parametrize(
    ("cols", "on"),
    [
        (1, [1, 0, 0, 0]),
        (2, [1, 1, 0, 0]),
        (7, [2, 2, 2, 1]),
        (64, [16] * 4),
        (66, [17, 17, 16, 16]),
    ],
)
def test_only_valid_elements_are_among_the_maxima(cols, on):
    (function,) = lowered("f32", "3x96", f"3x{cols}").uops
    masks = [u.pred for u in uops(function.nodes) if u.op == "VABS"]
    assert masks == [Tail(total, 64) for total in on]


def test_its_bytes_are_those_of_its_operands_and_of_a_number_for_each_group():
    done = lowered("f32", "3x96", "2x70")
    src, dst = Region("UB", 0x8000, 2, 280, 384), Region("UB", 0, 2, 70, 96)
    exponents, tmp = Region("UB", 0x4000, 2, 3, 128), Region("UB", 0x20000, 2, 12, 512)
    assert (done.reads, done.sources, done.destroyed) == ((src,), (src,), ())
    assert done.writes == (dst, exponents, tmp)


def test_scratch_of_any_type_holds_the_same_bytes():
    src, dst = tile("f16", "2x64", addr=0x8000), tile("f8e4m3", "2x64")
    exponents = tile("u8", "2x32", "2x2", addr=0x4000)
    tmp = tile("f32", "2x8", addr=0x20000)
    instr = BoundInstr(MX, (dst, exponents), (src,), tmp, {"mode": "mx"})
    as_bytes = replace(instr, tmp=tile("u8", "2x32", addr=0x20000))
    assert lower(as_bytes, A5) == lower(instr, A5)
