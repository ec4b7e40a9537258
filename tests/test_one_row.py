"""An elementwise instruction takes one row: made-up ones run from the text of a program to numbers.

The rows are registered in copies of the tables, inside this test.
"""

import json
import sys
from types import MappingProxyType

import numpy as np
import pytest
from typer.testing import CliRunner

from archsim.api import instruction_cycles, simulate
from archsim.cli import app
from archsim.isa import tile_ops
from archsim.isa.families import elementwise
from archsim.isa.pipes import Pipe
from archsim.isa.tile_op import BINARY, DST, SCALAR, UNARY, TileOp, both, same

TYPES = both(same("f32 f16"))
# Micro-ops that the cores have and no instruction uses by itself in this way.
ROWS = {
    "tmeet": TileOp(
        "TMEET", "binary", Pipe.V, DST, BINARY, TYPES, {"a2a3": "vmin", "a5": "VMIN"},
        "dst = min(src0, src1)",
    ),
    "tcap": TileOp(
        "TCAP", "scalar", Pipe.V, DST, SCALAR, TYPES, {"a2a3": "vmins", "a5": "VMINS"},
        "dst = min(src, scalar)",
    ),
    "tramp": TileOp(
        "TRAMP", "unary", Pipe.V, DST, UNARY, TYPES, {"a2a3": "vrelu", "a5": "VRELU"},
        "dst = max(src, 0)",
    ),
    "tfold": TileOp(
        "TFOLD", "accumulate", Pipe.V, DST, BINARY, TYPES, {"a2a3": "vmla", "a5": "VMULA"},
        "dst = dst + src0 * src1",
    ),
    "tspread": TileOp(
        "TSPREAD", "binary", Pipe.V, DST, BINARY, {"a5": same("f32 f16")}, {"a5": "VSUB VABS"},
        "dst = |src0 - src1|",
    ),
}  # fmt: skip
OPERANDS = {
    "tmeet": "ta, tb", "tcap": "ta, 0.25", "tramp": "ta", "tfold": "ta, tb", "tspread": "ta, tb"
}  # fmt: skip
MEANINGS = {
    "tmeet": np.minimum,
    "tcap": lambda a, b: np.minimum(a, np.float32(0.25)),
    "tramp": lambda a, b: np.maximum(a, 0),
    "tfold": lambda a, b: a * b,
    "tspread": lambda a, b: np.abs(a - b),
}
CORES = ["a2a3", "a5"]
CASES = [(op, core) for op, row in ROWS.items() for core in row.dtypes]


@pytest.fixture
def made_up(monkeypatch):
    """The tables with the made-up rows in them, wherever they are known by name."""
    grown = {
        "FORMS": {**tile_ops.FORMS, **{name: (row,) for name, row in ROWS.items()}},
        "TILE_OPS": {**tile_ops.TILE_OPS, **ROWS},
    }
    plain = {table: getattr(tile_ops, table) for table in grown}
    for name, module in list(sys.modules.items()):
        for table, rows in grown.items():
            if name.startswith("archsim") and getattr(module, table, None) is plain[table]:
                monkeypatch.setattr(module, table, MappingProxyType(rows))
    assert tile_ops.TILE_OPS["tmeet"] is ROWS["tmeet"]


def program(tmp_path, op, operands, valid="13, 37", dtype="f32"):
    """Load two tiles, run the instruction on them, store the result."""
    tiles = "\n".join(
        f"  t{x}: {{loc: vec, dtype: {dtype}, shape: [16, 64], valid: [{valid}]}}" for x in "abd"
    )
    path = tmp_path / f"{op}.yaml"
    path.write_text(
        f"""
pto: 1
sync: auto
tensors:
  a: {{dtype: {dtype}, shape: [13, 37], init: {{normal: {{seed: 1}}}}}}
  b: {{dtype: {dtype}, shape: [13, 37], init: {{normal: {{seed: 2}}}}}}
  d: {{dtype: {dtype}, shape: [13, 37]}}
tiles:
{tiles}
program:
  - tload ta <- a
  - tload tb <- b
  - texpands td <- 0
  - {op} td <- {operands}
  - tstore d <- td
"""
    )
    return str(path)


@pytest.mark.parametrize(("op", "core"), CASES)
@pytest.mark.usefixtures("made_up")
def test_one_row_is_checked_lowered_timed_and_computed(tmp_path, op, core):
    run = simulate(program(tmp_path, op, OPERANDS[op]), arch=core)
    assert [f.message for f in run.findings if f.severity != "warning"] == []
    a, b = (np.random.default_rng(seed).normal(size=(13, 37)).astype(np.float32) for seed in (1, 2))
    want = MEANINGS[op](a, b)
    assert run.tensors["d"].tobytes() == want.astype(np.float32).tobytes()
    alone = instruction_cycles(op, "f32", "16x64", None, [], core)
    assert alone.cycles > 0
    names = [uop.name for uop in alone.issued.uops]
    assert set(ROWS[op].uops[core].split()) <= set(names)


@pytest.mark.parametrize("core", CORES)
@pytest.mark.usefixtures("made_up")
def test_one_row_is_refused_what_the_others_are_refused(tmp_path, core):
    bad = program(tmp_path, "tmeet", "ta, tb", dtype="i32")
    result = CliRunner().invoke(app, ["check", bad, "--arch", core, "--json"])
    assert result.exit_code == 2
    (error,) = json.loads(result.stdout)["errors"]
    other = {"a2a3": "a5", "a5": "a2a3"}[core]
    assert error["message"] == (f"tmeet takes f32, f16; i32 is not among them (nor on {other})")


def test_without_its_row_the_instruction_is_unknown(tmp_path):
    result = CliRunner().invoke(app, ["check", program(tmp_path, "tmeet", "ta, tb"), "--json"])
    assert result.exit_code == 2
    assert "tmeet" in result.stdout


SIMPLE = ("binary", "accumulate", "scalar", "unary", "sub_scalar", "negate", "invert", "logic",
          "logic_scalar", "shift", "shift_scalar", "binary_then", "scalar_then")  # fmt: skip


def test_simple_instructions_are_one_row_each():
    rows = [row for row in elementwise.ROWS if row.family in SIMPLE]
    assert len(rows) > 25
    for row in rows:
        assert len(tile_ops.FORMS[row.mnemonic]) == 1
        assert set(row.uops) == {"a2a3", "a5"}, row.name
