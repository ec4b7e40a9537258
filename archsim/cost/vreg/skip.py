"""Periodic loops: a state that comes back makes whole periods certain, so they are not simulated.

The state is taken at the end of a cycle in which a loop began another iteration, with all times
relative to that cycle and all iterations relative to the loop's. If it was seen before in the same
run of the loop, p iterations and D cycles ago, then so it goes on: any number of periods may be
added to the loop's index and to the clock, short of the last iteration, which differs.

Values are told apart by how they are connected, not by their registers. Ages beyond what any
forwarding or issue distance can reach are equal. A cheap signature comes first: the state is taken
only where it repeats.
"""

from collections.abc import Hashable
from dataclasses import dataclass

from archsim.cost.vreg.core import Core
from archsim.cost.vreg.dispatch import UNSET
from archsim.cost.vreg.flight import UNKNOWN, Flight, Role, Value
from archsim.cost.vreg.program import NO_LOOP

FEWEST = 6  # iterations left that are worth a look
ATTEMPTS = 256  # states taken for one loop before it counts as aperiodic
SLACK = 64  # cycles that iterations may lag behind their stride before it cannot bind again


@dataclass(frozen=True, slots=True)
class _Period:
    """`iterations` of a loop take `cycles`, and add `stalls`."""

    iterations: int
    cycles: int
    stalls: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Sight:
    """When a state was seen: the loop's run and index, the cycle, the counters."""

    run: int
    index: int
    cycle: int
    stalls: tuple[int, ...]


class Skipper:
    """Watches a core and jumps over whole periods of its loops."""

    def __init__(self, core: Core) -> None:
        self.core = core
        loops = core.dispatcher.program.loops
        self.hints: list[set[Hashable]] = [set() for _ in loops]
        self.seen: list[dict[Hashable, _Sight]] = [{} for _ in loops]
        self.periods: list[dict[Hashable, _Period]] = [{} for _ in loops]
        self.attempts = [0] * len(loops)
        self.run = [0] * len(loops)
        code = core.dispatcher.code
        self.reach = max((max(*i.after, *i.interval, i.latency) for i in code), default=0)
        # the order in which two sources of a store began is not part of the state
        self.useless = any(i.role is Role.STORE and len(i.src) > 1 for i in code)

    def look(self, now: int) -> None:
        """To be called at the end of every cycle."""
        loop = self.core.dispatcher.iterated
        if loop == NO_LOOP or self.useless:
            return
        if self.core.dispatcher.index[loop] == 1:
            self.run[loop] += 1
        if self.left(loop) >= FEWEST and self.attempts[loop] < ATTEMPTS:
            hint = self.hint()
            if hint in self.hints[loop]:
                self.attempts[loop] += 1
                self.compare(loop, _State(self.core, loop, now, self.reach).key(), now)
            self.hints[loop].add(hint)

    def left(self, loop: int) -> int:
        """Iterations before the last one."""
        dispatcher = self.core.dispatcher
        return dispatcher.rules[loop].iters - 1 - dispatcher.index[loop]

    def hint(self) -> Hashable:
        """A few counts that equal states share."""
        core = self.core
        return (
            core.dispatcher.at,
            core.dispatcher.busy,
            core.registers.free,
            core.ports.credits,
            core.ports.turn,
            len(core.memory.loads),
            len(core.memory.stores),
            len(core.ports.waiting),
        )

    def compare(self, loop: int, state: Hashable, now: int) -> None:
        """Look the state up, learn its period if it is back, and jump."""
        core, index = self.core, self.core.dispatcher.index[loop]
        period = self.periods[loop].get(state)
        before = self.seen[loop].get(state)
        if period is None and before is not None and before.run == self.run[loop]:
            period = self.learn(loop, before, now)
            if period:
                self.periods[loop][state] = period
        if period:
            self.attempts[loop] = 0
            self.jump(loop, period, self.left(loop) // period.iterations)
        else:
            stalls = tuple(core.stalls)
            self.seen[loop][state] = _Sight(self.run[loop], index, now + core.skipped, stalls)

    def learn(self, loop: int, before: _Sight, now: int) -> _Period | None:
        """The period between two sights; none if the stride gate might still catch up."""
        core = self.core
        iterations = core.dispatcher.index[loop] - before.index
        cycles = now + core.skipped - before.cycle
        stride = core.dispatcher.rules[loop].stride * iterations
        if stride > min(cycles, SLACK):
            return None
        deltas = (a - b for a, b in zip(core.stalls, before.stalls, strict=True))
        return _Period(iterations, cycles, tuple(deltas))

    def jump(self, loop: int, period: _Period, times: int) -> None:
        """Add `times` periods to the loop's index and to the clock.

        The present cycle keeps its number; what began before the loop's run moves back instead.
        """
        core = self.core
        iterations, cycles = times * period.iterations, times * period.cycles
        core.skipped += cycles
        core.stalls[:] = [a + times * b for a, b in zip(core.stalls, period.stalls, strict=True)]
        core.dispatcher.jump(loop, iterations, cycles)
        for flight in (*core.memory.loads, *core.memory.stores, *core.in_rename()):
            flight.address += iterations * core.dispatcher.step(flight.instr, loop)


class _State:
    """Everything that decides how a core goes on inside one loop, as a hashable key."""

    def __init__(self, core: Core, loop: int, now: int, reach: int) -> None:
        self.core = core
        self.loop = loop
        self.now = now
        self.oldest = -reach
        self.values: dict[int, int] = {}  # identity of a value -> its number
        self.content: list[Hashable] = []

    def key(self) -> Hashable:
        """The state; equal keys go on alike."""
        core = self.core
        parts = (
            self.dispatcher(),
            core.registers.free,
            tuple(-1 if value is None else self.value(value) for value in core.registers.current),
            self.memory(),
            self.ports(),
            tuple((at - self.now, len(group)) for at, group in core.renaming),
            self.flights(core.in_rename()),
            self.events(),
        )
        return parts, tuple(self.content)

    def age(self, cycle: int) -> int:
        """A past cycle, as far back as it can matter."""
        return max(self.oldest, cycle - self.now)

    def since(self, cycle: int) -> int | None:
        """A cycle that may not be known yet."""
        return None if cycle == UNKNOWN else cycle - self.now

    def value(self, value: Value) -> int:
        """A number for a value; its content is noted where it is met first."""
        number = self.values.get(id(value))
        if number is None:
            number = self.values[id(value)] = len(self.values)
            start = value.producer.start
            age = self.age(start) if start != UNKNOWN else 1
            index = value.producer.instr.index
            self.content.append((index, age, value.readers, value.overwritten))
        return number

    def flights(self, flights: list[Flight]) -> tuple[Hashable, ...]:
        return tuple(self.flight(flight) for flight in flights)

    def flight(self, flight: Flight) -> Hashable:
        epoch = self.core.memory.barriers.epoch
        return (
            flight.instr.index,
            flight.ready - self.now,
            flight.missing,
            flight.port,
            self.since(flight.received),
            self.since(flight.planned),
            flight.address - self.core.dispatcher.address(flight.instr.index),
            flight.epoch - epoch,
            flight.fence - epoch,
            flight.latest.instr.index if flight.latest else UNKNOWN,
            tuple(self.value(value) for value in flight.sources),
            tuple(self.value(value) for value in flight.values),
        )

    def dispatcher(self) -> Hashable:
        """The cursor, the gates of this loop and of those inside, where accesses will fall."""
        dispatcher, program = self.core.dispatcher, self.core.dispatcher.program
        level = program.loops[self.loop].level
        inside = range(level + 1, len(dispatcher.start))
        gate = (
            dispatcher.base[level]
            + dispatcher.index[self.loop] * dispatcher.rules[self.loop].stride
        )
        gates = [
            cycle if cycle == UNSET else cycle - self.now
            for times in (dispatcher.start, dispatcher.base, dispatcher.again)
            for cycle in (times[k] for k in inside)
        ]
        indices = [
            index for k, index in enumerate(dispatcher.index) if program.loops[k].level > level
        ]
        period = self.core.memory.banks.period
        phases = [dispatcher.address(k) % period for k in dispatcher.accesses] if period else []
        drained = max(-dispatcher.drain, dispatcher.drained - self.now)
        lag = max(-SLACK, gate - self.now)
        startup = max(0, self.core.startup - self.now)
        return (
            dispatcher.at, dispatcher.busy, drained, lag, startup,
            tuple(gates), tuple(indices), tuple(phases),
        )  # fmt: skip

    def memory(self) -> Hashable:
        memory = self.core.memory
        barriers = memory.barriers
        undone = sorted((epoch - barriers.epoch, n) for epoch, n in barriers.undone.items())
        settled = [
            (epoch - barriers.epoch, when - self.now)
            for epoch, when in barriers.settled.items()
            if when + barriers.cycles > self.now
        ]
        fences = (barriers.load_fence - barriers.epoch, barriers.store_fence - barriers.epoch)
        queues = (self.flights(memory.loads), self.flights(memory.stores))
        return queues, tuple(undone), tuple(settled), fences

    def ports(self) -> Hashable:
        ports = self.core.ports
        lasts = [
            (last[0].index, self.age(last[1])) if last else None
            for port in ports.ports
            for last in (port.last, *port.last_of_unit)
        ]
        queues = [self.flights(list(queue)) for port in ports.ports for queue in port.queues]
        returns = sorted((cycle - self.now, n) for cycle, n in ports.returns.items())
        return (
            ports.credits, ports.turn, tuple(port.in_flight for port in ports.ports),
            tuple(lasts), self.flights(ports.waiting), tuple(queues), tuple(returns),
        )  # fmt: skip

    def events(self) -> Hashable:
        """Completions and releases to come."""
        ends = [
            (
                cycle - self.now,
                tuple(
                    (f.instr.index, f.port, tuple(self.value(v) for v in f.values)) for f in flights
                ),
            )
            for cycle, flights in sorted(self.core.due.items())
        ]
        releases = [
            (cycle - self.now, tuple(self.value(value) for value in values))
            for cycle, values in sorted(self.core.registers.due.items())
        ]
        return tuple(ends), tuple(releases)
