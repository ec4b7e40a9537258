"""Where the cost of an instruction's micro-ops comes from."""

from collections.abc import Iterable, Iterator
from functools import lru_cache

from archsim.analysis.instruction import InstructionCycles
from archsim.arch import ArchConfig, SimdArch, VregArch
from archsim.cost.vreg.tables import Costs
from archsim.isa.moves import IndexedMove, Move
from archsim.isa.simd import RowLoop, SimdUop
from archsim.isa.vreg import VectorFunction, VregLoop, VregNode, VregUop


def cost_rows(answer: InstructionCycles) -> list[dict[str, str]]:
    """Basis and source of every distinct micro-op that takes time, in program order."""
    named = dict.fromkeys(_costed(answer))
    found = []
    for name, kind in named:
        basis, source = _basis(answer.arch, name, kind)
        found.append({"name": name, "basis": basis, "source": source})
    return list({row["name"]: row for row in reversed(found)}.values())[::-1]


def _costed(answer: InstructionCycles) -> Iterator[tuple[str, str]]:
    for item in answer.lowered.uops:
        if isinstance(item, Move | IndexedMove):
            yield item.name, item.path
        elif isinstance(item, RowLoop):
            yield from ((u.name, u.dtype.name) for u in item.body if isinstance(u, SimdUop))
        elif isinstance(item, VectorFunction):
            yield from ((u.op, u.form) for u in _uops(item.nodes))


def _uops(nodes: Iterable[VregNode]) -> Iterator[VregUop]:
    for node in nodes:
        if isinstance(node, VregLoop):
            yield from _uops(node.body)
        else:
            yield node


def _basis(arch: ArchConfig, name: str, kind: str) -> tuple[str, str]:
    if kind in arch.paths:
        path = arch.paths[kind]
        return str(path.basis), path.source
    if isinstance(arch, VregArch):
        quantity = _costs(arch).latency_quantity((name, kind))
        return str(quantity.basis), quantity.source
    assert isinstance(arch, SimdArch)
    cost = arch.uop(name, kind)
    return str(cost.basis), cost.source


@lru_cache(maxsize=8)
def _costs(arch: VregArch) -> Costs:
    return Costs(arch.vector, arch.uops)
