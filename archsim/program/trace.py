"""The trace front end: a YAML or JSON file as a `Program`."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace

from archsim.base.errors import Diagnostic, Faults, InputError
from archsim.base.source import Span
from archsim.base.yaml import Document, read_document
from archsim.isa.families.scalar_unit import BINDERS
from archsim.program.declarations import override_scalars, read_events, read_scalars
from archsim.program.event_refs import declare_open_events
from archsim.program.expect import read_expect
from archsim.program.ir import For, If, Instr, Program, ScalarArg, Statement, TileArg
from archsim.program.prescan import declare_short_forms, loop_variables, runtime_scalars
from archsim.program.reading import Node
from archsim.program.scope import Scope
from archsim.program.statements import read_block
from archsim.program.symbols import SECTIONS, Symbols, check_unique
from archsim.program.tensor_decls import override_inputs, read_tensors
from archsim.program.tile_decls import read_tiles

VERSION = 1
SUFFIXES = (".yaml", ".yml", ".json")
TRACE_KEYS = ("pto", "arch", "archs", "sync", "alloc", *SECTIONS, "program", "expect")
_MODES = ("explicit", "auto")


def load_program(
    path: str,
    *,
    arguments: Mapping[str, str] | None = None,
    inputs: Mapping[str, str] | None = None,
    sync: str | None = None,
    display_name: str | None = None,
) -> Program:
    """Read a .yaml, .yml or .json trace.

    `arguments` override scalars (`--arg`), `inputs` the contents of tensors by a file (`--input`;
    its path is as the shell sees it), `sync` the key of that name. `display_name` stands for the
    path in messages. Raises one `InputError` with every fault of the file.
    """
    if not path.lower().endswith(SUFFIXES):
        message = f"a trace must end in {', '.join(SUFFIXES)}"
        raise InputError([Diagnostic(message, file=display_name or path)])
    faults = Faults()
    document = read_document(path, display_name, faults=faults)
    reader = _Reader(document, faults, os.path.dirname(path) or ".")
    return reader.program(arguments or {}, inputs or {}, sync)


class _Reader:
    """Reads one document, section by section, in the order in which they need each other."""

    def __init__(self, document: Document, faults: Faults, directory: str) -> None:
        self._document, self._faults, self._directory = document, faults, directory
        self._root = Node(document, (), document.value, faults)
        self._symbols = Symbols()

    def program(
        self, arguments: Mapping[str, str], inputs: Mapping[str, str], sync: str | None
    ) -> Program:
        if not self._root.is_mapping("the trace", TRACE_KEYS):
            self._faults.raise_if_any()
        self._check_version()
        self._declarations(arguments)
        overrides = override_inputs(inputs, self._symbols, self._faults)
        auto_sync, place = self._modes(sync)
        body = self._body()
        self._bind_tiles(body, place)
        expect = read_expect(self._root.get("expect"), self._symbols, self._directory)
        arch, archs = self._archs()
        self._faults.raise_if_any()
        symbols = self._symbols
        tensors = {
            name: replace(decl, init=overrides.get(name, decl.init))
            for name, decl in symbols.tensors.items()
        }
        source = self._document.source
        arch_span, archs_span = self._span("arch"), self._span("archs")
        return Program(
            source.name, source, arch, archs, auto_sync, place, symbols.scalars, tensors,
            symbols.tiles, symbols.events, body, expect, self._directory, arch_span, archs_span,
        )  # fmt: skip

    def _span(self, key: str) -> Span | None:
        node = self._root.get(key)
        return None if node is None else node.text_span

    def _check_version(self) -> None:
        node = self._root.get("pto")
        if node is not None and (node.value != VERSION or isinstance(node.value, bool)):
            node.must_be("pto", f"{VERSION}, the version of the trace format")

    def _declarations(self, arguments: Mapping[str, str]) -> None:
        root, symbols = self._root, self._symbols
        check_unique(root)
        read_scalars(root.get("scalars"), symbols)
        override_scalars(arguments, symbols, self._faults)
        symbols.loop_variables = loop_variables(root.value.get("program"))
        symbols.runtime = runtime_scalars(root.value.get("program"))
        read_tensors(root.get("tensors"), symbols, self._directory)
        read_tiles(root.get("tiles"), symbols)
        read_events(root.get("events"), symbols)

    def _modes(self, sync: str | None) -> tuple[bool, bool]:
        """Whether synchronisation is derived, and whether tiles are placed by the tool."""
        sync_node, alloc_node = self._root.get("sync"), self._root.get("alloc")
        mode = None if sync_node is None else sync_node.choice("sync", _MODES)
        auto_sync = (sync or mode) == "auto"
        alloc = None if alloc_node is None else alloc_node.choice("alloc", _MODES)
        return auto_sync, auto_sync if alloc is None else alloc == "auto"

    def _archs(self) -> tuple[str, tuple[str, ...]]:
        arch_node, archs_node = self._root.get("arch"), self._root.get("archs")
        arch = "" if arch_node is None else arch_node.text("arch") or ""
        if archs_node is None or not archs_node.is_list("archs", "a list of cores"):
            return arch, ()
        names = [child.text("a core in archs") for child in archs_node.children()]
        return arch, tuple(name for name in names if name is not None)

    def _body(self) -> tuple[Statement, ...]:
        node = self._root.get("program")
        if node is None:
            self._root.fault("the key program is missing; it must hold a list of statements")
            return ()
        declare_short_forms(node, self._symbols)
        scope = Scope.outermost(self._symbols, self._faults)
        body = read_block(node, scope, "program")
        _check_read_first(body, self._faults)
        declare_open_events(scope.open_events, self._symbols, self._faults)
        return body

    def _bind_tiles(self, body: tuple[Statement, ...], place: bool) -> None:
        """Mark the tiles that instructions bind; every other one needs an address."""
        bound, early = _bindings(body)
        tiles = self._symbols.tiles
        for name, tile in tiles.items():
            if name in bound:
                tiles[name] = replace(tile, bound=True)
                if tile.addr is None and name in early:
                    message = f"tile {name} has no address yet; {bound[name]} must come first"
                    self._faults.add(message, early[name])
            elif tile.addr is None and not place:
                self._faults.add(
                    f"tile {name} has no addr; with sync: explicit each tile must have one",
                    tile.span,
                    "write alloc: auto at the top to have tiles placed",
                )


def _bindings(body: Iterable[Statement]) -> tuple[dict[str, str], dict[str, Span]]:
    """Tiles that instructions bind, by which, and where a tile is used before that (as a text)."""
    bound: dict[str, str] = {}
    used: dict[str, Span] = {}
    early: dict[str, Span] = {}
    for instr in _instructions(body):
        binds = instr.op.family in BINDERS
        for arg in (*instr.ins, *(() if binds else instr.outs)):
            if isinstance(arg, TileArg) and arg.name not in bound:
                used.setdefault(arg.name, arg.span)
        target = instr.outs[0] if binds else None
        if isinstance(target, TileArg) and target.name not in bound:
            bound[target.name] = instr.op.mnemonic
            if target.name in used:
                early[target.name] = used[target.name]
    return bound, early


def _check_read_first(body: Iterable[Statement], faults: Faults) -> None:
    """A number that `tgetval` reads is used behind it (as a text) only."""
    known: dict[str, None] = {}
    reads = [i.outs[0] for i in _instructions(body) if i.op.family == "get_value"]
    runtime = {arg.name for arg in reads if isinstance(arg, ScalarArg)}
    for instr in _instructions(body):
        for arg in instr.ins:
            if isinstance(arg, ScalarArg) and arg.name in runtime and arg.name not in known:
                message = f"${arg.name} has no value yet; tgetval must come first"
                faults.add(message, arg.span)
        for out in instr.outs:
            if isinstance(out, ScalarArg) and out.name is not None:
                known[out.name] = None


def _instructions(body: Iterable[Statement]) -> Iterable[Instr]:
    """Every tile instruction, in the order of the text."""
    for statement in body:
        if isinstance(statement, Instr):
            yield statement
        elif isinstance(statement, For):
            yield from _instructions(statement.body)
        elif isinstance(statement, If):
            yield from _instructions((*statement.then, *statement.otherwise))
