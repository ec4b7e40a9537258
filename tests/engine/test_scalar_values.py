"""TGETVAL: the scalar unit waits for a number, and what follows works with it."""

import pytest

from archsim.api import simulate
from archsim.base.errors import InputError

TEXT = """pto: 1
arch: a2a3
sync: auto
tensors:
  a: {dtype: f32, shape: [8, 8], init: {arange: {start: 1}}}
  c: {dtype: f32, shape: [8, 8]}
tiles:
  t: {loc: vec, dtype: f32, shape: [8, 8]}
  u: {loc: vec, dtype: f32, shape: [8, 8]}
program:
  - tload t <- a
  - tgetval $x <- t, 3
  - tmuls u <- t, $x
  - tsetval u <- 0, $x
  - tstore c <- u
"""


def written(tmp_path, text):
    path = tmp_path / "p.yaml"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("arch", ["a2a3", "a5"])
def test_later_instructions_use_the_number(tmp_path, arch):
    run = simulate(written(tmp_path, TEXT), arch=arch)
    want = run.tensors["a"] * 4
    want[0, 0] = 4
    assert (run.tensors["c"] == want).all()
    assert not run.findings


def test_a_number_of_the_run_is_no_window_offset(tmp_path):
    text = TEXT.replace("tstore c <-", "tstore c[x, 0] <-")
    with pytest.raises(InputError, match="x is read by tgetval, so only the run knows it"):
        simulate(written(tmp_path, text), arch="a2a3")


def test_without_values_it_is_zero_and_a_note_says_so(tmp_path):
    run = simulate(written(tmp_path, TEXT), arch="a2a3", numerics=False)
    assert [f.message for f in run.findings] == [
        "tgetval reads no number with --no-numerics; it is taken to be 0"
    ]
