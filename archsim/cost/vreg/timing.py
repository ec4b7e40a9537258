"""Cycles of one vector function: `vf_cycles`, and the cache behind it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from archsim.arch.vreg import VregUops, VregVector
from archsim.base.errors import Diagnostic, InputError
from archsim.cost.vreg.core import Core
from archsim.cost.vreg.flight import instructions
from archsim.cost.vreg.memory import Banks
from archsim.cost.vreg.program import NO_LOOP, Node, Program, canonical, flatten, unroll_single
from archsim.cost.vreg.reuse import reuse_registers
from archsim.cost.vreg.skip import Skipper
from archsim.cost.vreg.stalls import Stall
from archsim.cost.vreg.tables import Costs, whole
from archsim.isa.timing import UopSlice
from archsim.isa.vreg import VectorFunction, VregLoop, VregNode

BLOCK_BYTES = 32


@dataclass(frozen=True, slots=True)
class UbBanks:
    """The shape of UB: adjacent 32-byte blocks walk through `groups`, then to the next bank."""

    groups: int
    banks_per_group: int


@dataclass(frozen=True, slots=True)
class VfTiming:
    """Time of one vector function, in cycles from its start.

    `uops`: a row for each micro-op of its text that is not free: how often it runs, first start,
    last end. `stalls`: cycles by cause; causes of dispatch exclude each other within a cycle,
    others may overlap.
    """

    cycles: int
    uops: tuple[UopSlice, ...]
    stalls: Mapping[str, int]


class VregCost:
    """The vector unit of one chip; equal functions are timed once."""

    def __init__(self, vector: VregVector, uops: VregUops, banks: UbBanks) -> None:
        self.vector = vector
        self.uops = uops
        self.costs = Costs(vector, uops)
        self.shape = banks
        by_address = vector.bank_conflicts == "by_address"
        self.count = banks.banks_per_group if by_address else 0
        self.period = self.count * banks.groups * BLOCK_BYTES
        self._timed = lru_cache(maxsize=4096)(self._simulate)

    def time(self, vf: VectorFunction) -> VfTiming:
        """The time of `vf`; see `vf_cycles`."""
        self.costs.check(sorted(set(_names(vf.nodes))))
        return self._timed(canonical(vf, self.costs.unit, self.period))

    def _simulate(self, nodes: tuple[Node, ...]) -> VfTiming:
        return self.simulate(nodes, skip=True)

    def simulate(self, nodes: tuple[Node, ...], skip: bool) -> VfTiming:
        """Run a canonical program; `skip` jumps over periods of its loops."""
        reused = reuse_registers(nodes, self.vector.loop_carried_values)
        program = flatten(unroll_single(reused))
        core = Core(program, instructions(program, self.costs), self.vector, self._banks())
        skipper = Skipper(core) if skip else None
        now = core.dispatcher.first
        while not core.finished:
            core.loops.iterated = NO_LOOP
            core.cycle(now)
            if skipper and core.loops.iterated != NO_LOOP:
                skipper.look(core.loops.iterated, now)
            if core.stuck:
                raise _too_few_registers(self.vector)
            now += 1
        return self._timing(program, core)

    def _banks(self) -> Banks:
        bank_bytes = self.shape.groups * BLOCK_BYTES
        accesses = whole(self.vector.bank_accesses_per_cycle)
        return Banks(self.count, bank_bytes, self.vector.width_bytes, accesses)

    def _timing(self, program: Program, core: Core) -> VfTiming:
        drain = whole(self.vector.drain_cycles)
        end = max(core.last_done + core.skipped, core.startup) + drain
        stalls = {stall.name.lower(): core.stalls[stall] for stall in Stall}
        stalls |= {"startup": core.startup, "drain": drain}
        return VfTiming(
            end + self._straight_line(program), tuple(self._slices(program, core)), stalls
        )

    def _straight_line(self, program: Program) -> int:
        """What a function pays or saves that has no loop once single iterations are unrolled."""
        if program.loops:
            return 0
        names = {op.name for op in program.ops}
        extra = sum(self.costs.straight_line(name) for name in sorted(names))
        units = {op.unit for op in program.ops} & {"alu", "sfu"}
        saved = whole(self.vector.straight_line_saving_cycles) if units == {"alu"} else 0
        return extra - saved

    def _slices(self, program: Program, core: Core) -> Iterator[UopSlice]:
        for _, group in groupby(enumerate(program.ops), key=lambda pair: pair[1].row):
            (first, op), *rest = group
            parts = (first, *(k for k, _ in rest))
            if core.first_start[first] < 0:  # a barrier never runs: it holds others back
                continue
            count = _runs(program, first)
            latency = self.costs.latency_quantity((op.name, op.form))
            yield UopSlice(
                op.name,
                repeat=1,
                start=min(core.first_start[k] for k in parts),
                end=max(core.last_end[k] for k in parts),
                slots=count * len(parts),
                basis=latency.basis,
                uncertainty=float(latency.uncertainty),
                count=count,
            )


def vf_cycles(vf: VectorFunction, vector: VregVector, uops: VregUops, banks: UbBanks) -> VfTiming:
    """Cycles of one vector function from its start to the end of its drain.

    cycles = last completion + `vector.drain_cycles`; nothing completes before
    `vector.startup_cycles`. Raises `InputError` for micro-ops without a row in `uops` and where
    the registers cannot hold the function's values. Source: the public A5 vector-function
    simulator, and profile points where `vector` departs from it.
    """
    return _model(vector, uops, banks).time(vf)


_models: list[VregCost] = []


def _model(vector: VregVector, uops: VregUops, banks: UbBanks) -> VregCost:
    """The model of a configuration; the last few are kept, by identity."""
    for model in _models:
        if model.vector is vector and model.uops is uops and model.shape == banks:
            return model
    _models.insert(0, VregCost(vector, uops, banks))
    del _models[_KEPT:]
    return _models[0]


_KEPT = 8


def _names(nodes: Iterable[VregNode]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, VregLoop):
            yield from _names(node.body)
        else:
            yield node.op


def _runs(program: Program, at: int) -> int:
    """How often an instruction runs."""
    runs, loop = 1, program.loop_of[at]
    while loop != NO_LOOP:
        runs *= program.loops[loop].iters
        loop = program.loops[loop].parent
    return runs


def _too_few_registers(vector: VregVector) -> InputError:
    message = (
        f"vector.physical_registers is {whole(vector.physical_registers)}; "
        "the values that one vector function keeps at a time must fit"
    )
    return InputError([Diagnostic(message)])
