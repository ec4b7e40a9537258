"""Periodic loops: a state that comes back makes whole periods certain, so they are not simulated.

The state is taken at the end of a cycle in which a loop began another iteration, with all times
relative to that cycle and all iterations relative to the loop's. If it was seen before in the same
run of the loop, p iterations and D cycles ago, then so it goes on: any number of periods may be
added to the loop's index and to the clock, short of the last iteration, which differs.

Values are told apart by how they are connected, not by their registers. Ages beyond what any
forwarding or issue distance can reach are equal. The stride gate of the loop is no part of the
state: it may only fall behind, which changes nothing if it stopped nothing. A cheap signature
comes first: the state is taken only where that repeats.
"""

from collections.abc import Hashable
from dataclasses import dataclass

from archsim.cost.vreg.core import Core
from archsim.cost.vreg.flight import UNKNOWN, Flight, Role, Value
from archsim.cost.vreg.loops import UNSET

FEWEST = 6  # iterations left that are worth a look
TRAIL = 4  # hints in a row that must repeat before the state is taken
MULTIPLES = 4  # a state may come back after a few times the distance of its hints
ATTEMPTS = 64  # states taken in vain before a loop counts as aperiodic


@dataclass(frozen=True, slots=True)
class _Sight:
    """When a state was seen: the loop's index, the cycle, the counters.

    `gate`: cycles until the stride lets the iteration go that has just begun; `held`: cycles that
    it has stopped dispatch so far.
    """

    index: int
    cycle: int
    stalls: tuple[int, ...]
    gate: int
    held: int


@dataclass(frozen=True, slots=True)
class _Period:
    """What passes between two sights of one state in one run of a loop."""

    before: _Sight
    after: _Sight

    @property
    def iterations(self) -> int:
        """Iterations of the loop."""
        return self.after.index - self.before.index

    @property
    def cycles(self) -> int:
        """Cycles."""
        return self.after.cycle - self.before.cycle

    @property
    def stalls(self) -> list[int]:
        """What each counter grows by."""
        return [b - a for a, b in zip(self.before.stalls, self.after.stalls, strict=True)]

    def holds(self, gate: int) -> bool:
        """Whether it goes on like that: the stride keeps pace, or is behind and stopped nothing."""
        if self.before.gate == self.after.gate == gate:
            return True
        behind = gate <= self.before.gate and self.after.gate <= self.before.gate
        return behind and self.after.held == self.before.held


@dataclass(slots=True)
class _Suspect:
    """A state that should be back at index `due`, or `guess` iterations later, and so on."""

    state: Hashable
    sight: _Sight
    guess: int
    due: int


class _Watch:
    """What is known about one loop; `trails` tells in which run and where hints were seen."""

    def __init__(self) -> None:
        self.run = 0
        self.hints: tuple[Hashable, ...] = ()
        self.trails: dict[Hashable, tuple[int, int]] = {}
        self.suspect: _Suspect | None = None
        self.periods: dict[Hashable, _Period] = {}
        self.attempts = 0

    def new_run(self) -> None:
        """The loop is entered again: indices start anew, knowledge of periods stays."""
        self.run += 1
        self.hints = ()
        self.suspect = None

    def guess(self, index: int, hint: Hashable) -> int | None:
        """Iterations since the last hints were seen in this order; 0 if in another run."""
        self.hints = (*self.hints, hint)[-TRAIL:]
        seen = self.trails.get(self.hints)
        self.trails[self.hints] = (self.run, index)
        if seen is None:
            return None
        return index - seen[1] if seen[0] == self.run else 0


class Skipper:
    """Watches a core and jumps over whole periods of its loops."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.watches = [_Watch() for _ in core.loops.loops]
        code = core.loops.code
        self.reach = max((max(*i.after, *i.interval, i.latency) for i in code), default=0)
        # which of two sources of a store began last is not part of the state
        self.useless = any(i.role is Role.STORE and len(i.src) > 1 for i in code)

    def look(self, number: int, now: int) -> None:
        """To be called at the end of a cycle in which loop `number` began another iteration."""
        watch, loop = self.watches[number], self.core.loops.loops[number]
        if loop.index == 1:
            watch.new_run()
        if loop.iters - 1 - loop.index < FEWEST or watch.attempts > ATTEMPTS or self.useless:
            return
        guess = watch.guess(loop.index, self.hint(number))
        if watch.suspect:
            due = loop.index == watch.suspect.due
        else:
            due = bool(guess or (guess == 0 and watch.periods))
        if due:
            self.compare(number, guess or 0, now)

    def hint(self, number: int) -> Hashable:
        """A few counts that equal states share."""
        core = self.core
        return (
            core.loops.at,
            core.loops.phases(number, core.memory.banks.period),
            core.dispatcher.busy,
            core.registers.free,
            core.ports.credits,
            core.ports.turn,
            len(core.memory.loads),
            len(core.memory.stores),
            len(core.ports.waiting),
        )

    def compare(self, number: int, guess: int, now: int) -> None:
        """Take the state; learn a period if it is back, and jump if it begins one."""
        core, watch, loop = self.core, self.watches[number], self.core.loops.loops[number]
        gate = core.loops.gate(number) - now
        sight = _Sight(loop.index, now + core.skipped, tuple(core.stalls), gate, loop.held)
        state = _State(core, number, now, self.reach).key()
        if watch.suspect and watch.suspect.state == state:
            watch.periods[state] = _Period(watch.suspect.sight, sight)
        period = watch.periods.get(state)
        if period and period.holds(gate):
            watch.suspect = None
            self.jump(number, period, (loop.iters - 1 - loop.index) // period.iterations)
            return
        watch.attempts += 1
        if (
            watch.suspect
            and loop.index - watch.suspect.sight.index < MULTIPLES * watch.suspect.guess
        ):
            watch.suspect.due += watch.suspect.guess
        else:
            watch.suspect = _Suspect(state, sight, guess, loop.index + guess) if guess else None

    def jump(self, number: int, period: _Period, times: int) -> None:
        """Add `times` periods to the loop's index and to the clock.

        The present cycle keeps its number; what began before the loop's run moves back instead.
        """
        core = self.core
        iterations, cycles = times * period.iterations, times * period.cycles
        core.skipped += cycles
        core.stalls[:] = [a + times * b for a, b in zip(core.stalls, period.stalls, strict=True)]
        core.loops.jump(number, iterations, cycles)
        for flight in (*core.memory.loads, *core.memory.stores, *core.in_rename()):
            flight.address += iterations * core.loops.step(flight.instr.index, number)


class _State:
    """Everything that decides how a core goes on inside one loop, as a hashable key."""

    def __init__(self, core: Core, number: int, now: int, reach: int) -> None:
        self.core = core
        self.number = number
        self.loop = core.loops.loops[number]
        self.now = now
        self.oldest = -reach
        self.values: dict[int, int] = {}  # identity of a value -> its number
        self.content: list[Hashable] = []

    def key(self) -> Hashable:
        """The state; equal keys go on alike."""
        core = self.core
        parts = (
            self.loops(),
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

    def behind(self, epoch: int) -> int | None:
        """An epoch or fence, as barriers since; 0 is none."""
        return self.core.memory.barriers.epoch - epoch if epoch else None

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
        return (
            flight.instr.index,
            self.since(flight.ready),
            flight.missing,
            flight.port,
            self.since(flight.received),
            self.since(flight.planned),
            flight.address - self.core.loops.address(flight.instr.index),
            self.behind(flight.epoch),
            self.behind(flight.fence),
            flight.latest.instr.index if flight.latest else UNKNOWN,
            tuple(self.value(value) for value in flight.sources),
            tuple(self.value(value) for value in flight.values),
        )

    def loops(self) -> Hashable:
        """The cursor, the gates of the loops inside, where accesses will fall."""
        core, loops = self.core, self.core.loops
        inside = slice(self.loop.level + 1, self.loop.deepest + 1)
        gates = (
            tuple(cycle if cycle == UNSET else cycle - self.now for cycle in times[inside])
            for times in (loops.start, loops.base, loops.again)
        )
        period = core.memory.banks.period
        return (
            loops.at,
            tuple(gates),
            tuple(loop.index for loop in loops.loops if loop.level > self.loop.level),
            tuple(loops.address(k) % period for k in range(len(loops.code)) if period),
            core.dispatcher.busy,
            max(0, core.startup - self.now),
        )

    def memory(self) -> Hashable:
        memory = self.core.memory
        barriers = memory.barriers
        undone = sorted((epoch - barriers.epoch, n) for epoch, n in barriers.undone.items())
        settled = [
            (epoch - barriers.epoch, when - self.now)
            for epoch, when in barriers.settled.items()
            if when + barriers.cycles > self.now
        ]
        fences = (self.behind(barriers.load_fence), self.behind(barriers.store_fence))
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
