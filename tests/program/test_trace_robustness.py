"""Whatever stands in a trace: it is read and walked, or refused with places; never a traceback."""

import copy
import itertools
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_printing import EVERYTHING
from test_walk import DOUBLE_BUFFER

from archsim.base.errors import InputError
from archsim.base.yaml import parse_document
from archsim.program.expect import references
from archsim.program.printing import trace_text
from archsim.program.tensors import initial_values
from archsim.program.trace import load_program
from archsim.program.walk import walk

JUNK: list[Any] = [
    *(None, 3, 0, -1, 1.5, True, 10**30, 2**63, float("nan"), float("inf")),
    *("x", "", "$N", "N", "-inf", "a[", "a]", "<-", "é", "0x", "min", "tadd", "t", "dynamic"),
    *("i % 0", "wait", "1" * 5000, "(" * 500, [], {}, [1], [1, 2, 3], {"a": 1}, [[]], {"for": 3}),
]
KEYS = ("x", "for", "if", "do", "numpy", "file", "addr", "ring", "t", "true", "")
CHARACTERS = "<-,[]()$%*+= .:#0a\"'\\\n/!@é{}&|>?\t~`"
WITHOUT_FILES = "".join(
    line for line in EVERYTHING.splitlines(keepends=True) if "with space" not in line
)
TEXTS = (WITHOUT_FILES, DOUBLE_BUFFER)


def paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every part of a document but the whole."""
    if path:
        yield path
    steps = range(len(value)) if isinstance(value, list) else value
    for step in steps if isinstance(value, dict | list) else ():
        yield from paths(value[step], (*path, step))


def spoiled(value: Any, chance: random.Random) -> Any:
    """A copy with one to three parts replaced, removed, renamed, or with a character changed."""
    out = copy.deepcopy(value)
    for _ in range(chance.choice((1, 1, 2, 3))):
        places = list(paths(out))
        if not places:
            return out
        *way, last = chance.choice(places)
        parent = out
        for step in way:
            parent = parent[step]
        what = chance.random()
        if what < 0.15:
            del parent[last]
        elif what < 0.25 and isinstance(parent, dict):
            parent[chance.choice(KEYS)] = parent.pop(last)
        elif what < 0.7 and isinstance(parent[last], str):
            parent[last] = typo(parent[last], chance)
        else:
            parent[last] = copy.deepcopy(chance.choice(JUNK))
    return out


def typo(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text) + 1)
    return text[: at - chance.randint(0, 1) if at else 0] + chance.choice(CHARACTERS) + text[at:]


def survive(path: Path) -> bool:
    """Read, print, walk and evaluate; False where it is refused."""
    try:
        use(path)
    except InputError as error:
        return not [fault.render() for fault in error.diagnostics]
    return True


def use(path: Path) -> None:
    program = load_program(str(path))
    copied = path.with_name("copy.yaml")
    copied.write_text(trace_text(program))
    assert trace_text(load_program(str(copied))) == trace_text(program)
    for _ in itertools.islice(walk(program, placements=dict.fromkeys(program.tiles, 0)), 500):
        pass
    if all(np.prod(tensor.shape, dtype=float) < 1e5 for tensor in program.tensors.values()):
        initial = {name: initial_values(t, ".") for name, t in program.tensors.items()}
        references(program, initial)


@pytest.mark.parametrize("seed", range(4))
def test_spoiled_values(tmp_path: Path, seed: int) -> None:
    chance, path = random.Random(seed), tmp_path / "t.json"
    values = [parse_document(text, "t.yaml").value for text in TEXTS]
    outcomes = set()
    for _ in range(100):
        path.write_text(json.dumps(spoiled(chance.choice(values), chance)))
        outcomes.add(survive(path))
    assert outcomes == {False, True}


@pytest.mark.parametrize("seed", range(2))
def test_spoiled_text(tmp_path: Path, seed: int) -> None:
    chance, path = random.Random(seed), tmp_path / "t.yaml"
    outcomes = set()
    for _ in range(60):
        text = chance.choice(TEXTS)
        for _ in range(chance.choice((1, 2, 5))):
            text = typo(text, chance)
        path.write_text(text)
        outcomes.add(survive(path))
    assert outcomes == {False, True}
