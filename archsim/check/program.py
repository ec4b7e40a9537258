"""What is wrong with a whole program on a core before it runs: cores, tiles, events."""

from collections.abc import Iterable, Iterator

from archsim.arch import ArchConfig
from archsim.base.dtypes import DType
from archsim.base.errors import Diagnostic
from archsim.base.source import Span
from archsim.check.places import memory_of, place_faults
from archsim.isa.pipes import Pipe
from archsim.program.ir import Flag, For, If, Program, Statement, TileDecl

# Element types that came with the generation named.
_NEWER_TYPES = {"a5": ("f8e4m3", "f8e5m2", "hif8", "f4e2m1", "f4e1m2")}


def check_program_static(program: Program, arch: ArchConfig) -> list[Diagnostic]:
    """Faults that need the core but no loop variable: wrong input, and warnings.

    Overlapping tiles are legal by themselves.
    """
    wrong_core = list(_core(program, arch))
    if wrong_core:
        return wrong_core  # what else that core lacks says nothing more
    return [
        *(fault for tile in program.tiles.values() for fault in _tile(tile, arch)),
        *_types(program, arch),
        *_events(program, arch),
        *_flags(program.body, arch),
    ]


def _core(program: Program, arch: ArchConfig) -> Iterator[Diagnostic]:
    if program.archs and arch.isa not in program.archs and arch.name not in program.archs:
        meant = ", ".join(program.archs)
        message = f"{program.name} is meant for {meant}; {arch.name} is not among them"
        fix = f"run it with --arch {program.archs[0]}"
        yield Diagnostic(message, program.archs_span, fix)


def _tile(tile: TileDecl, arch: ArchConfig) -> Iterator[Diagnostic]:
    memory, unit = memory_of(tile.loc, arch)
    total = tile.ring * tile.size_bytes
    if total > unit.size_bytes:
        copies = f"{tile.ring} times {tile.size_bytes:#x}" if tile.ring > 1 else f"{total:#x}"
        message = (
            f"tile {tile.name} takes {copies} bytes; {memory} has {unit.size_bytes:#x}"
            f" on {arch.name}"
        )
        yield Diagnostic(message, tile.span, kind="bounds")
    elif tile.addr is not None:
        for slot in range(tile.ring):
            addr = tile.addr + slot * tile.size_bytes
            yield from place_faults(tile.name, tile.loc, addr, tile.size_bytes, arch, tile.span)


def _types(program: Program, arch: ArchConfig) -> Iterator[Diagnostic]:
    declared: list[tuple[str, DType, Span]] = []
    declared += [(f"tensor {t.name}", t.dtype, t.span) for t in program.tensors.values()]
    declared += [(f"tile {t.name}", t.dtype, t.span) for t in program.tiles.values()]
    for what, dtype, span in declared:
        for isa, names in _NEWER_TYPES.items():
            if dtype.name in names and arch.isa != isa:
                message = f"{what} is {dtype}; {arch.isa} has no such type, {isa} has"
                yield Diagnostic(message, span)


def _events(program: Program, arch: ArchConfig) -> Iterator[Diagnostic]:
    """A ring has a flag a slot; events within one pipe are barriers and take none."""
    taken: dict[tuple[Pipe, Pipe], int] = {}
    for event in program.events.values():
        pair = (event.src, event.dst)
        if event.src is event.dst:
            continue
        before = taken.get(pair, 0)
        taken[pair] = before + event.ring
        if before <= arch.events.ids < taken[pair]:
            message = (
                f"event {event.name} makes {taken[pair]} flags from {event.src} to {event.dst};"
                f" {arch.name} has {arch.events.ids} for each pair of pipes"
            )
            yield Diagnostic(message, event.span, kind="ids_exhausted")


def _flags(body: Iterable[Statement], arch: ArchConfig) -> Iterator[Diagnostic]:
    for statement in body:
        if isinstance(statement, For):
            yield from _flags(statement.body, arch)
        elif isinstance(statement, If):
            yield from _flags((*statement.then, *statement.otherwise), arch)
        elif isinstance(statement, Flag):
            number = statement.id.literal
            if number is not None and not 0 <= number < arch.events.ids:
                message = f"flag id is {number}; {arch.name} has ids 0 to {arch.events.ids - 1}"
                yield Diagnostic(message, statement.id.span or statement.span)
