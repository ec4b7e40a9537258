"""Data movement: runs of bytes from one memory to another, gaps skipped, tails padded."""

import numpy as np

from archsim.isa.moves import Burst, Move
from archsim.numerics.effects import Step, Write
from archsim.numerics.memory import GM, Memory, Target

_BYTE = np.dtype(np.uint8)


def move_step(move: Move, memory: Memory) -> Step:
    """A transfer, ready to run: byte b of run i of the source to byte b of run i of the target.

    `pad_bytes` behind every target run take the pad element. Where source and target cut the same
    bytes into different runs, they are matched in order.
    """
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

    return Step(copied)


def _target(memory: Memory, burst: Burst, gm_addr: int, offset: int, width: int) -> Target:
    shape, strides = (burst.count, width), (burst.pitch, 1)
    return memory.target(burst.memory, _addr(burst, gm_addr) + offset, _BYTE, shape, strides)


def _addr(burst: Burst, gm_addr: int) -> int:
    return burst.addr + gm_addr if burst.memory == GM else burst.addr
