"""How wide the vector unit is changes cycles and never numbers: whole rows and their rests."""

import json

import pytest

from archsim.api import simulate

SHAPE, VALID = [6, 288], [5, 275]
TILE = {"loc": "vec", "dtype": "f32", "shape": SHAPE, "valid": VALID}
DYNAMIC = {**TILE, "valid": [5, "$cols"]}
NARROW = {**TILE, "valid": [5, 200]}  # more than a repeat, less than two
TREE = {**TILE, "shape": [64, 128], "valid": [64, 128]}  # a shape that has a sequence of its own
EXACT = {**TILE, "shape": [64, 1], "valid": [64, 1], "blayout": "col_major"}
ROW = {**TILE, "shape": [1, 288], "valid": [1, 275]}
COLUMN = {**TILE, "shape": [8, 1], "valid": [5, 1], "blayout": "col_major"}
COUNTS = {**COLUMN, "dtype": "i32"}
INDICES = {**TILE, "dtype": "i32"}
PLACES = {**ROW, "dtype": "i32"}
BLOCKS = {**TILE, "dtype": "u32", "shape": [6, 40], "valid": [5, 35]}
BINS = {**TILE, "dtype": "u32", "shape": [6, 256], "valid": [5, 256]}
BYTES = {**TILE, "dtype": "u8", "shape": [6, 288]}
CHOSEN = {**BYTES, "shape": [6, 32], "valid": [5, 1]}
# An instruction, its destinations and its sources in the order of the operands.
CASES = [
    ("tadd {0} <- {1}, {2}", [TILE], [TILE, TILE]),
    ("trowexpand {0} <- {1}", [TILE], [COLUMN]),
    ("trowexpandadd {0} <- {1}, {2}", [TILE], [TILE, COLUMN]),
    ("trowexpandexpdif {0} <- {1}, {2}", [TILE], [TILE, COLUMN]),
    ("tcolexpand {0} <- {1}", [TILE], [ROW]),
    ("tcolexpandmul {0} <- {1}, {2}", [TILE], [TILE, ROW]),
    ("tcolexpandmul {0} <- {1}, {2}", [DYNAMIC], [DYNAMIC, ROW]),
    ("tcolexpandexpdif {0} <- {1}, {2}", [DYNAMIC], [DYNAMIC, ROW]),
    ("tcolmax {0} <- {1}", [ROW], [TILE]),
    ("tcolsum {0} <- {1}, binary=true", [ROW], [TILE]),
    ("tcolargmax {0} <- {1}", [PLACES], [TILE]),
    ("trowmax {0} <- {1}", [COLUMN], [TILE]),
    ("trowmin {0} <- {1}", [COLUMN], [NARROW]),
    ("trowmax {0} <- {1}", [EXACT], [TREE]),
    ("trowargmin {0} <- {1}", [COUNTS], [TILE]),
    ("tgather {0} <- {1}, {2}", [TILE], [TILE, INDICES]),
    ("tgatherb {0} <- {1}, {2}", [TILE], [TILE, BLOCKS]),
    ("tgather {0}, {1} <- {2}, 0.5, mode=gt", [INDICES, COUNTS], [TILE]),
]


def _tensor(tile, number):
    shape = [275 if cols == "$cols" else cols for cols in tile["valid"]]
    steps = {"f32": {"normal": {"seed": number}}, "u32": {"arange": {"start": 0, "step": 32}}}
    layout = "dn" if "blayout" in tile else "nd"
    if tile["dtype"] in ("u8", "u16"):
        init = {"randint": {"seed": number, "low": 0, "high": 256}}
        return {"dtype": tile["dtype"], "shape": shape, "layout": layout, "init": init}
    init = steps.get(tile["dtype"], {"arange": {"start": 0, "step": 1}})
    return {"dtype": tile["dtype"], "shape": shape, "layout": layout, "init": init}


def _results(path, case, core, width):
    text, outs, ins = case
    tiles = {f"t{k}": tile for k, tile in enumerate((*outs, *ins))}
    steps = [f"tload {name} <- g{name}" for name in tiles]
    path.write_text(
        json.dumps(
            {
                "pto": 1, "arch": core, "sync": "auto", "scalars": {"cols": 275}, "tiles": tiles,
                "tensors": {f"g{n}": _tensor(t, k) for k, (n, t) in enumerate(tiles.items())},
                "program": [
                    *steps,
                    text.format(*tiles),
                    *(f"tstore gt{k} <- t{k}" for k in range(len(outs))),
                ],
            }
        )
    )  # fmt: skip
    run = simulate(str(path), overrides=(("vector.width_bytes", str(width)),))
    assert [found for found in run.findings if found.severity == "error"] == []
    return {name: tensor.tobytes() for name, tensor in run.tensors.items()}


@pytest.mark.parametrize("core", ["a2a3", "a5"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].split(" ")[0])
def test_a_width_changes_no_number(tmp_path, case, core):
    wanted = _results(tmp_path / "p.json", case, core, 256)
    for width in (128, 512):
        assert _results(tmp_path / "p.json", case, core, width) == wanted


@pytest.mark.parametrize("dtype", ["u8", "u16"])
def test_a_width_changes_no_count(tmp_path, dtype):
    case = ("thistogram {0} <- {1}, {2}, byte=0", [BINS], [{**BYTES, "dtype": dtype}, CHOSEN])
    wanted = _results(tmp_path / "p.json", case, "a5", 256)
    for width in (128, 512):
        assert _results(tmp_path / "p.json", case, "a5", width) == wanted
