"""Hardware loops: where the instruction stream is, and when it may go on.

A loop opens `to_dispatch` after it starts. The first top loop starts before the end of the
start-up, the next one when the last instruction of the one before is dispatched; an inner loop a
gap after the loop around it, and again `back` after the last dispatch of its previous run, but not
sooner than `period` after that run's start (first inner level). Iteration k of a loop waits for k
strides from the first look at iteration 0.
"""

from archsim.arch.vreg import VregVector
from archsim.cost.vreg.flight import Instr
from archsim.cost.vreg.program import NO_LOOP, Loop, Program
from archsim.cost.vreg.stalls import Stall
from archsim.cost.vreg.tables import whole

UNSET = -(1 << 60)


class _Rules:
    """What one loop is to the hardware: its delays, its place, its present iteration."""

    __slots__ = (
        "back", "deepest", "delay", "first", "held", "index", "iters", "last", "level", "parent",
        "period", "stride",
    )  # fmt: skip

    def __init__(self, loop: Loop, deepest: int, vector: VregVector) -> None:
        source = vector.post_update if loop.post_update else vector
        flat = loop.post_update and not loop.level and loop.innermost
        stride = vector.double_load_stride_cycles if loop.double else vector.iteration_stride_cycles
        self.iters = loop.iters
        self.first = loop.first
        self.last = loop.last
        self.level = loop.level
        self.parent = loop.parent
        self.deepest = deepest  # level of the innermost loop inside
        self.back = whole(source.loop_back_cycles)
        self.period = whole(source.row_period_cycles) if loop.level == 1 else 0
        self.delay = whole(vector.post_update.stream_cycles) * loop.streams if flat else 0
        self.stride = whole(stride)
        self.index = 0
        self.held = 0  # cycles that the stride has stopped dispatch


class HardwareLoops:
    """The cursor, and the times that gate it.

    `start[level]` is when the present run of the loop at `level` started, `base[level]` when its
    iteration 0 was first looked at, `again[level]` when its next run may start.
    """

    def __init__(self, program: Program, code: list[Instr], vector: VregVector) -> None:
        self.code = code
        self.loops = [
            _Rules(loop, _deepest(program, k), vector) for k, loop in enumerate(program.loops)
        ]
        self.closes = program.closes
        self.gap = whole(vector.nest_gap_cycles)
        self.to_dispatch = whole(vector.loop_to_dispatch_cycles)
        levels = 1 + max((loop.level for loop in self.loops), default=0)
        self.start = [UNSET] * levels
        self.base = [UNSET] * levels
        self.again = [UNSET] * levels
        self.moves = [_moves(program, k) for k in range(len(code))]
        self.tops = [loop for loop in self.loops if not loop.level]
        self.at = 0
        self.iterated = NO_LOOP  # the loop that began another iteration last
        lead = whole(vector.first_loop_lead_cycles)
        self._open_top(max(0, whole(vector.startup_cycles) - lead))

    @property
    def exhausted(self) -> bool:
        """True behind the last instruction."""
        return self.at == len(self.code)

    def blocked(self, now: int) -> Stall | None:
        """The gate that holds the next instruction, if any."""
        number = self.code[self.at].loop
        if number == NO_LOOP:
            return None
        loop = self.loops[number]
        level = loop.level
        if now < self.start[0] + self.to_dispatch or now < self.start[level] + self.to_dispatch:
            return Stall.LOOP_START
        if not loop.index and self.base[level] == UNSET:
            self.base[level] = now
        if now < self.gate(number):
            loop.held += 1
            return Stall.ITERATION
        return None

    def gate(self, number: int) -> int:
        """The first cycle of a loop's present iteration, by its stride."""
        loop = self.loops[number]
        return self.base[loop.level] + loop.index * loop.stride

    def address(self, at: int) -> int:
        """Where instruction `at` accesses memory in the present iteration."""
        address = self.code[at].op.address
        for number, step in self.moves[at]:
            address += step * self.loops[number].index
        return address

    def phases(self, number: int, period: int) -> tuple[int, ...]:
        """Where the accesses that a loop moves fall modulo `period`; none where that is 0."""
        if not period:
            return ()
        moved = (k for k, moves in enumerate(self.moves) if any(n == number for n, _ in moves))
        return tuple(self.address(k) % period for k in moved)

    def advance(self, now: int) -> None:
        """The instruction at the cursor is dispatched in cycle `now`: go on to the next."""
        if self.closes[self.at]:
            self._close_runs(self.code[self.at].loop, now)
        number = self.code[self.at].loop
        while number != NO_LOOP and self.at == self.loops[number].last:
            loop = self.loops[number]
            if loop.index + 1 < loop.iters:
                loop.index += 1
                self.iterated = number
                self.at = loop.first
                self._open_inner(loop)
                return
            loop.index = 0
            number = loop.parent
            if number == NO_LOOP:
                self._open_top(now)
        self.at += 1

    def _close_runs(self, number: int, now: int) -> None:
        """The last node of a loop's body is dispatched: when may the loop's next run start?

        The loops around count as ended when they are in their last iteration, whatever follows
        in their bodies. The first answer for a run stands.
        """
        loop = self.loops[number]
        while loop.index == loop.iters - 1 and loop.parent != NO_LOOP:
            parent = self.loops[loop.parent]
            if parent.index < parent.iters - 1 and self.again[loop.level] == UNSET:
                earliest = self.start[loop.level] + loop.period
                self.again[loop.level] = max(now + loop.back, earliest)
            loop = parent

    def _open_inner(self, loop: _Rules) -> None:
        """The loops inside start anew: the outermost when it may, each other a gap later."""
        for level in range(loop.level + 1, loop.deepest + 1):
            outermost = level == loop.level + 1
            before = self.start[level - 1] + self.gap
            self.start[level] = self.again[level] if outermost else before
            self.base[level] = self.again[level] = UNSET

    def _open_top(self, now: int) -> None:
        """The next top loop, and the loops inside, start at `now`."""
        if self.tops:
            loop = self.tops.pop(0)
            for level in range(loop.deepest + 1):
                self.start[level] = now + loop.delay + level * self.gap
                self.base[level] = self.again[level] = UNSET

    def jump(self, number: int, iterations: int, cycles: int) -> None:
        """Let `iterations` of a loop pass in `cycles`: the present cycle keeps its number, and
        what the loop and those around it have begun moves back."""
        self.loops[number].index += iterations
        for level in range(self.loops[number].level + 1):
            for times in (self.start, self.base, self.again):
                if times[level] != UNSET:
                    times[level] -= cycles

    def step(self, at: int, number: int) -> int:
        """Bytes that an access of instruction `at` moves with each iteration of a loop."""
        return dict(self.moves[at]).get(number, 0)


def _chain(program: Program, at: int) -> list[int]:
    """The loops around an instruction, outermost first."""
    chain: list[int] = []
    number = program.loop_of[at]
    while number != NO_LOOP:
        chain.insert(0, number)
        number = program.loops[number].parent
    return chain


def _moves(program: Program, at: int) -> tuple[tuple[int, int], ...]:
    """(loop, bytes an iteration) of an access, for the loops that move it."""
    pairs = zip(_chain(program, at), program.ops[at].steps, strict=False)
    return tuple((number, step) for number, step in pairs if step)


def _deepest(program: Program, number: int) -> int:
    """The level of the innermost loop inside a loop, its own level if there is none."""
    loop = program.loops[number]
    inside = (other.level for other in program.loops if loop.first <= other.first <= loop.last)
    return max(loop.level, *inside)
