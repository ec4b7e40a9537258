"""Naive models of both vector styles: which element of which operand every written lane comes from.

They walk records lane by lane, as the records' documentation reads, and know no lowering rule.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from archsim.isa.operands import Region
from archsim.isa.simd import Access, Barrier, RowLoop, SimdUop
from archsim.isa.vreg import Tail, VectorFunction, VregLoop, VregNode, VregUop
from archsim.lower import Lowered

CONTROLS = {"set_vector_mask": "m", "set_mask_norm": "norm", "set_mask_count": "count"}


def script(lowered: Lowered) -> str:
    """The issue order as text: `m` mask write, `b` barrier, `vadd r16` with its repeat argument."""
    words: list[list[object]] = []
    for loop in lowered.uops:
        assert isinstance(loop, RowLoop)
        for item in loop.body * loop.rows:
            word = _word(item)
            if words and words[-1][0] == word:
                words[-1][1] += 1
            else:
                words.append([word, 1])
    return ", ".join(f"{word} x{n}" if n > 1 else str(word) for word, n in words)


def _word(item: object) -> str:
    if isinstance(item, SimdUop):
        return f"{item.name} r{item.repeat if item.argument is None else item.argument}"
    if isinstance(item, Barrier):
        return "b"
    return CONTROLS.get(item.name, item.name)


def simd_uops(lowered: Lowered) -> Iterator[tuple[SimdUop, int]]:
    """Every dynamic micro-op with its row, in order."""
    for loop in lowered.uops:
        for row in range(loop.rows):
            for item in loop.body:
                if isinstance(item, SimdUop):
                    yield item, row


def simd_lanes(uop: SimdUop, row: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """For every active lane the (byte address, bit or -1) of dst and of every source."""
    left = uop.mask.lanes
    for repeat in range(uop.repeat):
        active = {"full": uop.lanes, "partial": uop.mask.lanes, "count": min(uop.lanes, left)}
        for lane in range(active[uop.mask.mode]):
            accesses = (uop.dst, *uop.srcs)
            yield tuple(_address(access, row, repeat, lane) for access in accesses)
        left -= uop.lanes


def _address(access: Access, row: int, repeat: int, lane: int) -> tuple[int, int]:
    start = access.addr + row * access.row_stride + repeat * access.repeat_stride
    if access.bits:
        return start + lane // 8, lane % 8
    size = access.dtype.itemsize
    per_block = 32 // size
    return start + lane // per_block * access.block_stride + lane % per_block * size, -1


def _written(uop: SimdUop, row: int) -> Iterator[tuple[int, int]]:
    """Where the lanes of dst lie: those of the mask, or as many as the operand has by itself."""
    if not uop.dst.lanes:
        yield from (places[0] for places in simd_lanes(uop, row))
        return
    for repeat in range(uop.repeat):
        for lane in range(uop.dst.lanes):
            yield _address(uop.dst, row, repeat, lane)


def simd_written_bytes(lowered: Lowered) -> set[int]:
    """Every byte that some micro-op writes."""
    return {
        address + k
        for uop, row in simd_uops(lowered)
        for address, bit in _written(uop, row)
        for k in range(1 if bit >= 0 else uop.dst.dtype.itemsize)
    }


Lane = frozenset[int]  # byte addresses of the elements that a register lane is made of


@dataclass
class Registers:
    """Vector registers as lanes of source addresses; a merged half is (part, lanes)."""

    lanes: dict[str, list[Lane]]
    parts: dict[str, str]


def vreg_stores(function: VectorFunction) -> dict[int, list[Lane]]:
    """For every element address that is stored: what it is made of, once a store."""
    stored: dict[int, list[Lane]] = {}
    registers = Registers({}, {})
    for node in function.nodes:
        _run(node, (), registers, stored)
    return stored


def _run(
    node: VregNode, at: tuple[int, ...], registers: Registers, stored: dict[int, list[Lane]]
) -> None:
    if isinstance(node, VregLoop):
        for index in range(node.iters):
            for inner in node.body:
                _run(inner, (*at, index), registers, stored)
    elif node.op == "VLDS":
        _load(node, at, registers)
    elif node.op == "VSTS":
        for address, lane in zip(_addresses(node, at), registers.lanes[node.src[0]], strict=True):
            if is_on(node.pred, address[0], at):
                stored.setdefault(address[1], []).append(lane)
    elif node.op not in ("PLDS", "PSTS", "PINTLV", "PUNPACK", "MEM_BAR"):
        _compute(node, registers)


def _addresses(uop: VregUop, at: Sequence[int]) -> list[tuple[int, int]]:
    mem = uop.mem
    assert mem is not None
    assert len(mem.steps) == len(at)
    start = mem.addr + sum(step * index for step, index in zip(mem.steps, at, strict=True))
    return [(lane, start + lane * mem.dtype.itemsize) for lane in range(mem.lanes)]


def _load(uop: VregUop, at: tuple[int, ...], registers: Registers) -> None:
    lanes = [frozenset({address}) for _, address in _addresses(uop, at)]
    for k, name in enumerate(uop.dst):
        registers.lanes[name] = lanes[k :: len(uop.dst)]
        registers.parts[name] = ""


def _compute(uop: VregUop, registers: Registers) -> None:
    sources = [registers.lanes[name] for name in uop.src if name.startswith("v")]
    parts = {registers.parts[name] for name in uop.src if name.startswith("v")}
    words = uop.effect.split()
    if parts == {"part_even", "part_odd"}:
        by_part: Mapping[str, list[Lane]] = {
            registers.parts[n]: registers.lanes[n] for n in uop.src
        }
        pairs = zip(by_part["part_even"], by_part["part_odd"], strict=True)
        result = [lane for pair in pairs for lane in pair]
    else:
        count = len(sources[0]) if sources else 256
        result = [frozenset().union(*(s[k] for s in sources)) for k in range(count)]
    for name in uop.dst:
        registers.lanes[name] = result
        registers.parts[name] = next((w for w in words if w.startswith("part_")), "")


def is_on(pred: Tail | str | None, lane: int, at: Sequence[int]) -> bool:
    """Whether a lane takes part."""
    if pred is None:
        return True
    assert isinstance(pred, Tail)
    index = at[-1] if at else 0
    return index * pred.step + pred.offset + lane < pred.total


def region_bytes(regions: Sequence[Region]) -> set[int]:
    """The bytes of regions of one memory."""
    return {
        region.addr + row * region.pitch + k
        for region in regions
        for row in range(region.rows)
        for k in range(region.row_bytes)
    }
