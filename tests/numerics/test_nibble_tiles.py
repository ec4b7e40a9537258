"""TCVT between bf16 and the 4-bit floats on A5: every bf16 in every mode, every code, odd rows."""

from pathlib import Path

import numpy as np
import pytest
from ml_dtypes import bfloat16
from numpy.typing import NDArray

from archsim.api import simulate
from archsim.arch import load
from archsim.base.dtypes import DTYPES
from archsim.check import check
from archsim.isa.lanes.state import NumericState
from archsim.isa.operands import BoundInstr, Loc, Region, TileView
from archsim.isa.tile_ops import TILE_OPS
from archsim.lower import lower
from archsim.numerics.execute import execute
from archsim.numerics.memory import Memory

A5 = load("a5")
VALUES = {
    "f4e2m1": [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0],
    "f4e1m2": [k / 4 for k in range(8)],
}
EVERY = np.arange(1 << 16, dtype=np.uint16).view(bfloat16)
MODES = ["none", "rint", "round", "floor", "ceil", "trunc"]


def tile(
    dtype: str, rows: int, cols: int, addr: int, valid: tuple[int, int], dynamic: bool
) -> TileView:
    return TileView(
        dtype, Loc.VEC, DTYPES[dtype], rows, cols, *valid, addr, cols,
        static_rows=not dynamic, static_cols=not dynamic,
    )  # fmt: skip


def converted(
    source: str, to: str, data: NDArray[np.uint8], shape: tuple[int, int],
    valid: tuple[int, int], *, dynamic: bool = False, **attrs: str,
) -> tuple[NDArray[np.uint8], TileView]:  # fmt: skip
    """The bytes of the destination tile, which held 0xAA before."""
    src, dst = tile(source, *shape, 0, valid, dynamic), tile(to, *shape, 0x20000, valid, dynamic)
    memory = Memory({"UB": A5.memory.ub.size_bytes}, 0)
    memory.write(Region("UB", 0, 1, data.size, data.size), data.reshape(1, -1))
    size = dst.size_bytes
    memory.write(Region("UB", dst.addr, 1, size, size), np.full((1, size), 0xAA, np.uint8))
    instr = BoundInstr(TILE_OPS["tcvt"], (dst,), (src,), None, attrs)
    assert check(instr, A5, may_allocate=True) == []
    execute(lower(instr, A5).uops, memory, 0, NumericState.of(A5)).apply()
    return memory.read(Region("UB", dst.addr, shape[0], dst.row_bytes, dst.row_bytes)), dst


def codes_of(x: NDArray[np.float64], dtype: str, mode: str) -> NDArray[np.int64]:
    """The neighbours among the magnitudes, and the mode's choice. Ties are exact in f64."""
    values = np.array(VALUES[dtype])
    negative = np.signbit(x)
    size = np.minimum(np.abs(np.nan_to_num(x, nan=0.0, posinf=8.0, neginf=-8.0)), values[-1])
    below = np.searchsorted(values, size, side="right") - 1
    above = np.minimum(below + 1, 7)
    middle = (values[below] + values[above]) / 2
    nearest = (size > middle) | ((size == middle) & (below % 2 == 1))
    up = {
        "floor": negative,
        "ceil": ~negative,
        "trunc": np.zeros_like(negative),
        "round": size >= middle,
    }.get(mode, nearest)
    number = np.where(values[below] == size, below, np.where(up, above, below))
    return np.where(np.isnan(x), 0, number + 8 * negative)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("to", VALUES)
def test_every_bf16_to_four_bits(to: str, mode: str) -> None:
    got, _ = converted("bf16", to, EVERY.view(np.uint8), (256, 256), (256, 256), rmode=mode)
    codes = np.stack([got & 15, got >> 4], axis=-1).reshape(-1)
    with np.errstate(invalid="ignore"):
        want = codes_of(EVERY.astype(np.float64), to, mode)
    assert codes.tolist() == want.tolist()


@pytest.mark.parametrize("source", VALUES)
def test_every_pair_of_codes_back(source: str) -> None:
    data = np.arange(256, dtype=np.uint8)
    got, _ = converted(source, "bf16", data, (4, 128), (4, 128))
    numbers = np.stack([data & 15, data >> 4], axis=-1).reshape(4, 128)
    want = np.array(VALUES[source])[numbers & 7]
    want = np.where(numbers & 8, -want, want).astype(bfloat16)
    assert np.array_equal(got.view(np.uint16), want.view(np.uint16))


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("cols", [1, 63, 64, 100, 129])
def test_an_odd_row_ends_in_half_a_byte_and_the_rest_stays(cols: int, dynamic: bool) -> None:
    x = np.random.default_rng(cols).normal(0, 2, (3, 192)).astype(bfloat16)
    got, dst = converted(
        "bf16", "f4e2m1", x.view(np.uint8), (3, 192), (3, cols), dynamic=dynamic, rmode="rint"
    )
    written = -(-cols // 2)
    codes = np.stack([got & 15, got >> 4], axis=-1).reshape(3, 192)
    want = codes_of(x[:, :cols].astype(np.float64), "f4e2m1", "rint")
    assert codes[:, :cols].tolist() == want.tolist()
    assert (codes[:, cols : 2 * written] == 0).all()
    assert (got[:, written:] == 0xAA).all()
    assert dst.valid_region().row_bytes == written


def test_a_tile_of_four_bits_takes_half_the_bytes() -> None:
    view = tile("f4e2m1", 16, 64, 0, (16, 33), False)
    assert (view.row_bytes, view.size_bytes) == (32, 512)
    assert (view.valid_region().row_bytes, view.offset(2, 6)) == (17, 67)


@pytest.mark.parametrize("width", [128, 512, 1024])
def test_small_floats_are_the_same_at_any_vector_width(width: int) -> None:
    trace = str(Path(__file__).parents[2] / "traces" / "small_floats.yaml")
    usual = simulate(trace)
    other = simulate(trace, overrides=[("vector.width_bytes", str(width))])
    for name, values in usual.tensors.items():
        assert values.tobytes() == other.tensors[name].tobytes(), name
