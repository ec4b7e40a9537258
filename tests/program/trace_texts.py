"""Traces built from a small right one."""

import textwrap
from collections.abc import Callable

from archsim.program.ir import Program

HEAD = """\
pto: 1
arch: a2a3
scalars: {N: 8, alpha: 0.5}
tensors:
  x: {dtype: f32, shape: [64, 64]}
  y: {dtype: f32, shape: [64, 64]}
  line: {dtype: f32, shape: [256]}
tiles:
  ta: {loc: vec, dtype: f32, shape: [16, 64], addr: 0}
  tb: {loc: vec, dtype: f32, shape: [16, 64], addr: 0x1000}
  tm: {loc: vec, dtype: u8, shape: [16, 32], addr: 0x2000}
  ring: {loc: vec, dtype: f32, shape: [16, 64], addr: 0x3000, ring: 2}
events:
  ready: {from: tload, to: vec}
  free: {from: vec, to: tload, ring: 2}
"""

Load = Callable[..., Program]
Told = Callable[..., list[str]]


def with_program(statements: str, head: str = HEAD) -> str:
    """A whole trace: declarations, then the statements, indented as they must be."""
    return head + "program:\n" + textwrap.indent(textwrap.dedent(statements).strip(), "  ") + "\n"
