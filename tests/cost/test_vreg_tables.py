"""Rows and pair tables of A5 as the cost model reads them."""

import pytest

from archsim.arch import VregArch, load
from archsim.cost.vreg.tables import Costs, form_name, unknown_names


def a5(*sets):
    arch = load("a5", sets)
    assert isinstance(arch, VregArch)
    return arch


def costs(*sets):
    arch = a5(*sets)
    return Costs(arch.vector, arch.uops)


def test_every_name_in_the_pair_tables_has_a_row():
    arch = a5()
    assert unknown_names(arch.vector, arch.uops) == []
    fewer = {name: row for name, row in arch.uops.items() if name != "VCGMIN"}
    assert unknown_names(arch.vector, fewer) == [
        "vector.forwarding names VCGMIN, which has no row in `uops`"
    ]


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("fp16", "f16"),
        ("half", "f16"),
        ("int32", "i32"),
        ("f32_to_s32", "f32_to_i32"),
        ("bf16", "bf16"),
        ("f32_to_x9", "f32_to_x9"),
        ("", ""),
    ],
)
def test_forms_have_one_spelling(form, name):
    assert form_name(form) == name


# producer, reader, cycles: one row for each rule of the published table
FORWARDING = [
    (("VLDS", "fp32"), "VADD", 6),
    (("VLDS", "fp32"), "VDUP", 2),
    (("VDUP", "fp32"), "VADD", 8),
    (("VDUP", "fp32"), "VSTS", 4),
    (("VCMP_EQ", "fp32"), "VADD", 4),
    (("VCMP_EQ", "fp32"), "VSEL", 2),
    (("VADD", "fp32"), "VSTS", 5),
    (("VADD", "fp32"), "VSEL", 5),
    (("VADD", "fp32"), "VMUL", 3),
    (("VADD", "fp32"), "VEXP", 4),
    (("VEXP", "fp32"), "VADD", 13),
    (("VEXP", "fp16"), "VADD", 18),
    (("VEXP", "fp32"), "VSEL", 15),
    (("VEXP", "fp16"), "VMULS", 13),
    (("VEXP", "fp32"), "VMULS", 13),
    (("VMUL", "fp32"), "VSTS", 6),
]


@pytest.mark.parametrize(("first", "then", "cycles"), FORWARDING)
def test_forwarding(first, then, cycles):
    assert costs().forward(first, (then, "fp32")) == cycles


INTERVAL = [
    (("VADD", "fp32"), "VADD", 1),
    (("VADD", "fp32"), "VMAXS", 2),
    (("VADDS", "fp32"), "VCMP_EQ", 2),
    (("VSUB", "fp32"), "VCMP_EQ", 3),
    (("VMUL", "fp32"), "VADD", 2),
    (("VMUL", "int32"), "VADD", 1),
    (("VMUL", "fp32"), "VSHLS", 3),
    (("VMULS", "fp32"), "VSHLS", 1),
    (("VEXP", "fp32"), "VEXP", 4),
    (("VEXP", "fp16"), "VEXP", 8),
    (("VEXP", "fp16"), "VDIV", 10),
    (("VDIV", "fp16"), "VCMAX", 1),
    (("VDIV", "fp32"), "VCMAX", 2),
    (("VCMAX", "fp32"), "VADD", 4),
    (("VCMAX", "fp16"), "VADD", 3),
    (("VSEL", "fp32"), "VSEL", 1),
    (("VSEL", "fp32"), "VADD", 2),
]


@pytest.mark.parametrize(("first", "then", "cycles"), INTERVAL)
def test_initiation_interval(first, then, cycles):
    assert costs().interval(first, (then, "fp32")) == cycles


def test_a_latency_moves_what_is_derived_from_it():
    longer = costs(("uops.VADD.latency_cycles", "10"))
    assert longer.forward(("VADD", "fp32"), ("VSTS", "fp32")) == 8
    assert longer.forward(("VADD", "fp16"), ("VMUL", "fp16")) == 6


def test_an_override_of_a_latency_counts_for_every_form():
    longer = costs(("uops.VEXP.latency_cycles", "30"))
    assert [longer.latency(("VEXP", form)) for form in ("fp32", "fp16")] == [30, 30]


def test_a_store_may_depend_on_what_it_stores():
    table = costs()
    assert table.store(("VSTS", "fp16"), ("VABS", "fp16")) == 10
    assert table.store(("VSTS", "fp32"), ("VABS", "fp32")) == 9
