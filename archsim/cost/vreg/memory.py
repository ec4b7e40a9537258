"""Loads and stores: the oldest ready access first, a few ports, banks that collide.

A load needs no register, so it may start as soon as it is queued; a store starts when its value is
forwarded to it. Within one function nothing orders loads behind stores but a memory barrier, which
holds later stores (`vst_vst`), loads (`vst_vld`) or both until all earlier stores are done.
"""

from collections import Counter

from archsim.cost.vreg.flight import Flight
from archsim.cost.vreg.stalls import Stall

NEVER = -1


class Banks:
    """UB banks in one cycle.

    The start address of an access decides its bank. An access is turned away if its bank is
    taken or the bank groups have served `per_cycle` accesses, and holds back younger ones of its
    kind; two loads of one address count once. `count` 0 switches conflicts off.
    """

    def __init__(self, count: int, bank_bytes: int, width_bytes: int, per_cycle: int) -> None:
        self.count = count
        self.bank_bytes = bank_bytes
        self.span = max(1, width_bytes // bank_bytes)
        self.per_cycle = per_cycle
        self.period = count * bank_bytes  # addresses this far apart are alike
        self.cycle = NEVER
        self.taken = 0
        self.accesses = 0
        self.loaded: list[tuple[int, int]] = []  # stream, address

    def admit(self, now: int, flight: Flight, load: bool) -> bool:
        """Take the banks of an access, or turn it away."""
        if not self.count:
            return True
        if now != self.cycle:
            self.cycle, self.taken, self.accesses, self.loaded = now, 0, 0, []
        place = (flight.instr.op.stream, flight.address)
        if load and place in self.loaded:
            return True
        wanted = self.mask(flight.address)
        if wanted & self.taken or self.accesses == self.per_cycle:
            return False
        self.taken |= wanted
        self.accesses += 1
        if load:
            self.loaded.append(place)
        return True

    def mask(self, address: int) -> int:
        """The banks of one access as bits; a vector wider than a bank row takes several."""
        first = address // self.bank_bytes
        mask = 0
        for k in range(self.span):
            mask |= 1 << (first + k) % self.count
        return mask


class Barriers:
    """Memory barriers cut the stores of a function into epochs.

    An access with fence f waits until every store of an epoch before f is done, and `cycles` more;
    0 is no fence. Epochs count from 1.
    """

    def __init__(self, cycles: int) -> None:
        self.cycles = cycles
        self.epoch = 1
        self.load_fence = 0
        self.store_fence = 0
        self.undone: Counter[int] = Counter()  # stores by epoch
        self.settled: dict[int, int] = {}  # epoch -> when its last store was done

    def raise_fence(self, effect: str) -> None:
        """A barrier is renamed."""
        self.epoch += 1
        if effect != "vst_vst":
            self.load_fence = self.epoch
        if effect != "vst_vld":
            self.store_fence = self.epoch

    def done(self, epoch: int, now: int) -> None:
        """A store of `epoch` is done."""
        self.undone[epoch] -= 1
        if not self.undone[epoch]:
            del self.undone[epoch]
            recent = {e: when for e, when in self.settled.items() if now < when + self.cycles}
            self.settled = {**recent, epoch: now}

    def hold(self, fence: int, now: int) -> bool:
        """True while an access behind `fence` must wait."""
        if not fence:
            return False
        if any(epoch < fence for epoch in self.undone):
            return True
        return any(
            epoch < fence and now < when + self.cycles for epoch, when in self.settled.items()
        )


class Memory:
    """The access queues, in program order."""

    def __init__(
        self, load_ports: int, store_ports: int, banks: Banks, barriers: Barriers, stalls: list[int]
    ) -> None:
        self.load_ports = load_ports
        self.store_ports = store_ports
        self.banks = banks
        self.barriers = barriers
        self.stalls = stalls
        self.loads: list[Flight] = []
        self.stores: list[Flight] = []

    def accept_load(self, flight: Flight) -> None:
        """Queue a load."""
        flight.fence = self.barriers.load_fence
        self.loads.append(flight)

    def accept_store(self, flight: Flight) -> None:
        """Queue a store."""
        flight.fence = self.barriers.store_fence
        flight.epoch = self.barriers.epoch
        self.barriers.undone[flight.epoch] += 1
        self.stores.append(flight)

    def start_loads(self, now: int) -> list[Flight]:
        """The loads that start in this cycle."""
        return self._start(self.loads, self.load_ports, now, load=True)

    def start_stores(self, now: int) -> list[Flight]:
        """The stores that start in this cycle."""
        return self._start(self.stores, self.store_ports, now, load=False)

    def _start(self, queue: list[Flight], ports: int, now: int, *, load: bool) -> list[Flight]:
        started: list[Flight] = []
        for flight in queue:
            if flight.missing or flight.ready > now:
                continue
            if self.barriers.hold(flight.fence, now):
                self.stalls[Stall.BARRIER] += 1
                break  # and so are all younger ones
            if len(started) == ports:
                self.stalls[Stall.LOAD_PORT if load else Stall.STORE_PORT] += 1
                break
            if not self.banks.admit(now, flight, load):
                self.stalls[Stall.BANK] += 1
                break
            started.append(flight)
        for flight in started:
            queue.remove(flight)
        return started
