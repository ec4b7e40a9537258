"""The folder of a run: what it holds, whole or not at all, the same bytes every time."""

import csv
import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from cli_runs import ADD, archsim, trace

ROOT = Path(__file__).parents[1]
PROGRAMS = ("double_buffer", "taddreluconv_auto", "tprelu_manual", "texp_manual")
FILES = ["instructions.csv", "pipes.csv", "run.json", "summary.json", "trace.json"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.yaml").write_text(trace(*ADD))
    return tmp_path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of the double-buffered loop."""
    out = tmp_path_factory.mktemp("runs") / "loop"
    assert archsim("run", ROOT / "traces/double_buffer.yaml", "--out", out, "--quiet").code == 0
    return out


def content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_it_holds_every_file(folder):
    names = list(content(folder))
    assert set(FILES) <= set(names)
    assert [n for n in names if n.startswith("tensors/")] == [f"tensors/{x}.npy" for x in "abc"]
    a, b, c = (np.load(folder / f"tensors/{x}.npy") for x in "abc")
    assert (a.dtype, b.dtype, c.dtype) == (np.float32, np.float32, np.float16)
    assert np.array_equal(c, np.clip(np.maximum(a + b, 0), 0, 65504).astype(np.float16))


def test_the_summary_is_what_run_prints_as_json(folder):
    printed = archsim("run", ROOT / "traces/double_buffer.yaml", "--json").json
    assert json.loads((folder / "summary.json").read_text()) == printed


def test_the_manifest_says_what_the_run_was_made_of(here):
    words = ("--set", "scalar.issue_cycles=2", "--arg", "N=3")
    assert archsim("run", "t.yaml", "--out", "o", "--quiet", *words).code == 0
    manifest = json.loads((here / "o/run.json").read_text())
    assert manifest["schema"] == "archsim.run/1"
    assert set(manifest["versions"]) == {"numpy", "ml_dtypes", "simpy"}
    assert manifest["arch"]["name"] == "a2a3"
    assert manifest["arch"]["overrides"] == [["scalar.issue_cycles", "2"]]
    assert manifest["program"]["scalars"] == {"N": 3}
    assert (manifest["sync"], manifest["seeds"]) == ("auto", {"a": 1})
    for part in ("program", "arch"):
        assert len(manifest[part]["sha256"]) == 64
    assert archsim("run", "t.yaml", "--out", "p", "--quiet").code == 0
    plain = json.loads((here / "p/run.json").read_text())
    assert plain["arch"]["sha256"] != manifest["arch"]["sha256"]
    assert plain["program"]["sha256"] == manifest["program"]["sha256"]


def test_tables_agree_with_the_summary(folder):
    summary = json.loads((folder / "summary.json").read_text())
    told = [{k: str(v) for k, v in instr.items()} for instr in summary["instructions"]]
    found = rows(folder / "instructions.csv")
    assert [{key: row[key] for key in told[0]} for row in found] == told


def test_a_row_says_what_the_instruction_waited_for_and_rests_on(folder):
    found = rows(folder / "instructions.csv")
    store = found[3]
    assert (store["op"], store["wait_cause"], store["producer"]) == ("TSTORE", "flag", "2")
    assert int(store["wait_cycles"]) == int(store["start"]) - int(store["queued"]) > 0
    second = found[7]  # its pipe ran the first store meanwhile: that is no wait
    assert second["op"] == "TSTORE"
    assert int(second["wait_cycles"]) == int(second["start"]) - int(store["end"])
    assert [row["bytes"] for row in found[:4]] == ["4096", "4096", "", "2048"]
    assert {row["basis"] for row in found if row["op"] == "TLOAD"} == {"measured"}
    summary = json.loads((folder / "summary.json").read_text())
    on_path = {str(s["id"]) for s in summary["critical_path"]["steps"] if s["kind"] == "run"}
    assert {row["id"] for row in found if row["critical"] == "1"} == on_path
    for row in rows(folder / "pipes.csv"):
        use = summary["pipes"][row["pipe"]]
        parts = [int(row[f"{name}_cycles"]) for name in ("busy", "stall", "idle")]
        assert parts == [use["busy"], sum(use["stalls"].values()), use["idle"]]
        assert sum(parts) == summary["total_cycles"]
        assert row["stalls"] == " ".join(f"{k}={v}" for k, v in use["stalls"].items())


def test_two_runs_write_the_same_bytes(folder, here):
    words = ("run", ROOT / "traces/double_buffer.yaml", "--quiet", "--out")
    assert archsim(*words, here / "again").code == 0
    assert content(here / "again") == content(folder)


def test_an_earlier_run_is_replaced_and_nothing_else(here):
    assert archsim("run", "t.yaml", "--out", "o", "--quiet").code == 0
    (here / "o/left.txt").write_text("of the earlier run")
    assert archsim("run", "t.yaml", "--out", "o", "--no-numerics", "--quiet").code == 0
    assert not (here / "o/left.txt").exists()
    assert list((here / "o/tensors").iterdir()) == []
    (here / "empty").mkdir()
    assert archsim("run", "t.yaml", "--out", "empty", "--quiet").code == 0
    assert (here / "empty/run.json").is_file()


def test_a_run_with_findings_is_written_too(here):
    assert archsim("run", ROOT / "traces/broken/missing_wait.yaml", "--out", "o").code == 1
    summary = json.loads((here / "o/summary.json").read_text())
    assert {finding["kind"] for finding in summary["findings"]} >= {"race", "expect"}
    assert summary["expect"]["c"]["max_abs_err"] is None  # a NaN on one side: no number is true


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (
            "full",
            "full, a folder with other files; "
            "it must be new, empty or the folder of an earlier run",
        ),
        ("file", "file, a file; it must be a folder"),
        ("file/in", "file/in, which cannot be made: file exists"),
    ],
)
def test_what_is_not_a_run_is_refused_and_left_alone(here, out, message):
    (here / "full").mkdir()
    (here / "full/mine.txt").write_text("mine")
    (here / "file").write_text("mine")
    before = content(here)
    answer = archsim("run", "t.yaml", "--out", out)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == f"--out is {message}\n1 error\n"
    assert content(here) == before
    answer = archsim("run", "t.yaml", "--out", out, "--json")
    assert [error["message"] for error in answer.json["errors"]] == [f"--out is {message}"]


def test_it_appears_whole_or_not_at_all(here, monkeypatch):
    assert archsim("run", "t.yaml", "--out", "o", "--quiet").code == 0
    before = content(here)

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("archsim.report.files.np.save", full)
    for out in ("o", "fresh"):
        answer = archsim("run", "t.yaml", "--out", out, "--quiet")
        assert (answer.code, answer.out) == (2, "")
        assert answer.err == (
            f"--out is {out}, which cannot be written: no space left on device\n1 error\n"
        )
        assert content(here) == before
        assert sorted(path.name for path in here.iterdir()) == ["o", "t.yaml"]


def test_several_programs_get_a_folder_each(here):
    words = ("t.yaml", "gone.yaml", ROOT / "traces/texp_manual.yaml")
    assert archsim("run", *words, "--out", "o", "--quiet").code == 2
    assert sorted(path.name for path in (here / "o").iterdir()) == ["t", "texp_manual"]
    (here / "sub").mkdir()
    (here / "sub/t.yaml").write_text(trace(*ADD))
    answer = archsim("run", "t.yaml", "sub/t.yaml", "--out", "p")
    assert (answer.code, (here / "p").exists()) == (2, False)
    assert answer.err == "two programs would write to p/t; run them one by one\n1 error\n"


@pytest.mark.parametrize("core", ["a2a3", "a5"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_timeline_is_one_that_viewers_take(here, name, core):
    """Slices nest or are apart on each track; micro-ops lie in their instruction; arrows fit."""
    words = ("--arch", core, "--out", "o", "--quiet")
    assert archsim("run", ROOT / f"traces/{name}.yaml", *words).code == 0
    summary = json.loads((here / "o/summary.json").read_text())
    events = json.loads((here / "o/trace.json").read_text())["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    assert {event["ph"] for event in events} <= {"M", "X", "s", "f"}
    assert all(event["ts"] >= 0 and event["dur"] >= 0 for event in slices)
    instrs = {event["args"]["id"]: event for event in slices if "id" in event["args"]}
    for told in summary["instructions"]:
        event = instrs[told["id"]]
        assert (event["name"], span(event)) == (told["op"], (told["start"], told["end"]))
    inner = [event for event in slices if "of" in event["args"]]
    assert inner
    for event in inner:
        low, high = span(instrs[event["args"]["of"]])
        assert low <= span(event)[0] <= span(event)[1] <= high
    tracks = {event["tid"] for event in events if event["name"] == "thread_name"}
    assert {event["tid"] for event in slices} <= tracks
    for track in tracks:
        assert_nested([event for event in slices if event["tid"] == track])
    assert_arrows([event for event in events if event["ph"] in "sf"], slices)


def span(event) -> tuple[int, int]:
    """Start and end in cycles: a cycle is written as a nanosecond."""
    start = round(event["ts"] * 1000)
    return start, start + round(event["dur"] * 1000)


def assert_nested(slices):
    """In order of start, longer ones first, each is inside the open one or behind it."""
    around: list[tuple[int, int]] = []
    for low, high in sorted(map(span, slices), key=lambda s: (s[0], -s[1])):
        while around and around[-1][1] <= low:
            around.pop()
        assert not around or high <= around[-1][1]
        around.append((low, high))


def assert_arrows(ends, slices):
    """Every arrow starts in a slice, ends in one, not earlier; starts and ends match in pairs."""
    assert ends
    for start, end in list(pairwise(ends))[::2]:
        assert (start["ph"], end["ph"], start["id"]) == ("s", "f", end["id"])
        assert start["ts"] <= end["ts"]
        for event in (start, end):
            at = round(event["ts"] * 1000)
            assert any(
                other["tid"] == event["tid"] and span(other)[0] <= at < span(other)[1]
                for other in slices
            )
    assert len({event["id"] for event in ends}) == len(ends) / 2


@pytest.mark.parametrize("dtype", ["bf16", "f8e4m3", "f8e5m2"])
def test_types_that_numpy_does_not_know_are_saved_as_bits_that_load(
    tmp_path: Path, dtype: str
) -> None:
    """The file of a tensor is loaded by numpy, then by another run as the same tensor."""
    text = f"""\
pto: 1
arch: a5
tensors:
  a: {{dtype: {dtype}, shape: [4, 64], init: INIT}}
tiles:
  t: {{loc: vec, dtype: f32, shape: [4, 64], addr: 0}}
program:
  - texpands t <- 1
"""
    drawn, again = tmp_path / "drawn.yaml", tmp_path / "again.yaml"
    drawn.write_text(text.replace("INIT", "{uniform: {seed: 1, low: -4, high: 4}}"))
    again.write_text(text.replace("INIT", "{file: out/tensors/a.npy}"))
    assert archsim("run", drawn, "--out", tmp_path / "out", "--quiet").code == 0
    bits = np.load(tmp_path / "out/tensors/a.npy")
    assert bits.dtype == (np.uint16 if dtype == "bf16" else np.uint8)
    assert len(np.unique(bits)) > 20
    assert json.loads((tmp_path / "out/run.json").read_text())["tensors"] == {"a": dtype}
    assert archsim("run", again, "--out", tmp_path / "out2", "--quiet").code == 0
    assert np.array_equal(np.load(tmp_path / "out2/tensors/a.npy"), bits)
