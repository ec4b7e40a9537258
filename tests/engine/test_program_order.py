"""Values in simulated time: what a synchronised program computes is what its text says."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from archsim.analysis.run import Run
from archsim.api import simulate
from archsim.report.summary import summary

ROWS, COLS = 8, 32  # of every tile
TENSOR = (24, 64)
TYPES = {"f32": np.float32, "f16": np.float16, "i16": np.int16}
PIPES = {"tload": "MTE2", "tstore": "MTE3"}


def run(folder: Path, program: dict[str, Any], *sets: tuple[str, str], **options: Any) -> Run:
    path = folder / "p.json"
    path.write_text(json.dumps(program))
    return simulate(str(path), overrides=sets, **options)


@pytest.mark.parametrize(("between", "value"), [(["V"], 3), ([], 2)])
def test_operands_are_read_behind_the_barrier_though_the_head_hides_under_the_drain(
    tmp_path: Path, between: list[str], value: int
) -> None:
    """tadds f32 of 16 repeats: head 13, slots to 29, complete at 41; the next one comes at 32."""
    tile = {"loc": "vec", "dtype": "f32", "shape": [16, 64]}
    pause = [{"barrier": "S"}]  # takes one cycle of issue
    program = {
        "pto": 1,
        "arch": "a2a3",
        "sync": "explicit",
        "tensors": {"c": {"dtype": "f32", "shape": [16, 64]}},
        "tiles": {"t": {**tile, "addr": 0}, "u": {**tile, "addr": 0x2000}},
        "program": [
            "texpands t <- 1.0",
            {"barrier": "ALL"},
            *pause * 99,
            "tadds t <- t, 1.0",
            *pause * (31 - len(between)),
            *({"barrier": pipe} for pipe in between),
            "tadds u <- t, 1.0",
            {"barrier": "ALL"},
            "tstore c <- u",
        ],
    }
    result = run(tmp_path, program)
    starts = [instr["start"] for instr in summary(result)["instructions"]]  # type: ignore[attr-defined]
    assert starts[2] - starts[1] == 32
    assert (result.tensors["c"] == value).all()
    assert [f.kind for f in result.findings] == ([] if between else ["race"])


@dataclass(frozen=True)
class Op:
    """A statement, the slots of UB that it reads, the one that it writes, and its meaning."""

    text: str
    apply: Callable[["Naive"], None]


class Naive:
    """The program in order, one statement after the other, on numpy arrays."""

    def __init__(self, valid: tuple[int, int], offsets: Sequence[int], dtype: str) -> None:
        self.valid, self.offsets, self.type = valid, offsets, np.dtype(TYPES[dtype])
        rng = np.random.default_rng(3)
        self.a = rng.integers(-9, 9, TENSOR).astype(self.type)
        self.c = np.zeros(TENSOR, self.type)
        self.ub = np.full(1 << 16, 0xFF, np.uint8)

    def tile(self, number: int) -> np.ndarray[Any, Any]:
        size = self.type.itemsize
        return np.ndarray(self.valid, self.type, self.ub, self.offsets[number], (COLS * size, size))


def load(t: int, row: int) -> Op:
    def apply(at: Naive) -> None:
        rows, cols = at.valid
        at.tile(t)[...] = at.a[row : row + rows, :cols]

    return Op(f"tload t{t} <- a[{row}, 0]", apply)


def store(t: int, row: int) -> Op:
    def apply(at: Naive) -> None:
        rows, cols = at.valid
        at.c[row : row + rows, 5 : 5 + cols] = at.tile(t)

    return Op(f"tstore c[{row}, 5] <- t{t}", apply)


def maximum(d: int, a: int, b: int) -> Op:
    def apply(at: Naive) -> None:
        at.tile(d)[...] = np.maximum(at.tile(a), at.tile(b))

    return Op(f"tmax t{d} <- t{a}, t{b}", apply)


def minimum(d: int, a: int, value: int) -> Op:
    def apply(at: Naive) -> None:
        at.tile(d)[...] = np.minimum(at.tile(a), at.type.type(value))

    return Op(f"tmins t{d} <- t{a}, {value}", apply)


def fill(d: int, value: int) -> Op:
    def apply(at: Naive) -> None:
        at.tile(d)[...] = value

    return Op(f"texpands t{d} <- {value}", apply)


def ops(offsets: Sequence[int], size: int) -> st.SearchStrategy[Op]:
    """Statements whose operands are the same tile or share no byte."""

    def clear(d: int, a: int) -> bool:
        return offsets[d] == offsets[a] or abs(offsets[d] - offsets[a]) >= size

    tiles = st.integers(0, len(offsets) - 1)
    rows = st.integers(0, TENSOR[0] - ROWS)
    values = st.integers(-5, 5)
    pairs = st.tuples(tiles, tiles).filter(lambda p: clear(*p))
    threes = st.tuples(tiles, tiles, tiles).filter(lambda p: clear(*p[:2]) and clear(p[0], p[2]))
    return st.one_of(
        st.builds(load, tiles, rows),
        st.builds(store, tiles, rows),
        threes.map(lambda p: maximum(*p)),
        st.builds(lambda p, v: minimum(*p, v), pairs, values),
        st.builds(fill, tiles, values),
    )


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[Op], Naive, dict[str, Any]]:
    """A loop over statements on overlapping tiles, and the same program on a naive machine."""
    dtype = draw(st.sampled_from(sorted(TYPES)))
    size = ROWS * COLS * np.dtype(TYPES[dtype]).itemsize
    offsets = draw(
        st.lists(st.integers(0, 2 * size // 32).map(lambda n: 32 * n), min_size=4, max_size=4)
    )
    valid = (draw(st.integers(1, ROWS)), draw(st.integers(1, COLS)))
    first = [load(t, t) for t in range(4)]
    last = [store(t, t) for t in range(4)]
    body = [*first, *draw(st.lists(ops(offsets, size), min_size=3, max_size=9)), *last]
    extents = draw(st.sampled_from([list(valid), ["$R", "$C"]]))
    tile = {"loc": "vec", "dtype": dtype, "shape": [ROWS, COLS], "valid": extents}
    program = {
        "pto": 1,
        "arch": draw(st.sampled_from(["a2a3", "a5"])),
        "sync": "auto",
        "scalars": {"R": valid[0], "C": valid[1]},
        "tensors": {n: {"dtype": dtype, "shape": list(TENSOR)} for n in "ac"},
        "tiles": {f"t{i}": {**tile, "addr": addr} for i, addr in enumerate(offsets)},
        "program": [{"for": {"var": "i", "range": 2}, "do": [op.text for op in body]}],
    }
    return body, Naive(valid, offsets, dtype), program


def synchronised(texts: Sequence[str], keep: Sequence[bool]) -> list[Any]:
    """Each statement waits for the one before it, but for where `keep` says no."""
    pipes = [PIPES.get(text.split()[0], "V") for text in texts]
    out: list[Any] = []
    for i, text in enumerate(texts):
        out.append(text)
        source, target = pipes[i], pipes[(i + 1) % len(pipes)]
        if not keep[i % len(keep)]:
            continue
        if i == len(texts) - 1:
            out.append({"barrier": "ALL"})
        elif source == target:
            out.append({"barrier": source})
        else:
            key = [source, target, i % 8]
            out += [{"set_flag": key}, {"wait_flag": key}]
    return out


@settings(
    max_examples=40,
    phases=[Phase.explicit, Phase.generate],
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(
    drawn=programs(),
    machine=st.sampled_from(
        [
            (),
            (("pipes.V.queue_depth", "1"), ("pipes.MTE2.queue_depth", "1")),
            (("events.latency_cycles", "7"), ("scalar.issue_cycles", "0")),
            (("paths.gm_to_ub.floor_cycles", "20"), ("paths.gm_to_ub.startup_cycles", "0")),
            (("paths.ub_to_gm.floor_cycles", "9000"),),
        ]
    ),
    keep=st.lists(st.booleans(), min_size=4, max_size=7),
)
def test_a_program_without_a_finding_computes_what_its_text_says(
    tmp_path_factory: pytest.TempPathFactory,
    drawn: tuple[list[Op], Naive, dict[str, Any]],
    machine: tuple[tuple[str, str], ...],
    keep: list[bool],
) -> None:
    body, naive, program = drawn
    folder = tmp_path_factory.mktemp("run")
    np.save(folder / "a.npy", naive.a)
    given_a = {"inputs": {"a": str(folder / "a.npy")}}
    for op in (*body, *body):
        op.apply(naive)
    derived = run(folder, program, *machine, **given_a)
    assert [f.kind for f in derived.findings if f.severity == "error"] == []
    assert derived.tensors["c"].tobytes() == naive.c.tobytes()
    untimed = run(folder, program, *machine, numerics=False)
    for part in ("total_cycles", "pipes", "instructions", "critical_path"):
        assert summary(untimed)[part] == summary(derived)[part]

    texts = [op.text for op in body]
    for kept in ([True], keep):
        loop = {"for": {"var": "i", "range": 2}, "do": synchronised(texts, kept)}
        written = run(
            folder, {**program, "sync": "explicit", "program": [loop]}, *machine, **given_a
        )
        errors = [f.kind for f in written.findings if f.severity == "error"]
        assert not errors or not all(kept)
        if not errors:
            assert written.tensors["c"].tobytes() == naive.c.tobytes()
