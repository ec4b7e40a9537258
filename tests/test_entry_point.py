"""The entry point: exit codes, unreadable command lines, faults of our own, real processes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cli_runs import ADD, Answer, trace

from archsim import cli

ROOT = Path(__file__).parents[1]
LOOP = str(ROOT / "traces/double_buffer.yaml")
DEADLOCK = str(ROOT / "traces/broken/deadlock.yaml")


def outcome(monkeypatch, capsys, *words: str) -> Answer:
    """The entry point itself, which also answers for what the command line library raises."""
    monkeypatch.setattr(sys, "argv", ["archsim", *words])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    out, err = capsys.readouterr()
    return Answer(caught.value.code or 0, out, err)


def test_a_fault_of_our_own_is_exit_70(monkeypatch, capsys):
    def broken(*args, **kwargs):
        raise ZeroDivisionError("no such luck")

    monkeypatch.setattr("archsim.api.place", broken)
    answer = outcome(monkeypatch, capsys, "run", LOOP, "--json")
    assert (answer.code, answer.out) == (70, "")
    assert answer.err.startswith("Traceback")
    assert answer.err.splitlines()[-1] == (
        "archsim: a fault of ours, please report it: ZeroDivisionError('no such luck')"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run",), "Missing argument 'PROGRAM...'."),
        (("rnu", LOOP), "No such command 'rnu'."),
        (("run", LOOP, "--nope"), "No such option: --nope"),
    ],
)
def test_a_command_line_that_cannot_be_read(monkeypatch, capsys, words, message):
    answer = outcome(monkeypatch, capsys, *words)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("Usage: archsim ")
    assert message in answer.err
    answer = outcome(monkeypatch, capsys, *words, "--json")
    assert (answer.code, answer.err) == (2, "")
    assert answer.json["schema"] == "archsim.error/1"
    assert message.rstrip(".") in answer.json["errors"][0]["message"]


def test_main_passes_exit_codes_on(monkeypatch, capsys):
    assert outcome(monkeypatch, capsys, "--version").code == 0
    assert outcome(monkeypatch, capsys, "run", LOOP).code == 0
    assert outcome(monkeypatch, capsys, "run", DEADLOCK).code == 1
    assert outcome(monkeypatch, capsys, "run", "gone.yaml").code == 2


def python(*words: str, **more) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, **more)


def test_the_real_command_prints_json_and_nothing_else(tmp_path):
    (tmp_path / "t.yaml").write_text(trace(*ADD))
    done = python("-m", "archsim", "run", "t.yaml", "--json", "--out", "o", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == json.loads((tmp_path / "o/summary.json").read_text())
    done = python("-m", "archsim", "run", "gone.yaml", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "gone.yaml: no such file; a YAML or JSON file is read\n1 error\n"


def test_help_waits_for_nothing_heavy():
    code = "import sys, archsim.cli; print(*sorted(m for m in sys.modules if '.' not in m))"
    loaded = python("-c", code).stdout.split()
    assert "typer" in loaded
    assert not {"numpy", "simpy", "pydantic", "yaml", "jinja2", "bokeh", "rich"} & set(loaded)
