"""Computes: one waiting queue, then per execution port an ALU queue and an SFU queue.

A compute leaves the waiting queue, oldest ready first and one a port and cycle, for the queue of
its port, and starts from the head of that queue: at most one a cycle and port, no earlier than the
initiation interval after the port's last one, and with a limited number in flight. Ports are bound
round robin in program order at rename; or, as in the public simulator, by a prediction of the
earliest start when the compute leaves the waiting queue.
"""

from collections import deque

from archsim.cost.vreg.flight import UNKNOWN, Flight, Instr
from archsim.cost.vreg.stalls import Stall


class Port:
    """One execution port."""

    def __init__(self) -> None:
        self.queues: tuple[deque[Flight], deque[Flight]] = (deque(), deque())  # ALU, SFU
        self.in_flight = 0
        self.last: tuple[Instr, int] | None = None  # the last start, and when
        self.last_of_unit: list[tuple[Instr, int] | None] = [None, None]

    @property
    def queued(self) -> int:
        """Computes in both queues."""
        return len(self.queues[0]) + len(self.queues[1])

    def predicted(self, instr: Instr, now: int) -> int:
        """The start to expect behind the compute that is before it in its unit on this port."""
        queue = self.queues[instr.long]
        if queue:
            before = queue[-1]
            return max(now + 1, before.planned + instr.interval[before.instr.index])
        return max(now + 1, _after(self.last_of_unit[instr.long], instr))


class Ports:
    """The waiting queue and the ports behind it. A credit is a place in the waiting queue."""

    def __init__(
        self, count: int, round_robin: bool, credits: int, release_cycles: int,
        queue_entries: int, receive_cycles: int, in_flight: int, stalls: list[int],
    ) -> None:  # fmt: skip
        self.ports = [Port() for _ in range(count)]
        self.round_robin = round_robin
        self.credits = credits
        self.release_cycles = release_cycles
        self.queue_entries = queue_entries
        self.receive_cycles = receive_cycles
        self.limit = in_flight
        self.stalls = stalls
        self.turn = 0
        self.waiting: list[Flight] = []
        self.queued = 0  # computes in all port queues
        self.returns: dict[int, int] = {}

    def accept(self, flight: Flight) -> None:
        """Queue a renamed compute, bound to its port where binding is round robin."""
        if flight.instr.pinned:
            flight.port = 0
        elif self.round_robin:
            flight.port = self.turn
            self.turn = (self.turn + 1) % len(self.ports)
        self.waiting.append(flight)

    def give_back(self, now: int) -> None:
        """One place in the waiting queue is free again, visible after a delay."""
        due = now + self.release_cycles
        self.returns[due] = self.returns.get(due, 0) + 1

    def return_credits(self, now: int) -> None:
        """Places whose delay is over."""
        if self.returns:
            self.credits += self.returns.pop(now, 0)

    def move(self, now: int) -> None:
        """Waiting queue to port queues."""
        moved: list[Flight] = []
        used = 0
        for flight in self.waiting:
            if flight.missing or flight.ready > now:
                continue
            port = self.choose(flight, used, now)
            if port == UNKNOWN:
                continue
            used |= 1 << port
            if not self.round_robin:
                flight.planned = self.ports[port].predicted(flight.instr, now)
            flight.port = port
            flight.received = now + self.receive_cycles
            self.ports[port].queues[flight.instr.long].append(flight)
            self.queued += 1
            self.give_back(now)
            moved.append(flight)
            if len(moved) == len(self.ports):
                break
        for flight in moved:
            self.waiting.remove(flight)

    def choose(self, flight: Flight, used: int, now: int) -> int:
        """The port to move to, or UNKNOWN: not used in this cycle and with room in its queue."""
        if flight.port != UNKNOWN:
            free = not used >> flight.port & 1
            room = self.ports[flight.port].queued < self.queue_entries
            return flight.port if free and room else UNKNOWN
        best: tuple[int, int, int] | None = None
        for number, port in enumerate(self.ports):
            if used >> number & 1 or port.queued >= self.queue_entries:
                continue
            rank = (port.predicted(flight.instr, now), port.queued, number)
            best = min(best, rank) if best else rank
        return best[2] if best else UNKNOWN

    def start(self, now: int) -> list[Flight]:
        """The computes that start in this cycle, at most one a port."""
        started: list[Flight] = []
        for port in self.ports:
            heads = [queue[0] for queue in port.queues if queue and queue[0].received <= now]
            if not heads:
                continue
            able = [head for head in heads if self._may_start(port, head, now)]
            if able:
                chosen = able[0] if len(able) == 1 else min(able, key=_age)
                self._begin(port, chosen, now)
                started.append(chosen)
            if len(heads) > 1 or not able:
                self.stalls[Stall.PORT] += 1
        return started

    def _may_start(self, port: Port, head: Flight, now: int) -> bool:
        return port.in_flight < self.limit and _after(port.last, head.instr) <= now

    def _begin(self, port: Port, flight: Flight, now: int) -> None:
        instr = flight.instr
        port.queues[instr.long].popleft()
        self.queued -= 1
        port.in_flight += 1
        port.last = port.last_of_unit[instr.long] = (instr, now)

    def done(self, flight: Flight) -> None:
        """A compute is complete: its place in flight is free."""
        self.ports[flight.port].in_flight -= 1


def _after(last: tuple[Instr, int] | None, instr: Instr) -> int:
    """When `instr` may start behind `last` on one port."""
    return last[1] + instr.interval[last[0].index] if last else 0


def _age(flight: Flight) -> tuple[int, int]:
    return flight.ready, flight.received
