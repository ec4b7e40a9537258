"""Dispatch: in program order, a few micro-ops a cycle, while the loops and the resources allow.

Every micro-op needs its physical registers, a compute or store a place in the waiting queue. The
two halves of a load of two registers share one place in the dispatch group.
"""

from archsim.arch.vreg import VregVector
from archsim.cost.vreg.flight import Flight, Instr, Role
from archsim.cost.vreg.loops import HardwareLoops
from archsim.cost.vreg.ports import Ports
from archsim.cost.vreg.registers import Registers
from archsim.cost.vreg.stalls import Stall
from archsim.cost.vreg.tables import whole

_QUEUED = (Role.COMPUTE, Role.STORE)


class Dispatcher:
    """Takes instructions from the loops' cursor and spends resources on them."""

    def __init__(
        self, loops: HardwareLoops, registers: Registers, ports: Ports, stalls: list[int],
        vector: VregVector,
    ) -> None:  # fmt: skip
        self.loops = loops
        self.registers = registers
        self.ports = ports
        self.stalls = stalls
        self.width = min(whole(vector.dispatch_width), whole(vector.dispatch_window))
        lead = whole(vector.dispatch_lead_cycles)
        self.first = max(0, whole(vector.startup_cycles) - lead)
        self.busy = 0  # micro-ops between dispatch and completion

    def dispatch(self, now: int) -> list[Flight]:
        """The micro-ops dispatched in this cycle."""
        sent: list[Flight] = []
        loops, slots = self.loops, self.width
        while not loops.exhausted:
            instr = loops.code[loops.at]
            stall = self.blocked(now) if slots or instr.joined else Stall.WIDTH
            if stall is not None:
                self.stalls[stall] += 1
                break
            slots -= not instr.joined
            sent.append(self._send(instr))
            loops.advance(now)
        return sent

    def blocked(self, now: int) -> Stall | None:
        """What the next instruction waits for, if anything."""
        stall = self.loops.blocked(now)
        if stall is not None:
            return stall
        instr = self.loops.code[self.loops.at]
        if self.registers.free < instr.takes:
            return Stall.REGISTERS
        if instr.role in _QUEUED and not self.ports.credits:
            return Stall.QUEUE
        return None

    def _send(self, instr: Instr) -> Flight:
        self.busy += 1
        self.registers.free -= instr.takes
        if instr.role in _QUEUED:
            self.ports.credits -= 1
        return Flight(instr, self.loops.address(self.loops.at))
