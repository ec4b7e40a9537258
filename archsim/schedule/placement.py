"""Addresses for tiles that have none: aligned, clear of everything else, kind to the banks."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from archsim.arch import ArchConfig
from archsim.base.errors import Faults
from archsim.base.units import format_bytes
from archsim.isa.operands import MEMORY
from archsim.program.ir import For, If, Instr, Program, Statement, TileArg, TileDecl

ALIGN_BYTES = 512  # a whole round of the bank groups on both styles
HALF_BYTES = 256  # two sources this far apart modulo a round never meet in a bank group


@dataclass(frozen=True, slots=True)
class Placement:
    """Byte address of every placed tile, and where scratch for omitted operands may start."""

    addresses: Mapping[str, int]
    scratch_addr: int
    scratch_limit: int


def place(program: Program, arch: ArchConfig, bound: frozenset[str] = frozenset()) -> Placement:
    """Place the tiles of `program` that have no address, first fit in order of declaration.

    1. Tiles with an address, and the reserved top of UB, are left alone. 2. Two sources of one
    instruction start 256 bytes apart modulo 512, where their instruction's others allow it.
    3. Tiles in `bound` get their address from an instruction and are skipped. A memory that is too
    small is wrong input: the error names the tile, the need and the room.
    """
    phase = _phases(program)
    taken: dict[str, list[tuple[int, int]]] = {}
    for tile in program.tiles.values():
        if tile.addr is not None:
            end = tile.addr + tile.size_bytes * tile.ring
            taken.setdefault(MEMORY[tile.loc], []).append((tile.addr, end))
    addresses: dict[str, int] = {}
    faults = Faults()
    for tile in program.tiles.values():
        if tile.addr is None and tile.name not in bound:
            _place_one(tile, phase.get(tile.name, 0), arch, taken, addresses, faults)
    faults.raise_if_any()
    top = max((end for _, end in taken.get("UB", [])), default=0)
    return Placement(addresses, _up(top, ALIGN_BYTES), room(arch, "UB"))


def room(arch: ArchConfig, memory: str) -> int:
    """Bytes of a memory that placement may use."""
    size: int = getattr(arch.memory, memory.lower()).size_bytes
    return size - (arch.memory.ub.reserved_top_bytes if memory == "UB" else 0)


def _place_one(
    tile: TileDecl,
    phase: int,
    arch: ArchConfig,
    taken: dict[str, list[tuple[int, int]]],
    addresses: dict[str, int],
    faults: Faults,
) -> None:
    memory = MEMORY[tile.loc]
    used = taken.setdefault(memory, [])
    size = tile.size_bytes * tile.ring
    addr = _first_fit(size, phase, sorted(used))
    limit = room(arch, memory)
    if addr + size > limit:
        held = sum(end - start for start, end in used)
        faults.add(
            f'tile "{tile.name}" takes {format_bytes(size)}, but {format_bytes(held)} of the '
            f"{format_bytes(limit)} of {memory} on {arch.name} are taken",
            tile.span,
            "make tiles or rings smaller, or let tiles share an address",
        )
        return
    addresses[tile.name] = addr
    used.append((addr, addr + size))


def _first_fit(size: int, phase: int, used: list[tuple[int, int]]) -> int:
    addr = phase * HALF_BYTES
    for start, end in used:
        if addr + size <= start:
            break
        if end > addr:
            addr = _up(end - phase * HALF_BYTES, ALIGN_BYTES) + phase * HALF_BYTES
    return addr


def _up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


def _phases(program: Program) -> dict[str, int]:
    """0 or 1 for every tile that is one of two sources: the two get different ones if they can."""
    phase: dict[str, int] = {}
    for instr in _instructions(program.body):
        tiles = [
            operand.name
            for operand, arg in zip(instr.ins, instr.op.ins, strict=False)
            if isinstance(operand, TileArg) and arg.kind == "tile" and not arg.scratch
        ]
        if len(tiles) == 2 and tiles[0] != tiles[1]:
            a, b = tiles
            if a not in phase:
                phase[a] = 1 - phase[b] if b in phase else 0
            phase.setdefault(b, 1 - phase[a])
    return phase


def _instructions(body: Iterable[Statement]) -> Iterable[Instr]:
    for statement in body:
        if isinstance(statement, Instr):
            yield statement
        elif isinstance(statement, For):
            yield from _instructions(statement.body)
        elif isinstance(statement, If):
            yield from _instructions(statement.then)
            yield from _instructions(statement.otherwise)
