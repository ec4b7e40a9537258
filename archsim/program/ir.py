"""Program IR: what a trace file says, with places, before any number is known."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from archsim.base.dtypes import DType
from archsim.base.source import Source, Span
from archsim.isa.operands import Loc
from archsim.isa.pipes import Pipe
from archsim.isa.tile_op import TileOp

Env = Mapping[str, int | float]


@dataclass(frozen=True, slots=True)
class Expr:
    """An integer expression: `text` as written, `names` it reads, `value(env)` computes it.

    `literal` is its value where it reads no name, else None.
    """

    text: str
    names: frozenset[str]
    value: Callable[[Env], int] = field(compare=False)
    literal: int | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Init:
    """How a tensor gets its contents: `kind` is zeros, const, linspace, arange, normal, ..."""

    kind: str
    args: Mapping[str, object] = field(default_factory=dict)
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class TensorDecl:
    """A tensor in global memory; `strides` in elements, outermost first."""

    name: str
    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    layout: str
    init: Init
    span: Span


@dataclass(frozen=True, slots=True)
class Valid:
    """One valid extent: an expression, and whether the program states it as a literal."""

    extent: Expr
    static: bool


@dataclass(frozen=True, slots=True)
class TileDecl:
    """A tile, or a ring of `ring` tiles one after the other; `addr` None: the tool places it."""

    name: str
    loc: Loc
    dtype: DType
    rows: int
    cols: int
    valid: tuple[Valid, Valid]
    addr: int | None
    ring: int
    row_major: bool
    pad: str
    row_stride: int
    span: Span
    slayout: str = "none_box"
    fractal: int = 512
    bound: bool = False  # `tassign` or `tsubview` gives it its address; the tool places it not

    @property
    def size_bytes(self) -> int:
        """Bytes of one slot."""
        return self.dtype.bytes_of(self.rows * self.row_stride)


@dataclass(frozen=True, slots=True)
class EventDecl:
    """A named event between two pipes; a ring has one flag a slot."""

    name: str
    src: Pipe
    dst: Pipe
    ring: int
    span: Span


@dataclass(frozen=True, slots=True)
class TileArg:
    """`tile` or `tile[slot]` as an operand."""

    name: str
    slot: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class WindowArg:
    """`tensor` or `tensor[i, j]` as an operand: an offset per dimension."""

    name: str
    offsets: tuple[Expr, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ScalarArg:
    """A literal (`value`), `$name` (`name`) or an integer expression (`expr`) as an operand."""

    value: int | float | None
    name: str | None
    span: Span
    expr: Expr | None = None


Arg = TileArg | WindowArg | ScalarArg


@dataclass(frozen=True, slots=True)
class EventArg:
    """`event` or `event[slot]`."""

    name: str
    slot: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Instr:
    """A tile instruction: operands in the order of `op.outs` and `op.ins` (None: omitted).

    `waits` are the events it waits for in front; `result` the event that it records behind.
    """

    op: TileOp
    outs: tuple[Arg, ...]
    ins: tuple[Arg | None, ...]
    attrs: Mapping[str, str]
    waits: tuple[EventArg, ...]
    result: EventArg | None
    span: Span


@dataclass(frozen=True, slots=True)
class Wait:
    """`wait: event[slot]`."""

    event: EventArg
    span: Span


@dataclass(frozen=True, slots=True)
class Record:
    """`record: event[slot]`."""

    event: EventArg
    span: Span


@dataclass(frozen=True, slots=True)
class Flag:
    """`set_flag: [SRC, DST, id]` (`set`) or `wait_flag: [...]`."""

    set: bool
    src: Pipe
    dst: Pipe
    id: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Barrier:
    """`barrier: V`; `pipe` None means ALL."""

    pipe: Pipe | None
    span: Span


@dataclass(frozen=True, slots=True)
class For:
    """`for var in range(start, stop, step)`."""

    var: str
    start: Expr
    stop: Expr
    step: Expr
    body: tuple["Statement", ...]
    span: Span


@dataclass(frozen=True, slots=True)
class If:
    """`if cond` then, else; a non-zero condition is true."""

    cond: Expr
    then: tuple["Statement", ...]
    otherwise: tuple["Statement", ...]
    span: Span


Statement = Instr | Wait | Record | Flag | Barrier | For | If


@dataclass(frozen=True, slots=True)
class Expect:
    """What a tensor must hold after the run: a numpy expression or a file, and tolerances."""

    tensor: str
    numpy: str | None
    file: str | None
    key: str | None
    atol: float
    rtol: float
    exact: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Program:
    """A whole program. `archs` empty: meant for every core. `auto_sync`: `sync: auto`.

    `place` tells whether tiles without address are placed by the tool. `arch_span` and `archs_span`
    are the places of the values of these keys, where the program has them.
    """

    name: str  # the file as the user gave it
    source: Source
    arch: str
    archs: tuple[str, ...]
    auto_sync: bool
    place: bool
    scalars: Mapping[str, int | float]
    tensors: Mapping[str, TensorDecl]
    tiles: Mapping[str, TileDecl]
    events: Mapping[str, EventDecl]
    body: tuple[Statement, ...]
    expect: tuple[Expect, ...]
    directory: str = "."
    arch_span: Span | None = None
    archs_span: Span | None = None
