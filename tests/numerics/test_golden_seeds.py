"""The public vectors of the four seed instructions, through lowering, on every core and profile.

Outside the lanes that a vector's note names, every lane holds at the peer's tolerance; on those
lanes the device's value is expected to the bit. Both are counted, so that neither can fade.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from bench import Bench
from numpy.typing import NDArray

GOLDEN = Path(__file__).parents[1] / "golden"
CASES: list[dict[str, Any]] = yaml.safe_load((GOLDEN / "seeds.yaml").read_text())["cases"]
ARRAYS = np.load(GOLDEN / "seeds.npz")
PEER = [case for case in CASES if case["from"] != "numpy_model"]
MODEL = [case for case in CASES if case["from"] == "numpy_model"]
Array = NDArray[Any]


def inputs(case: dict[str, Any]) -> list[Array]:
    return [ARRAYS[f"{case['id']}/in{k}"] for k in range(len(case["in_dtypes"]))]


def computed(case: dict[str, Any], bench: Bench, dynamic: bool, **attrs: str) -> Array:
    """The whole output tile, zero before: as the peer starts it."""
    shape, valid = tuple(case["shape"]), tuple(case["valid"])
    sources = [
        bench.put(bench.tile(dtype, shape, valid, dynamic=dynamic), values)
        for dtype, values in zip(case["in_dtypes"], inputs(case), strict=True)
    ]
    dst = bench.tile(case["out_dtype"], shape, valid, dynamic=dynamic)
    bench.put(dst, np.zeros(shape))
    scratch = None
    if case["op"] == "TPRELU":
        scratch = bench.tile("u8", (shape[0] + 1, max(shape[1] // 4, 64)))
    if case["op"] == "TADDDEQRELU":
        scratch = bench.tile("i32", shape)
    scale = (case["scale"],) if "scale" in case else ()
    bench.run(case["op"].lower(), dst, *sources, *scale, tmp=scratch, **attrs)
    return bench.get(dst, *shape)


def holds(got: Array, want: Array, tolerance: float) -> Array:
    """The peer's rule, lane by lane: near absolutely or relatively, and NaN on both sides alike."""
    a, b = got.astype(np.float64), want.astype(np.float64)
    with np.errstate(all="ignore"):
        off = np.abs(a - b)
        near = (off <= tolerance) | (off <= tolerance * np.abs(b)) | (a == b)
    return np.where(np.isnan(a) | np.isnan(b), np.isnan(a) & np.isnan(b), near)


def same_bits(got: Array, want: Array) -> Array:
    bits = f"u{got.dtype.itemsize}"
    return (got.view(bits) == want.view(bits)) | (np.isnan(got) & np.isnan(want))


def saturated(values: Array) -> Array:
    """Half results in profile reset."""
    return np.nan_to_num(values, nan=0.0, posinf=65504.0, neginf=-65504.0).astype(np.float16)


def exception(case: dict[str, Any], arch: str, profile: str, peer: Array) -> tuple[Array, Array]:
    """The lanes that the case's note names, for this core and profile, and the device's values."""
    is_half = case["out_dtype"] == "f16"
    settles = is_half and profile == "reset"
    none = np.zeros(peer.shape, np.bool_)
    if "departs" not in case:
        return none, peer
    if case["op"] == "TADDDEQRELU":
        return np.isinf(peer) & settles, saturated(peer)
    if case["op"] == "TPRELU":
        x = inputs(case)[0]
        kept = x > 0  # selection is no arithmetic: an infinity passes
        return ~np.isfinite(peer) & ~kept & settles, saturated(peer)
    if case["op"] == "TEXP":
        least = 2.0**-14 if is_half else 2.0**-126
        flushed = (np.abs(peer) < least) & (peer != 0) & (arch == "a5")
        special = ~np.isfinite(peer) & settles
        device = saturated(peer) if is_half else peer.copy()
        device[flushed] = 0
        return flushed | special, device
    a, b = inputs(case)
    with np.errstate(over="ignore"):
        device = np.clip(np.rint(np.maximum(a + b, np.float16(0))), 0, 127).astype(np.int8)
    return device != peer, device


PLACES = [
    (case, arch, profile)
    for case in PEER
    for arch in ("a2a3", "a5")
    for profile in ("reset", "infnan")
]


def split(case: dict[str, Any], arch: str, profile: str) -> tuple[Array, Array, Array]:
    """Peer's output, the valid lanes of the exception, and the device's values there."""
    peer = ARRAYS[f"{case['id']}/out"]
    lanes, device = exception(case, arch, profile, peer)
    inside = np.zeros(peer.shape, np.bool_)
    inside[: case["valid"][0], : case["valid"][1]] = True
    return peer, lanes & inside, device


@pytest.mark.parametrize(
    ("case", "arch", "profile"), PLACES, ids=[f"{c['id']}-{a}-{p}" for c, a, p in PLACES]
)
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_every_public_vector_holds(
    case: dict[str, Any], arch: str, profile: str, dynamic: bool
) -> None:
    got = computed(case, Bench(arch, profile=profile), dynamic)
    peer, named, device = split(case, arch, profile)
    bad = ~np.where(named, same_bits(got, device), holds(got, peer, case["peer_tolerance"]))
    if case["op"] == "TADDRELUCONV" and case["out_dtype"] == "i8":
        bad |= got != np.where(named, device, peer)  # the peer's tolerance of 1 excuses everything
    wrong = np.argwhere(bad)
    assert wrong.size == 0, [(tuple(at), got[tuple(at)], peer[tuple(at)]) for at in wrong[:5]]


# Lanes at the peer's tolerance, and lanes of a named exception.
COUNTS = {
    ("TADDDEQRELU", "a2a3", "reset"): (9237, 1596),
    ("TADDDEQRELU", "a2a3", "infnan"): (10833, 0),
    ("TADDDEQRELU", "a5", "reset"): (9237, 1596),
    ("TADDDEQRELU", "a5", "infnan"): (10833, 0),
    ("TPRELU", "a2a3", "reset"): (6877, 8),
    ("TPRELU", "a2a3", "infnan"): (6885, 0),
    ("TPRELU", "a5", "reset"): (6877, 8),
    ("TPRELU", "a5", "infnan"): (6885, 0),
    ("TEXP", "a2a3", "reset"): (5725, 41),
    ("TEXP", "a2a3", "infnan"): (5766, 0),
    ("TEXP", "a5", "reset"): (4982, 784),
    ("TEXP", "a5", "infnan"): (5023, 743),
    ("TADDRELUCONV", "a2a3", "reset"): (9062, 26),
    ("TADDRELUCONV", "a2a3", "infnan"): (9062, 26),
    ("TADDRELUCONV", "a5", "reset"): (9062, 26),
    ("TADDRELUCONV", "a5", "infnan"): (9062, 26),
}


def test_lanes_that_hold_and_lanes_of_exceptions_are_counted() -> None:
    counts = dict.fromkeys(COUNTS, (0, 0))
    for case, arch, profile in PLACES:
        held, excepted = counts[case["op"], arch, profile]
        named = int(split(case, arch, profile)[1].sum())
        total = case["valid"][0] * case["valid"][1]
        counts[case["op"], arch, profile] = (held + total - named, excepted + named)
    assert counts == COUNTS


MODEL_PLACES = [
    (case, arch, profile, precision)
    for case in MODEL
    for arch in ("a2a3", "a5")
    for profile in ("reset", "infnan")
    for precision in (
        ("default", "high") if case["op"] == "TEXP" and arch == "a5" else ("default",)
    )
]


def expected(case: dict[str, Any], arch: str, profile: str, precision: str) -> Array:
    """The output that is stated for this core, profile and precision."""
    outputs = case["outputs"]
    if case["op"] == "TEXP":
        name = f"{arch}_{profile}" if arch == "a2a3" else f"{arch}_{precision}_{profile}"
    else:
        name = profile if profile in outputs else outputs[0]  # one for both profiles
    return ARRAYS[f"{case['id']}/{name}"]


def ulps_apart(got: Array, want: Array) -> Array:
    """Distance on the line of halves, infinity included; 0 for NaN on both sides."""

    def place(x: Array) -> Array:
        bits = x.view(np.int16).astype(np.int32)
        return np.where(bits < 0, -(bits & 0x7FFF), bits)

    both_nan = np.isnan(got) & np.isnan(want)
    return np.where(both_nan, 0, np.abs(place(got) - place(want)))


@pytest.mark.parametrize(
    ("case", "arch", "profile", "precision"),
    MODEL_PLACES,
    ids=[f"{c['id']}-{a}-{p}-{q}" for c, a, p, q in MODEL_PLACES],
)
def test_every_vector_of_edge_values_holds_to_the_bit(
    case: dict[str, Any], arch: str, profile: str, precision: str
) -> None:
    attrs = {"precision": precision} if precision == "high" else {}
    got = computed(case, Bench(arch, profile=profile), False, **attrs)
    want = expected(case, arch, profile, precision)
    if "tolerance_ulp" in case:
        assert (ulps_apart(got, want) <= case["tolerance_ulp"]).all()
        assert ((got == 0) == (want == 0)).all()
    else:
        same = same_bits(got, want) if got.dtype.kind == "f" else got == want
        wrong = np.argwhere(~same)
        assert wrong.size == 0, [(tuple(at), got[tuple(at)], want[tuple(at)]) for at in wrong[:5]]
