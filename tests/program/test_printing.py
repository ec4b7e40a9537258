"""Printing a program and reading it back gives the same program."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trace_texts import HEAD, Load, with_program

from archsim.base.source import Source, Span
from archsim.program.ir import Program
from archsim.program.printing import statement_text, trace_text
from archsim.program.trace import load_program

TRACES = sorted(Path(__file__).parents[2].glob("traces/*.yaml"))


def bare(value: Any) -> Any:
    """A part of a program without places, file names and closures, as plain tuples."""
    if isinstance(value, Span | Source) or callable(value):
        return None
    if isinstance(value, float) and value != value:
        return "nan"
    if dataclasses.is_dataclass(value):
        return tuple(
            bare(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if field.name not in ("span", "source", "name")
            or (field.name == "name" and not isinstance(value, Program))
        )
    if isinstance(value, dict):
        return {key: bare(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(bare(item) for item in value)
    return value


def again(load: Load, program: Program) -> Program:
    return load(trace_text(program))


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_shipped_traces_come_back(path: Path, tmp_path: Path) -> None:
    program = load_program(str(path))
    copy = tmp_path / "copy.yaml"
    copy.write_text(trace_text(program))
    back = dataclasses.replace(load_program(str(copy)), directory=program.directory)
    assert bare(back) == bare(program)
    assert trace_text(back) == trace_text(program)


EVERYTHING = """\
pto: 1
arch: a5
archs: [a5]
sync: auto
alloc: explicit
scalars: {N: 8, low: -inf, what: nan, tiny: 1.0e-30, 'true': 3}
tensors:
  a: {dtype: bf16, shape: [4, 64], strides: [128, 2], init: {normal: {seed: 1, std: 0.5}}}
  b: {dtype: f16, shape: [64, 4], layout: dn, init: {linspace: [-1, 1.0e+30]}}
  c: {dtype: i8, shape: [4, 64], init: {const: -3}}
  d: {dtype: i8, shape: [4, 64], init: {file: "with space.npz", key: "a: b"}}
  e: {dtype: f32, shape: [2, 3, 4, 5, 64], init: {randint: {seed: 2, high: 9}}}
tiles:
  t: {loc: vec, dtype: f32, shape: [16, 64], addr: 0x40, ring: 2, pad: max, stride: 72}
  u: {loc: vec, dtype: f32, shape: [16, 64], addr: 0, valid: ["min(16, N - 3)", dynamic]}
  one: {loc: vec, dtype: f32, shape: [16, 64], addr: 0, ring: 1}
  m: {loc: mat, dtype: f16, shape: [32, 32], addr: 0, blayout: col_major, slayout: row_major,
      fractal: 1024, valid: [5, 6]}
  v: {loc: vec, dtype: f32, shape: [16, 64]}
events:
  e0: {from: vec, to: tload, ring: 3}
  e1: {from: V, to: FIX}
program:
  - 'e0[N % 3] = tadds u <- one[0], -inf, vf_impl=DEFAULT, waits=[e1]'
  - tcmps u <- u, $low, mode=gt
  - tadds u <- u, N*2 + 1
  - tsubview v <- t[1], 1, 2
  - done = tadd u <- u, u
  - tstore e[0, 1, 2, 3 + N - N, 0] <- u, waits=[done]
  - tsync e0[0], e1
  - tsync vec
  - record: {event: short, from: tload, to: vec}
  - set_flag: [MTE2, V, "N % 2"]
  - wait_flag: [MTE2, V, 0]
  - barrier: ALL
  - {for: {var: i, range: [1, N, 2]}, do: []}
  - {for: {var: i, range: [1, N]}, do: [{for: {var: j, range: -1}, do: [{barrier: V}]}]}
  - if: true
    then: [{wait: short}]
    else: [{if: N == 8, then: []}]
expect:
  a: {numpy: "where(a > 0, a, -a)", atol: 0.5, rtol: 1.0e-3}
  b: {numpy: 3, exact: true}
  d: {file: "with space.npz", key: "a: b"}
"""


def test_everything_comes_back(load: Load, tmp_path: Path) -> None:
    np.savez(tmp_path / "with space.npz", **{"a: b": np.zeros((4, 64), np.int8)})
    program = load(EVERYTHING)
    back = again(load, program)
    assert bare(back) == bare(program)
    assert trace_text(back) == trace_text(program)


def test_canonical_text(load: Load) -> None:
    program = load(
        with_program("- for: {var: i, range: $N}\n  do: ['TLOAD ring[i%2] <-x[ i, 0 ]']")
    )
    assert trace_text(program) == HEAD.replace("scalars: {N: 8, alpha: 0.5}\n", (
        "sync: explicit\nscalars:\n  N: 8\n  alpha: 0.5\n"
    )).replace("tload, to: vec}", "MTE2, to: V}").replace("vec, to: tload", "V, to: MTE2").replace(
        "addr: 0}", "addr: 0x0000}"
    ) + (
        "program:\n"
        "  - for: {var: i, range: $N}\n"
        "    do:\n"
        "      - tload ring[i%2] <- x[i, 0]\n"
    )  # fmt: skip


def test_empty_program(load: Load) -> None:
    assert trace_text(load("program: []\n")) == "pto: 1\nsync: explicit\nprogram: []\n"


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1))
@settings(max_examples=50, deadline=None)
def test_any_name_of_a_core_comes_back(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    if not name.strip():
        return
    path = Path(tmp_path_factory.getbasetemp()) / "named.json"
    path.write_text(json.dumps({"arch": name, "archs": [name], "program": []}))
    program = load_program(str(path))
    copy = path.with_suffix(".yaml")
    copy.write_text(trace_text(program))
    back = load_program(str(copy))
    assert (back.arch, back.archs) == (name, (name,))


def test_statement_text(load: Load) -> None:
    text = "free[N % 2] = tsel ta <- tm, ta, tb, tm, waits=[ready]"
    (statement,) = load(with_program(f"- {text}")).body
    assert statement_text(statement) == text  # type: ignore[arg-type]
