"""Bytes, time and share of peak of each data path, on a program that one can work out by hand."""

from pathlib import Path

import pytest

from archsim.api import simulate

PROGRAM = """\
pto: 1
arch: a2a3
sync: auto
tensors: {a: {dtype: f32, shape: [48, 64]}, c: {dtype: f32, shape: [48, 64]}}
tiles: {ta: {loc: vec, dtype: f32, shape: [16, 64], valid: [10, 64]}}
program:
  - for: {var: i, range: 3}
    do:
      - tload ta <- a[16*i, 0]
      - tstore c[16*i, 0] <- ta
"""


@pytest.fixture
def run(tmp_path: Path):
    (tmp_path / "p.yaml").write_text(PROGRAM)
    return simulate(str(tmp_path / "p.yaml"))


def test_payload_and_time_by_path(run):
    load, store = run.paths
    assert [use.path for use in run.paths] == ["gm_to_ub", "ub_to_gm"]
    assert (load.transfers, load.bytes) == (store.transfers, store.bytes) == (3, 3 * 10 * 64 * 4)
    loads = [r for r in run.log.records if r.op == "TLOAD"]
    cycles = sum(run.log.cycles(r.end) - run.log.cycles(r.start) for r in loads)
    assert load.busy == cycles
    assert load.bytes_per_cycle == pytest.approx(load.bytes / cycles)


def test_the_peak_is_what_long_transfers_reach(run):
    load, store = run.paths
    assert (load.peak_bytes_per_cycle, store.peak_bytes_per_cycle) == (45.4, 64.0)
    assert load.share == pytest.approx(load.bytes_per_cycle / 45.4)
    assert load.gigabytes_per_second == round(load.bytes_per_cycle * 1.85, 2)


def test_a_program_without_moves_has_no_traffic(tmp_path: Path):
    text = PROGRAM[: PROGRAM.index("  - for")] + "  - texpands ta <- 1.0\n"
    (tmp_path / "q.yaml").write_text(text)
    assert simulate(str(tmp_path / "q.yaml")).paths == ()
