"""Commands from end to end: what JSON holds, the laws it keeps, what options do."""

import json
from pathlib import Path

import numpy as np
import pytest
from cli_runs import Answer, archsim, trace

from archsim.program.schema import SCHEMA_FILE

ROOT = Path(__file__).parents[1]
CORES = ("a2a3", "a5")
PROGRAMS = ("double_buffer", "texp_manual", "tprelu_auto", "tadddeqrelu_unfused")
LOOP = str(ROOT / "traces/double_buffer.yaml")
DEADLOCK = str(ROOT / "traces/broken/deadlock.yaml")
RACE = str(ROOT / "traces/broken/missing_wait.yaml")
TEXT = (str, type(None))
CYCLES = (int, type(None))

SUMMARY = {
    "schema": str, "program": str, "arch": str, "total_cycles": int, "time_us": float,
    "frequency_hz": int, "pipes": dict,
    "instructions": [
        {"id": int, "op": str, "pipe": str, "where": str, "queued": int, "start": int, "end": int,
         "cycles": int, "uops": int}
    ],
    "critical_path": {
        "total": int,
        "basis": dict,
        "steps": [{"id": CYCLES, "from": int, "to": int, "kind": str, "cause": str}],
    },
    "basis": dict, "findings": list, "expect": dict,
}  # fmt: skip
FINDING = {"kind": str, "severity": str, "where": [str], "message": str}
UOP = {"name": str, "repeat": int, "start": CYCLES, "end": CYCLES, "basis": TEXT}


def hold(value, form, path="it"):
    """`value` has every key of `form` with a value of its type; lists hold what `form[0]` says."""
    if isinstance(form, dict):
        assert isinstance(value, dict), path
        assert not form.keys() - value.keys(), path
        for key, part in form.items():
            hold(value[key], part, f"{path}.{key}")
    elif isinstance(form, list):
        assert isinstance(value, list), path
        for i, item in enumerate(value):
            hold(item, form[0], f"{path}[{i}]")
    else:
        assert type(value) in (form if isinstance(form, tuple) else (form,)), path


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def runs():
    """The summary of every program on every core."""
    return {
        (name, core): archsim("run", ROOT / f"traces/{name}.yaml", "--arch", core, "--json").json
        for name in PROGRAMS
        for core in CORES
    }


each_run = pytest.mark.parametrize("run", [(n, c) for n in PROGRAMS for c in CORES], ids="-".join)


@each_run
def test_run_json_has_its_form(runs, run):
    found = runs[run]
    hold(found, SUMMARY)
    assert found["schema"] == "archsim.summary/1"
    assert [i["id"] for i in found["instructions"]] == list(range(len(found["instructions"])))
    for use in found["pipes"].values():
        hold(use, {"busy": int, "stalls": dict, "idle": int})
    for verdict in found["expect"].values():
        hold(verdict, {"ok": bool, "max_abs_err": float, "mismatches": int, "elements": int})


@each_run
def test_every_cycle_of_a_pipe_is_accounted_for(runs, run):
    found = runs[run]
    total = found["total_cycles"]
    for pipe, use in found["pipes"].items():
        assert use["busy"] + sum(use["stalls"].values()) + use["idle"] == total
        held = {
            cycle
            for instr in found["instructions"]
            if instr["pipe"] == pipe
            for cycle in range(instr["start"], instr["end"])
        }
        assert use["busy"] == len(held)
    assert {instr["pipe"] for instr in found["instructions"]} <= set(found["pipes"])


@each_run
def test_the_critical_path_tiles_the_run(runs, run):
    found = runs[run]
    steps, at = found["critical_path"]["steps"], 0
    for step in steps:
        assert step["from"] == at < step["to"]
        at = step["to"]
        if step["kind"] == "run":
            instr = found["instructions"][step["id"]]
            assert instr["start"] <= step["from"]
            assert step["to"] <= instr["end"]
    assert at == found["critical_path"]["total"] == found["total_cycles"]


@each_run
def test_times_of_instructions_agree(runs, run):
    found = runs[run]
    for instr in found["instructions"]:
        assert instr["end"] - instr["start"] == instr["cycles"]
        assert 0 <= instr["queued"] <= instr["start"]
    assert max(instr["end"] for instr in found["instructions"]) == found["total_cycles"]
    seconds = found["total_cycles"] / found["frequency_hz"]
    assert found["time_us"] == pytest.approx(seconds * 1e6, abs=5e-4)


@each_run
def test_basis_shares_sum_to_one(runs, run):
    shares = runs[run]["basis"]
    assert set(shares) <= {"measured", "fitted", "documented", "assumed", "placeholder"}
    assert sum(shares.values()) == pytest.approx(1, abs=2e-4)


def test_check_json_has_its_form():
    answer = archsim("check", RACE, "--json")
    assert answer.code == 1
    hold(answer.json, {"schema": str, "program": str, "arch": str, "findings": [FINDING]})
    assert (answer.json["schema"], answer.json["program"]) == ("archsim.check/1", RACE)
    kinds = {finding["kind"]: finding for finding in answer.json["findings"]}
    assert set(kinds) == {"race", "uninitialized", "expect"}
    assert kinds["race"]["hazard"] == "raw"
    assert kinds["race"]["where"] == [f"{RACE}:21", f"{RACE}:19"]


@pytest.mark.parametrize("core", CORES)
def test_lower_json_has_every_instruction_with_its_micro_ops(runs, core):
    path = ROOT / "traces/double_buffer.yaml"
    answer = archsim("lower", path, "--arch", core, "--json")
    assert answer.code == 0
    hold(answer.json, {"instructions": [{"id": int, "op": str, "where": str, "uops": [UOP]}]})
    timed = runs["double_buffer", core]["instructions"]
    for lowered, instr in zip(answer.json["instructions"], timed, strict=True):
        assert (lowered["id"], lowered["op"]) == (instr["id"], instr["op"])
        spans = [(u["start"], u["end"]) for u in lowered["uops"] if u["start"] is not None]
        assert spans
        assert all(instr["start"] <= start <= end <= instr["end"] for start, end in spans)


def test_lower_shows_addresses_repeats_and_masks():
    uops = archsim("lower", ROOT / "traces/tprelu_manual.yaml", "--json").json["instructions"]
    load, vmul = uops[1]["uops"][0], uops[2]["uops"][1]
    assert (load["src"]["memory"], load["src"]["addr"]) == ("GM", 1024)  # behind the 1 KiB of x
    assert (load["dst"]["memory"], load["dst"]["addr"]) == ("UB", 0x800)
    assert (vmul["name"], vmul["repeat"], vmul["mask"]["lanes"]) == ("vmul", 16, 16)
    assert [vmul["dst"]["addr"], *(src["addr"] for src in vmul["src"])] == [0x1000, 0, 0x800]


def test_lower_of_a_stuck_program_says_so():
    answer = archsim("lower", DEADLOCK, "--json")
    assert answer.code == 1
    assert answer.json["instructions"] == []
    assert f"ERROR   deadlock  {DEADLOCK}:16" in answer.err


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize(
    "words",
    [
        ("tadd",),
        ("texp", "--dtype", "f16", "--shape", "4x128", "--valid", "3x100"),
        ("taddreluconv", "--dtype", "f32,f16", "dynamic=both"),
        ("tadddeqrelu", "--dtype", "i32,f16", "scale=0.5"),
        ("tload",),
    ],
)
def test_cycles_json_has_its_form(words, core):
    answer = archsim("cycles", *words, "--arch", core, "--json")
    assert answer.code == 0
    found = answer.json
    hold(found, {"op": str, "arch": str, "cycles": int, "interval": [int], "uops": [UOP]})
    assert (found["op"], found["arch"]) == (words[0].upper(), core)
    low, high = found["interval"]
    assert 0 < low <= found["cycles"] <= high
    assert max(u["end"] or 0 for u in found["uops"]) <= found["cycles"]
    assert any(u["basis"] for u in found["uops"])


def test_isa_json_has_its_form():
    rows = archsim("isa", "--json").json
    form = {"op": str, "pipe": str, "operands": str, "support": {"a2a3": dict, "a5": dict}}
    hold(rows, [form])
    assert {"TADDDEQRELU", "TPRELU", "TEXP", "TADDRELUCONV"} <= {row["op"] for row in rows}
    (row,) = archsim("isa", "tprelu", "--json").json
    samples = row.pop("samples")
    assert [sample["arch"] for sample in samples] == ["a2a3", "a5"]
    assert row == next(r for r in rows if r["op"] == "TPRELU")


def test_schema_prints_the_checked_in_file_and_that_of_chips():
    assert json.loads(archsim("schema", "trace").out) == json.loads(SCHEMA_FILE.read_text())
    assert archsim("schema", "arch").json["$schema"]


def test_several_programs_print_one_object_a_line_in_order(here):
    words = (LOOP, "gone.yaml", ROOT / "traces/texp_manual.yaml")
    for command in ("run", "check"):
        answer = archsim(command, *words, "--json")
        assert (answer.code, answer.err) == (2, "")
        first, second, third = (json.loads(line) for line in answer.out.splitlines())
        assert first["program"] == LOOP
        assert (second["schema"], second["errors"][0]["file"]) == ("archsim.error/1", "gone.yaml")
        assert third["program"].endswith("texp_manual.yaml")


def test_several_programs_take_the_worst_exit_code():
    assert archsim("check", LOOP, DEADLOCK, LOOP, "--quiet").code == 1
    assert archsim("check", "gone.yaml", DEADLOCK, "--quiet").code == 2
    assert archsim("check", LOOP, LOOP, "--quiet") == Answer(0, "", "")


def test_set_changes_cycles_and_shows_as_override(runs):
    words = ("--set", "paths.gm_to_ub.bytes_per_cycle=1", "--set", "scalar.issue_cycles=2")
    found = archsim("run", LOOP, *words, "--json").json
    assert found["total_cycles"] > runs["double_buffer", "a2a3"]["total_cycles"]
    assert found["basis"]["override"] > 0.9
    assert sum(found["basis"].values()) == pytest.approx(1, abs=2e-4)
    head = archsim("run", LOOP, *words).out.splitlines()[0]
    assert ", 2 overrides  " in head
    assert archsim("cycles", "tload", "--set", words[1], "--json").json["uops"][0]["basis"] == (
        "override"
    )


def test_arg_sets_a_scalar():
    assert (
        len(archsim("run", LOOP, "--arg", "N=3", "--no-numerics", "--json").json["instructions"])
        == 12
    )


def test_input_sets_a_tensor(here):
    (here / "t.yaml").write_text(trace("tload ta <- a", "tstore c <- ta"))
    np.save(here / "mine.npy", np.full((64, 64), 7, np.float32))
    assert archsim("run", "t.yaml", "--input", "a=mine.npy", "--out", "o", "--quiet").code == 0
    left = np.load(here / "o/tensors/c.npy")
    assert np.array_equal(left, np.repeat([7, 0], (16, 48))[:, None] * np.ones(64, np.float32))


def test_no_numerics_keeps_the_time_and_checks_no_values(runs):
    found = archsim("run", LOOP, "--no-numerics", "--json").json
    assert found["expect"] == {}
    assert found["instructions"] == runs["double_buffer", "a2a3"]["instructions"]
    assert archsim("run", RACE, "--no-numerics", "--json").code == 1  # a race needs no values


def test_strict_makes_a_warning_fail():
    words = ("run", ROOT / "traces/texp_auto.yaml", "--arch", "a2a3")
    assert archsim(*words).code == 0
    answer = archsim(*words, "--strict")
    assert answer.code == 1
    assert "WARNING portability" in answer.out


def test_quiet_prints_errors_only():
    assert archsim("run", LOOP, "--quiet") == Answer(0, "", "")
    for command in ("run", "check"):
        answer = archsim(command, DEADLOCK, "--quiet")
        assert (answer.code, answer.out) == (1, "")
        assert answer.err.splitlines()[0] == f"{DEADLOCK} on a2a3:"
        assert "ERROR   deadlock" in answer.err
    strict = archsim("check", ROOT / "traces/texp_auto.yaml", "--arch", "a2a3", "--quiet")
    assert strict == Answer(0, "", "")


def test_the_first_screen_fits_in_30_lines(here):
    """Every pipe, many expectations, many findings: the rest is in the JSON."""
    flags = [
        f"set_flag: [{pair}, {n}]" for pair in ("MTE2, V", "V, MTE3", "MTE1, M") for n in range(8)
    ]
    (here / "many.yaml").write_text(trace(*flags, explicit=True))
    answer = archsim("run", "many.yaml")
    lines = answer.out.splitlines()
    assert (answer.code, len(lines) <= 29) == (1, True)  # one is left for FILES
    shown = sum(line.startswith("ERROR ") for line in lines)
    assert shown > 1
    assert lines[-1] == f"        and {24 - shown} more; `archsim check` shows all"
    assert len(archsim("check", "many.yaml").out.splitlines()) == 1 + 2 * 24
    for path in (LOOP, DEADLOCK, RACE):
        assert len(archsim("run", path).out.splitlines()) <= 29
