"""What a program's declarations alone tell on a core."""

import pytest
from instrs import A2A3, A5, ARCHS

from archsim.check.program import check_program_static
from archsim.program.trace import load_program

TEXT = """\
pto: 1
arch: a2a3
tensors:
  x: {{dtype: {tensor}, shape: [64, 64]}}
tiles:
  ta: {{loc: vec, dtype: {dtype}, shape: [{rows}, 64], addr: {addr}, ring: {ring}}}
events:
  one: {{from: tload, to: vec, ring: {flags}}}
  two: {{from: tload, to: vec}}
  back: {{from: vec, to: tload, ring: 8}}
program:
  - set_flag: [MTE2, V, {flag}]
"""
RIGHT = {
    "tensor": "f32", "dtype": "f32", "rows": 16, "addr": 0, "ring": 2, "flags": 7, "flag": 7
}  # fmt: skip


@pytest.fixture
def found(tmp_path):
    """Check the program with some of its values replaced; gives the diagnostics."""

    def check(arch, extra="", **values):
        path = tmp_path / "p.yaml"
        path.write_text(extra + TEXT.format(**{**RIGHT, **values}))
        return check_program_static(load_program(str(path), display_name="p.yaml"), arch)

    return check


@pytest.mark.parametrize("isa", ARCHS)
def test_a_right_program_has_no_fault(found, isa):
    assert found(ARCHS[isa]) == []


def test_a_core_that_the_program_is_not_meant_for(found):
    (fault,) = found(A5, "archs: [a2a3]\n")
    assert fault.message == "p.yaml is meant for a2a3; a5 is not among them"
    assert fault.fix == "run it with --arch a2a3"
    assert found(A2A3, "archs: [a2a3]\n") == []


def test_a_tile_larger_than_its_memory(found):
    assert found(A2A3, rows=256, ring=2) == []
    (fault,) = found(A2A3, rows=768 + 16, ring=1)
    assert fault.message == "tile ta takes 0x31000 bytes; UB has 0x30000 on a2a3"
    assert (fault.kind, fault.severity, fault.span.where) == ("bounds", "error", "p.yaml:6")
    assert found(A5, rows=768 + 16, ring=1) == []


def test_all_copies_of_a_ring_lie_in_its_memory(found):
    (fault,) = found(A2A3, rows=512, ring=2)
    assert fault.message == "tile ta takes 2 times 0x20000 bytes; UB has 0x30000 on a2a3"
    # Three copies fit from 0x20000 on, the last of them in the reserved top.
    (fault,) = found(A2A3, addr=0x2C000, ring=3, rows=16)
    assert fault.message == (
        "tile ta lies at 0x2e000 to 0x2f000; UB from 0x2e000 on is reserved on a2a3"
    )
    assert (fault.kind, fault.severity) == ("reserved_memory", "warning")
    faults = found(A2A3, addr=0x2F000, ring=2, rows=16)
    assert [fault.message for fault in faults] == [
        "tile ta lies at 0x2f000 to 0x30000; UB from 0x2e000 on is reserved on a2a3",
        "tile ta lies at 0x30000 to 0x31000; it must end within the 0x30000 bytes of UB on a2a3",
    ]


def test_an_address_that_is_not_aligned(found):
    (first, second) = found(A2A3, addr=0x1010, ring=2)
    assert first.message == "tile ta is at 0x1010; it must be at a multiple of 32 bytes"
    assert first.fix == "use 0x1020"
    assert second.message == "tile ta is at 0x2010; it must be at a multiple of 32 bytes"


def test_more_flags_than_a_pair_of_pipes_has(found):
    (fault,) = found(A2A3, flags=8)
    assert fault.message == (
        "event two makes 9 flags from MTE2 to V; a2a3 has 8 for each pair of pipes"
    )
    assert (fault.kind, fault.severity, fault.span.where) == ("ids_exhausted", "error", "p.yaml:9")


def test_a_flag_id_that_the_core_does_not_have(found):
    (fault,) = found(A2A3, flag=8)
    assert fault.message == "flag id is 8; a2a3 has ids 0 to 7"


def test_element_types_of_the_newer_core(found):
    faults = found(A2A3, tensor="f8e4m3", dtype="hif8")
    assert [fault.message for fault in faults] == [
        "tensor x is f8e4m3; a2a3 has no such type, a5 has",
        "tile ta is hif8; a2a3 has no such type, a5 has",
    ]
    assert found(A5, tensor="f8e4m3", dtype="hif8") == []
