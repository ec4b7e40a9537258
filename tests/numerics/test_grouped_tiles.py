"""TQUANT with an exponent for every 32 columns, on memory against numpy written by hand."""

import ml_dtypes
import numpy as np
import pytest
from bench import Bench
from hypothesis import given, settings
from hypothesis import strategies as st

from archsim.isa.operands import BoundInstr
from archsim.isa.tile_ops import FORMS
from archsim.lower import lower
from archsim.numerics.execute import execute

MX = next(op for op in FORMS["tquant"] if op.form == "mx")
E4M3 = np.dtype(ml_dtypes.float8_e4m3fn)
TYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
MARK = 0x5A
INF, NAN = np.inf, np.nan


def quantised(bench, values, dtype="f32", spare=0, dynamic=False):
    """Bytes of dst and of exponents; `spare` columns and two rows beyond the valid ones stay."""
    rows, cols = values.shape
    whole, groups = (rows + 2, cols + spare), -(-cols // 32)
    src = bench.tile(dtype, whole, (rows, cols), dynamic=dynamic)
    bench.put(src, np.full((src.rows, src.cols), NAN))  # beyond what is valid: it must not count
    bench.put(src, values)
    dst = bench.tile("f8e4m3", whole, (rows, cols), dynamic=dynamic)
    exponents = bench.tile("u8", (rows + 2, groups), (rows, groups), dynamic=dynamic)
    for tile in (dst, exponents):
        mark = np.full((tile.rows, tile.cols), MARK, np.uint8)
        bench.put(tile, mark.view(tile.dtype.np))
    tmp = bench.tile("f32", (rows, groups))
    instr = BoundInstr(MX, (dst, exponents), (src,), tmp, {"mode": "mx"})
    execute(lower(instr, bench.arch).uops, bench.memory, 0, bench.state).apply()
    read = (bench.get(tile, tile.rows, tile.cols, "u8") for tile in (dst, exponents))
    got, scales = read
    assert (got[rows:] == MARK).all()
    assert (got[:, cols:] == MARK).all()
    assert (scales[rows:] == MARK).all()
    assert (scales[:, groups:] == MARK).all()
    return got[:rows, :cols].copy(), scales[:rows, :groups].copy()


def by_hand(values):
    """Exponent bits of the greatest f32 of each group, and the group times a power of two."""
    rows, cols = values.shape
    padded = np.zeros((rows, -(-cols // 32) * 32), np.float32)
    padded[:, :cols] = values.astype(np.float32)
    split = padded.reshape(rows, -1, 32)
    fields = (np.abs(split).max(axis=-1).view(np.uint32) >> 23).astype(int)
    shared = np.where(fields == 255, 255, np.maximum(fields - 8, 0))
    power = np.where(shared == 255, NAN, np.ldexp(1.0, 127 - shared))
    scaled = np.clip(split * power[:, :, None], -448, 448)
    scaled = np.where(np.isnan(scaled), 0, scaled)
    return scaled.reshape(rows, -1)[:, :cols].astype(E4M3).view(np.uint8), shared


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    shape=st.one_of(
        st.tuples(st.integers(1, 5), st.integers(1, 600)), st.just((2, 2100)), st.just((40, 33))
    ),
    spare=st.sampled_from([0, 7, 64]),
    dynamic=st.booleans(),
    reach=st.sampled_from([0, 3, 12, 130]),
    seed=st.integers(0, 99),
)
@pytest.mark.parametrize("dtype", TYPES)
def test_every_group_has_its_own_power_of_two(dtype, shape, spare, dynamic, reach, seed):
    rng = np.random.default_rng(seed)
    powers = np.repeat(rng.integers(-reach, reach + 1, (shape[0], -(-shape[1] // 32))), 32, axis=1)
    with np.errstate(all="ignore"):
        wide = rng.normal(0, 1, shape) * np.exp2(powers[:, : shape[1]].astype(float))
        values = wide.astype(np.float32).astype(TYPES[dtype])
        want, shared = by_hand(values)
    got, scales = quantised(Bench("a5"), values, dtype, spare, dynamic)
    assert (scales == shared).all()
    assert (got == want).all()


def group(*values):
    """32 columns: the values, and zeros."""
    row = np.zeros((1, 32), np.float32)
    row[0, : len(values)] = values
    return row


def numbers(got):
    return got.view(E4M3).astype(np.float32)[0]


@pytest.mark.parametrize("profile", ["reset", "infnan"])
@pytest.mark.parametrize(
    ("values", "exponent", "want"),
    [
        ([0.0, -0.0], 0, [0.0, -0.0]),
        ([1.0, -1.0, 0.5, 1.5, 1.75], 119, [256, -256, 128, 384, 448]),
        # ties: 272, 304, 432 between steps of 32, and 464 between 448 and what would be 480
        ([272 / 256, 304 / 256, -432 / 256, 464 / 256], 119, [256, 320, -448, 448]),
        # the least number is 2^-9; half of it goes to zero of its sign, one and a half to two
        ([1.0, 2.0**-17, 2.0**-18, -(2.0**-18), 3 * 2.0**-18], 119, [256, 2**-9, 0, -0.0, 2**-8]),
        # exponent 0 is the least: below it smaller groups use fewer binades
        ([2.0**-118], 1, [256]),
        ([2.0**-119, 2.0**-120], 0, [256, 128]),
        ([2.0**-120], 0, [128]),
        ([2.0**-126, -(2.0**-127), 1.5 * 2.0**-127], 0, [2, -1, 1.5]),
        ([2.0**-136, 2.0**-137, 2.0**-149], 0, [2.0**-9, 0, 0]),
        ([1.75 * 2.0**127, -(2.0**127)], 246, [448, -256]),
    ],
)
def test_edges_of_a_group(profile, values, exponent, want):
    got, scales = quantised(Bench("a5", profile=profile), group(*values))
    assert scales.tolist() == [[exponent]]
    assert numbers(got)[: len(want)].tobytes() == np.array(want, np.float32).tobytes()
    assert (numbers(got)[len(want) :] == 0).all()


@pytest.mark.parametrize(("profile", "beyond"), [("reset", 448.0), ("infnan", NAN)])
def test_what_rounds_to_more_than_448_follows_the_profile(profile, beyond):
    values = group(464 / 256, np.nextafter(np.float32(464 / 256), np.float32(2)), -511 / 256, 3e-5)
    got, scales = quantised(Bench("a5", profile=profile), values)
    assert scales.tolist() == [[119]]
    want = [448, beyond, -beyond, 0.0078125]
    assert np.array_equal(numbers(got)[:4], np.array(want, np.float32), equal_nan=True)


@pytest.mark.parametrize(("profile", "every"), [("reset", 0.0), ("infnan", NAN)])
@pytest.mark.parametrize("special", [INF, -INF, NAN])
@pytest.mark.parametrize("dtype", TYPES)
def test_an_infinity_or_a_nan_takes_its_group_and_no_other(profile, every, special, dtype):
    values = np.concatenate([group(1), group(3, special, 0.5), group(-2)], axis=1)
    got, scales = quantised(Bench("a5", profile=profile), values, dtype)
    assert scales.tolist() == [[119, 255, 120]]
    row = numbers(got)
    assert (row[0], row[64]) == (256, -256)
    assert np.array_equal(row[32:64], np.full(32, every, np.float32), equal_nan=True)


def test_maxima_that_drop_a_nan_leave_the_rest_of_its_group():
    bench = Bench("a5", profile="infnan", max_nan="other")
    got, scales = quantised(bench, group(1, NAN, 0.5))
    assert scales.tolist() == [[119]]
    assert np.array_equal(numbers(got)[:3], np.array([256, NAN, 128], np.float32), equal_nan=True)


def test_subnormal_halves_have_their_true_exponent():
    got, scales = quantised(Bench("a5"), group(2.0**-24, 2.0**-24), "f16")
    assert scales.tolist() == [[127 - 24 - 8]]
    assert numbers(got)[:3].tolist() == [256, 256, 0]
