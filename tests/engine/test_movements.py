"""Movements from the trace file to the tensors, on both cores, against plain numpy."""

import numpy as np
import pytest

from archsim.api import simulate
from archsim.base.errors import InputError

ARCHS = ["a2a3", "a5"]


def ran(tmp_path, arch, tensors, tiles, program):
    def block(name, rows):
        return [f"{name}:", *(f"  {row}" for row in rows)]

    path = tmp_path / "p.yaml"
    lines = ["pto: 1", "arch: a2a3", "sync: auto", *block("tensors", tensors)]
    lines += [*block("tiles", tiles), *block("program", [f'- "{line}"' for line in program])]
    path.write_text("\n".join(lines) + "\n")
    return simulate(str(path), arch=arch)


A = "a: {dtype: f16, shape: [32, 64], init: {arange: {start: 1}}}"
C = "c: {dtype: f16, shape: [32, 64]}"


@pytest.mark.parametrize("arch", ARCHS)
def test_parts_are_extracted_and_inserted(tmp_path, arch):
    run = ran(
        tmp_path,
        arch,
        [A, C],
        [
            "t: {loc: vec, dtype: f16, shape: [32, 64]}",
            "u: {loc: vec, dtype: f16, shape: [32, 64]}",
            "p: {loc: vec, dtype: f16, shape: [8, 32], valid: [7, 22]}",
            "e: {loc: vec, dtype: f16, shape: [1, 16], valid: [1, 1]}",
        ],
        ["tload t <- a", "tload u <- a", "textract p <- t, 5, 16", "tinsert u <- p, 9, 32",
         "textract e <- t, 31, 63", "tinsert u <- e, 3, 3", "tstore c <- u"],
    )  # fmt: skip
    want = run.tensors["a"].copy()
    want[9:16, 32:54] = run.tensors["a"][5:12, 16:38]
    want[3, 3] = run.tensors["a"][31, 63]
    assert not run.findings
    assert (run.tensors["c"] == want).all()


@pytest.mark.parametrize("arch", ARCHS)
def test_nz_tiles_come_and_go_whole_and_in_parts(tmp_path, arch):
    nz = "blayout: col_major, slayout: row_major"
    run = ran(
        tmp_path,
        arch,
        ["a: {dtype: f16, shape: [4, 2, 16, 16], layout: nz, init: {arange: {start: 1}}}",
         "c: {dtype: f16, shape: [4, 2, 16, 16], layout: nz}"],
        [f"t: {{loc: vec, dtype: f16, shape: [32, 64], {nz}}}",
         f"u: {{loc: vec, dtype: f16, shape: [32, 64], {nz}}}",
         f"p: {{loc: vec, dtype: f16, shape: [16, 32], {nz}}}"],
        ["tload t <- a", "tmov u <- t", "textract p <- t, 16, 32", "tinsert u <- p, 0, 16",
         "tstore c <- u"],
    )  # fmt: skip
    want = run.tensors["a"].copy()
    want[1:3, 0] = run.tensors["a"][2:4, 1]
    assert not run.findings
    assert (run.tensors["c"] == want).all()


@pytest.mark.parametrize("arch", ARCHS)
def test_columns_come_and_go(tmp_path, arch):
    run = ran(
        tmp_path,
        arch,
        ["a: {dtype: f32, shape: [16, 6], layout: dn, init: {arange: {start: 1}}}",
         "c: {dtype: f32, shape: [16, 6], layout: dn}"],
        ["t: {loc: vec, dtype: f32, shape: [16, 6], valid: [13, 6], blayout: col_major}",
         "u: {loc: vec, dtype: f32, shape: [16, 6], valid: [13, 6], blayout: col_major}"],
        ["tload t <- a[2, 0]", "tmov u <- t", "tstore c[1, 0] <- u"],
    )  # fmt: skip
    want = np.zeros((16, 6), np.float32)
    want[1:14] = run.tensors["a"][2:15]
    assert not run.findings
    assert (run.tensors["c"] == want).all()


INDEXED = [
    "a: {dtype: f32, shape: [16, 16], init: {arange: {start: 1}}}",
    "i: {dtype: i32, shape: [4, 8], init: {randint: {seed: 3, low: 0, high: 256}}}",
    "c: {dtype: f32, shape: [4, 8]}",
    "d: {dtype: f32, shape: [16, 16]}",
]
LANES = [
    "x: {loc: vec, dtype: i32, shape: [4, 8], valid: [4, 7]}",
    "t: {loc: vec, dtype: f32, shape: [4, 8], valid: [4, 7]}",
]


@pytest.mark.parametrize("arch", ARCHS)
def test_elements_are_gathered_and_scattered(tmp_path, arch):
    program = ["tload x <- i", "mgather t <- a, x", "tstore c <- t", "mscatter d <- t, x"]
    run = ran(tmp_path, arch, INDEXED, LANES, program)
    index = run.tensors["i"][:, :7]
    flat = run.tensors["a"].reshape(-1)
    want = np.zeros(256, np.float32)
    want[index.reshape(-1)] = flat[index.reshape(-1)]
    assert not run.findings
    assert (run.tensors["c"][:, :7] == flat[index]).all()
    assert (run.tensors["d"].reshape(-1) == want).all()


def test_an_index_outside_is_a_finding(tmp_path):
    outside = [row.replace("low: 0, high: 256", "low: 300, high: 301") for row in INDEXED]
    run = ran(tmp_path, "a2a3", outside, LANES, ["tload x <- i", "mgather t <- a, x"])
    assert [(f.kind, f.message) for f in run.findings] == [
        ("bounds", "index 300 in element 0 of row 0 is outside, must be 0 to 255")
    ]


@pytest.mark.parametrize("arch", ARCHS)
def test_a_reshaped_tile_names_the_same_bytes(tmp_path, arch):
    run = ran(
        tmp_path,
        arch,
        ["a: {dtype: f32, shape: [8, 16], init: {arange: {start: 1}}}",
         "c: {dtype: i32, shape: [4, 32]}"],
        ["t: {loc: vec, dtype: f32, shape: [8, 16]}", "r: {loc: vec, dtype: i32, shape: [4, 32]}"],
        ["tload t <- a", "treshape r <- t", "tprefetch t <- a", "tstore c <- r"],
    )  # fmt: skip
    assert not run.findings
    assert (run.tensors["c"].view(np.float32) == run.tensors["a"].reshape(4, 32)).all()


@pytest.mark.parametrize("arch", ARCHS)
def test_atomic_stores_add_up(tmp_path, arch):
    run = ran(
        tmp_path,
        arch,
        ["a: {dtype: f32, shape: [8, 8], init: {arange: {start: 1}}}",
         "c: {dtype: f32, shape: [8, 8], init: {const: 5}}"],
        ["t: {loc: vec, dtype: f32, shape: [8, 8]}"],
        ["tload t <- a", "tstore c <- t, atomic=add", "tstore c <- t, atomic=add"],
    )  # fmt: skip
    assert (run.tensors["c"] == 5 + 2 * run.tensors["a"]).all()


def test_a_number_is_read_before_it_is_used(tmp_path):
    tiles = ["t: {loc: vec, dtype: f32, shape: [8, 8]}"]
    with pytest.raises(InputError, match=r"\$x has no value yet; tgetval must come first"):
        ran(tmp_path, "a2a3", ["a: {dtype: f32, shape: [8, 8]}"], tiles,
            ["tload t <- a", "tmuls t <- t, $x", "tgetval $x <- t, 0"])  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "valid", "basis"),
    [
        ("[64, 32]", "[64, 31]", "assumed"),  # 124 bytes
        ("[64, 32]", "[64, 32]", "measured"),  # 128
        ("[1, 32]", "[1, 31]", "measured"),  # one run
    ],
)
def test_short_runs_rest_on_nothing_measured(tmp_path, shape: str, valid: str, basis: str) -> None:
    text = (
        "pto: 1\narch: a2a3\nsync: auto\n"
        "tensors: {a: {dtype: f32, shape: [64, 1024]}}\n"
        f"tiles: {{t: {{loc: vec, dtype: f32, shape: {shape}, valid: {valid}}}}}\n"
        "program: [tload t <- a]\n"
    )
    (tmp_path / "p.yaml").write_text(text)
    run = simulate(str(tmp_path / "p.yaml"))
    assert run.basis == {basis: 1.0}
