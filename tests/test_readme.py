"""The README tells the truth: its commands run, and print what it shows.

A `sh` block followed by a `text` block: the commands print that text, where a line `...` stands for
any lines. `python tests/test_readme.py` writes the blocks without such a line anew.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_runs import RUNNER

from archsim.cli import app

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
SHELL = re.compile(r"```sh\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.S)
SET_UP = re.compile(r"python3 -m venv \.venv && \.venv/bin/pip install -q -e (\S+) && (.*)")
DIGEST = re.compile(r"@[0-9a-f]{8}\b")  # of the chip file: changes with every comment in it


def blocks() -> Iterator[re.Match[str]]:
    return SHELL.finditer(README.read_text(encoding="utf-8"))


def commands(block: str) -> list[str]:
    """The command lines of a block, without what sets up the environment."""
    lines = block.replace("\\\n", " ").splitlines()
    return [match[2] if (match := SET_UP.fullmatch(line)) else line for line in lines if line]


def output(command: str) -> str:
    """What a command prints, on stdout and stderr as a terminal shows it."""
    words = shlex.split(command, comments=True)
    name = Path(words[0]).name if words else ""
    if name == "pytest":  # this is it: the tests are running
        return ""
    if name == "archsim" and not {"|", ">", "&&", ";"} & set(words):
        return RUNNER.invoke(app, words[1:]).output
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command.replace(".venv/bin/", "")],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PATH": path},
    )
    assert done.returncode not in (70, 126, 127), done.stdout
    return done.stdout


def agrees(shown: str, printed: str) -> bool:
    shown, printed = (DIGEST.sub("@", text) for text in (shown, printed))
    parts = re.split(r"^\.\.\.\n", shown, flags=re.M)
    return re.fullmatch(r"(?:.*\n)*?".join(map(re.escape, parts)), printed) is not None


def refreshed() -> str:
    """The README with every text block that is not what its commands print replaced by that.

    The commands run one after the other in the current folder.
    """

    def block(match: re.Match[str]) -> str:
        printed = "".join(output(command) for command in commands(match[1]))
        shown = match[2]
        if shown is None or agrees(shown, printed):
            return match[0]
        return match[0].replace(f"```text\n{shown}", f"```text\n{printed}")

    return SHELL.sub(block, README.read_text(encoding="utf-8"))


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A folder that looks like the repository's root, and takes what commands write."""
    for name in ("traces", "configs", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("workplace")
def test_commands_print_what_is_shown():
    assert refreshed() == README.read_text(encoding="utf-8")


def test_every_command_is_known():
    known = {"archsim", "pytest", "python", "cd", "git"}
    for block in blocks():
        for command in commands(block[1]):
            assert Path(shlex.split(command)[0]).name in known


def test_two_commands_set_up_and_run_the_job_and_the_tests():
    """`.ci/run` takes the second from here."""
    section = README.read_text(encoding="utf-8").split("\n## Two commands\n")[1].split("\n## ")[0]
    lines = [match[1] for match in SHELL.finditer(section)]
    first, second = (SET_UP.fullmatch(line.rstrip("\n")) for line in lines)
    assert (first[1], second[1]) == (".", "'.[test]'")
    assert first[2].startswith(".venv/bin/archsim run traces/")
    assert second[2].startswith(".venv/bin/pytest")
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {"pytest", "pytest-xdist"} <= {re.split(r"[><=\[]", name)[0] for name in extra["test"]}


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\nb\n", "a\nc\n", False),
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("a\n...\nd\n", "a\nd\n", True),
        ("a\n...\nd\n", "a\nb\n", False),
        ("...\n", "", True),
        ("a@0123abcd\n", "a@99999999\n", True),
    ],
)
def test_how_a_block_agrees(shown, printed, same):
    assert agrees(shown, printed) is same


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for name in ("traces", "configs", "tests"):
            (Path(folder) / name).symlink_to(ROOT / name)
        os.chdir(folder)
        README.write_text(refreshed(), encoding="utf-8")
