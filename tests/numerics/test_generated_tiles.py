"""TCI, TTRI, TRANDOM and THISTOGRAM on memory against numpy and published vectors."""

import numpy as np
import pytest
from bench import Bench
from hypothesis import given, settings
from hypothesis import strategies as st

from archsim.base.dtypes import DTYPES

CORES = ["a2a3", "a5"]
shapes = st.tuples(st.integers(1, 6), st.integers(1, 300))


def marked_tile(bench, dtype, shape, valid):
    tile = bench.tile(dtype, shape, valid)
    return bench.put(tile, np.full((tile.rows, tile.cols), 9))


def is_in_place(bench, dst, want):
    """`want` in the valid region, the mark everywhere else."""
    whole = np.full((dst.rows, dst.cols), 9, dst.dtype.np)
    whole[: want.shape[0], : want.shape[1]] = want
    return bench.get(dst, dst.rows, dst.cols).tobytes() == whole.tobytes()


@settings(max_examples=40, deadline=None)
@given(
    dtype=st.sampled_from(["i32", "u32", "i16", "u16"]),
    shape=shapes,
    whole=st.booleans(),
    start=st.integers(-(2**15), 2**15 - 1),
    descending=st.booleans(),
)
@pytest.mark.parametrize("arch", CORES)
def test_consecutive_numbers_wrap_in_the_element_type(arch, dtype, shape, whole, start, descending):
    bench = Bench(arch)
    valid = shape if whole else ((shape[0] + 1) // 2, (shape[1] + 1) // 2)
    dst = marked_tile(bench, dtype, shape, valid)
    bench.run("tci", dst, start, descending=str(descending).lower())
    steps = np.arange(valid[0] * valid[1]).reshape(valid)
    want = (start - steps if descending else start + steps).astype(DTYPES[dtype].np)
    assert is_in_place(bench, dst, want)


@settings(max_examples=40, deadline=None)
@given(
    dtype=st.sampled_from(["f32", "f16", "bf16", "i32", "u16"]),
    shape=shapes,
    diagonal=st.integers(-310, 310),
    upper=st.booleans(),
)
@pytest.mark.parametrize("arch", CORES)
def test_triangles(arch, dtype, shape, diagonal, upper):
    bench = Bench(arch)
    dst = marked_tile(bench, dtype, (shape[0] + 1, shape[1] + 5), shape)
    bench.run("ttri", dst, diagonal, upper=str(upper).lower())
    ones = np.ones(shape)
    assert is_in_place(bench, dst, np.triu(ones, diagonal) if upper else np.tril(ones, diagonal))


# Known answers of Philox4x32 that its authors publish with the Random123 library (kat_vectors):
# rounds, counter, key, words.
ONES = (0xFFFFFFFF,) * 4
PI = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344)
KNOWN = [
    (10, (0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    (10, ONES, ONES[:2], (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (10, PI, (0xA4093822, 0x299F31D0), (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
    (7, (0, 0, 0, 0), (0, 0), (0x5F6FB709, 0x0D893F64, 0x4F121F81, 0x4F730A48)),
    (7, ONES, ONES[:2], (0x5207DDC2, 0x45165E59, 0x4D8EE751, 0x8C52F662)),
    (7, PI, (0xA4093822, 0x299F31D0), (0x4DFCCABA, 0x190A87F0, 0xC47362BA, 0xB6B5242A)),
]


@pytest.mark.parametrize(("rounds", "counter", "key", "words"), KNOWN)
def test_published_random_words(rounds, counter, key, words):
    bench = Bench("a5")
    dst = bench.tile("u32", (1, 8))
    bench.run("trandom", dst, *key, *counter, rounds=str(rounds))
    assert bench.get(dst, 1, 4)[0].tolist() == list(words)


def philox(counter, key):
    """Ten rounds on Python's own integers."""
    x, (k0, k1) = [counter >> 32 * k & 0xFFFFFFFF for k in range(4)], key
    for _ in range(10):
        a, b = x[0] * 0xD2511F53, x[2] * 0xCD9E8D57
        x = [b >> 32 ^ x[1] ^ k0, b & 0xFFFFFFFF, a >> 32 ^ x[3] ^ k1, a & 0xFFFFFFFF]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return x


@pytest.mark.parametrize(
    ("shape", "valid"),
    [((3, 64), (3, 64)), ((5, 72), (4, 70)), ((2, 600), (2, 517)), ((1, 9), (1, 9))],
)
@pytest.mark.parametrize("counter", [7, (1 << 32) - 3, (1 << 96) - 5, (1 << 128) - 2])
def test_every_four_elements_have_the_next_counter(shape, valid, counter):
    bench = Bench("a5")
    dst = marked_tile(bench, "u32", shape, valid)
    words = [counter >> 32 * k & 0xFFFFFFFF for k in range(4)]
    bench.run("trandom", dst, 11, 12, *words)
    blocks = -(-valid[1] // 4)
    rows = [
        [
            word
            for b in range(blocks)
            for word in philox((counter + r * blocks + b) % 2**128, (11, 12))
        ]
        for r in range(valid[0])
    ]
    assert is_in_place(bench, dst, np.array(rows)[:, : valid[1]])


@pytest.mark.parametrize("cols", [1, 64, 255, 256, 600])
def test_counts_of_bytes(cols):
    bench = Bench("a5")
    values = np.random.default_rng(5).integers(0, 256, (3, cols), dtype=np.uint8)
    values[1] = 255
    src = bench.put(bench.tile("u8", (3, cols)), values)
    idx = bench.tile("u8", (3, 1))
    dst = marked_tile(bench, "u32", (3, 264), (3, 256))
    bench.run("thistogram", dst, src, idx)
    assert is_in_place(bench, dst, np.stack([np.bincount(row, minlength=256) for row in values]))


@pytest.mark.parametrize("cols", [1, 128, 500])
@pytest.mark.parametrize("byte", ["1", "0"])
def test_counts_of_one_byte_of_two(cols, byte):
    bench = Bench("a5")
    rng = np.random.default_rng(6)
    values = (rng.integers(0, 3, (4, cols)) << 8 | rng.integers(0, 256, (4, cols))).astype(
        np.uint16
    )
    src = bench.put(bench.tile("u16", (4, cols)), values)
    idx = bench.put(bench.tile("u8", (4, 32), (4, 1)), np.array([[0], [1], [2], [77]]))
    dst = marked_tile(bench, "u32", (4, 256), (4, 256))
    bench.run("thistogram", dst, src, idx, byte=byte)
    want = []
    for row, chosen in zip(values, (0, 1, 2, 77), strict=True):
        counted = row >> 8 if byte == "1" else row[row >> 8 == chosen] & 255
        want.append(np.bincount(counted, minlength=256))
    assert is_in_place(bench, dst, np.stack(want))
