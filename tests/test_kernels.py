"""The kernels of `traces/kernels`, on both cores, written waits and derived ones, against numpy."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from archsim.analysis.run import Run
from archsim.api import simulate

KERNELS = Path(__file__).parents[1] / "traces" / "kernels"
Array = NDArray[Any]


@cache
def ran(name: str, core: str, sync: str) -> Run:
    return simulate(str(KERNELS / f"{name}.yaml"), arch=core, sync=sync)


def softmax(t: dict[str, Array]) -> dict[str, Array]:
    x = t["x"].astype(np.float64)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return {"y": e / e.sum(axis=1, keepdims=True)}


def rms_norm(t: dict[str, Array]) -> dict[str, Array]:
    x = t["x"].astype(np.float64)
    return {"y": x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-5) * t["w"]}


def layer_norm(t: dict[str, Array]) -> dict[str, Array]:
    x = t["x"].astype(np.float64)
    d = x - x.mean(axis=1, keepdims=True)
    scale = 1 / np.sqrt((d * d).mean(axis=1, keepdims=True) + 1e-5)
    return {"y": d * scale * t["gain"] + t["bias"]}


def gelu(t: dict[str, Array]) -> dict[str, Array]:
    x = t["x"].astype(np.float64)
    return {"y": 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))}


def rotary(t: dict[str, Array]) -> dict[str, Array]:
    x, c, s = (t[name].astype(np.float64) for name in ("x", "cosine", "sine"))
    turned = (x[:, :32] + 1j * x[:, 32:]) * (c + 1j * s)
    return {"y": np.concatenate([turned.real, turned.imag], axis=1)}


def top_k(t: dict[str, Array]) -> dict[str, Array]:
    order = np.argsort(-t["x"], axis=1, kind="stable")[:, :16]
    return {"values": np.take_along_axis(t["x"], order, axis=1), "places": order}


def quantise(t: dict[str, Array]) -> dict[str, Array]:
    x = t["x"].astype(np.float64)
    scale = np.abs(x).max(axis=1, keepdims=True) / 127
    q = np.clip(np.rint(x / scale), -128, 127)
    return {"q": q, "y": q * scale}


REFERENCES: dict[str, Callable[[dict[str, Array]], dict[str, Array]]] = {
    "softmax": softmax,
    "rms_norm": rms_norm,
    "layer_norm": layer_norm,
    "gelu": gelu,
    "rotary": rotary,
    "top_k": top_k,
    "int8_quantise": quantise,
}
PLACES = [
    (name, core, sync)
    for name in REFERENCES
    for core in ("a2a3", "a5")
    for sync in ("explicit", "auto")
]


def test_every_kernel_has_a_reference() -> None:
    assert sorted(REFERENCES) == sorted(path.stem for path in KERNELS.glob("*.yaml"))


@pytest.mark.parametrize(("name", "core", "sync"), PLACES)
def test_a_kernel_computes_what_numpy_does(name: str, core: str, sync: str) -> None:
    run = ran(name, core, sync)
    assert [f.message for f in run.findings if f.severity == "error"] == []
    assert all(verdict["ok"] for verdict in run.expect.values())
    for tensor, wanted in REFERENCES[name](dict(run.tensors)).items():
        got = run.tensors[tensor].astype(np.float64)
        off = np.abs(got - wanted)
        allowed = (
            1.0 if tensor == "q" else 1e-5 + 2e-4 * np.abs(wanted)
        )  # a tie may fall either way
        if name == "int8_quantise" and tensor == "y":
            allowed = np.abs(run.tensors["x"]).max(axis=1, keepdims=True) / 127 + 1e-5
        assert (off <= allowed).all(), (tensor, off.max())


@pytest.mark.parametrize("core", ["a2a3", "a5"])
@pytest.mark.parametrize("name", REFERENCES)
def test_derived_waits_give_the_numbers_of_the_written_ones(name: str, core: str) -> None:
    written, derived = ran(name, core, "explicit"), ran(name, core, "auto")
    for tensor, values in written.tensors.items():
        assert values.tobytes() == derived.tensors[tensor].tobytes()
