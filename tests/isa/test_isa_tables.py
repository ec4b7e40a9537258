"""The instruction tables: rounding and saturation of conversions, padding, the reference."""

import json

import numpy as np
import pytest

from archsim.base.dtypes import DTYPES
from archsim.isa.conversions import CONVERSIONS, MODES, keeps_low_bits
from archsim.isa.padding import PADS, pad_element
from archsim.isa.reference import all_references, operands_text
from archsim.isa.tile_ops import CONSTRAINTS, TILE_OPS

FIVE = ["rint", "round", "floor", "ceil", "trunc"]


@pytest.mark.parametrize(
    ("isa", "pair", "rmode", "expected"),
    [
        ("a2a3", "f32 f16", "none", "rint"),
        ("a2a3", "f32 f16", "odd", "odd"),
        ("a2a3", "f32 i32", "none", "trunc"),
        ("a2a3", "f32 i32", "odd", "trunc"),
        ("a2a3", "i32 f32", "none", ""),  # the core's own rounding
        ("a2a3", "i32 f32", "floor", "floor"),
        ("a2a3", "f16 f32", "floor", ""),  # exact
        ("a2a3", "f32 bf16", "none", "rint"),
        ("a5", "i32 f32", "none", "rint"),
        ("a5", "i16 f16", "none", "rint"),
        ("a5", "bf16 f16", "ceil", "ceil"),
        ("a5", "f16 u8", "none", "trunc"),
        ("a5", "i16 u8", "ceil", ""),
    ],
)
def test_rounding_that_runs(isa, pair, rmode, expected):
    letter = CONVERSIONS[isa][tuple(pair.split())].rounding(rmode)
    assert MODES.get(letter, "") == expected


@pytest.mark.parametrize("isa", CONVERSIONS)
def test_float_to_integer_rounds_in_five_modes(isa):
    for (source, to), row in CONVERSIONS[isa].items():
        if DTYPES[source].is_float and DTYPES[to].is_integer:
            assert [MODES[row.rounding(mode)] for mode in FIVE] == FIVE


# Pairs that keep low bits where nothing is said; every other clamps.
WRAPPING = {
    ("f16", "u8"),
    ("f16", "i8"),
    ("f32", "i16"),
    ("f16", "i16"),
    ("i32", "i16"),
    ("i64", "i32"),
}


@pytest.mark.parametrize("isa", CONVERSIONS)
def test_saturation_where_nothing_is_said(isa):
    found = {p for p in CONVERSIONS[isa] if keeps_low_bits(isa, p, None, has_scratch=False)}
    assert found == WRAPPING


@pytest.mark.parametrize(
    ("isa", "pair", "sat", "scratch", "wraps"),
    [
        ("a2a3", ("f16", "i8"), "on", False, False),
        ("a2a3", ("f16", "i8"), "off", False, True),
        ("a2a3", ("f32", "i32"), "off", False, False),  # not heard
        ("a2a3", ("f32", "i32"), "off", True, True),
        ("a2a3", ("f32", "i32"), None, True, False),
        ("a5", ("f32", "i32"), "off", False, True),
        ("a5", ("f32", "i32"), "on", False, False),
    ],
)
def test_saturation_that_is_asked_for(isa, pair, sat, scratch, wraps):
    assert keeps_low_bits(isa, pair, sat, scratch) is wraps


@pytest.mark.parametrize("name", ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"])
def test_integers_are_padded_with_their_limits(name):
    dtype = DTYPES[name].np
    limits = np.iinfo(dtype)
    found = {pad: pad_element(pad, DTYPES[name]) for pad in PADS}
    assert found == {
        "null": b"",
        "zero": bytes(dtype.itemsize),
        "max": np.array(limits.max, dtype).tobytes(),
        "min": np.array(limits.min, dtype).tobytes(),
    }


@pytest.mark.parametrize("name", ["f32", "f16", "bf16"])
def test_floats_are_padded_with_infinities(name):
    dtype = DTYPES[name].np
    for pad, value in (("max", np.inf), ("min", -np.inf)):
        element = np.frombuffer(pad_element(pad, DTYPES[name]), dtype)
        assert element.astype(np.float64).tolist() == [value]


def test_operands_as_a_program_writes_them():
    assert operands_text(TILE_OPS["tprelu"]).startswith("tprelu dst <- src0, src1[, tmp][, vf_impl")
    assert operands_text(TILE_OPS["tload"]) == "tload dst <- src"
    assert operands_text(TILE_OPS["tadddeqrelu"]).startswith(
        "tadddeqrelu dst <- src0, src1, scale[, tmp]"
    )


def test_the_reference_has_a_row_for_every_instruction():
    rows = {row["op"]: row for row in all_references()}
    assert list(rows) == [op.name for op in TILE_OPS.values()]
    json.dumps(list(rows.values()))
    fused = rows["TADDRELUCONV"]
    assert fused["pipe"] == "V"
    assert fused["support"]["a2a3"]["dtypes"] == ["f32 -> f16", "f16 -> i8", "i16 -> i8"]
    assert rows["TEXP"]["support"]["a5"]["dtypes"] == ["f16", "f32"]
    needs = "tmp has more valid rows than dst"
    assert needs in rows["TPRELU"]["support"]["a2a3"]["constraints"]
    assert needs not in rows["TPRELU"]["support"]["a5"]["constraints"]


@pytest.mark.parametrize("op", TILE_OPS.values(), ids=list(TILE_OPS))
def test_rows_name_types_operands_and_families_that_exist(op):
    names = {arg.name for arg in (*op.outs, *op.ins)}
    for isa, pairs in op.dtypes.items():
        assert {name for pair in pairs for name in pair} <= set(DTYPES)
        assert len(set(pairs)) == len(pairs)
        for constraint in CONSTRAINTS[isa][op.family]:
            operands = {n for n in constraint.operands if n not in DTYPES}
            assert operands <= names, constraint
