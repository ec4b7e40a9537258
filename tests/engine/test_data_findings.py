"""What only the data of a run show: indices that name nothing, NaN among sorted values."""

import json

import numpy as np
import pytest

from archsim.api import simulate

CORES = ["a2a3", "a5"]


def run(folder, arch, tensors, tiles, program):
    """A program with derived synchronisation; tensors given as arrays."""
    declared = {}
    for name, values in tensors.items():
        declared[name] = {"dtype": values.dtype.str[1:].replace("4", "32"), "shape": values.shape}
        np.save(folder / f"{name}.npy", values)
        declared[name]["init"] = {"file": f"{name}.npy"}
    text = {
        "pto": 1,
        "arch": arch,
        "sync": "auto",
        "tensors": declared,
        "tiles": {
            name: {"loc": "vec", "dtype": dtype, "shape": shape, "addr": addr}
            for name, (dtype, shape, addr) in tiles.items()
        },
        "program": program,
    }
    path = folder / "p.json"
    path.write_text(json.dumps(text))
    return simulate(str(path))


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("bad", [None, 256])
def test_an_index_outside_is_a_finding_and_writes_nothing(tmp_path, arch, bad):
    index = np.arange(256, dtype=np.int32).reshape(4, 64)[::-1].copy()
    if bad is not None:
        index[2, 9] = bad
    x = np.arange(256, dtype=np.float32).reshape(4, 64)
    tensors = {"x": x, "i": index, "y": np.full((4, 64), 9, np.float32)}
    tiles = {
        "tx": ("f32", [4, 64], 0),
        "ti": ("i32", [4, 64], 0x1000),
        "ty": ("f32", [4, 64], 0x2000),
    }
    program = ["tload tx <- x", "tload ti <- i", "tload ty <- y", "tgather ty <- tx, ti"]
    result = run(tmp_path, arch, tensors, tiles, [*program, "tstore y <- ty"])
    if bad is None:
        assert not result.findings
        assert (result.tensors["y"] == x[::-1]).all()
    else:
        (finding,) = result.findings
        assert (finding.kind, finding.severity) == ("bounds", "error")
        assert finding.message == "index 256 in element 9 of row 2 is outside, must be 0 to 255"
        assert (result.tensors["y"] == 9).all()


@pytest.mark.parametrize("arch", CORES)
@pytest.mark.parametrize("is_there", [False, True])
def test_nan_among_sorted_values_is_a_warning(tmp_path, arch, is_there):
    x = np.arange(128, dtype=np.float32).reshape(2, 64)
    if is_there:
        x[1, 40] = np.nan
    tensors = {
        "x": x,
        "i": np.arange(64, dtype=np.uint32)[np.newaxis],
        "y": np.zeros((2, 128), np.float32),
    }
    tiles = {
        "tx": ("f32", [2, 64], 0),
        "ti": ("u32", [1, 64], 0x1000),
        "ty": ("f32", [2, 128], 0x2000),
    }
    program = ["tload tx <- x", "tload ti <- i", "tsort32 ty <- tx, ti", "tstore y <- ty"]
    result = run(tmp_path, arch, tensors, tiles, program)
    found = [(f.kind, f.severity, f.message) for f in result.findings]
    message = (
        "tsort32 sorts a NaN, in column 40 of row 1 of tx:"
        " the device may put it anywhere, here it comes last"
    )
    assert found == ([("numerics", "warning", message)] if is_there else [])
    assert np.isnan(result.tensors["y"][1, 126]) == is_there
    assert result.tensors["y"][0, 0] == 31


@pytest.mark.parametrize("op", ["tdiv", "trem", "tfmod"])
@pytest.mark.parametrize("zero", [None, (1, 40)])
def test_integers_divided_by_0_are_a_warning(tmp_path, op, zero):
    a, b = np.full((2, 64), 7, np.int32), np.full((2, 64), 2, np.int32)
    if zero:
        b[zero] = 0
    tensors = {"a": a, "b": b, "y": np.zeros((2, 64), np.int32)}
    tiles = {f"t{name}": ("i32", [2, 64], 0x1000 * i) for i, name in enumerate("aby")}
    program = ["tload ta <- a", "tload tb <- b", f"{op} ty <- ta, tb", "tstore y <- ty"]
    result = run(tmp_path, "a5", tensors, tiles, program)
    message = (
        f"{op} divides by 0, in column 40 of row 1 of tb:"
        " what the device gives is not known, all bits are 1 here"
    )
    found = [f.message for f in result.findings if "by 0" in f.message]
    assert found == ([message] if zero else [])
    expected = np.full((2, 64), 3 if op == "tdiv" else 1, np.int32)
    if zero:
        expected[zero] = -1
    assert (result.tensors["y"] == expected).all()
