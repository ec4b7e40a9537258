"""Dispatch: in program order, a few micro-ops a cycle, through the gates of hardware loops.

A loop opens a while after it starts. The first top loop starts before the end of the start-up,
the next one when the last instruction of the one before is dispatched; an inner loop a gap after
the loop around it, and again `loop_back` after the last dispatch of its previous run, but not
sooner than `row_period` after that run's start (first inner level). Iteration k of a loop waits
for k strides from the dispatch of iteration 0. Every micro-op needs its registers, a compute or
store a place in the waiting queue. A memory barrier in a nest waits until the core is drained.
"""

from archsim.arch.vreg import VregVector
from archsim.cost.vreg.flight import Flight, Instr, Role
from archsim.cost.vreg.ports import Ports
from archsim.cost.vreg.program import NO_LOOP, Loop, Program
from archsim.cost.vreg.registers import Registers
from archsim.cost.vreg.stalls import Stall
from archsim.cost.vreg.tables import whole

UNSET = -(1 << 60)


class LoopRules:
    """The delays that one loop pays."""

    __slots__ = ("back", "delay", "iters", "period", "stride")

    def __init__(self, loop: Loop, vector: VregVector) -> None:
        source = vector.post_update if loop.post_update else vector
        streams = loop.streams if loop.post_update and not loop.level and loop.innermost else 0
        self.iters = loop.iters
        self.back = whole(source.loop_back_cycles)
        self.period = whole(source.row_period_cycles) if loop.level == 1 else 0
        self.delay = whole(vector.post_update.stream_cycles) * streams
        stride = vector.double_load_stride_cycles if loop.double else vector.iteration_stride_cycles
        self.stride = whole(stride)


class Dispatcher:
    """The cursor in the program, the loop gates, and what stopped dispatch in this cycle.

    `start[level]` is when the present run of the loop at `level` started, `base[level]` when its
    iteration 0 was first looked at, `again[level]` when its next run may start.
    """

    def __init__(
        self, program: Program, code: list[Instr], vector: VregVector,
        registers: Registers, ports: Ports, stalls: list[int],
    ) -> None:  # fmt: skip
        self.program = program
        self.code = code
        self.rules = [LoopRules(loop, vector) for loop in program.loops]
        self.registers = registers
        self.ports = ports
        self.stalls = stalls
        self.width = min(whole(vector.dispatch_width), whole(vector.dispatch_window))
        startup = whole(vector.startup_cycles)
        self.first = max(0, startup - whole(vector.dispatch_lead_cycles))
        self.gap = whole(vector.nest_gap_cycles)
        self.drain = whole(vector.nested_barrier_cycles)
        self.to_dispatch = whole(vector.loop_to_dispatch_cycles)
        levels = 1 + max((loop.level for loop in program.loops), default=0)
        self.start = [UNSET] * levels
        self.base = [UNSET] * levels
        self.again = [UNSET] * levels
        self.index = [0] * len(program.loops)
        self.chains = [_chain(program, k) for k in range(len(code))]
        self.accesses = [k for k, instr in enumerate(code) if instr.role in _ACCESSES]
        self.tops = [k for k, loop in enumerate(program.loops) if not loop.level]
        self.at = 0
        self.busy = 0  # micro-ops between dispatch and completion
        self.drained = UNSET  # when the last of them was done
        self.iterated = NO_LOOP  # the loop that began another iteration in this cycle
        self._open_top(max(0, startup - whole(vector.first_loop_lead_cycles)))

    @property
    def exhausted(self) -> bool:
        """True once the last instruction is dispatched."""
        return self.at == len(self.code)

    def dispatch(self, now: int) -> list[Flight]:
        """The micro-ops dispatched in this cycle."""
        self.iterated = NO_LOOP
        sent: list[Flight] = []
        while now >= self.first and self.at < len(self.code):
            stall = Stall.WIDTH if len(sent) == self.width else self.blocked(now)
            if stall is not None:
                self.stalls[stall] += 1
                break
            sent.append(self._send())
            self.busy += 1
            self._close_runs(now)
            self._advance(now)
        return sent

    def blocked(self, now: int) -> Stall | None:
        """What the next instruction waits for, if anything."""
        instr = self.code[self.at]
        if instr.loop != NO_LOOP:
            level = self.program.loops[instr.loop].level
            if now < max(self.start[0], self.start[level]) + self.to_dispatch:
                return Stall.LOOP_START
            iteration = self.index[instr.loop]
            if self.base[level] == UNSET and not iteration:
                self.base[level] = now
            if now < self.base[level] + iteration * self.rules[instr.loop].stride:
                return Stall.ITERATION
            if instr.role is Role.BARRIER and level and self.undrained(now):
                return Stall.BARRIER
        if self.registers.free < instr.takes:
            return Stall.REGISTERS
        if instr.role in _QUEUED and not self.ports.credits:
            return Stall.QUEUE
        return None

    def undrained(self, now: int) -> bool:
        """Whether a barrier in a nest still waits: something runs, or ended only just now."""
        return self.busy > 0 or now < self.drained + self.drain

    def done(self, now: int) -> None:
        """A micro-op has left the core."""
        self.busy -= 1
        self.drained = now

    def _send(self) -> Flight:
        instr = self.code[self.at]
        self.registers.free -= instr.takes
        if instr.role in _QUEUED:
            self.ports.credits -= 1
        return Flight(instr, self.address(self.at))

    def address(self, at: int) -> int:
        """Where instruction `at` accesses memory in the present iteration."""
        op = self.code[at].op
        address = op.address
        for step, loop in zip(op.steps, self.chains[at], strict=False):
            address += step * self.index[loop]
        return address

    def step(self, instr: Instr, loop: int) -> int:
        """Bytes from one iteration of `loop` to the next, for an access inside of it."""
        chain = self.chains[instr.index]
        steps = instr.op.steps
        return steps[chain.index(loop)] if steps and loop in chain else 0

    def jump(self, loop: int, iterations: int, cycles: int) -> None:
        """Let `iterations` of `loop` pass in `cycles`: the present cycle keeps its number, and
        what the loop and those around it have begun moves back."""
        self.index[loop] += iterations
        for level in range(self.program.loops[loop].level + 1):
            for times in (self.start, self.base, self.again):
                if times[level] != UNSET:
                    times[level] -= cycles

    def _close_runs(self, now: int) -> None:
        """After the last dispatch of a loop's run: when may its next run start?

        Looks at the last node of the innermost loop only; the loops around count as ended when
        they are in their last iteration. The first time that is found counts.
        """
        loop = self.program.loop_of[self.at]
        if not self.program.closes[self.at]:
            return
        while self.index[loop] == self.rules[loop].iters - 1:
            parent, level = self.program.loops[loop].parent, self.program.loops[loop].level
            if parent == NO_LOOP:
                return
            if self.index[parent] < self.rules[parent].iters - 1 and self.again[level] == UNSET:
                rules = self.rules[loop]
                self.again[level] = max(now + rules.back, self.start[level] + rules.period)
            loop = parent

    def _advance(self, now: int) -> None:
        """Move the cursor, into the next iteration of the innermost loop that has one."""
        loop = self.program.loop_of[self.at]
        while loop != NO_LOOP and self.at == self.program.loops[loop].last:
            if self.index[loop] + 1 < self.rules[loop].iters:
                self.index[loop] += 1
                self.iterated = loop
                self.at = self.program.loops[loop].first
                self._open_inner(self.program.loops[loop].level + 1)
                return
            self.index[loop] = 0
            if self.program.loops[loop].parent == NO_LOOP:
                self._open_top(now)
            loop = self.program.loops[loop].parent
        self.at += 1

    def _open_inner(self, level: int) -> None:
        """Runs of the loops inside start anew: the outermost when allowed, each next a gap on."""
        for inner in range(level, len(self.start)):
            before = self.start[inner - 1] + self.gap
            self.start[inner] = self.again[inner] if inner == level else before
            self.base[inner] = self.again[inner] = UNSET

    def _open_top(self, now: int) -> None:
        """The next top loop, and the loops inside it, start at `now`."""
        if self.tops:
            self.start[0] = now + self.rules[self.tops.pop(0)].delay
            self.base[0] = self.again[0] = UNSET
            self.again[1:] = [UNSET] * (len(self.start) - 1)
            for level in range(1, len(self.start)):
                self.start[level] = self.start[level - 1] + self.gap
                self.base[level] = UNSET


_QUEUED = (Role.COMPUTE, Role.STORE)
_ACCESSES = (Role.LOAD, Role.STORE)


def _chain(program: Program, at: int) -> tuple[int, ...]:
    """The loops around an instruction, outermost first."""
    chain: list[int] = []
    loop = program.loop_of[at]
    while loop != NO_LOOP:
        chain.insert(0, loop)
        loop = program.loops[loop].parent
    return tuple(chain)
