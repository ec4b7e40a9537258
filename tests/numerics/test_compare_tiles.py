"""TCMP, TCMPS, TSEL and TSELS on tiles, against comparisons written by hand in numpy.

Masks: bit (r, c) of a row is bit c & 7 of byte c >> 3 (PTO ISA pages and device headers).
"""

import operator
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from bench import Bench
from numpy.typing import NDArray

MODES = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
ALL = ["i32", "u32", "i16", "u16", "i8", "u8", "f16", "bf16", "f32"]
NUMPY = {"f16": np.float16, "f32": np.float32, "bf16": ml_dtypes.bfloat16}
Array = NDArray[Any]


@pytest.fixture(autouse=True)
def ieee() -> Iterator[None]:
    with np.errstate(invalid="ignore"):  # bfloat16 comparisons warn of NaN
        yield


def numpy_type(name: str) -> "np.dtype[Any]":
    return np.dtype(NUMPY.get(name) or name.replace("i", "int").replace("u", "uint"))


def values(dtype: str, shape: tuple[int, int], seed: int) -> Array:
    """Few different values, so that equal ones meet; limits, zeros of both signs, NaN."""
    element = numpy_type(dtype)
    if dtype in NUMPY:
        pool = np.array([0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan, 6e-8], element)
    else:
        limits = np.iinfo(element)
        pool = np.array([0, 1, limits.max, limits.min, limits.max - 1, 77], element)
    return np.random.default_rng(seed).choice(pool, shape)


def bits_of(bench: Bench, mask: Any, rows: int, cols: int) -> Array:
    packed = bench.get(mask, rows, mask.cols)
    lanes = np.arange(cols)
    return (packed[:, lanes >> 3] >> (lanes & 7) & 1).astype(bool)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("arch", "dtype"),
    [*(("a2a3", t) for t in ("f16", "f32", "i32")), *(("a5", t) for t in ALL)],
)
@pytest.mark.parametrize("cols", [64, 200])
def test_tcmp(arch: str, dtype: str, mode: str, cols: int) -> None:
    bench, valid = Bench(arch), (5, cols - 7)
    a, b = (values(dtype, (5, cols), seed) for seed in (1, 2))
    srcs = [bench.put(bench.tile(dtype, (5, cols), valid), x) for x in (a, b)]
    dst = bench.tile("u8", (5, 64))
    bench.run("tcmp", dst, *srcs, mode=mode)
    a, b = a[:, : valid[1]], b[:, : valid[1]]
    want = MODES[mode](a, b)
    if (arch, dtype) == ("a2a3", "i32") and mode != "ne":
        want = a == b  # the core has no other comparison of 32-bit integers
    assert np.array_equal(bits_of(bench, dst, *valid), want)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("arch", "dtype"),
    [*(("a2a3", t) for t in ("f16", "f32", "i32", "i16", "u16")), *(("a5", t) for t in ALL)],
)
def test_tcmps(arch: str, dtype: str, mode: str) -> None:
    bench, scalar = Bench(arch), 1 if dtype not in NUMPY else 1.5
    a = values(dtype, (3, 150), 3)
    src = bench.put(bench.tile(dtype, (3, 150)), a)
    dst = bench.tile("u8", (3, 32))
    bench.run("tcmps", dst, src, scalar, mode=mode)
    b = np.array(scalar, a.dtype)
    if arch == "a2a3" and dtype in ("i16", "u16"):
        a, b = a.view(np.float16), b.view(np.float16)  # the bits, read as half numbers
    want = MODES[mode](a, b)
    if (arch, dtype) == ("a2a3", "i32") and mode != "ne":
        want = a == b
    assert np.array_equal(bits_of(bench, dst, 3, 150), want)


def test_unequal_inverts_whole_mask_rows_on_a2a3_only() -> None:
    for arch, behind in (("a2a3", 0xFF), ("a5", 0)):
        bench = Bench(arch)
        src = bench.put(bench.tile("f32", (2, 64)), np.ones((2, 64)))
        dst = bench.put(bench.tile("u8", (2, 32)), np.zeros((2, 32)))
        bench.run("tcmp", dst, src, src, mode="ne")
        found = bench.get(dst, 2, 32)
        assert (found[:, :8] == 0).all()
        assert (found[:, 16:] == behind).all()


def masked(bench: Bench, rows: int, cols: int) -> tuple[Any, Array]:
    chosen = np.random.default_rng(4).integers(0, 2, (rows, cols)).astype(bool)
    packed = np.packbits(chosen, axis=-1, bitorder="little")
    return bench.put(bench.tile("u8", (rows, 32)), packed), chosen


SELECTED = [
    (arch, dtype, form)
    for form in ("tsel", "tsels")
    for arch in ("a2a3", "a5")
    for dtype in ALL
    if (arch == "a5" or dtype[-1] != "8") and (arch, dtype, form) != ("a5", "bf16", "tsels")
]


@pytest.mark.parametrize(("arch", "dtype", "form"), SELECTED)
@pytest.mark.parametrize("cols", [60, 64, 100, 190])
def test_selections_keep_bits(arch: str, dtype: str, cols: int, form: str) -> None:
    bench = Bench(arch)
    mask, chosen = masked(bench, 3, cols)
    a, b = (values(dtype, (3, cols), seed) for seed in (5, 6))
    dst = bench.tile(dtype, (3, cols))
    src = bench.put(bench.tile(dtype, (3, cols)), a)
    tmp = bench.tile("u8", (1, 32)) if arch == "a2a3" else None
    if form == "tsel":
        bench.run("tsel", dst, mask, src, bench.put(bench.tile(dtype, (3, cols)), b), tmp=tmp)
    else:
        b = np.full_like(b, np.array(-2.0 if dtype in NUMPY else 77, b.dtype))
        bench.run("tsels", dst, mask, src, b[0, 0].item(), tmp=tmp)
    assert bench.get(dst, 3, cols).tobytes() == np.where(chosen, a, b).tobytes()


def test_tsels_of_a2a3_leaves_the_scalar_in_tmp() -> None:
    bench = Bench("a2a3")
    mask, _ = masked(bench, 1, 16)
    src = bench.put(bench.tile("f32", (1, 16)), np.zeros((1, 16)))
    tmp = bench.tile("f32", (1, 8))
    bench.run("tsels", bench.tile("f32", (1, 16)), mask, src, 2.5, tmp=tmp)
    assert bench.get(tmp, 1, 1) == 2.5
