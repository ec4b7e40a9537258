"""Data paths of the shipped chips against board tables.

`data/board_moves.csv`: average cycles of one transfer in a stream of equal ones, one core, from
the instruction model of Ascend/mskpp (commit 065b75c, csrc/prof_data/resource910b.cpp): a2a3 is
the 910B1 at 1.85 GHz, a5 the 950 at 1.65 GHz.
"""

import csv
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import pytest

import archsim.arch

TABLE = Path(__file__).parent / "data" / "board_moves.csv"

# arch, path: points, mean error and largest error in percent, outside the A5 step
TOLERANCE = {
    ("a2a3", "gm_to_ub"): (161, 1.0, 6.0),
    ("a2a3", "ub_to_gm"): (60, 1.3, 5.5),
    ("a2a3", "gm_to_l1"): (25, 3.5, 11.0),
    ("a2a3", "l0c_to_gm"): (49, 2.3, 7.0),
    ("a2a3", "l1_to_l0a"): (31, 0.3, 1.7),
    ("a2a3", "l1_to_l0b"): (36, 0.2, 1.0),
    ("a2a3", "l1_to_bt"): (10, 0.4, 3.3),
    ("a2a3", "l1_to_fb"): (8, 0.0, 0.0),
    ("a2a3", "ub_to_ub"): (22, 0.2, 0.4),
    ("a5", "gm_to_ub"): (6, 0.4, 0.9),
    ("a5", "ub_to_gm"): (8, 1.2, 2.8),
    ("a5", "gm_to_l1"): (7, 0.3, 0.4),
    ("a5", "l0c_to_gm"): (4, 0.6, 1.2),
    ("a5", "l1_to_gm"): (7, 1.5, 4.9),
    ("a5", "l0c_to_ub"): (7, 0.4, 1.3),
    ("a5", "l0c_to_l1"): (7, 0.9, 2.5),
    ("a5", "l1_to_l0a"): (5, 0.8, 1.5),
    ("a5", "l1_to_l0b"): (6, 1.2, 2.5),
    ("a5", "l1_to_ub"): (6, 0.4, 1.3),
    ("a5", "ub_to_l1"): (5, 0.2, 0.4),
}


def table():
    points = defaultdict(list)
    with TABLE.open() as file:
        for row in csv.DictReader(file):
            points[row["arch"], row["path"]].append((Fraction(row["kib"]), Fraction(row["cycles"])))
    return points


POINTS = table()


def predicted(path, kib):
    payload = kib * 1024
    cycles = max(path.floor_cycles, path.startup_cycles + payload / path.bytes_per_cycle)
    if path.plateau_bytes_per_cycle is not None:
        cycles = max(cycles, payload / path.plateau_bytes_per_cycle)
    return cycles


def errors(arch, name, points):
    path = archsim.arch.load(arch).paths[name]
    return [float(predicted(path, kib) / cycles - 1) * 100 for kib, cycles in points]


def test_every_measured_path_of_the_shipped_chips_is_compared():
    measured = {
        (arch, name)
        for arch in ("a2a3", "a5")
        for name, path in archsim.arch.load(arch).paths.items()
        if path.basis == "measured"
    }
    assert measured == set(TOLERANCE) == set(POINTS)


@pytest.mark.parametrize(("arch", "name"), TOLERANCE)
def test_paths_meet_the_board(arch, name):
    count, mean, largest = TOLERANCE[arch, name]
    points = [p for p in POINTS[arch, name] if arch == "a2a3" or not 16 < p[0] < 32]
    found = [abs(e) for e in errors(arch, name, points)]
    assert len(found) == count
    assert sum(found) / count <= mean
    assert max(found) <= largest


@pytest.mark.parametrize(
    ("name", "lowest"),
    [("gm_to_ub", -22.1), ("ub_to_gm", -33.4), ("gm_to_l1", -23.5), ("l0c_to_gm", -18.8),
     ("l1_to_gm", -32.1)],
)  # fmt: skip
def test_between_16_and_32_kib_a5_stays_below_the_step_by_no_more_than_its_source_says(
    name, lowest
):
    points = [p for p in POINTS["a5", name] if 16 < p[0] < 32]
    found = errors("a5", name, points)
    assert found
    assert all(lowest <= e <= 0 for e in found)
