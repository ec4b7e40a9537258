"""The public vectors of the instructions beyond the first four, on every core and profile.

Two things hold on each valid lane: what the core computes is its definition, to the bit; and it is
what the public simulator computed, at that simulator's tolerance, except on the lanes that the
vector's note names (`departs`). Those lanes are counted, so that no exception can grow unseen.
"""

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from definitions.call import Array, Bits, Call, Lanes, Shape
from definitions.table import definition

from archsim.arch import ArchConfig, load
from archsim.base.dtypes import DTYPES, DType
from archsim.check import check, scratch_tile
from archsim.isa.lanes.state import NumericState
from archsim.isa.operands import BoundInstr, Loc, Region, TileView
from archsim.isa.tile_ops import TILE_OPS
from archsim.lower import lower
from archsim.numerics.execute import execute
from archsim.numerics.memory import Memory

GOLDEN = Path(__file__).parents[1] / "golden"
CASES: list[dict[str, Any]] = yaml.safe_load((GOLDEN / "vectors.yaml").read_text())["cases"]
ARRAYS = np.load(GOLDEN / "vectors.npz")
MASKS = ("TCMP", "TCMPS")
COLUMN = ("TROWSUM", "TROWMAX")  # the peer puts the results into column 0
ROW_OPERAND = ("TROWEXPANDSUB", "TROWEXPANDMUL", "TROWEXPANDDIV")
PLACES = [
    pytest.param(case, core, profile, id=f"{case['id']}-{core}-{profile}")
    for case in CASES
    for core in case.get("archs", ("a2a3", "a5"))
    for profile in ("reset", "infnan")
]


@cache
def chip(core: str, profile: str) -> ArchConfig:
    return load(core, [("numerics.profile", profile)])


class Run:
    """One vector through lowering and execution."""

    def __init__(self, case: dict[str, Any], core: str, profile: str) -> None:
        self.case, self.core = case, core
        self.arch = chip(core, profile)
        self.memory = Memory({"UB": self.arch.memory.ub.size_bytes}, 0)
        self.place = 0
        count = 0 if case["op"] == "TEXPANDS" else len(case["in_dtypes"])
        self.inputs = [ARRAYS[f"{case['id']}/in{k}"] for k in range(count)]
        sources = [self.tile(k, values) for k, values in enumerate(self.inputs)]
        out = ARRAYS[f"{case['id']}/out"]
        self.dst = self.put(np.zeros_like(out), DTYPES[case["out_dtype"]], self.out_valid(out))
        op = TILE_OPS[case["op"].lower()]
        scalar = [self.scalar()] if "scalar" in case else []
        binary = {"binary": "true"} if case.get("binary") else {}
        keys = {k: str(case[k]) for k in ("mode", "rmode", "sat") if k in case}
        if keys.get("sat") == "unspecified":
            del keys["sat"]
        instr = BoundInstr(op, (self.dst,), (*sources, *scalar), None, {**keys, **binary})
        self.instr = self.with_scratch(instr)
        faults = check(self.instr, self.arch, may_allocate=True)
        assert [f.message for f in faults if f.severity == "error"] == []
        execute(
            lower(self.instr, self.arch).uops, self.memory, 0, NumericState.of(self.arch)
        ).apply()

    def out_valid(self, out: Array) -> tuple[int, int]:
        rows, cols = self.case["valid"]
        if self.case["op"] in MASKS:
            return rows, out.shape[1]
        if self.case["op"] in COLUMN:
            return rows, 1
        return (1, cols) if self.case["op"] == "TCOLSUM" else (rows, cols)

    def tile(self, index: int, values: Array) -> TileView:
        dtype = DTYPES[self.case["in_dtypes"][index]]
        rows, cols = self.case["valid"]
        if self.case["op"] in ROW_OPERAND and index == 1:
            column = values.reshape(values.shape[0], -1)[:, :1]
            return self.column(np.ascontiguousarray(column), dtype)
        if self.case["op"] in ("TSEL", "TSELS") and index == 0:
            return self.put(values, dtype, values.shape)
        return self.put(values, dtype, (rows, cols))

    def scalar(self) -> int | float:
        value = self.case["scalar"]
        return int(value) if DTYPES[self.case["in_dtypes"][-1]].is_integer else float(value)

    def with_scratch(self, instr: BoundInstr) -> BoundInstr:
        need = scratch_tile(instr, self.arch) if instr.op.scratch else None
        if need is None:
            return instr
        dtype, rows, cols = need
        tmp = TileView("tmp", Loc.VEC, dtype, rows, cols, rows, cols, self.place, cols)
        return BoundInstr(instr.op, instr.dst, instr.src, tmp, instr.attrs)

    def put(self, values: Array, dtype: DType, valid: tuple[int, ...]) -> TileView:
        rows, cols = values.shape
        tile = TileView("t", Loc.VEC, dtype, rows, cols, *valid[:2], self.place, cols)
        self.write(tile.addr, rows, tile.row_bytes, values)
        return tile

    def column(self, values: Array, dtype: DType) -> TileView:
        rows = self.case["valid"][0]
        block = 32 // dtype.itemsize
        declared = -(-values.shape[0] // block) * block
        tile = TileView("t", Loc.VEC, dtype, declared, 1, rows, 1, self.place, 1, row_major=False)
        self.write(tile.addr, 1, values.nbytes, values)
        return tile

    def write(self, addr: int, rows: int, row_bytes: int, values: Array) -> None:
        data = np.ascontiguousarray(values).reshape(rows, -1).view(np.uint8)
        self.memory.write(Region("UB", addr, rows, row_bytes, row_bytes), data)
        self.place += -(-rows * row_bytes // 512) * 512 + 512

    @property
    def got(self) -> Array:
        region = Region("UB", self.dst.addr, self.dst.rows, self.dst.row_bytes, self.dst.row_bytes)
        return self.memory.read(region).view(self.dst.dtype.np)

    def defined(self, profile: str) -> tuple[Array, Array]:
        """The definition's values and which lanes it says, in the valid region of dst."""
        tiles = {n: o for n, o in self.instr.operands.items() if isinstance(o, TileView)}
        named_inputs = [n for n in tiles if n not in ("dst", "tmp")]
        inputs = zip(named_inputs, self.inputs, strict=True)
        valid = {name: self.cut(values, tiles[name]) for name, values in inputs}
        if self.instr.tmp is not None:
            valid["tmp"] = np.zeros((1, 1), self.instr.tmp.dtype.np)  # that it is there counts
        valid["dst"] = np.zeros((self.dst.valid_rows, self.dst.valid_cols), self.dst.dtype.np)
        call = Call(
            self.core, self.case["in_dtypes"][-1], self.case["out_dtype"], valid, valid,
            {n: shape_of(t) for n, t in tiles.items()},
            {"scalar": self.scalar()} if "scalar" in self.case else {},
            self.instr.attrs, profile == "infnan",
        )  # fmt: skip
        law = definition(self.instr.op.mnemonic, self.instr.op.form)
        assert law is not None
        result = law(call)["dst"]
        if isinstance(result, Bits):
            return result.packed
        if isinstance(result, Lanes):
            return result.values, np.broadcast_to(result.defined, result.values.shape)
        assert isinstance(result, np.ndarray)
        return result, np.ones(result.shape, np.bool_)

    def cut(self, values: Array, tile: TileView) -> Array:
        return values.reshape(values.shape[0], -1)[: tile.valid_rows, : tile.valid_cols]


def shape_of(tile: TileView) -> Shape:
    return Shape(
        tile.rows, tile.cols, tile.valid_rows, tile.valid_cols, tile.row_stride,
        tile.static_cols, tile.row_major, tile.pad, tile.static_rows,
    )  # fmt: skip


def lanes_of(run: Run, values: Array) -> Array:
    """Valid lanes of an output: bits of a mask as booleans."""
    rows, cols = run.case["valid"]
    if run.case["op"] in MASKS:
        bits = np.unpackbits(values.view(np.uint8), axis=1, bitorder="little")
        return bits[:rows, :cols].astype(np.bool_)
    return values[: run.dst.valid_rows, : run.dst.valid_cols]


def same(got: Array, want: Array) -> Array:
    """Equal bits; any NaN is as good as another."""
    bits = f"u{got.dtype.itemsize}"
    equal = got.view(bits) == want.view(bits)
    if got.dtype.kind == "f":
        equal |= np.isnan(got) & np.isnan(want)
    return equal


def holds(got: Array, want: Array, tolerance: float) -> Array:
    """The peer's rule, lane by lane: near absolutely or relatively, and NaN on both sides alike."""
    a, b = got.astype(np.float64), want.astype(np.float64)
    with np.errstate(all="ignore"):
        off = np.abs(a - b)
        near = (off <= tolerance) | (off <= tolerance * np.abs(b)) | (a == b)
    return np.where(np.isnan(a) | np.isnan(b), np.isnan(a) & np.isnan(b), near)


def tiny(x: Array) -> Array:
    """Subnormal numbers of a float type."""
    least = 2.0**-14 if x.dtype == np.float16 else 2.0**-126
    return (np.abs(x) < least) & (x != 0)


def named(run: Run, profile: str, peer: Array) -> Array:
    """The valid lanes that the vector's note excepts, on this core and profile."""
    note, op = run.case.get("departs", ""), run.case["op"]
    none = np.zeros(peer.shape, np.bool_)
    if not note:
        return none
    inputs = [lanes_of(run, x) for x in run.inputs] if op not in (*COLUMN, "TCOLSUM") else []
    settles = run.case["out_dtype"] == "f16" and profile == "reset"
    found = ~np.isfinite(peer.astype(np.float64)) & settles
    if "subnormals" in note:
        near_zero = [tiny(x) for x in (*inputs, peer)]
        found |= np.any(near_zero, axis=0) & (run.core == "a5")
    if "NaN counts" in note:
        found |= np.any([np.isnan(x) for x in inputs], axis=0)
    if "1e-9" in note:
        a, b = inputs[0], inputs[1] if len(inputs) > 1 else run.scalar()
        with np.errstate(all="ignore"):
            found |= (np.abs(a.astype(np.float64) - b) <= 1e-9) | (np.isinf(a) & (a == b))
    is_ragged = -(-run.case["valid"][1] // 8) != run.case["shape"][1] // 8
    if "packed by" in note or (op in MASKS and is_ragged):
        found[1:] = True  # the peer packs rows without gaps; two notes name just their other fault
    if op == "TCVT":
        found |= converted(run, inputs[0], peer)
    if "f32 in sequence" in note or "binary order" in note:
        found |= run.case["out_dtype"] == "f16"  # in f32 the order is far below the tolerance
    return found


def converted(run: Run, x: Array, peer: Array) -> Array:
    """Lanes of a conversion that the peer gets wrong: see the table of faults in the README."""
    case, value = run.case, x.astype(np.float64)
    source, to = case["in_dtypes"][0], case["out_dtype"]
    if to[0] != "f":
        limits = np.iinfo(peer.dtype)
        return ~((value > limits.min - 1.0) & (value < limits.max))
    extreme = ~(np.abs(value) < 65504.0)
    if source == to:
        return extreme | (np.isfinite(value) & (np.trunc(value) != value))
    directed = case["rmode"] not in ("none", "rint") and (source, to) != ("f16", "f32")
    return extreme | ((peer.astype(np.float64) != value) & directed)


@pytest.mark.parametrize(("case", "core", "profile"), PLACES)
def test_every_public_vector_holds(case: dict[str, Any], core: str, profile: str) -> None:
    with np.errstate(all="ignore"):
        held(Run(case, core, profile), profile)


def held(run: Run, profile: str) -> None:
    """Both comparisons."""
    case = run.case
    got = lanes_of(run, run.got)
    values, defined = run.defined(profile)
    if case["op"] in MASKS:
        values, defined = lanes_of(run, values), lanes_of(run, defined)
    off = np.argwhere(~same(got, values.reshape(got.shape)) & defined.reshape(got.shape))
    assert off.size == 0, [(tuple(at), got[tuple(at)], values[tuple(at)]) for at in off[:5]]
    peer = lanes_of(run, ARRAYS[f"{case['id']}/out"])
    bad = ~holds(got, peer, case["peer_tolerance"]) & ~named(run, profile, peer)
    wrong = np.argwhere(bad)
    assert wrong.size == 0, [(tuple(at), got[tuple(at)], peer[tuple(at)]) for at in wrong[:5]]


# Lanes that hold at the peer's tolerance, and lanes that a vector's note excepts.
COUNTS: dict[tuple[str, str], tuple[int, int]] = {
    ("TADD", "a2a3"): (14452, 6),
    ("TADD", "a5"): (14452, 6),
    ("TSUB", "a2a3"): (12794, 14),
    ("TSUB", "a5"): (12794, 14),
    ("TMUL", "a2a3"): (12764, 20),
    ("TMUL", "a5"): (12764, 20),
    ("TMAX", "a2a3"): (10040, 8),
    ("TMAX", "a5"): (10040, 8),
    ("TMIN", "a2a3"): (12772, 12),
    ("TMIN", "a5"): (12772, 12),
    ("TDIV", "a2a3"): (5770, 8),
    ("TDIV", "a5"): (5732, 46),
    ("TADDS", "a2a3"): (6017, 3),
    ("TADDS", "a5"): (6017, 3),
    ("TMULS", "a2a3"): (6015, 5),
    ("TMULS", "a5"): (6015, 5),
    ("TEXPANDS", "a2a3"): (6020, 0),
    ("TEXPANDS", "a5"): (6020, 0),
    ("TLOG", "a2a3"): (4958, 0),
    ("TLOG", "a5"): (4952, 6),
    ("TSQRT", "a2a3"): (3896, 0),
    ("TSQRT", "a5"): (3896, 0),
    ("TRSQRT", "a2a3"): (6028, 16),
    ("TRSQRT", "a5"): (6017, 27),
    ("TRECIP", "a2a3"): (4977, 5),
    ("TRECIP", "a5"): (4969, 13),
    ("TABS", "a2a3"): (4982, 0),
    ("TABS", "a5"): (4982, 0),
    ("TNEG", "a2a3"): (4979, 3),
    ("TNEG", "a5"): (4979, 3),
    ("TRELU", "a2a3"): (4958, 0),
    ("TRELU", "a5"): (4958, 0),
    ("TLRELU", "a2a3"): (4982, 0),
    ("TLRELU", "a5"): (4982, 0),
    ("TCVT", "a2a3"): (81834, 30840),
    ("TCVT", "a5"): (81834, 30840),
    ("TCMP", "a2a3"): (35940, 0),
    ("TCMP", "a5"): (48814, 0),
    ("TCMPS", "a2a3"): (14734, 10304),
    ("TCMPS", "a5"): (19120, 14872),
    ("TSEL", "a2a3"): (4312, 3680),
    ("TSEL", "a5"): (4312, 3680),
    ("TSELS", "a2a3"): (6906, 0),
    ("TSELS", "a5"): (6906, 0),
    ("TCOLSUM", "a2a3"): (364, 310),
    ("TCOLSUM", "a5"): (364, 310),
    ("TROWEXPANDSUB", "a2a3"): (4982, 0),
    ("TROWEXPANDSUB", "a5"): (4982, 0),
    ("TROWEXPANDMUL", "a2a3"): (6044, 0),
    ("TROWEXPANDMUL", "a5"): (6044, 0),
    ("TROWEXPANDDIV", "a2a3"): (6044, 0),
    ("TROWEXPANDDIV", "a5"): (6044, 0),
    ("TROWSUM", "a2a3"): (168, 116),
    ("TROWSUM", "a5"): (168, 116),
    ("TROWMAX", "a2a3"): (174, 0),
    ("TROWMAX", "a5"): (174, 0),
}


def test_lanes_that_hold_and_lanes_of_exceptions_are_counted() -> None:
    counts = Counter[tuple[str, str, bool]]()
    with np.errstate(all="ignore"):
        for place in PLACES:
            case, core, profile = place.values
            run = Run(case, core, profile)
            peer = lanes_of(run, ARRAYS[f"{case['id']}/out"])
            excepted = int(named(run, profile, peer).sum())
            counts[case["op"], core, True] += excepted
            counts[case["op"], core, False] += peer.size - excepted
    found = {
        (op, core): (counts[op, core, False], counts[op, core, True]) for op, core, _ in counts
    }
    assert found == COUNTS
