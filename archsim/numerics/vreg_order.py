"""Which loops of a vector function may run as one: nothing goes from one iteration to the next."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from archsim.isa.vreg import Tail, VregLoop, VregMem, VregNode, VregUop
from archsim.numerics.overlap import Footprint, apart, steps_apart

# A memory access inside a loop: the micro-op, the predicates that limit its lanes (None: all), and
# the trip counts of the loops around it, outermost first.
Access = tuple[VregMem, tuple[Tail, ...] | None, tuple[int, ...]]


STORES = ("VSTS", "VSTUS", "VSTUR", "PSTS")
GATHERS = ("VGATHER2", "VGATHER2_BC", "VGATHERB")
# What they write, and where, hangs on the data.
IN_TURN = ("VSCATTER", "SPRSTI")


def iterations_are_independent(
    loop: VregLoop, outer: tuple[int, ...], later: Sequence[VregNode] = ()
) -> bool:
    """No register and no byte written in one iteration of `loop` is touched in another one.

    `outer` are the trip counts of the loops around it, `later` what runs behind it. Lanes that
    every consumer of a load masks off do not count.
    """
    body = list(_uops(loop.body, (*outer, loop.iters)))
    if any(uop.op in IN_TURN for uop, _ in body):
        return False
    # Behind the loop, a predicate counts along other indices: it limits nothing here.
    behind = [replace(uop, pred=None) for uop, _ in _uops(later, outer)]
    if loop.iters > 1 and _carries_registers([uop for uop, _ in body]):
        return False
    stores = [(uop.mem, _limits(uop.pred), n) for uop, n in body if uop.op in STORES]
    loads = [
        (uop.mem, _consumers(uop, [*(u for u, _ in body[i + 1 :]), *behind]), n)
        for i, (uop, n) in enumerate(body)
        if uop.op in ("VLDS", "PLDS")
    ]
    loads += [(_whole(uop), None, n) for uop, n in body if uop.op in GATHERS]
    written = [(mem, tails, n) for mem, tails, n in stores if mem is not None]
    touched = [*written, *((mem, tails, n) for mem, tails, n in loads if mem is not None)]
    depth = len(outer)
    return all(_independent(store, other, depth) for store in written for other in touched)


def _whole(uop: VregUop) -> VregMem | None:
    """A gather may read every element of its memory at every iteration."""
    return uop.mem and replace(uop.mem, steps=(0,) * len(uop.mem.steps))


def _uops(
    nodes: Sequence[VregNode], iters: tuple[int, ...]
) -> Iterator[tuple[VregUop, tuple[int, ...]]]:
    for node in nodes:
        if isinstance(node, VregLoop):
            yield from _uops(node.body, (*iters, node.iters))
        else:
            yield node, iters


def names_read(uop: VregUop) -> tuple[str, ...]:
    """Registers and predicates that a micro-op reads."""
    return (*uop.src, uop.pred) if isinstance(uop.pred, str) else uop.src


def _carries_registers(uops: Sequence[VregUop]) -> bool:
    written = {name for uop in uops for name in uop.dst}
    fresh: set[str] = set()
    for uop in uops:
        if any(name in written and name not in fresh for name in names_read(uop)):
            return True
        fresh.update(uop.dst)
    return False


def _limits(pred: Tail | str | None) -> tuple[Tail, ...] | None:
    return (pred,) if isinstance(pred, Tail) else None


def _consumers(load: VregUop, later: Sequence[VregUop]) -> tuple[Tail, ...] | None:
    """The predicates of all that read a loaded register; None where one of them reads all lanes."""
    if load.mem is None or load.mem.dist not in ("norm", "unpk"):
        return None
    tails = []
    for uop in later:
        if load.dst[0] in names_read(uop):
            if not isinstance(uop.pred, Tail):
                return None
            tails.append(uop.pred)
        if load.dst[0] in uop.dst:
            break
    return tuple(tails) or None


def _independent(store: Access, other: Access, depth: int) -> bool:
    if store[0].steps[:depth] == other[0].steps[:depth]:
        return steps_apart(_footprint(store, depth), _footprint(other, depth))
    return apart(_footprint(store, 0), _footprint(other, 0))


def _footprint(access: Access, depth: int) -> Footprint:
    """What an access touches at each iteration of the loop at `depth`, loops inside included."""
    mem, tails, iters = access
    between = zip(iters[depth + 1 : -1], mem.steps[depth + 1 : -1], strict=True)
    width = sum((n - 1) * step for n, step in between)
    innermost = (iters[-1], mem.steps[-1]) if depth + 1 < len(iters) else (1, 0)
    lanes = max(_reach(mem, tail, *innermost) for tail in tails or (None,))
    return Footprint(mem.addr, width + lanes, iters[depth], mem.steps[depth])


def _reach(mem: VregMem, tail: Tail | None, iters: int, step: int) -> int:
    """Bytes from the start of the innermost loop to one past the last lane that is on."""
    if mem.dist == "bits":
        return (iters - 1) * step + -(-mem.lanes // 8)
    size, lanes = mem.dtype.itemsize, mem.elements
    if tail is None:
        return (iters - 1) * step + lanes * size
    total, stride = tail.total - tail.offset, tail.step
    last = min(iters - 1, max(total - 1, 0) // stride) if stride else iters - 1
    on_last = max(0, min(lanes, total - last * stride))
    before = (last - 1) * step + lanes * size if last and stride else 0
    return max(before, last * step + on_last * size)
