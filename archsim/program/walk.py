"""The lazy walk: every dynamic step of a program, in program order, with everything bound."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from archsim.base.errors import Diagnostic, InputError
from archsim.base.source import Span
from archsim.isa.operands import BoundInstr
from archsim.isa.pipes import Pipe
from archsim.program.binding import Binder
from archsim.program.ir import (
    Barrier,
    EventArg,
    EventDecl,
    Flag,
    For,
    If,
    Instr,
    Program,
    Record,
    ScalarArg,
    Statement,
    Wait,
)
from archsim.program.tensors import GmLayout
from archsim.program.views import Env, Site, Stopped, WalkFault


class StepKind(Enum):
    """What a step asks of the core."""

    INSTR = "instruction"
    WAIT = "wait"
    SET = "set"
    BARRIER = "barrier"


class FlagKey(NamedTuple):
    """A flag from `src` to `dst`: a slot of the event `name`, or a plain id where `name` is ""."""

    src: Pipe
    dst: Pipe
    name: str
    slot: int


class Step(NamedTuple):
    """One dynamic step.

    `statement` counts the statements of the text that are no loop or branch, from 0; the waits and
    the record of an instruction share its number. `bound` is the same object whenever the same
    statement runs with the same slots, extents and scalars: only the byte address `gm_addr` of
    its tensor window differs. `pipe` is where an instruction runs, a wait blocks, a set fires; a
    barrier drains it (None: all).
    """

    kind: StepKind
    statement: int
    pipe: Pipe | None
    bound: BoundInstr | None
    gm_addr: int
    flag: FlagKey | None
    span: Span
    result: str = ""  # the scalar that the instruction reads: the walk goes on when it is told


class Walk:
    """Iterates over the steps of one program, once; see `walk`.

    `fault` is what stopped it early, else None.
    """

    def __init__(
        self, program: Program, placements: Mapping[str, int], bases: Mapping[str, int]
    ) -> None:
        self.fault: WalkFault | None = None
        self._env: Env = {**dict.fromkeys(runtime_scalars(program), 0), **program.scalars}
        self._loops: list[str] = []
        self._binder = Binder(program, placements, bases)
        self._events = program.events
        self._index = 0
        self._block = self._compile(program.body, ())

    def __iter__(self) -> Iterator[Step]:
        try:
            yield from self._run(self._block)
        except Stopped as stopped:
            self.fault = stopped.fault

    def tell(self, name: str, value: int | float) -> None:
        """What a run read for the scalar `name`."""
        self._env[name] = value

    @property
    def iteration(self) -> str:
        """The loop variables of the step just yielded: "i = 7, j = 0"; "" outside loops."""
        return ", ".join(f"{name} = {self._env[name]}" for name in self._loops)

    def _run(self, block: "_Block") -> Iterator[Step]:
        env = self._env
        for node in block:
            if isinstance(node, _Loop):
                self._loops.append(node.var)
                for value in node.values(env):
                    env[node.var] = value
                    yield from self._run(node.body)
                self._loops.pop()
            elif isinstance(node, _Branch):
                yield from self._run(node.then if node.cond(env) else node.otherwise)
            elif isinstance(node, _Once):
                for leaf in self._leaf(node.statement, node.index, ()):
                    yield leaf(env)
            else:
                yield node(env)

    def _compile(self, statements: tuple[Statement, ...], loops: tuple[str, ...]) -> "_Block":
        nodes: list[_Node] = []
        for statement in statements:
            if isinstance(statement, For):
                body = self._compile(statement.body, (*loops, statement.var))
                nodes.append(_Loop(statement.var, _values(statement), body))
            elif isinstance(statement, If):
                then = self._compile(statement.then, loops)
                otherwise = self._compile(statement.otherwise, loops)
                nodes.append(_Branch(statement.cond.value, then, otherwise))
            else:
                nodes.extend(self._nodes(statement, loops))
                self._index += 1
        return tuple(nodes)

    def _nodes(self, statement: "_Plain", loops: tuple[str, ...]) -> "Sequence[_Node]":
        """Outside loops a statement runs once: nothing of it is kept, long programs stay small."""
        if not loops:
            return [_Once(statement, self._index)]
        return self._leaf(statement, self._index, loops)

    def _leaf(self, statement: "_Plain", index: int, loops: tuple[str, ...]) -> "list[_Leaf]":
        span = statement.span
        match statement:
            case Instr():
                before = [self._wait(event, span, index, loops) for event in statement.waits]
                behind = []
                if statement.result is not None:
                    behind = self._record(statement.result, span, index, loops)
                return [*before, self._instruction(statement, index, loops), *behind]
            case Wait(event):
                return [self._wait(event, span, index, loops)]
            case Record(event):
                return self._record(event, span, index, loops)
            case Flag():
                return [_flag(statement, index)]
            case Barrier(pipe):
                return [_constant(Step(StepKind.BARRIER, index, pipe, None, 0, None, span))]

    def _instruction(self, instr: Instr, index: int, loops: tuple[str, ...]) -> "_Leaf":
        bind = self._binder.instruction(instr, loops)
        kind, pipe, span, new = StepKind.INSTR, instr.op.pipe, instr.span, tuple.__new__
        result = _read_by(instr)

        def leaf(env: Env) -> Step:
            bound, gm_addr = bind(env)
            return new(Step, (kind, index, pipe, bound, gm_addr, None, span, result))

        return leaf

    def _wait(self, arg: EventArg, span: Span, index: int, loops: tuple[str, ...]) -> "_Leaf":
        """A wait on the event's own source pipe is a barrier of that pipe."""
        event = self._events[arg.name]
        if event.src is event.dst:
            return _constant(Step(StepKind.BARRIER, index, event.src, None, 0, None, span))
        return self._event_step(StepKind.WAIT, event, arg, span, index, loops)

    def _record(
        self, arg: EventArg, span: Span, index: int, loops: tuple[str, ...]
    ) -> "list[_Leaf]":
        event = self._events[arg.name]
        if event.src is event.dst:  # the pipe is in order: the wait is all there is
            return []
        return [self._event_step(StepKind.SET, event, arg, span, index, loops)]

    def _event_step(
        self,
        kind: StepKind,
        event: EventDecl,
        arg: EventArg,
        span: Span,
        index: int,
        loops: tuple[str, ...],
    ) -> "_Leaf":
        pipe = event.src if kind is StepKind.SET else event.dst

        def step(slot: int) -> Step:
            flag = FlagKey(event.src, event.dst, event.name, slot)
            return Step(kind, index, pipe, None, 0, flag, span)

        if arg.slot is None:
            return _constant(step(0))
        site = Site(arg.span, loops)
        slot_of = self._binder.views.slot(f"event {event.name}", arg.slot, event.ring, site)
        steps = _Made(step)
        return lambda env: steps[slot_of(env)]


_Leaf = Callable[[Env], Step]


@dataclass(frozen=True, slots=True)
class _Loop:
    var: str
    values: Callable[[Env], range]
    body: "_Block"


@dataclass(frozen=True, slots=True)
class _Branch:
    cond: Callable[[Env], int]
    then: "_Block"
    otherwise: "_Block"


@dataclass(frozen=True, slots=True)
class _Once:
    statement: "_Plain"
    index: int


_Plain = Instr | Wait | Record | Flag | Barrier
_Node = _Loop | _Branch | _Once | _Leaf
_Block = tuple[_Node, ...]


def walk(
    program: Program,
    *,
    placements: Mapping[str, int] | None = None,
    bases: Mapping[str, int] | None = None,
) -> Walk:
    """Walk `program` lazily.

    `placements` are byte addresses for tiles without one, `bases` those of tensors in global
    memory (default: `GmLayout`). A valid extent, slot or window that turns out wrong stops the
    walk: see `Walk.fault`. Raises `InputError` while it runs for a division by zero or a step of
    0 in an expression.
    """
    if bases is None:
        bases = GmLayout.of(program.tensors.values()).bases
    return Walk(program, placements or {}, bases)


def leaves(program: Program) -> tuple[Statement, ...]:
    """The statements that are no loop or branch, in text order: `Step.statement` counts these."""
    found: list[Statement] = []

    def collect(statements: tuple[Statement, ...]) -> None:
        for statement in statements:
            if isinstance(statement, For):
                collect(statement.body)
            elif isinstance(statement, If):
                collect(statement.then)
                collect(statement.otherwise)
            else:
                found.append(statement)

    collect(program.body)
    return tuple(found)


def runtime_scalars(program: Program) -> tuple[str, ...]:
    """The scalars that only a run knows."""
    names = (_read_by(leaf) for leaf in leaves(program) if isinstance(leaf, Instr))
    return tuple(dict.fromkeys(name for name in names if name))


def _read_by(instr: Instr) -> str:
    target = instr.outs[0]
    return target.name or "" if isinstance(target, ScalarArg) else ""


class _Made(dict[int, Step]):
    """Steps by slot, made when first asked for: the same object serves every round of a ring."""

    def __init__(self, make: Callable[[int], Step]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, slot: int) -> Step:
        step = self[slot] = self._make(slot)
        return step


def _constant(step: Step) -> _Leaf:
    return lambda env: step


def _values(loop: For) -> Callable[[Env], range]:
    start, stop, step = loop.start.value, loop.stop.value, loop.step.value

    def values(env: Env) -> range:
        by = step(env)
        if by == 0:
            message = "step of range is 0; must be an integer other than 0"
            raise InputError([Diagnostic(message, loop.step.span or loop.span)])
        return range(start(env), stop(env), by)

    return values


def _flag(flag: Flag, index: int) -> _Leaf:
    kind, pipe = (StepKind.SET, flag.src) if flag.set else (StepKind.WAIT, flag.dst)
    ident = flag.id.value

    def leaf(env: Env) -> Step:
        key = FlagKey(flag.src, flag.dst, "", ident(env))
        return Step(kind, index, pipe, None, 0, key, flag.span)

    return leaf
