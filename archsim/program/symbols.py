"""The names of one program: what each of them is while the file is being read."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from archsim.base.errors import Faults, did_you_mean
from archsim.base.source import Span
from archsim.program.expr import Names
from archsim.program.ir import EventDecl, TensorDecl, TileDecl
from archsim.program.reading import Node, listed


@dataclass(slots=True)
class Symbols:
    """Every declared name. `broken` names stand in a faulty declaration: no use of them is judged.

    `rings` are the tiles and events declared with a ring, if only of one slot. `loop_variables`
    are those of all loops, wherever they stand: a tile's valid extent may read them although it
    is declared outside.
    """

    scalars: dict[str, int | float] = field(default_factory=dict)
    tensors: dict[str, TensorDecl] = field(default_factory=dict)
    tiles: dict[str, TileDecl] = field(default_factory=dict)
    events: dict[str, EventDecl] = field(default_factory=dict)
    broken: dict[str, None] = field(default_factory=dict)
    rings: dict[str, None] = field(default_factory=dict)
    loop_variables: tuple[str, ...] = ()
    runtime: tuple[str, ...] = ()  # the numbers that `tgetval` reads

    def names(self, loops: tuple[str, ...] = ()) -> Names:
        """What an expression inside `loops` may read."""
        integers = [name for name, value in self.scalars.items() if isinstance(value, int)]
        floats = [name for name, value in self.scalars.items() if isinstance(value, float)]
        known = dict.fromkeys((*loops, *integers))
        return Names(known, dict.fromkeys(floats), self.broken, self.runtime)

    def kind_of(self, name: str) -> str | None:
        """`tile`, `tensor`, `event`, `scalar`, or None for a name that is not declared."""
        for kind, table in self._tables().items():
            if name in table:
                return kind
        return None

    def add_unknown(
        self, kind: str, name: str, place: Span, faults: Faults, near: Iterable[str] = ()
    ) -> None:
        """Note that `name` is no declared tile, tensor, event (or what `kind` says).

        The advice may also be one of `near`.
        """
        actual = self.kind_of(name)
        tables = self._tables()
        known = [n for k, table in tables.items() if k in kind.split(" or ") for n in table]
        article = "an" if kind[0] in "aeiou" else "a"
        if actual:
            faults.add(f'"{name}" is a {actual}; {article} {kind} must stand here', place)
            return
        rule = f"declared: {listed(known)}" if known else f"the program declares no {kind}"
        faults.add(f'unknown {kind} "{name}"; {rule}', place, did_you_mean(name, [*known, *near]))

    def _tables(self) -> Mapping[str, Mapping[str, object]]:
        return {
            "tile": self.tiles,
            "tensor": self.tensors,
            "event": self.events,
            "scalar": self.scalars,
        }


SECTIONS = ("scalars", "tensors", "tiles", "events")


def check_unique(root: Node) -> None:
    """Note every name that is declared in two sections; within one the reader has refused it."""
    first: dict[str, str] = {}
    for section in SECTIONS:
        part = root.get(section)
        if part is None or not isinstance(part.value, dict):
            continue
        for child in part.children():
            earlier = first.setdefault(child.key, section)
            if earlier != section:
                root.faults.add(
                    f'"{child.key}" is declared twice, first under {earlier}; '
                    "tensors, tiles, events and scalars share their names",
                    child.key_span,
                )
