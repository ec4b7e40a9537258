"""The command line in this process, and traces made of a few arguments."""

import json
import re
from typing import Any, NamedTuple

from typer.testing import CliRunner

from archsim.cli import app

RUNNER = CliRunner()
TILE = "{loc: vec, dtype: f32, shape: [16, 64]%s}"
HEAD = """\
pto: 1
arch: a2a3
sync: auto
scalars: {N: 4}
tensors:
  a: {dtype: f32, shape: [64, 64], init: {normal: {seed: 1}}}
  c: {dtype: f32, shape: [64, 64]}
tiles:
"""
ADD = ("tload ta <- a", "tload tb <- a[16, 0]", "tadd tc <- ta, tb", "tstore c <- tc")


class Answer(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on stdout."""
        return json.loads(self.out)

    @property
    def findings(self) -> list[str]:
        """The findings of `run --json` or `check --json` as "kind severity where: message"."""
        return [
            f"{f['kind']} {f['severity']} {' '.join(f['where'])}: {f['message']}"
            for f in self.json["findings"]
        ]


def archsim(*words: object) -> Answer:
    """Run a command; an exception that is no exit is a failed test."""
    result = RUNNER.invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Answer(result.exit_code, result.stdout, result.stderr)


def trace(*statements: str, more: str = "", explicit: bool = False, head: str = HEAD) -> str:
    """A trace with tensors a and c of 64x64 and tiles ta, tb and tc of 16x64, all f32.

    `more`: lines behind the tiles, so that further tiles (indented) or sections can be declared.
    `explicit`: every tile has an address, and every wait must be written. The tiles stand on lines
    9 to 11; without `more` the first statement stands on line 13.
    """
    if explicit:
        head = head.replace("sync: auto", "sync: explicit")
    lines = []
    for number, name in enumerate(("ta", "tb", "tc")):
        where = f", addr: {0x1000 * number:#06x}" if explicit else ""
        lines.append(f"  {name}: {TILE % where}\n")
    program = "".join(f"  - {statement}\n" for statement in statements)
    return head + "".join(lines) + (more + "\n" if more else "") + "program:\n" + program


def told(answer: Answer) -> list[str]:
    """Every fault on stderr as "place: message | fix"; each caret must be where the place says."""
    assert (answer.code, answer.out) == (2, "")
    *lines, count = answer.err.splitlines()
    faults: list[str] = []
    for line in lines:
        if re.match(r" +\d+ \| ", line):
            quoted = line
        elif line.startswith("      |"):
            column = int(faults[-1].split(":")[2])
            assert line.index("^") - quoted.index("| ") - 1 == column
        elif line.startswith("  "):
            faults[-1] += f" | {line.strip()}"
        else:
            faults.append(line)
    assert count == f"{len(faults)} error{'s' if len(faults) > 1 else ''}"
    return faults


def as_text(error: dict[str, Any]) -> str:
    """One error of the JSON object as `told` gives it."""
    place = ":".join(str(error[k]) for k in ("file", "line", "column") if error[k] is not None)
    fix = f" | {error['fix']}" if error["fix"] else ""
    return (f"{place}: " if place else "") + error["message"] + fix


def refused(*words: object) -> list[str]:
    """The faults of a command: the same as text and as JSON."""
    faults = told(archsim(*words))
    answer = archsim(*words, "--json")
    assert (answer.code, answer.err) == (2, "")
    assert answer.json["schema"] == "archsim.error/1"
    assert [as_text(error) for error in answer.json["errors"]] == faults
    for error in answer.json["errors"]:
        assert set(error) == {"file", "line", "column", "message", "fix"}
    return faults
