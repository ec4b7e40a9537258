"""What a statement may name where it stands: declared names, and the variables of its loops."""

from dataclasses import dataclass, field

from archsim.base.errors import Faults
from archsim.base.source import Span
from archsim.isa.pipes import Pipe
from archsim.program.expr import Names, parse_expr
from archsim.program.ir import EventArg, Expr
from archsim.program.symbols import Symbols


@dataclass(frozen=True, slots=True)
class EventUse:
    """A use of an event that no declaration knows: by which pipe, and in which role."""

    arg: EventArg
    producer: Pipe | None
    consumer: Pipe | None


@dataclass(frozen=True, slots=True)
class Scope:
    """Names in sight; `loops` are the variables of the enclosing loops, outermost first.

    `open_events` collects uses of undeclared events over the whole program: an event that one
    instruction returns and another waits for needs no declaration.
    """

    symbols: Symbols
    faults: Faults
    loops: tuple[str, ...] = ()
    names: Names = field(default_factory=lambda: Names(()))
    open_events: dict[str, list[EventUse]] = field(default_factory=dict)

    @staticmethod
    def outermost(symbols: Symbols, faults: Faults) -> "Scope":
        """The scope outside every loop."""
        return Scope(symbols, faults, (), symbols.names())

    def inside(self, variable: str) -> "Scope":
        """The scope of a loop's body."""
        loops = (*self.loops, variable)
        return Scope(self.symbols, self.faults, loops, self.symbols.names(loops), self.open_events)

    def expr(self, text: str, span: Span) -> Expr | None:
        """An expression over what is in sight."""
        return parse_expr(text, span, self.names, self.faults)

    def slot(
        self, name: str, text: str | None, span: Span, ring: int, kind: str
    ) -> tuple[Expr | None, bool]:
        """The slot written behind the name of a ring, and whether it is right."""
        what = f"{kind} {name}"
        if text is None:
            if ring > 1:
                rule = f"one of its slots must be named: {name}[0] to {name}[{ring - 1}]"
                self.faults.add(f"{what} is a ring of {ring}; {rule}", span)
            return None, ring == 1
        if name not in self.symbols.rings:
            rule = "it takes no slot, or a declaration with ring: N"
            self.faults.add(f"{what} is no ring; {rule}", span)
            return None, False
        expr = self.expr(text, span)
        if expr is None:
            return None, False
        if expr.literal is not None and not 0 <= expr.literal < ring:
            self.faults.add(f"slot of {what} is {expr.literal}; must be 0 to {ring - 1}", span)
            return None, False
        return expr, True
