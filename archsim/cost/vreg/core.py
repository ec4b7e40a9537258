"""The core: one cycle is rename, dispatch, completions, loads, computes, stores, in this order."""

from collections import deque

from archsim.arch.vreg import VregVector
from archsim.cost.vreg.dispatch import Dispatcher
from archsim.cost.vreg.flight import Flight, Instr, Role
from archsim.cost.vreg.loops import HardwareLoops
from archsim.cost.vreg.memory import Banks, Barriers, Memory
from archsim.cost.vreg.ports import Ports
from archsim.cost.vreg.program import Program
from archsim.cost.vreg.registers import Registers
from archsim.cost.vreg.stalls import no_stalls
from archsim.cost.vreg.tables import whole


class Core:
    """All units of the vector core, and what happens when a micro-op starts and ends."""

    def __init__(
        self, program: Program, code: list[Instr], vector: VregVector, banks: Banks
    ) -> None:
        self.stalls = no_stalls()
        self.startup = whole(vector.startup_cycles)
        self.rename_cycles = whole(vector.rename_cycles)
        self.queue_entry = whole(vector.queue_entry_cycles)
        self.receive = whole(vector.port_queue_receive_cycles)
        self.registers = Registers(
            whole(vector.physical_registers),
            program.registers,
            whole(vector.register_release_cycles),
        )
        self.ports = Ports(
            whole(vector.execution_ports),
            vector.port_binding == "round_robin",
            whole(vector.waiting_queue_entries),
            whole(vector.waiting_queue_release_cycles),
            whole(vector.port_queue_entries),
            self.receive,
            whole(vector.in_flight_per_port),
            self.stalls,
        )
        self.memory = Memory(
            whole(vector.load_ports),
            whole(vector.store_ports),
            banks,
            Barriers(whole(vector.store_barrier_cycles)),
            self.stalls,
        )
        self.loops = HardwareLoops(program, code, vector)
        self.dispatcher = Dispatcher(self.loops, self.registers, self.ports, self.stalls, vector)
        self.renaming: deque[tuple[int, list[Flight]]] = deque()
        self.due: dict[int, list[Flight]] = {}
        self.last_done = 0
        self.first_start = [-1] * len(code)
        self.last_end = [0] * len(code)
        self.skipped = 0  # cycles jumped over so far

    @property
    def finished(self) -> bool:
        """Everything is dispatched and done."""
        return self.loops.exhausted and not self.dispatcher.busy

    @property
    def stuck(self) -> bool:
        """Dispatch waits for a register and nothing is left that could free one."""
        if self.dispatcher.busy or self.loops.exhausted or self.registers.due:
            return False
        return self.registers.free < self.loops.code[self.loops.at].takes

    def cycle(self, now: int) -> None:
        """Everything that happens in cycle `now`."""
        while self.renaming and self.renaming[0][0] == now:
            for flight in self.renaming.popleft()[1]:
                self.rename(flight, now)
        if not self.loops.exhausted and (sent := self.dispatcher.dispatch(now)):
            self.renaming.append((now + self.rename_cycles, sent))
        self.ports.return_credits(now)
        self.registers.release(now)
        for flight in self.due.pop(now, ()):
            self.complete(flight, now)
        # empty queues are the rule while a function fills and drains
        if self.memory.loads:
            for flight in self.memory.start_loads(now):
                self.start(flight, now, flight.instr.latency)
        if self.ports.waiting:
            self.ports.move(now)
        if self.ports.queued:
            for flight in self.ports.start(now):
                self.start(flight, now, flight.instr.latency)
        if self.memory.stores:
            for flight in self.memory.start_stores(now):
                self.ports.give_back(now)
                self.start(flight, now, self.store_cycles(flight))

    def in_rename(self) -> list[Flight]:
        """Dispatched, not renamed yet."""
        return [flight for _, group in self.renaming for flight in group]

    def rename(self, flight: Flight, now: int) -> None:
        """Bind registers and enter a queue; count the sources that have not started yet."""
        instr = flight.instr
        flight.ready = now + self.queue_entry
        if instr.role is Role.BARRIER:
            self.memory.barriers.raise_fence(instr.op.effect)
            self.dispatcher.busy -= 1
            return
        if instr.role is not Role.STORE:
            flight.ready = max(flight.ready, self.startup)
        self.registers.rename(flight)
        for value in flight.sources:
            if value.producer.start < 0:
                flight.missing += 1
                value.waiting.append(flight)
            else:
                self.forward(value.producer, flight)
        if instr.role is Role.COMPUTE:
            self.ports.accept(flight)
        elif instr.role is Role.STORE:
            self.memory.accept_store(flight)
        else:
            self.memory.accept_load(flight)

    def forward(self, producer: Flight, reader: Flight) -> None:
        """The earliest start of a reader of a value whose producer has started.

        A compute spends the last cycle of it on its way to the port queue.
        """
        after = reader.instr.after[producer.instr.index]
        if reader.instr.role is Role.STORE:
            if reader.latest is None or producer.start >= reader.latest.start:
                reader.latest = producer
        else:
            after = max(0, after - self.receive)
        reader.ready = max(reader.ready, producer.start + after)

    def store_cycles(self, flight: Flight) -> int:
        """Start to done of a store: set by what produced its latest source."""
        producer = flight.latest
        return flight.instr.store_of[producer.instr.index] if producer else flight.instr.latency

    def start(self, flight: Flight, now: int, cycles: int) -> None:
        """A micro-op starts: wake its readers, release its sources, schedule its end."""
        index = flight.instr.index
        flight.start = now
        for value in flight.values:
            for reader in value.waiting:
                reader.missing -= 1
                self.forward(flight, reader)
            value.waiting = []
        self.registers.started(flight, now)
        self.due.setdefault(now + cycles, []).append(flight)
        if self.first_start[index] < 0:
            self.first_start[index] = now + self.skipped
        self.last_end[index] = max(self.last_end[index], now + cycles + self.skipped)

    def complete(self, flight: Flight, now: int) -> None:
        """A micro-op is done."""
        self.dispatcher.busy -= 1
        self.last_done = now
        role = flight.instr.role
        if role is Role.COMPUTE:
            self.ports.done(flight)
        elif role is Role.STORE:
            self.memory.barriers.done(flight.epoch, now)
        for value in flight.values:
            self.registers.try_free(value)
