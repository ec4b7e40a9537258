"""Rename: physical registers are taken at dispatch and given back when nobody can read them.

A value frees its register once it is overwritten, its producer has started and every renamed
reader has released it, `release_cycles` after that reader started.
"""

from archsim.cost.vreg.flight import UNKNOWN, Flight, Value

FREED = -1


class Registers:
    """The rename map and the count of free physical registers."""

    def __init__(self, physical: int, names: int, release_cycles: int) -> None:
        self.free = physical
        self.current: list[Value | None] = [None] * names
        self.release_cycles = release_cycles
        self.due: dict[int, list[Value]] = {}

    def rename(self, flight: Flight) -> None:
        """Bind sources to the values of now, then define the results."""
        instr = flight.instr
        for name in instr.src:
            value = self.current[name]
            if value is not None:
                value.readers += 1
                flight.sources.append(value)
        for name in instr.dst:
            old = self.current[name]
            new = self.current[name] = Value(flight)
            flight.values.append(new)
            if old is not None:
                old.overwritten = True
                self.try_free(old)

    def started(self, flight: Flight, now: int) -> None:
        """The reader has begun: its sources are released a little later."""
        if flight.sources:
            self.due.setdefault(now + self.release_cycles, []).extend(flight.sources)

    def release(self, now: int) -> None:
        """Releases that are due in this cycle."""
        for value in self.due.pop(now, ()):
            value.readers -= 1
            self.try_free(value)

    def try_free(self, value: Value) -> None:
        """Give the register back if the value cannot be read any more."""
        if value.overwritten and value.readers == 0 and value.producer.start != UNKNOWN:
            value.readers = FREED
            self.free += value.register
