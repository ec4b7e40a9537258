"""Memory: poison, marks of what was written, windows, bounds."""

import numpy as np
import pytest

from archsim.base.dtypes import BF16, F16, F32
from archsim.isa.operands import Region
from archsim.numerics.memory import POISON, Memory, OutsideMemory


def ub(addr: int, rows: int, row_bytes: int, pitch: int) -> Region:
    return Region("UB", addr, rows, row_bytes, pitch)


def test_on_chip_memory_starts_as_nan_and_gm_as_zero() -> None:
    memory = Memory({"UB": 64}, gm_bytes=32)
    poison = memory.read(ub(0, 1, 64, 64))
    assert (poison == POISON).all()
    for dtype in (F32, F16, BF16):
        assert np.isnan(poison.view(dtype.np).astype(np.float64)).all()
    assert not memory.read(Region("GM", 0, 1, 32, 32)).any()


def test_a_region_is_written_and_read_run_by_run() -> None:
    memory = Memory({"UB": 64}, gm_bytes=0)
    data = np.arange(6, dtype=np.uint8).reshape(2, 3)
    memory.write(ub(4, 2, 3, 16), data)
    assert (memory.read(ub(4, 2, 3, 16)) == data).all()
    flat = memory.read(ub(0, 1, 64, 64))[0]
    assert flat[[3, 7, 19, 23]].tolist() == [POISON] * 4
    assert flat[20:23].tolist() == [3, 4, 5]


def test_the_first_byte_that_nobody_wrote_is_found() -> None:
    memory = Memory({"UB": 64}, gm_bytes=8)
    region = ub(0, 2, 8, 32)
    assert memory.first_unwritten(region) == (0, 0)
    memory.write(ub(0, 1, 8, 8), np.zeros((1, 8), np.uint8))
    assert memory.first_unwritten(region) == (1, 0)
    memory.write(ub(32, 1, 5, 5), np.zeros((1, 5), np.uint8))
    assert memory.first_unwritten(region) == (1, 5)
    memory.write(ub(37, 1, 3, 3), np.zeros((1, 3), np.uint8))
    assert memory.first_unwritten(region) is None
    assert memory.first_unwritten(Region("GM", 0, 1, 8, 8)) is None


def test_writes_end_at_the_last_byte_of_a_memory() -> None:
    memory = Memory({"UB": 64}, gm_bytes=16)
    memory.write(ub(32, 1, 32, 32), np.zeros((1, 32), np.uint8))
    with pytest.raises(OutsideMemory) as caught:
        memory.write(ub(33, 1, 32, 32), np.zeros((1, 32), np.uint8))
    assert str(caught.value) == ("bytes 0x21 to 0x41 of UB are touched, must lie in 0x0 to 0x40")
    with pytest.raises(OutsideMemory, match="bytes 0xf to 0x11 of GM"):
        memory.write(Region("GM", 15, 1, 2, 2), np.zeros((1, 2), np.uint8))


def test_vector_reads_may_run_a_repeat_past_the_end_but_not_before_the_start() -> None:
    memory = Memory({"UB": 64}, gm_bytes=16)
    assert (memory.read(ub(32, 1, 256, 256)) == POISON).all()
    with pytest.raises(OutsideMemory, match="bytes -0x8 to 0x0 of UB"):
        memory.read(ub(-8, 1, 8, 8))
    with pytest.raises(OutsideMemory, match="of UB are touched"):
        memory.read(ub(0, 1, 1 << 20, 1 << 20))
    with pytest.raises(OutsideMemory, match="of GM are touched"):
        memory.read(Region("GM", 0, 1, 17, 17))
