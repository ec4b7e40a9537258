"""Which form of an instruction a line means."""

from typing import Any

import pytest
from trace_texts import Load

TEXT = """\
pto: 1
arch: a2a3
tiles:
  x: {{loc: vec, dtype: f32, shape: [16, 64], addr: 0x0000}}
  q: {{loc: vec, dtype: {dtype}, shape: [16, 64], addr: 0x2000}}
  s: {{loc: vec, dtype: f32, shape: [16, 1], blayout: col_major, addr: 0x3000}}
  t: {{loc: vec, dtype: f32, shape: [16, 64], addr: 0x4000}}
program:
  - tquant q <- {operands}
"""


@pytest.mark.parametrize(
    ("dtype", "operands", "form"),
    [
        ("i8", "x, s", "symmetric"),
        ("i8", "x, s, t", "symmetric"),
        ("u8", "x, s, s", "asymmetric"),
        ("u8", "x, s, s, t", "asymmetric"),
        ("i8", "x, s, s, t", "asymmetric"),  # only that form has so many operands
        ("u8", "x, s", "symmetric"),
    ],
)
def test_operands_and_then_the_destination_tell_the_form(
    load: Load, dtype: str, operands: str, form: str
) -> None:
    program = load(TEXT.format(dtype=dtype, operands=operands))
    statement: Any = program.body[0]
    assert statement.op.form == form


MX = """\
pto: 1
arch: a5
tiles:
  x: {loc: vec, dtype: f32, shape: [16, 64], addr: 0x0000}
  q: {loc: vec, dtype: f8e4m3, shape: [16, 64], addr: 0x2000}
  e: {loc: vec, dtype: u8, shape: [16, 32], valid: [16, 2], addr: 0x3000}
  t: {loc: vec, dtype: f32, shape: [16, 8], addr: 0x4000}
program:
  - tquant q, e <- %s
"""


@pytest.mark.parametrize("operands", ["x, mode=mx", "x, t, mode=mx"])
def test_a_mode_tells_the_form(load: Load, operands: str) -> None:
    statement: Any = load(MX % operands).body[0]
    assert (statement.op.form, dict(statement.attrs)) == ("mx", {"mode": "mx"})
