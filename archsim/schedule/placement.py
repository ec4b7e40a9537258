"""Addresses for tiles that have none: aligned, clear of everything else, kind to the banks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from archsim.arch import ArchConfig
from archsim.base.errors import Faults
from archsim.base.units import format_bytes
from archsim.isa.operands import MEMORY
from archsim.program.ir import Instr, Program, ScalarArg, TileArg, TileDecl
from archsim.program.walk import leaves

ALIGN_BYTES = 512  # a whole round of the bank groups on both styles
HALF_BYTES = 256  # two sources this far apart modulo a round never meet in a bank group


@dataclass(frozen=True, slots=True)
class Placement:
    """Byte address of every placed tile, and the part of UB behind all tiles: scratch for omitted
    operands is taken from its top, as far as possible from tiles that a run assigns."""

    addresses: Mapping[str, int]
    free_start: int
    free_end: int

    def scratch(self, size: int) -> int | None:
        """Address of `size` bytes of scratch; None where there is no room."""
        addr = (self.free_end - size) // ALIGN_BYTES * ALIGN_BYTES
        return addr if addr >= self.free_start else None


def place(program: Program, arch: ArchConfig) -> Placement:
    """Place the tiles of `program` that have no address, first fit in order of declaration.

    1. Tiles with an address, and the reserved top of UB, are left alone. 2. Two sources of one
    instruction start 256 bytes apart modulo 512, where their instruction's others allow it.
    3. Tiles that an instruction binds are skipped; where it binds them to a plain number that
    place is left alone, too. A memory that is too small is wrong input: the error names the tile,
    the need and the room.
    """
    phase = _phases(program)
    taken: dict[str, list[tuple[int, int]]] = {}
    for tile, addr in _addressed(program):
        end = addr + tile.size_bytes * tile.ring
        taken.setdefault(MEMORY[tile.loc], []).append((addr, end))
    addresses: dict[str, int] = {}
    faults = Faults()
    for tile in program.tiles.values():
        if tile.addr is None and not tile.bound:
            _place_one(tile, phase.get(tile.name, 0), arch, taken, addresses, faults)
    faults.raise_if_any()
    top = max((end for _, end in taken.get("UB", [])), default=0)
    return Placement(addresses, _up(top, ALIGN_BYTES), room(arch, "UB"))


def _addressed(program: Program) -> Iterator[tuple[TileDecl, int]]:
    """Tiles whose address the text gives: declared, or assigned as a number."""
    for tile in program.tiles.values():
        if tile.addr is not None:
            yield tile, tile.addr
    for instr in leaves(program):
        if isinstance(instr, Instr) and instr.op.family == "assign":
            target, number = instr.outs[0], instr.ins[0]
            if isinstance(target, TileArg) and isinstance(number, ScalarArg):
                addr = number.expr.literal if number.expr is not None else number.value
                if isinstance(addr, int):
                    yield program.tiles[target.name], addr


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
            f"tile {tile.name} takes {format_bytes(size)} and finds no room: {format_bytes(held)} "
            f"of the {format_bytes(limit)} of {memory} on {arch.name} are taken",
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
    for instr in leaves(program):
        if not isinstance(instr, Instr):
            continue
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
