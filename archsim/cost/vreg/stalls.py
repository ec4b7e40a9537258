"""Why cycles pass: one counter a cause."""

from enum import IntEnum


class Stall(IntEnum):
    """Causes. The first five stop dispatch and exclude each other within a cycle; the next five
    hold back a micro-op that is ready; the last two are paid once a function."""

    WIDTH = 0  # dispatch width used up
    LOOP_START = 1  # a loop, or the next row of a nest, is not open yet
    ITERATION = 2  # the next iteration may not begin yet
    REGISTERS = 3  # no free physical register
    QUEUE = 4  # waiting queue full
    BARRIER = 5  # memory barrier
    PORT = 6  # execution port busy
    LOAD_PORT = 7
    STORE_PORT = 8
    BANK = 9  # UB bank conflict
    STARTUP = 10
    DRAIN = 11


def no_stalls() -> list[int]:
    """A counter for each cause, in cycles."""
    return [0] * len(Stall)
