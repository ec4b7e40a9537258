"""Data movement: runs of bytes from one memory to another, gaps skipped, tails padded."""

from collections.abc import Callable

import numpy as np

from archsim.isa.moves import Burst, IndexedMove, Move, ScalarAccess
from archsim.numerics.effects import Step, Write
from archsim.numerics.memory import GM, IndexOutside, Memory, Target

_BYTE = np.dtype(np.uint8)


def move_step(move: Move, memory: Memory) -> Step:
    """A transfer, ready to run: byte b of run i of the source to byte b of run i of the target.

    `pad_bytes` behind every target run take the pad element. Where source and target cut the same
    bytes into different runs, they are matched in order. `add`: target + source, rounded once.
    """
    if move.hint:
        return Step(lambda gm_addr: (), writes=False)
    pad = np.frombuffer(move.pad * (move.pad_bytes // max(len(move.pad), 1)), np.uint8)

    def copied(gm_addr: int) -> list[Write]:
        target = _target(memory, move.dst, gm_addr, 0, move.dst.bytes_each)
        source = move.src
        shape, strides = (source.count, source.bytes_each), (source.pitch, 1)
        data = memory.view(source.memory, _addr(source, gm_addr), _BYTE, shape, strides)
        moved = [(target, data.copy().reshape(target.view.shape))]
        if pad.size:
            behind = _target(memory, move.dst, gm_addr, move.dst.bytes_each, pad.size)
            moved.append((behind, pad))
        return moved

    if move.add is None:
        return Step(copied)
    dtype = move.add.np

    def added(gm_addr: int) -> list[Write]:
        ((target, data),) = copied(gm_addr)
        sums = target.view.copy().view(dtype) + data.view(dtype)
        return [(target, sums.view(_BYTE))]

    return Step(added)


def indexed_step(move: IndexedMove, memory: Memory) -> Step:
    """Elements that index lanes name, ready to run. `IndexOutside` for an index that names none."""
    at, step = np.arange(move.data.count * move.lanes), move.dtype.itemsize
    lanes = (move.data.count, move.lanes)

    def places() -> "np.ndarray[tuple[int, ...], np.dtype[np.int64]]":
        index = move.index
        strides = (index.pitch, move.index_dtype.itemsize)
        named = memory.view(index.memory, index.addr, move.index_dtype.np, lanes, strides)
        flat = named.astype(np.int64).reshape(-1)
        wrong = (flat < 0) | (flat >= move.elements)
        if wrong.any():
            row, lane = divmod(int(at[wrong][0]), move.lanes)
            rule = f"0 to {move.elements - 1}"
            raise IndexOutside("index", int(flat[wrong][0]), row, lane, rule)
        return flat

    def whole(gm_addr: int) -> Target:
        return memory.target(GM, gm_addr, move.dtype.np, (move.elements,), (step,))

    def gathered(gm_addr: int) -> list[Write]:
        data = move.data
        target = memory.target(data.memory, data.addr, move.dtype.np, lanes, (data.pitch, step))
        return [(target, whole(gm_addr).view[places()].reshape(lanes))]

    def scattered(gm_addr: int) -> list[Write]:
        data, target = move.data, whole(gm_addr)
        source = memory.view(data.memory, data.addr, move.dtype.np, lanes, (data.pitch, step))
        values = target.view.copy()
        values[places()] = source.reshape(-1)
        return [(target, values)]

    return Step(scattered if move.scatter else gathered)


def poke_step(access: ScalarAccess, memory: Memory) -> Step:
    """One element takes a number, rounded once; an integer keeps its low bits."""
    dtype = access.dtype
    assert access.value is not None
    if dtype.is_integer:
        low = int(access.value) & (1 << dtype.bits) - 1
        value = np.array([low], f"u{dtype.itemsize}").view(dtype.np)
    else:
        value = np.array([access.value]).astype(dtype.np)

    def written(gm_addr: int) -> list[Write]:
        strides = (dtype.itemsize,)
        return [(memory.target(access.memory, access.addr, dtype.np, (1,), strides), value)]

    return Step(written)


def peek(access: ScalarAccess, memory: Memory) -> Callable[[], int | float]:
    """Reads one element, as it is when this is called."""
    dtype = access.dtype
    cell = memory.view(access.memory, access.addr, dtype.np, (1,), (dtype.itemsize,))
    return lambda: int(cell[0]) if dtype.is_integer else float(cell[0])


def _target(memory: Memory, burst: Burst, gm_addr: int, offset: int, width: int) -> Target:
    shape, strides = (burst.count, width), (burst.pitch, 1)
    return memory.target(burst.memory, _addr(burst, gm_addr) + offset, _BYTE, shape, strides)


def _addr(burst: Burst, gm_addr: int) -> int:
    return burst.addr + gm_addr if burst.memory == GM else burst.addr
