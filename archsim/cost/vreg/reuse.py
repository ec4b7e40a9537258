"""Register reuse: the names that a compiler's allocator would leave in a loop body.

How soon a register is overwritten decides how soon its physical register is free again.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count

from archsim.cost.vreg.program import Node, Op


def reuse_registers(nodes: tuple[Node, ...], keep_carried: bool) -> tuple[Node, ...]:
    """Let definitions in flat loops take the registers of values that are read no more.

    `keep_carried`: a value that enters an iteration, or leaves the loop, keeps its register. The
    public simulator renames it like any other, so an accumulator loses its dependence.
    """
    uses = Counter(_registers(nodes))
    return tuple(_in_loops(nodes, uses, keep_carried))


def _registers(nodes: Iterable[Node]) -> Iterator[int]:
    for node in nodes:
        if isinstance(node, Op):
            yield from (*node.dst, *node.src)
        else:
            yield from _registers(node.body)


def _in_loops(nodes: Iterable[Node], uses: Counter[int], keep_carried: bool) -> Iterator[Node]:
    for node in nodes:
        if isinstance(node, Op):
            yield node
            continue
        ops = [inner for inner in node.body if isinstance(inner, Op)]
        if len(ops) == len(node.body):
            carried = _carried(ops, uses) if keep_carried else frozenset()
            yield replace(node, body=_Allocation(ops, carried, 1 + max(uses, default=0)).body())
        else:
            yield replace(node, body=tuple(_in_loops(node.body, uses, keep_carried)))


def _carried(ops: list[Op], uses: Counter[int]) -> frozenset[int]:
    """Registers read before they are written in the body, or used outside of it."""
    inside = Counter(_registers(ops))
    carried = {register for register in inside if uses[register] > inside[register]}
    written: set[int] = set()
    for op in ops:
        carried.update(set(op.src) - written)
        written.update(op.dst)
    return frozenset(carried)


class _Allocation:
    """One pass over a flat body. A slot is a register that holds a value defined in this pass."""

    def __init__(self, ops: list[Op], carried: frozenset[int], fresh: int) -> None:
        self.ops = ops
        self.carried = carried
        self.fresh = count(fresh)
        self.slot_of: dict[int, int] = {}  # register of the text -> slot of its present value
        self.last_use: dict[int, int] = {}  # slot -> last instruction that reads its value

    def body(self) -> tuple[Op, ...]:
        return tuple(self.renamed(at, op) for at, op in enumerate(self.ops))

    def renamed(self, at: int, op: Op) -> Op:
        src = tuple(self.slot_of.get(register, register) for register in op.src)
        keeps = len(op.dst) != 1 or not op.takes or op.dst[0] in self.carried
        dst = op.dst if keeps else (self.choice(at, op.dst[0], src),)
        for register, slot in zip(op.dst, dst, strict=True):
            self.slot_of[register] = slot
            if op.takes and register not in self.carried:
                self.last_use[slot] = self.last_read(register, at)
        return replace(op, dst=dst, src=src)

    def choice(self, at: int, register: int, src: tuple[int, ...]) -> int:
        """The only source's slot if it dies here, else the lowest free one, else a new one."""
        free = [slot for slot, last in self.last_use.items() if last < at]
        free += [slot for slot in src if self.last_use.get(slot) == at]
        if len(src) == 1 and src[0] in free:
            return src[0]
        if free:
            return min(free)
        return next(self.fresh) if register in self.last_use else register

    def last_read(self, register: int, defined: int) -> int:
        """The last reader of the value before the next definition, or -1."""
        last = -1
        for at in range(defined + 1, len(self.ops)):
            if register in self.ops[at].src:
                last = at
            if register in self.ops[at].dst:
                break
        return last
