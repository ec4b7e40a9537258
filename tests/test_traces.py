"""Every shipped trace on every core: right where it is meant to run, refused politely elsewhere."""

from pathlib import Path

import numpy as np
import pytest
from cli_runs import archsim

from archsim.api import simulate
from archsim.program.trace import load_program

ROOT = Path(__file__).parents[1]
CORES = ("a2a3", "a5")
FOLDERS = (ROOT / "traces", ROOT / "traces/kernels")
TRACES = sorted(
    str(path.relative_to(ROOT / "traces")) for folder in FOLDERS for path in folder.glob("*.yaml")
)
MEANT = {name: load_program(str(ROOT / "traces" / name)).archs or CORES for name in TRACES}
HERE = [(name, core) for name in TRACES for core in CORES if core in MEANT[name]]
ELSEWHERE = [(name, core) for name in TRACES for core in CORES if core not in MEANT[name]]
# fused, and what it replaces; all leave the same tensors
FAMILIES = {
    "taddreluconv": ("auto", "manual", "unfused"),
    "tadddeqrelu": ("auto", "manual", "unfused"),
    "tprelu": ("auto", "manual", "unfused"),
}


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch):
    monkeypatch.chdir(ROOT)


def test_the_seed_instructions_have_their_traces():
    assert {"double_buffer.yaml", "texp_auto.yaml", "texp_manual.yaml"} <= set(TRACES)
    for op, kinds in FAMILIES.items():
        assert {f"{op}_{kind}.yaml" for kind in kinds} <= set(TRACES)


@pytest.mark.parametrize("sync", [(), ("--sync", "auto")], ids=["as written", "auto"])
@pytest.mark.parametrize(("name", "core"), HERE)
def test_a_trace_gives_what_it_expects(name, core, sync):
    answer = archsim("run", f"traces/{name}", "--arch", core, "--json", *sync)
    assert answer.code == 0
    run = answer.json
    assert run["arch"] == core
    assert run["expect"]
    assert all(verdict["ok"] for verdict in run["expect"].values())
    assert [finding for finding in run["findings"] if finding["severity"] == "error"] == []
    assert run["total_cycles"] > 0


@pytest.mark.parametrize(("name", "core"), ELSEWHERE)
def test_a_trace_is_refused_on_a_core_that_it_does_not_name(name, core):
    meant, path = ", ".join(MEANT[name]), f"traces/{name}"
    number = Path(path).read_text().splitlines().index(f"archs: [{meant}]") + 1
    answer = archsim("run", path, "--arch", core)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.splitlines() == [
        f"{path}:{number}:8: {path} is meant for {meant}; {core} is not among them",
        f"    {number} | archs: [{meant}]",
        "      |        ^",
        f"  run it with --arch {MEANT[name][0]}",
        "1 error",
    ]


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("op", FAMILIES)
def test_fused_and_unfused_leave_the_same_tensors(op, core):
    auto, *others = [
        simulate(f"traces/{op}_{kind}.yaml", arch=core).tensors for kind in FAMILIES[op]
    ]
    for tensors in others:
        assert list(tensors) == list(auto)
        for name, values in tensors.items():
            assert values.tobytes() == auto[name].tobytes(), name


@pytest.mark.parametrize("core", CORES)
def test_a_deadlock_tells_its_story(core):
    answer = archsim("check", "traces/broken/deadlock.yaml", "--arch", core, "--json")
    assert answer.code == 1
    deadlock = answer.json["findings"][0]
    assert deadlock == {
        "kind": "deadlock",
        "severity": "error",
        "where": [f"traces/broken/deadlock.yaml:{line}" for line in (16, 19, 23)],
        "message": (
            "nothing can move after cycle 8\n"
            "MTE2 waits at deadlock.yaml:16 for flag in_free[0] (V -> MTE2); it would be set at "
            "deadlock.yaml:21, which is queued on V behind the wait at deadlock.yaml:19\n"
            "V waits at deadlock.yaml:19 for flag ready[0] (MTE2 -> V); it would be set at "
            "deadlock.yaml:18, which is queued on MTE2 behind the wait at deadlock.yaml:16\n"
            "MTE3 waits at deadlock.yaml:23 for flag done[0] (V -> MTE3); it would be set at "
            "deadlock.yaml:22, which is queued on V behind the wait at deadlock.yaml:19"
        ),
    }
    assert archsim("run", "traces/broken/deadlock.yaml", "--sync", "auto", "--quiet").code == 0


@pytest.mark.parametrize("core", CORES)
def test_a_missing_wait_is_a_race_with_both_places(core):
    answer = archsim("run", "traces/broken/missing_wait.yaml", "--arch", core, "--json")
    assert answer.code == 1
    assert answer.json["expect"]["c"]["ok"] is False
    races = [finding for finding in answer.json["findings"] if finding["kind"] == "race"]
    assert races == [
        {
            "kind": "race",
            "severity": "error",
            "hazard": "raw",
            "where": ["traces/broken/missing_wait.yaml:21", "traces/broken/missing_wait.yaml:19"],
            "message": (
                "read after write: TADD (id 2) on V and TLOAD (id 1) on MTE2 both touch "
                "UB 0x2000..0x3000; no flag from MTE2 to V orders them"
            ),
        }
    ]
    assert archsim("run", "traces/broken/missing_wait.yaml", "--sync", "auto", "--quiet").code == 0


def test_a_float_scratch_of_tprelu_is_refused_on_a2a3_and_taken_on_a5():
    path = "traces/broken/tprelu_float_tmp.yaml"
    answer = archsim("run", path, "--json")
    assert answer.code == 2
    rule = "a5 accepts and ignores any tmp"
    assert answer.json == {
        "schema": "archsim.error/1",
        "errors": [
            {"file": path, "line": 17, "column": 29, "message": message, "fix": None}
            for message in (
                f"tmp is f32, must be u8 on a2a3; {rule}",
                f"tmp has 16 valid rows, must have more than the 16 of dst on a2a3; {rule}",
            )
        ],
    }
    assert archsim("run", path, "--arch", "a5", "--quiet").code == 0


DESTROYED = """\
pto: 1
arch: a2a3
sync: auto
tensors:
  a: {dtype: i32, shape: [16, 16], init: {randint: {seed: 1, low: -1000, high: 1000}}}
  b: {dtype: i32, shape: [16, 16], init: {randint: {seed: 2, low: -1000, high: 1000}}}
  t: {dtype: i32, shape: [16, 16], init: {const: 5}}
  a_left: {dtype: i32, shape: [16, 16]}
  b_left: {dtype: i32, shape: [16, 16]}
  t_left: {dtype: i32, shape: [16, 16]}
tiles:
  src0: {loc: vec, dtype: i32, shape: [16, 16]}
  src1: {loc: vec, dtype: i32, shape: [16, 16]}
  tmp: {loc: vec, dtype: i32, shape: [16, 16]}
  dst: {loc: vec, dtype: f16, shape: [16, 16]}
program:
  - tload src0 <- a
  - tload src1 <- b
  - tload tmp <- t
  - tadddeqrelu dst <- src0, src1, 0.5, tmp
  - tstore a_left <- src0
  - tstore b_left <- src1
  - tstore t_left <- tmp
"""


@pytest.fixture
def destroyed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.yaml").write_text(DESTROYED)
    return "d.yaml"


def test_tadddeqrelu_overwrites_sources_and_scratch_on_a2a3(destroyed):
    run = simulate(destroyed, arch="a2a3")
    total = (run.tensors["a"] + run.tensors["b"]) * np.float32(0.5)
    assert np.array_equal(run.tensors["a_left"].view(np.float32), total)
    assert np.array_equal(run.tensors["b_left"].view(np.float32), np.maximum(total, 0))
    assert not run.tensors["t_left"].any()  # the zeros of the clamp
    answer = archsim("run", destroyed, "--json")
    assert answer.code == 1
    left = "a source that tadddeqrelu left overwritten; load it again in between"
    assert answer.findings == [
        f"destroyed_source error d.yaml:21 d.yaml:20: tstore reads tile src0, {left}",
        f"destroyed_source error d.yaml:22 d.yaml:20: tstore reads tile src1, {left}",
    ]


def test_tadddeqrelu_leaves_sources_and_scratch_alone_on_a5(destroyed):
    run = simulate(destroyed, arch="a5")
    assert run.findings == ()
    for name in ("a", "b", "t"):
        assert np.array_equal(run.tensors[f"{name}_left"], run.tensors[name])
