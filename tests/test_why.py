"""`archsim timeline` and `archsim explain`: when and why, on programs small enough to work out."""

from itertools import pairwise

import pytest
from cli_runs import archsim

HEAD = """\
pto: 1
arch: a2a3
sync: explicit
tensors: {a: {dtype: f32, shape: [16, 64]}, c: {dtype: f32, shape: [16, 64]}}
tiles:
  ta: {loc: vec, dtype: f32, shape: [16, 64], addr: 0}
  tb: {loc: vec, dtype: f32, shape: [16, 64], addr: 4096}
program:
"""
CHAIN = (
    "  - tload ta <- a\n  - set_flag: [MTE2, V, 0]\n  - wait_flag: [MTE2, V, 0]\n"
    "  - tadds tb <- ta, 1.0\n  - barrier: V\n  - tmuls tb <- tb, 2.0\n"
)


@pytest.fixture
def chain(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chain.yaml").write_text(HEAD + CHAIN)
    return "chain.yaml"


def test_the_timeline_has_a_glyph_for_each_cause(chain):
    lines = archsim("timeline", chain, "--width", "120").out.splitlines()
    load, add, mul = lines[1:4]
    assert load.startswith("[0] TLOAD  MTE2  *|#")
    assert add.startswith("[1] TADDS  V     *| eeee")
    assert add.endswith("| flag <- [0]")
    assert "#" in add
    assert "b" in mul
    assert "e" in mul
    assert mul.endswith("| barrier")
    assert lines[-1] == (
        "A character is 4 cycles: # executing, b its pipe runs earlier work, e waits for a flag, "
        "r waits for a barrier, f held by the front end; * on the critical path."
    )


def test_every_row_is_as_wide_as_the_scale(chain):
    lines = archsim("timeline", chain, "--width", "80").out.splitlines()
    ends = {line.rindex("|") for line in lines[:-1]}
    assert len(ends) == 1
    assert all(len(line) <= 100 for line in lines[:-1])


def test_a_window_and_a_pipe_narrow_the_timeline(chain):
    lines = archsim("timeline", chain, "--window", "0:100", "--pipe", "mte2").out.splitlines()
    assert len(lines) == 3
    row = lines[1].partition("|")[2].partition("|")[0]
    assert row.strip("# ") == ""
    assert lines[2].startswith("A character is 1 cycle: ")


def test_rows_beyond_the_limit_are_counted(chain):
    lines = archsim("timeline", chain, "--rows", "1").out.splitlines()
    assert lines[2] == "2 more instructions; --window FROM:TO or --rows shows them"


@pytest.mark.parametrize("window", ["5", "a:b", "9:3", "-1:4"])
def test_a_window_that_is_none(chain, window):
    answer = archsim("timeline", chain, "--window", window)
    message = (
        f'--window is "{window}", must be FROM:TO in cycles, such as 100:200 or 100:\n1 error\n'
    )
    assert (answer.code, answer.err) == (2, message)


def test_a_pipe_that_is_none(chain):
    answer = archsim("timeline", chain, "--pipe", "Q")
    assert (answer.code, answer.err) == (2, "--pipe is 'Q', must be a pipe such as V\n1 error\n")


def test_the_chain_of_reasons_reaches_back_to_the_start_without_gaps(chain):
    steps = archsim("explain", chain, "2", "--json").json["steps"]
    assert [(step["kind"], step["id"]) for step in steps if step["kind"] == "run"] == [
        ("run", 2),
        ("run", 1),
        ("run", 0),
    ]
    assert steps[-1]["from"] == 0
    for later, earlier in pairwise(steps):
        assert earlier["to"] == later["from"]
    assert steps[0]["where"] == "chain.yaml:14"


def test_the_chain_in_words(chain):
    lines = archsim("explain", chain, "1").out.splitlines()
    assert lines[0].startswith("[1] TADDS on V, chain.yaml:12 ran ")
    assert lines[1].endswith(": [0] TLOAD on MTE2, chain.yaml:9 ran.")
    assert lines[-2].strip().startswith("0..1 (1 cycle): the scalar unit issued up to it")
    assert lines[-1] == "  0: the program started."


def test_an_id_that_no_instruction_has(chain):
    answer = archsim("explain", chain, "7")
    message = "chain.yaml: no instruction has the id 7; known are 0 to 2\n1 error\n"
    assert (answer.code, answer.err) == (2, message)
