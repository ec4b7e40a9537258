"""Initial contents against numpy, files, and where tensors lie."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from archsim.base.dtypes import DTYPES, DType
from archsim.base.errors import InputError
from archsim.base.source import Source, Span
from archsim.program.ir import Init, TensorDecl
from archsim.program.rounded import to_dtype
from archsim.program.tensor_decls import default_strides
from archsim.program.tensors import GmLayout, initial_values

PLACE = Span(Source("t.yaml", ("  a: {init: here}",)), 1, 3)


def tensor(
    dtype: str = "f32",
    shape: tuple[int, ...] = (4, 8),
    init: Init | None = None,
    strides: tuple[int, ...] | None = None,
    name: str = "a",
) -> TensorDecl:
    steps = default_strides(shape, "nd") if strides is None else strides
    return TensorDecl(name, DTYPES[dtype], shape, steps, "nd", init or Init("zeros"), PLACE)


def values(dtype: str, kind: str, shape: tuple[int, ...] = (4, 8), **args: object) -> Any:
    return initial_values(tensor(dtype, shape, Init(kind, args)), ".")


def test_zeros() -> None:
    out = initial_values(tensor("f16"), ".")
    assert (out.dtype, out.shape, out.any()) == (np.float16, (4, 8), False)


@pytest.mark.parametrize("dtype", ["f32", "f16", "i8", "u32"])
def test_const(dtype: str) -> None:
    assert np.array_equal(values(dtype, "const", value=3), np.full((4, 8), 3))


def test_linspace_and_arange_run_in_row_order() -> None:
    assert np.array_equal(
        values("f32", "linspace", low=-1, high=1),
        np.linspace(-1, 1, 32).reshape(4, 8).astype(np.float32),
    )
    assert np.array_equal(
        values("i32", "arange", start=5, step=-2), (5 - 2 * np.arange(32)).reshape(4, 8)
    )
    assert np.array_equal(
        values("f16", "arange", start=0.5, step=0.25),
        (0.5 + 0.25 * np.arange(32)).reshape(4, 8).astype(np.float16),
    )


@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_random_floats_are_drawn_in_f64_and_rounded_once(dtype: str) -> None:
    wanted = DTYPES[dtype].np
    normal = np.random.default_rng(7).normal(1, 3, (4, 8)).astype(wanted)
    uniform = np.random.default_rng(7).uniform(-2, 5, (4, 8)).astype(wanted)
    assert np.array_equal(values(dtype, "normal", seed=7, mean=1, std=3), normal)
    assert np.array_equal(values(dtype, "uniform", seed=7, low=-2, high=5), uniform)


def test_random_integers_are_rounded_to_the_nearest_and_saturate() -> None:
    drawn = np.random.default_rng(3).normal(0, 90, (40, 50))
    expected = np.clip(np.rint(drawn), -128, 127).astype(np.int8)
    assert np.array_equal(values("i8", "normal", (40, 50), seed=3, mean=0, std=90), expected)
    unsigned = values("u8", "normal", (40, 50), seed=3, mean=0, std=90)
    assert np.array_equal(unsigned, np.clip(np.rint(drawn), 0, 255).astype(np.uint8))
    assert {-128, 127} <= set(expected.ravel().tolist())


def test_randint_is_that_of_numpy() -> None:
    expected = np.random.default_rng(3).integers(-5, 9, (4, 8))
    assert np.array_equal(values("i16", "randint", seed=3, low=-5, high=9), expected)
    assert np.array_equal(values("f16", "randint", seed=3, low=-5, high=9), expected)


@pytest.mark.parametrize(
    ("dtype", "value"), [("u64", 2**64 - 1), ("i64", -(2**63)), ("i64", 2**63 - 1)]
)
def test_widest_integers_keep_every_bit(dtype: str, value: int) -> None:
    assert values(dtype, "const", value=value)[0, 0] == value


def test_ramp_that_leaves_its_type_saturates() -> None:
    assert values("u8", "arange", (300,), start=0, step=1)[-1] == 255
    assert values("i8", "arange", (300,), start=0, step=-1.0)[-1] == -128
    assert values("i64", "arange", (3,), start=2.0**63, step=1.0)[0] == 2**63 - 1


NARROW = ["bf16", "f16", "f8e4m3", "f8e5m2"]


def every_value(dtype: DType) -> Any:
    """All finite values of a type, ascending, in f64."""
    raw = np.arange(1 << dtype.bits, dtype=f"u{dtype.itemsize}").view(dtype.np)
    with np.errstate(invalid="ignore"):
        wide = raw.astype(np.float64)
    return np.unique(wide[np.isfinite(wide)])


@pytest.mark.parametrize("name", NARROW)
def test_narrow_floats_are_rounded_once(name: str) -> None:
    """Half-way points moved by less than f32 can hold: rounding through f32 would lose that."""
    dtype = DTYPES[name]
    grid = every_value(dtype)
    low, high, middle = grid[:-1], grid[1:], (grid[:-1] + grid[1:]) / 2
    nudge = np.spacing(np.abs(middle))
    assert np.array_equal(to_dtype(middle + nudge, dtype).astype(np.float64), high)
    assert np.array_equal(to_dtype(middle - nudge, dtype).astype(np.float64), low)


@pytest.mark.parametrize("name", NARROW)
def test_ties_of_narrow_floats_go_to_the_even_one(name: str) -> None:
    dtype = DTYPES[name]
    grid = every_value(dtype)
    chosen = to_dtype((grid[:-1] + grid[1:]) / 2, dtype)
    assert not (chosen.view(f"u{dtype.itemsize}") & 1).any()


@pytest.mark.parametrize("name", [*NARROW, "f32"])
def test_narrow_values_convert_to_themselves(name: str) -> None:
    dtype = DTYPES[name]
    grid = every_value(dtype) if name != "f32" else np.array([1.5, 2.0**-149, 3.4e38])
    back = to_dtype(grid.astype(dtype.np).astype(np.float64), dtype)
    assert np.array_equal(back, grid.astype(dtype.np))


def test_special_values_convert() -> None:
    special = np.array([np.inf, -np.inf, np.nan, -0.0])
    bf16 = to_dtype(special, DTYPES["bf16"]).astype(np.float64)
    assert np.array_equal(bf16, special, equal_nan=True)
    assert np.signbit(bf16[3])
    assert to_dtype(np.array([1e6]), DTYPES["f16"])[0] == np.inf


def from_file(path: Path, dtype: str = "f32", **args: str) -> Any:
    init = Init("file", {"file": path.name, **args}, PLACE)
    return initial_values(tensor(dtype, (2, 3), init), str(path.parent))


def test_file_beside_the_program(tmp_path: Path) -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.save(tmp_path / "x.npy", array)
    assert np.array_equal(from_file(tmp_path / "x.npy"), array)
    np.savez(tmp_path / "x.npz", p=array, q=array + 1)
    assert np.array_equal(from_file(tmp_path / "x.npz", key="q"), array + 1)
    np.savez(tmp_path / "one.npz", p=array)
    assert np.array_equal(from_file(tmp_path / "one.npz"), array)


def test_file_in_the_other_byte_order(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(6, dtype=">f4").reshape(2, 3))
    out = from_file(tmp_path / "x.npy")
    assert (out.dtype, out.ravel().tolist()) == (np.float32, [0, 1, 2, 3, 4, 5])


@pytest.mark.parametrize(
    ("dtype", "saved_as"),
    [("bf16", None), ("f8e4m3", None), ("bf16", "u2"), ("f8e4m3", "u1"), ("f8e5m2", "u1")],
)
def test_file_of_a_type_that_numpy_does_not_know(
    tmp_path: Path, dtype: str, saved_as: str | None
) -> None:
    array = np.arange(6).reshape(2, 3).astype(DTYPES[dtype].np)
    np.save(tmp_path / "x.npy", array if saved_as is None else array.view(saved_as))
    out = from_file(tmp_path / "x.npy", dtype)
    assert out.dtype == DTYPES[dtype].np
    assert np.array_equal(out, array)


def test_file_that_does_not_suit(tmp_path: Path) -> None:
    def told(name: str, dtype: str = "f32", **args: str) -> str:
        with pytest.raises(InputError) as caught:
            from_file(tmp_path / name, dtype, **args)
        (fault,) = caught.value.diagnostics
        assert fault.span == PLACE
        return fault.message + (f" | {fault.fix}" if fault.fix else "")

    array = np.zeros((2, 3))
    np.save(tmp_path / "f64.npy", array)
    np.save(tmp_path / "long.npy", array.astype(np.float32).ravel())
    np.save(tmp_path / "bf16.npy", array.astype(ml_dtypes.bfloat16))
    np.savez(tmp_path / "two.npz", p=array, q=array)
    np.savez(tmp_path / "none.npz")
    np.save(tmp_path / "object.npy", np.array([[None] * 3] * 2), allow_pickle=True)
    (tmp_path / "text.npy").write_text("hello")
    assert told("f64.npy") == (
        'init of a: f64.npy holds float64; tensor a is f32 | save it with .astype("float32")'
    )
    assert told("long.npy") == "init of a: long.npy has shape [6]; tensor a has [2, 3]"
    assert told("bf16.npy") == (
        'init of a: bf16.npy holds |V2; tensor a is f32 | save it with .astype("float32")'
    )
    assert told("two.npz") == "init of a: two.npz holds 2 arrays; key must name one of p, q"
    assert told("two.npz", key="r") == 'init of a: two.npz has no array "r"; it holds p, q'
    assert told("none.npz") == (
        "init of a: none.npz holds 0 arrays; key must name one of no arrays"
    )
    assert told("f64.npy", key="p") == (
        "init of a: f64.npy is a single array; only .npz files take a key"
    )
    assert told("gone.npy") == "init of a: gone.npy: no such file"
    for name in ("object.npy", "text.npy"):
        message = told(name)
        assert message.startswith(f"init of a: {name} cannot be read: ")
        assert message.endswith("; must be a .npy or .npz file of plain numbers")


def test_tensors_lie_at_multiples_of_512_in_order() -> None:
    decls = [tensor("f32", (4, 32)), tensor("i8", (3,), name="b"), tensor("f16", (1,), name="c")]
    layout = GmLayout.of(decls)
    assert (layout.bases, layout.size_bytes) == ({"a": 0, "b": 512, "c": 1024}, 1026)


def test_strided_tensor_keeps_what_lies_between() -> None:
    decl = tensor("i16", (2, 3), strides=(10, 3))
    layout = GmLayout.of([decl])
    assert layout.size_bytes == (10 + 2 * 3 + 1) * 2
    memory = np.full(layout.size_bytes, 0xEE, np.uint8)
    layout.write(memory, decl, np.arange(6, dtype=np.int16).reshape(2, 3))
    words = memory.view(np.uint16)
    where = [0, 3, 6, 10, 13, 16]
    assert words[where].tolist() == [0, 1, 2, 3, 4, 5]
    assert set(np.delete(words, where).tolist()) == {0xEEEE}
    assert layout.read(memory, decl).tolist() == [[0, 1, 2], [3, 4, 5]]


_SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=5)
_TENSORS = st.lists(st.tuples(st.sampled_from(["f32", "i8", "bf16", "u16"]), _SHAPES), max_size=4)


@given(_TENSORS)
def test_what_is_written_is_read_and_tensors_do_not_overlap(
    tensors: list[tuple[str, list[int]]],
) -> None:
    decls = [tensor(dtype, tuple(shape), name=f"t{i}") for i, (dtype, shape) in enumerate(tensors)]
    layout = GmLayout.of(decls)
    memory = np.zeros(layout.size_bytes, np.uint8)
    contents: Mapping[str, Any] = {
        decl.name: (np.arange(np.prod(decl.shape)) + i).reshape(decl.shape).astype(decl.dtype.np)
        for i, decl in enumerate(decls)
    }
    for decl in decls:
        layout.write(memory, decl, contents[decl.name])
    for decl in decls:
        assert np.array_equal(layout.read(memory, decl), contents[decl.name])
        assert layout.bases[decl.name] % 512 == 0
