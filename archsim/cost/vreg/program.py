"""The program of one vector function as the core sees it: numbered registers, flat code, loops.

`canonical` reduces a `VectorFunction` to nested tuples of plain values: equal ones cost the same.
`flatten` numbers instructions and loops in the order of the text.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count

from archsim.arch.vreg import Unit
from archsim.isa.vreg import VectorFunction, VregLoop, VregMem, VregNode, VregUop

NO_LOOP = -1


@dataclass(frozen=True, slots=True)
class Op:
    """One instruction: `row` is its place among the vector function's micro-ops.

    Registers are numbers, predicates too; `takes` counts the vector registers among `dst`. The
    access of a load or store starts at `address` (bytes modulo the period of the banks) plus
    `steps`, one an enclosing loop; accesses of one `stream` have the same true address where these
    are the same.
    """

    row: int
    name: str
    form: str
    effect: str
    unit: Unit
    dst: tuple[int, ...]
    src: tuple[int, ...]
    takes: int
    stream: int = 0
    address: int = 0
    steps: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """A loop over `body`."""

    iters: int
    post_update: bool
    body: tuple["Op | Block", ...]


Node = Op | Block


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of the flat code: instructions `first` to `last`, `level` 0 for a top loop.

    `innermost`: it holds no loop. `streams`: how many loads it holds. `double`: one of its own
    loads fills two registers.
    """

    parent: int
    level: int
    iters: int
    first: int
    last: int
    post_update: bool
    innermost: bool
    streams: int
    double: bool


@dataclass(frozen=True, slots=True)
class Program:
    """Flat code: instruction i lies in loop `loop_of[i]` (`NO_LOOP` outside of loops).

    `closes[i]`: i is the last node of that loop's body. A loop's number is larger than its
    parent's. `registers` counts names, predicates included.
    """

    ops: tuple[Op, ...]
    loops: tuple[Loop, ...]
    loop_of: tuple[int, ...]
    closes: tuple[bool, ...]
    registers: int


def canonical(vf: VectorFunction, unit: Callable[[str], Unit], period: int) -> tuple[Node, ...]:
    """The body without free micro-ops and without what cannot change its time.

    `unit` names the unit of a micro-op. Registers are numbered in the natural order of their
    names, then predicates that are operands (one that only masks costs nothing); addresses are
    taken modulo `period` bytes, and left out where `period` is 0.
    """
    names = sorted(set(_register_names(vf.nodes)), key=_natural)
    return _Canon(unit, period, {name: k for k, name in enumerate(names)}).nodes(vf.nodes)


def _register_names(nodes: Iterable[VregNode]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, VregLoop):
            yield from _register_names(node.body)
        else:
            yield from (name for name in (*node.dst, *node.src) if name[0] in "vp")


def _natural(name: str) -> tuple[bool, int, str]:
    digits = name[1:]
    return name[0] == "p", int(digits) if digits.isdigit() else 1 << 30, name


class _Canon:
    """Walks records once; see `canonical`."""

    def __init__(self, unit: Callable[[str], Unit], period: int, numbers: dict[str, int]) -> None:
        self.unit = unit
        self.period = period
        self.numbers = numbers
        self.rows = count()
        self.streams: dict[tuple[int, tuple[int, ...]], int] = {}

    def nodes(self, nodes: Iterable[VregNode]) -> tuple[Node, ...]:
        out: list[Node] = []
        for node in nodes:
            if isinstance(node, VregUop):
                out.extend(self.ops(node, next(self.rows)))
            elif (body := self.nodes(node.body)) and node.iters > 0:
                out.append(Block(node.iters, node.post_update, body))
        return tuple(out)

    def ops(self, uop: VregUop, row: int) -> Iterator[Op]:
        """Nothing for a free micro-op; a load of two registers is two loads, a vector apart."""
        unit = self.unit(uop.op)
        if unit == "free":
            return
        dst = tuple(self.numbers[name] for name in uop.dst if name in self.numbers)
        src = tuple(self.numbers[name] for name in uop.src if name in self.numbers)
        takes = sum(name[0] == "v" for name in uop.dst)
        effect = uop.effect if unit == "barrier" else ""
        op = Op(row, uop.op, uop.form, effect, unit, dst, src, takes)
        parts = [op] if takes < 2 or unit != "load" else _halves(op)
        for k, part in enumerate(parts):
            if uop.mem and self.period:
                yield self.placed(part, uop.mem, k * _bytes(uop.mem) // len(parts))
            else:
                yield part

    def placed(self, op: Op, mem: VregMem, ahead: int) -> Op:
        """The access that starts `ahead` bytes behind the start of `mem`."""
        address = mem.addr + ahead
        stream = self.streams.setdefault((address, mem.steps), len(self.streams))
        return replace(op, stream=stream, address=address % self.period, steps=mem.steps)


def _halves(op: Op) -> list[Op]:
    return [replace(op, dst=(register,), takes=1) for register in op.dst]


def _bytes(mem: VregMem) -> int:
    return mem.lanes * mem.dtype.bits // 8


def unroll_single(nodes: tuple[Node, ...], depth: int = 0) -> tuple[Node, ...]:
    """Put the body of a flat loop of one iteration in the loop's place, inner loops first."""
    out: list[Node] = []
    for node in nodes:
        if isinstance(node, Op):
            out.append(node)
            continue
        body = unroll_single(node.body, depth + 1)
        ops = [inner for inner in body if isinstance(inner, Op)]
        if node.iters == 1 and len(ops) == len(body):
            out.extend(replace(op, steps=op.steps[:depth]) for op in ops)
        else:
            out.append(replace(node, body=body))
    return tuple(out)


def flatten(nodes: tuple[Node, ...]) -> Program:
    """Number instructions and loops in the order of the text."""
    return _Flattener().program(nodes)


class _Flattener:
    """Appends to the lists of a `Program`."""

    def __init__(self) -> None:
        self.ops: list[Op] = []
        self.loops: list[Loop] = []
        self.loop_of: list[int] = []
        self.closes: list[bool] = []

    def program(self, nodes: tuple[Node, ...]) -> Program:
        self.walk(nodes, NO_LOOP, 0)
        return Program(
            tuple(self.ops),
            tuple(self.loops),
            tuple(self.loop_of),
            tuple(self.closes),
            1 + max((k for op in self.ops for k in (*op.dst, *op.src)), default=-1),
        )

    def walk(self, nodes: tuple[Node, ...], parent: int, level: int) -> None:
        for node in nodes:
            if isinstance(node, Block):
                self.block(node, parent, level)
                continue
            self.ops.append(node)
            self.loop_of.append(parent)
            self.closes.append(parent != NO_LOOP and node is nodes[-1])

    def block(self, block: Block, parent: int, level: int) -> None:
        index, first = len(self.loops), len(self.ops)
        loads = [node.row for node in block.body if isinstance(node, Op) and node.unit == "load"]
        innermost = all(isinstance(node, Op) for node in block.body)
        self.loops.append(
            Loop(
                parent, level, block.iters, first, first, block.post_update, innermost,
                len(set(loads)), len(set(loads)) < len(loads),
            )
        )  # fmt: skip
        self.walk(block.body, index, level + 1)
        self.loops[index] = replace(self.loops[index], last=len(self.ops) - 1)
