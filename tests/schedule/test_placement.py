"""Placement: aligned, disjoint, kind to the banks, clear of what the program placed itself."""

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archsim.arch import ArchConfig, load
from archsim.base.errors import InputError
from archsim.program.trace import load_program
from archsim.schedule.placement import Placement, place

HEADER = "pto: 1\narch: a2a3\nsync: auto\n"


def placed(
    folder: Path, tiles: dict[str, str], program: list[str], arch: ArchConfig | None = None
) -> Placement:
    """Place a program of these tiles (name: shape and more) and statements."""
    lines = [f"  {name}: {{loc: vec, dtype: f32, {text}}}" for name, text in tiles.items()]
    steps = [f"  - {statement}" for statement in program]
    path = folder / "x.yaml"
    path.write_text(HEADER + "\n".join(["tiles:", *lines, "program:", *steps]) + "\n")
    return place(load_program(str(path)), arch or load("a2a3"))


def test_sources_of_one_instruction_start_256_bytes_apart(tmp_path: Path) -> None:
    tiles = dict.fromkeys(("a", "b", "c"), "shape: [16, 64]")
    where = placed(tmp_path, tiles, ["tadd c <- a, b"]).addresses
    assert (where["b"] - where["a"]) % 512 == 256
    assert where["c"] % 512 == 0


def test_a_tile_in_two_pairs_keeps_both_apart(tmp_path: Path) -> None:
    tiles = dict.fromkeys(("a", "b", "c", "d"), "shape: [16, 64]")
    where = placed(tmp_path, tiles, ["tadd d <- a, b", "tadd d <- b, c"]).addresses
    assert (where["b"] - where["a"]) % 512 == 256
    assert (where["c"] - where["b"]) % 512 == 256


def test_addresses_of_the_program_are_left_alone(tmp_path: Path) -> None:
    tiles = {"a": "shape: [16, 64], addr: 0x1000", "b": "shape: [16, 64]", "c": "shape: [32, 64]"}
    where = placed(tmp_path, tiles, ["texp b <- a"]).addresses
    assert where == {"b": 0, "c": 0x2000}


def test_assigned_tiles_are_not_placed_but_their_place_is_kept(tmp_path: Path) -> None:
    tiles = {"a": "shape: [16, 64]", "b": "shape: [16, 64]"}
    where = placed(tmp_path, tiles, ["tassign a <- 0x0", "texp b <- a"]).addresses
    assert where == {"b": 0x1000}


def test_scratch_comes_from_the_top_below_the_reserve(tmp_path: Path) -> None:
    placement = placed(tmp_path, {"a": "shape: [16, 64]"}, ["texp a <- a"])
    top = (192 - 8) * 1024
    assert placement.scratch(512) == top - 512
    assert placement.scratch(top - 4096) == 4096
    assert placement.scratch(top - 4095) is None


def test_a_memory_that_is_too_small_is_refused(tmp_path: Path) -> None:
    tiles = {"a": "shape: [352, 64], ring: 2", "b": "shape: [64, 64]"}
    with pytest.raises(InputError) as error:
        placed(tmp_path, tiles, ["texp b <- a[0]"])
    assert [d.message for d in error.value.diagnostics] == [
        "tile b takes 16 KiB and finds no room: 176 KiB of the 184 KiB of UB on a2a3 are taken"
    ]
    assert error.value.diagnostics[0].fix == (
        "make tiles or rings smaller, or let tiles share an address"
    )


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(1, 20), st.integers(1, 3)), min_size=1, max_size=8))
def test_nothing_overlaps(
    tmp_path_factory: pytest.TempPathFactory, shapes: list[tuple[int, int]]
) -> None:
    tiles = {f"t{i}": f"shape: [{rows}, 64], ring: {ring}" for i, (rows, ring) in enumerate(shapes)}
    where = placed(tmp_path_factory.mktemp("p"), tiles, ["texpands t0[0] <- 0.0"]).addresses
    spans = sorted(
        (where[f"t{i}"], where[f"t{i}"] + rows * 256 * ring)
        for i, (rows, ring) in enumerate(shapes)
    )
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))
    assert all(start % 256 == 0 for start, _ in spans)
