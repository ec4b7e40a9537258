"""Data movement: bursts, pitches, padding; reads at the start, writes at the end."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from archsim.base.dtypes import DTYPES
from archsim.isa.lanes.state import NumericState
from archsim.isa.moves import Burst, Move
from archsim.isa.operands import Region
from archsim.numerics.execute import execute, prepare
from archsim.numerics.memory import Memory, OutsideMemory

STATE = NumericState()
GM_BYTES, UB_BYTES = 1024, 512


def filled(seed: int = 0) -> Memory:
    memory = Memory({"UB": UB_BYTES}, GM_BYTES)
    data = np.random.default_rng(seed).integers(0, 255, (1, GM_BYTES), dtype=np.uint8)
    memory.write(Region("GM", 0, 1, GM_BYTES, GM_BYTES), data)
    return memory


def gm(memory: Memory) -> np.ndarray:
    return memory.read(Region("GM", 0, 1, GM_BYTES, GM_BYTES))[0]


def ub(memory: Memory) -> np.ndarray:
    return memory.read(Region("UB", 0, 1, UB_BYTES, UB_BYTES))[0]


def load(addr: int = 0, count: int = 3, width: int = 8, pitch: int = 40, **pad: object) -> Move:
    return Move(
        "copy_gm_to_ubuf_align_b32",
        "gm_to_ub",
        Burst("GM", addr, count, width, pitch),
        Burst("UB", 64, count, width, 32),
        **pad,
    )


def test_a_window_address_moves_the_gm_side_only() -> None:
    memory = filled()
    before = gm(memory)
    compute = prepare((load(addr=4),), memory, STATE)
    for window in (0, 100):
        compute(window).apply()
        for run in range(3):
            start = window + 4 + 40 * run
            assert (ub(memory)[64 + 32 * run :][:8] == before[start : start + 8]).all()


def test_gaps_keep_their_bytes_and_are_not_written() -> None:
    memory = filled()
    execute((load(),), memory, 0, STATE).apply()
    assert (ub(memory)[72:96] == 0xFF).all()
    assert memory.first_unwritten(Region("UB", 64, 3, 8, 32)) is None
    assert memory.first_unwritten(Region("UB", 64, 1, 9, 9)) == (0, 8)


def test_padding_repeats_its_element_behind_every_run() -> None:
    memory = filled()
    move = load(width=20, pad=np.float32(-np.inf).tobytes(), pad_bytes=12)
    execute((move,), memory, 0, STATE).apply()
    for run in range(3):
        row = ub(memory)[64 + 32 * run :][:32]
        assert (row[20:].view(np.float32) == -np.inf).all()


def test_nothing_appears_before_apply() -> None:
    memory = filled()
    effects = execute((load(),), memory, 0, STATE)
    assert (ub(memory) == 0xFF).all()
    assert memory.first_unwritten(Region("UB", 64, 1, 1, 1)) == (0, 0)
    memory.write(Region("GM", 0, 1, 8, 8), np.zeros((1, 8), np.uint8))
    effects.apply()
    assert ub(memory)[64:72].any(), "the bytes are those of the start"


def test_a_window_past_the_tensor_is_told_when_it_runs() -> None:
    compute = prepare((load(),), filled(), STATE)
    compute(0)
    with pytest.raises(OutsideMemory, match=r"bytes 0x3e8 to 0x440 of GM are touched"):
        compute(1000)


def test_moves_of_one_instruction_follow_each_other() -> None:
    memory = filled()
    there = Move("a", "ub_to_gm", Burst("UB", 64, 1, 8, 8), Burst("GM", 900, 1, 8, 8))
    before = gm(memory)
    execute((load(count=1), there), memory, 0, STATE).apply()
    assert (gm(memory)[900:908] == before[:8]).all()


@given(
    count=st.integers(1, 5),
    width=st.integers(1, 16),
    gap=st.integers(0, 9),
    start=st.integers(0, 99),
)
def test_a_store_inverts_a_load(count: int, width: int, gap: int, start: int) -> None:
    memory = filled()
    before = gm(memory)
    outside = Burst("GM", start, count, width, width + gap)
    inside = Burst("UB", 32, count, width, 32)
    execute((Move("a", "gm_to_ub", outside, inside),), memory, 0, STATE).apply()
    blank = np.zeros((1, GM_BYTES), np.uint8)
    memory.write(Region("GM", 0, 1, GM_BYTES, GM_BYTES), blank)
    execute((Move("b", "ub_to_gm", inside, outside),), memory, 0, STATE).apply()
    want = np.zeros(GM_BYTES, np.uint8)
    for run in range(count):
        at = start + run * (width + gap)
        want[at : at + width] = before[at : at + width]
    assert (gm(memory) == want).all()


@pytest.mark.parametrize("name", ["f32", "f16", "bf16", "i32", "i16", "i8"])
def test_an_atomic_store_adds_and_rounds_once(name: str) -> None:
    dtype = DTYPES[name]
    memory, rng = Memory({"UB": UB_BYTES}, GM_BYTES), np.random.default_rng(3)
    count = 32 // dtype.itemsize
    if dtype.is_integer:
        limits = np.iinfo(dtype.np)
        held, more = rng.integers(limits.min, limits.max, (2, count), dtype.np, endpoint=True)
        wide = held.astype(np.int64) + more
        want = (wide & (1 << dtype.bits) - 1).astype(f"u{dtype.itemsize}").view(dtype.np)
    else:
        held, more = (rng.normal(0, 1e4, (2, count))).astype(dtype.np)
        held[0], more[0] = np.inf, -np.inf
        with np.errstate(all="ignore"):
            want = (held.astype(np.float64) + more.astype(np.float64)).astype(dtype.np)
    memory.write(Region("GM", 8, 1, 32, 32), held.view(np.uint8)[None])
    memory.write(Region("UB", 0, 1, 32, 32), more.view(np.uint8)[None])
    move = Move("a", "ub_to_gm", Burst("UB", 0, 1, 32, 32), Burst("GM", 8, 1, 32, 32), add=dtype)
    execute((move,), memory, 0, STATE).apply()
    got = memory.read(Region("GM", 8, 1, 32, 32))[0].view(dtype.np)
    same = (got == want) | ((got != got) & (want != want))
    assert same.all()


def test_a_prefetch_leaves_memory_alone() -> None:
    memory = filled()
    execute((load(hint=True),), memory, 0, STATE).apply()
    assert (ub(memory) == 0xFF).all()
    assert memory.first_unwritten(Region("UB", 64, 1, 1, 1)) == (0, 0)
