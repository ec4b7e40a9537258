"""Vreg lowering: bodies, loop nests and predicates, and every valid lane from its sources, once."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instrs import A5, bind, spread, tile
from lane_model import is_on, region_bytes, vreg_stores

from archsim.isa.vreg import VregLoop, VregUop
from archsim.lower import lower

PROPERTY = settings(max_examples=30, deadline=None)
GAP = 1 << 24


def text(nodes):
    """Loops as `n*(..)`, `n+*(..)` with post-update; micro-ops by name, distribution and words."""
    return " ".join(_node(node) for node in nodes)


def _node(node):
    if isinstance(node, VregLoop):
        return f"{node.iters}{'+' if node.post_update else ''}*({text(node.body)})"
    dist = f".{node.mem.dist}" if node.mem and node.mem.dist != "norm" else ""
    words = f"[{node.effect}]" if node.effect else ""
    return node.op + dist + words


def run(op, *operands, **attrs):
    (function,) = lower(spread(bind(op, *operands, **attrs), GAP), A5).uops
    return text(function.nodes)


BINARY = "VLDS VLDS VADD VSTS"


@pytest.mark.parametrize(
    ("shape", "valid", "dynamic", "vf_impl", "expected"),
    [
        ("1x512", "", "", "DEFAULT", f"8+*({BINARY})"),
        ("4x64", "", "", "DEFAULT", f"4+*({BINARY})"),
        ("4x72", "", "", "DEFAULT", f"5+*({BINARY})"),
        ("4x64", "", "", "1D_NO_POST_UPDATE", f"4*({BINARY})"),
        ("4x64", "", "", "1D_POST_UPDATE", f"4+*({BINARY})"),
        ("4x64", "", "", "2D_NO_POST_UPDATE", f"4*(1*({BINARY}))"),
        ("4x64", "", "", "2D_POST_UPDATE", f"4*(1+*({BINARY}))"),
        ("4x64", "", "cols", "DEFAULT", f"4*(1*({BINARY}))"),
        ("4x64", "", "rows", "DEFAULT", f"4+*({BINARY})"),
        ("3x224", "3x192", "", "DEFAULT", f"3*(3*({BINARY}))"),
        ("3x224", "3x129", "", "DEFAULT", f"3*(3*({BINARY}))"),
        ("3x224", "3x129", "", "1D_NO_POST_UPDATE", f"3*(3*({BINARY}))"),
        ("3x224", "3x129", "", "1D_POST_UPDATE", f"3*(2+*({BINARY}) 1+*({BINARY}))"),
        ("3x224", "3x192", "", "2D_POST_UPDATE", f"3*(3+*({BINARY}))"),
        ("3x224", "3x40", "", "2D_POST_UPDATE", f"3*(1+*({BINARY}))"),
        # one row is contiguous whatever is valid, and whatever the key says
        ("1x192", "1x129", "", "DEFAULT", f"3+*({BINARY})"),
        ("1x192", "1x129", "cols", "DEFAULT", f"3+*({BINARY})"),
        ("1x192", "1x129", "", "2D_NO_POST_UPDATE", f"3*({BINARY})"),
    ],
)
def test_path_of_two_inputs(shape, valid, dynamic, vf_impl, expected):
    t = tile("f32", shape, valid, dynamic=dynamic)
    assert run("tadd", t, t, t, vf_impl=vf_impl) == expected


def test_one_operand_that_does_not_fill_its_rows_makes_a_nest():
    t = tile("f32", "4x64")
    part = tile("f32", "4x72", "4x64")
    assert run("tadd", t, part, t) == "4*(1*(VLDS VLDS VADD VSTS))"
    assert run("tadd", part, t, t) == "4*(1*(VLDS VLDS VADD VSTS))"


@pytest.mark.parametrize(
    ("op", "shape", "valid", "attrs", "expected"),
    [
        ("texp", "1x640", "", {}, "10+*(VLDS VEXP VSTS)"),
        ("texp", "3x128", "3x70", {}, "3*(2*(VLDS VEXP VSTS))"),
        # nested, one-input instructions know no post-update
        ("texp", "3x128", "3x70", {"vf_impl": "2D_POST_UPDATE"}, "3*(2*(VLDS VEXP VSTS))"),
        (
            "texp",
            "1x64",
            "",
            {"precision": "high"},
            "1+*(VLDS VEXP VCMPS[le] VDUP VDIV VEXP VMUL VSEL VSTS)",
        ),
        ("tmov", "3x128", "3x70", {}, "3*(2*(VLDS VSTS))"),
        ("tmov", "3x128", "", {}, "6+*(VLDS VSTS)"),
    ],
)
def test_one_input(op, shape, valid, attrs, expected):
    t = tile("f32", shape, valid)
    assert run(op, t, t, **attrs) == expected


@pytest.mark.parametrize(
    ("op", "name"), [("tadds", "VADDS"), ("tmuls", "VMULS"), ("tmaxs", "VMAXS"), ("tmins", "VMINS")]
)
def test_tile_and_scalar(op, name):
    t = tile("i8", "2x256", "2x200")
    assert run(op, t, t, 3) == f"2*(1*(VLDS {name} VSTS))"
    assert run(op, t, t, 3, vf_impl="2D_POST_UPDATE") == f"2*(1+*(VLDS {name} VSTS))"


def test_texpands_reads_nothing():
    assert run("texpands", tile("f16", "2x128"), 3) == "2+*(VDUP VSTS)"
    assert lower(bind("texpands", tile("f16"), 3), A5).reads == ()


FUSED = "VLDS VLDS VADD VMAXS"


@pytest.mark.parametrize(
    ("source", "to", "shape", "expected"),
    [
        ("f32", "f16", "3x128", f"3*(2*({FUSED} VCVT[rint] VSTS.pk))"),
        ("f16", "i8", "3x128", f"3*(1*({FUSED} VCVT[rint] VSTS.pk))"),
        ("i16", "i8", "3x128", f"3*(1*({FUSED} VMINS VCVT VSTS.pk))"),
        ("f32", "f16", "1x128", f"1*(2*({FUSED} VCVT[rint] VSTS.pk))"),
    ],
)
def test_taddreluconv_is_a_nest_however_contiguous(source, to, shape, expected):
    assert run("taddreluconv", tile(to, shape), *[tile(source, shape)] * 2) == expected


def test_the_byte_path_of_taddreluconv_clamps_and_stores_unsigned():
    t = tile("i16", "1x128")
    (function,) = lower(spread(bind("taddreluconv", tile("i8", "1x128"), t, t)), A5).uops
    maxs, mins, cvt, store = function.nodes[0].body[0].body[3:]
    assert (maxs.scalar, mins.scalar) == (0, 127)
    assert (cvt.form, cvt.to.name, store.dtype.name) == ("s16_to_u8", "u8", "i8")


def test_tadddeqrelu_multiplies_three_times():
    source, dst = tile("i32", "3x96"), tile("f16", "3x96")
    instr = spread(bind("tadddeqrelu", dst, source, source, 0.1, tmp=source))
    lowered = lower(instr, A5)
    body = lowered.uops[0].nodes[0].body[0].body
    assert text(lowered.uops[0].nodes) == (
        "3*(2*(VLDS VLDS VADD VCVT[rint] VMULS VMULS VMULS VMAXS VCVT[rint] VSTS.pk))"
    )
    assert [uop.scalar for uop in body if uop.op == "VMULS"] == [2.0**-17, 0.1, 2.0**17]
    assert [uop.form for uop in body] == [
        *["int32"] * 3, "s32_to_f32", *["fp32"] * 4, "f32_to_f16", "fp16"
    ]  # fmt: skip
    # the scratch is neither read nor written, the sources stay
    assert region_bytes(lowered.writes) == region_bytes([instr.dst[0].valid_region()])
    assert lowered.destroyed == ()


def test_tprelu_ignores_its_scratch():
    t = tile("f16", "2x128")
    lowered = lower(spread(bind("tprelu", t, t, t, tmp=tile("f32", "1x8"))), A5)
    assert text(lowered.uops[0].nodes) == "2+*(VLDS VLDS VPRELU VSTS)"
    assert len(lowered.writes) == 1


CONVERSIONS = [
    # source, destination, flat body, elements, nested default body, elements
    ("f32", "f16", "VLDS VCVT[rint sat] VSTS.pk", 64, "rint sat", 128),
    ("f32", "bf16", "VLDS VCVT[rint sat] VSTS.pk", 64, "rint sat", 128),
    ("f32", "i32", "VLDS VCVT[trunc sat] VSTS", 64, "", 64),
    ("i32", "f32", "VLDS VCVT[rint] VSTS", 64, "", 64),
    ("f32", "f32", "VLDS VTRC[rint] VSTS", 64, "", 64),
    ("f16", "f32", "VLDS.unpk VCVT VSTS", 64, "", 64),
    ("bf16", "f32", "VLDS.unpk VCVT VSTS", 64, "", 64),
    ("f16", "i32", "VLDS.unpk VCVT[trunc sat] VSTS", 64, "", 64),
    ("i16", "f32", "VLDS.unpk VCVT VSTS", 64, "", 64),
    ("i16", "f16", "VLDS VCVT[rint sat] VSTS", 128, "", 128),
    ("bf16", "f16", "VLDS VCVT[rint sat] VSTS", 128, "", 128),
    ("f16", "u8", "VLDS VCVT[trunc wrap] VSTS.pk", 128, "trunc wrap", 256),
    ("i16", "u8", "VLDS VCVT[sat] VSTS.pk", 128, "sat", 256),
    ("u8", "f16", "VLDS.unpk VCVT[sat] VSTS", 128, "", 128),
    ("i32", "i16", "VLDS VCVT[wrap] VSTS.pk", 64, "wrap", 128),
]


@pytest.mark.parametrize(("source", "to", "body", "lanes", "halves", "nested"), CONVERSIONS)
def test_tcvt_flat_and_nested(source, to, body, lanes, halves, nested):
    flat = tile(to, "1x512"), tile(source, "1x512")
    assert run("tcvt", *flat) == f"{512 // lanes}*({body})"
    assert run("tcvt", *flat, vf_impl="1D_POST_UPDATE") == f"{512 // lanes}+*({body})"
    rows = tile(to, "2x544", "2x512"), tile(source, "2x544", "2x512")
    merged = f"VLDS.dintlv VCVT[{halves} part_odd] VCVT[{halves} part_even] VOR VSTS"
    inner = merged if halves else body
    assert run("tcvt", *rows) == f"2*({512 // nested}+*({inner}))"
    assert run("tcvt", *rows, vf_impl="1D_POST_UPDATE") == f"2*({512 // nested}+*({inner}))"
    assert run("tcvt", *rows, vf_impl="2D_NO_POST_UPDATE") == f"2*({512 // lanes}*({body}))"


@pytest.mark.parametrize(
    ("source", "to", "lanes", "body"),
    [
        ("f32", "i16", 64, "VLDS VCVT[trunc sat] VCVT[wrap] VSTS.pk"),
        ("f16", "i16", 64, "VLDS.unpk VCVT[trunc sat] VCVT[wrap] VSTS.pk"),
        (
            "f16",
            "i8",
            128,
            "VLDS VCVT[trunc wrap] VDUP VAND VCVT[rint] VCVT[trunc wrap] VSTS.pk",
        ),
    ],
)
def test_tcvt_without_saturation_goes_through_a_wider_integer_in_flat_bodies(
    source, to, lanes, body
):
    flat = tile(to, "1x256"), tile(source, "1x256")
    assert run("tcvt", *flat) == f"{256 // lanes}*({body})"
    assert "VAND" not in run("tcvt", *flat, sat="on")
    rows = tile(to, "2x288", "2x256"), tile(source, "2x288", "2x256")
    assert run("tcvt", *rows, vf_impl="1D_NO_POST_UPDATE") == f"2*({256 // lanes}*({body}))"
    assert "VAND" not in run("tcvt", *rows)


def test_tcvt_half_to_i16_nested_is_one_conversion():
    rows = tile("i16", "2x288", "2x256"), tile("f16", "2x288", "2x256")
    assert run("tcvt", *rows) == "2*(2+*(VLDS VCVT[trunc wrap] VSTS))"


@pytest.mark.parametrize(
    ("dtype", "cols", "expected"),
    [
        ("f32", 64, "2*(1*(VLDS VLDS VCMPS[gt] VCMPS[gt] PDINTLV PSTS.bits))"),
        ("f32", 128, "2*(1*(VLDS VLDS VCMPS[gt] VCMPS[gt] PDINTLV PSTS.bits))"),
        ("f32", 136, "2*(2*(VLDS VLDS VCMPS[gt] VCMPS[gt] PDINTLV PSTS.bits))"),
        ("f16", 256, "2*(2*(VLDS VCMPS[gt] PSTS.bits))"),
        ("i8", 256, "2*(1*(VLDS VCMPS[gt] PSTS.bits))"),
    ],
)
def test_tcmps(dtype, cols, expected):
    assert run("tcmps", tile("u8", "2x96"), tile(dtype, f"2x{cols}"), 1, mode="gt") == expected


TCMP_16 = "VLDS VLDS VCMP[lt] PSTS.bits"
TCMP_32 = "VLDS VLDS VLDS VLDS VCMP[lt] VCMP[lt] PDINTLV PSTS.bits"


@pytest.mark.parametrize(
    ("dtype", "cols", "expected"),
    [
        ("f32", 64, f"2*(1*({TCMP_32}))"),
        ("u32", 136, f"2*(2*({TCMP_32}))"),
        ("bf16", 144, f"2*(2*({TCMP_16}))"),
        ("i8", 256, f"2*(1*({TCMP_16}))"),
    ],
)
def test_tcmp(dtype, cols, expected):
    source = tile(dtype, f"2x{cols}")
    assert run("tcmp", tile("u8", "2x96"), source, source, mode="lt") == expected


PAIR = "PLDS.bits VLDS VLDS VLDS VLDS VSEL VSEL VSTS VSTS"
SINGLE = "PLDS.bits VLDS VLDS VSEL VSTS"
PAIR_32 = PAIR.replace("PLDS.bits", "PLDS.bits PINTLV")
SINGLE_32 = SINGLE.replace("PLDS.bits", "PLDS.bits PUNPACK")


@pytest.mark.parametrize(
    ("dtype", "cols", "expected"),
    [
        ("f32", 64, f"2*(1*({SINGLE_32}))"),
        ("f32", 128, f"2*(1*({PAIR_32}))"),
        ("f32", 320, f"2*(2*({PAIR_32})) MEM_BAR[vst_vld] 2*(1*({SINGLE_32}))"),
        ("f16", 256, f"2*(2*({SINGLE}))"),
        ("i8", 256, f"2*(1*({SINGLE}))"),
    ],
)
def test_tsel(dtype, cols, expected):
    t = tile(dtype, f"2x{cols}")
    assert run("tsel", t, tile("u8", "2x64"), t, t) == expected


SCALAR_PAIR = "PLDS.bits PINTLV VLDS VLDS VSEL VSEL VSTS VSTS"
SCALAR_SINGLE = "PLDS.bits PUNPACK VLDS VSEL VSTS"


@pytest.mark.parametrize(
    ("dtype", "cols", "expected"),
    [
        ("f32", 128, f"VDUP 2*(1*({SCALAR_PAIR}))"),
        (
            "i32",
            320,
            f"VDUP 2*(2*({SCALAR_PAIR})) MEM_BAR[vst_vld] 2*(1*({SCALAR_SINGLE}))",
        ),
        ("f16", 256, "VDUP 2*(2*(PLDS.bits VLDS VSEL VSTS))"),
    ],
)
def test_tsels_duplicates_its_scalar_once(dtype, cols, expected):
    t = tile(dtype, f"2x{cols}")
    assert run("tsels", t, tile("u8", "2x64"), t, 3) == expected


GATHER = "VCI[inc 256] VMULS "
BYTES = "VLDS VCVT[{}] VSELR[every_fourth] MEM_BAR[vst_vst] VSTS"


@pytest.mark.parametrize(
    ("source", "to", "ahead", "lanes", "body"),
    [
        ("f32", "f8e4m3", GATHER, 64, BYTES.format("rint part_even")),
        ("f32", "hif8", GATHER, 64, BYTES.format("round part_even")),
        ("u32", "u8", GATHER, 64, BYTES.format("sat part_even")),
        (
            "hif8",
            "f32",
            "VDUP ",
            128,
            "VLDS.unpk VINTLV VCVT[from_even] VCVT[from_even] VSTS VSTS",
        ),
        ("i32", "i64", "", 32, "VLDS.unpk VCVT[sat] VSTS"),
        ("i64", "f32", "", 32, "VLDS VCVT[rint] VSTS.pk"),
    ],
)
def test_tcvt_of_bytes_and_of_64_bits(source, to, ahead, lanes, body):
    flat = run("tcvt", tile(to, "1x512"), tile(source, "1x512"), rmode="rint")
    assert flat == f"{ahead}{512 // lanes}*({body})"
    nested = run("tcvt", tile(to, "2x544", "2x512"), tile(source, "2x544", "2x512"), rmode="rint")
    assert nested == f"{ahead}2*({512 // lanes}+*({body}))"


@st.composite
def tiles(draw, dtypes):
    """Tiles of one valid shape; pitches that agree or not."""
    rows = draw(st.integers(1, 4))
    valid_rows = draw(st.one_of(st.just(rows), st.integers(1, rows)))
    valid_cols = draw(st.integers(1, 400))
    dynamic = draw(st.sampled_from(["", "cols", "both"]))
    per_block = 32
    fitting = -(-valid_cols // per_block) * per_block
    common = fitting + per_block * draw(st.sampled_from([0, 0, 1]))
    full = draw(st.booleans())
    found = []
    for k, name in enumerate(dtypes):
        cols = common if draw(st.booleans()) else fitting + per_block * draw(st.integers(0, 2))
        if full:
            cols = valid_cols = fitting
        shape, valid = f"{rows}x{cols}", f"{valid_rows}x{valid_cols}"
        found.append(tile(name, shape, valid, addr=k * GAP, dynamic=dynamic))
    return found


def expected_stores(dst, *srcs):
    def at(t, row, col):
        return t.addr + row * t.row_bytes + col * t.dtype.itemsize

    places = product(range(dst.valid_rows), range(dst.valid_cols))
    return {at(dst, r, c): [frozenset(at(s, r, c) for s in srcs)] for r, c in places}


IMPLS = st.sampled_from(
    ["DEFAULT", "1D_NO_POST_UPDATE", "1D_POST_UPDATE", "2D_NO_POST_UPDATE", "2D_POST_UPDATE"]
)


@PROPERTY
@given(data=st.data(), dtype=st.sampled_from(["f32", "f16", "i8"]), impl=IMPLS)
def test_every_lane_of_two_inputs_once(data, dtype, impl):
    dst, src0, src1 = data.draw(tiles([dtype] * 3))
    lowered = lower(bind("tadd", dst, src0, src1, vf_impl=impl), A5)
    assert vreg_stores(lowered.uops[0]) == expected_stores(dst, src0, src1)


@PROPERTY
@given(data=st.data(), op=st.sampled_from(["texp", "tmov", "tmuls"]), impl=IMPLS)
def test_every_lane_of_one_input_once(data, op, impl):
    dst, src = data.draw(tiles(["f16"] * 2))
    extra = [2] if op == "tmuls" else []
    lowered = lower(bind(op, dst, src, *extra, vf_impl=impl), A5)
    assert vreg_stores(lowered.uops[0]) == expected_stores(dst, src)


@PROPERTY
@given(data=st.data(), pair=st.sampled_from(CONVERSIONS), impl=IMPLS, sat=st.booleans())
def test_every_converted_lane_once(data, pair, impl, sat):
    dst, src = data.draw(tiles([pair[1], pair[0]]))
    lowered = lower(bind("tcvt", dst, src, vf_impl=impl, sat="on" if sat else "off"), A5)
    assert vreg_stores(lowered.uops[0]) == expected_stores(dst, src)


@PROPERTY
@given(data=st.data(), pair=st.sampled_from(["f32 f16", "f16 i8", "i16 i8"]))
def test_every_fused_lane_once(data, pair):
    source, to = pair.split()
    dst, src0, src1 = data.draw(tiles([to, source, source]))
    lowered = lower(bind("taddreluconv", dst, src0, src1), A5)
    assert vreg_stores(lowered.uops[0]) == expected_stores(dst, src0, src1)


@PROPERTY
@given(data=st.data(), dtype=st.sampled_from(["f32", "f16", "u8"]))
def test_every_selected_lane_once_with_its_mask_bit(data, dtype):
    dst, src0, src1 = data.draw(tiles([dtype] * 3))
    mask = tile("u8", f"{dst.rows}x64", f"{dst.valid_rows}x64", addr=5 * GAP)
    lowered = lower(bind("tsel", dst, mask, src0, src1), A5)
    assert vreg_stores(lowered.uops[0]) == expected_stores(dst, src0, src1)
    bits = {
        (address, lane): predicate_bit
        for address, lane, predicate_bit in _selected_bits(lowered.uops[0].nodes, ())
    }
    for row, col in product(range(dst.valid_rows), range(dst.valid_cols)):
        place = dst.addr + row * dst.row_bytes + col * dst.dtype.itemsize
        found = {bit for (address, _), bit in bits.items() if address == place}
        assert found == {(mask.addr + row * 64 + col // 8, col % 8)}


def _selected_bits(nodes, at):
    """(address stored to, lane, mask bit that decides it) of every VSEL lane that is on."""
    images = {}
    for node in nodes:
        if isinstance(node, VregLoop):
            for index in range(node.iters):
                yield from _selected_bits(node.body, (*at, index))
        elif node.op == "PLDS":
            start = node.mem.addr + sum(s * i for s, i in zip(node.mem.steps, at, strict=True))
            share = node.mem.lanes // len(node.dst)
            for k, name in enumerate(node.dst):
                images[name] = [divmod(8 * start + k * share + lane, 8) for lane in range(share)]
        elif node.op in ("PINTLV", "PUNPACK"):
            images.update(zip(node.dst, [images[name] for name in node.src], strict=True))
        elif node.op == "VSEL":
            images[node.dst[0]] = images[node.src[0]]
        elif node.op == "VSTS":
            start = node.mem.addr + sum(s * i for s, i in zip(node.mem.steps, at, strict=True))
            for lane, bit in enumerate(images[node.src[0]]):
                if is_on(node.pred, lane, at):
                    yield start + lane * node.mem.dtype.itemsize, lane, bit


@PROPERTY
@given(data=st.data(), dtype=st.sampled_from(["f32", "f16", "u8"]))
def test_every_compared_bit_once(data, dtype):
    (src,) = data.draw(tiles([dtype]))
    dst = tile("u8", f"{src.rows}x64", f"{src.valid_rows}x64", addr=5 * GAP)
    lowered = lower(bind("tcmps", dst, src, 1, mode="lt"), A5)
    stored: dict[tuple[int, int], object] = {}
    for key, value in _compared_bits(lowered.uops[0].nodes, ()):
        assert key not in stored
        stored[key] = value
    for row, col in product(range(src.valid_rows), range(src.valid_cols)):
        place = src.addr + row * src.row_bytes + col * src.dtype.itemsize
        assert stored.pop((dst.addr + row * 64 + col // 8, col % 8)) == place
    assert set(stored.values()) <= {None}, "lanes behind the valid columns store 0"
    written = {address for address, _ in _bits_of(lowered, ())}
    assert written == region_bytes(lowered.writes)


def _bits_of(lowered, at):
    return [key for key, _ in _compared_bits(lowered.uops[0].nodes, at)]


def _compared_bits(nodes, at):
    """((byte, bit) stored to, element compared or None) of every stored mask bit."""
    lanes: dict[str, list[int | None]] = {}
    for node in nodes:
        if isinstance(node, VregLoop):
            for index in range(node.iters):
                yield from _compared_bits(node.body, (*at, index))
            continue
        assert isinstance(node, VregUop)
        if node.mem is not None:
            start = node.mem.addr + sum(s * i for s, i in zip(node.mem.steps, at, strict=True))
        if node.op == "VLDS":
            size = node.mem.dtype.itemsize
            lanes[node.dst[0]] = [start + lane * size for lane in range(node.mem.lanes)]
        elif node.op == "VCMPS":
            lanes[node.dst[0]] = [
                place if is_on(node.pred, lane, at) else None
                for lane, place in enumerate(lanes[node.src[0]])
            ]
        elif node.op == "PDINTLV":
            lanes |= {to: lanes[name] for to, name in zip(node.dst, node.src, strict=True)}
        else:
            image = [lane for name in node.src for lane in lanes[name]]
            assert len(image) == node.mem.lanes
            for k, place in enumerate(image):
                yield divmod(8 * start + k, 8), place
