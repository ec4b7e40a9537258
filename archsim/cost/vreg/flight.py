"""What moves through the core: instructions of the flat code, their dynamic copies, values."""

from enum import IntEnum

from archsim.cost.vreg.program import Op, Program
from archsim.cost.vreg.tables import Costs, Kind

UNKNOWN = -1


class Role(IntEnum):
    """Which queue an instruction waits in."""

    LOAD = 0
    STORE = 1
    COMPUTE = 2
    BARRIER = 3


_ROLES = {
    "load": Role.LOAD,
    "store": Role.STORE,
    "barrier": Role.BARRIER,
    "alu": Role.COMPUTE,
    "sfu": Role.COMPUTE,
}


class Instr:
    """One instruction of the flat code with its costs as integers.

    `after[k]`: cycles from the start of instruction k to the start of this one when it reads k's
    result. `interval[k]`: cycles from the issue of k to the issue of this one on one port.
    """

    __slots__ = (
        "after", "dst", "index", "interval", "joined", "latency", "long", "loop", "op",
        "pinned", "role", "src", "store_of", "takes",
    )  # fmt: skip

    def __init__(self, index: int, op: Op, loop: int, ops: tuple[Op, ...], costs: Costs) -> None:
        kind: Kind = (op.name, op.form)
        self.index = index
        self.op = op
        self.loop = loop
        self.joined = index > 0 and ops[index - 1].row == op.row  # second half of a load
        self.role = _ROLES[op.unit]
        self.long = op.unit == "sfu"
        self.pinned = costs.row(op.name).ports == "first"
        self.takes = op.takes
        self.dst = op.dst
        self.src = op.src
        self.latency = max(1, costs.latency(kind))
        kinds = [(other.name, other.form) for other in ops]
        self.after = [costs.forward(other, kind) for other in kinds]
        self.interval = [costs.interval(other, kind) for other in kinds]
        self.store_of = [max(1, costs.store(kind, other)) for other in kinds]


class Value:
    """A result: the content of one physical register, or of a predicate."""

    __slots__ = ("overwritten", "producer", "readers", "register", "waiting")

    def __init__(self, producer: "Flight") -> None:
        self.producer = producer
        self.register = producer.instr.takes > 0
        self.readers = 0  # renamed and not yet released
        self.overwritten = False
        self.waiting: list[Flight] = []  # renamed readers, until the producer starts


class Flight:
    """One dynamic instruction between dispatch and completion.

    `ready` is the earliest start; it counts only when no source is `missing` (not started).
    """

    __slots__ = (
        "address", "epoch", "fence", "instr", "latest", "missing", "planned", "port", "ready",
        "received", "sources", "start", "values",
    )  # fmt: skip

    def __init__(self, instr: Instr, address: int) -> None:
        self.instr = instr
        self.address = address
        self.sources: list[Value] = []
        self.values: list[Value] = []
        self.missing = 0
        self.ready = UNKNOWN
        self.start = UNKNOWN
        self.port = UNKNOWN
        self.planned = UNKNOWN  # start that the port predictor expects
        self.received = UNKNOWN  # when the port queue has it
        self.latest: Flight | None = None  # of a store: the source that started last
        self.epoch = 0  # of a store: which barriers it lies between
        self.fence = 0  # waits for stores of epochs before this one


def instructions(program: Program, costs: Costs) -> list[Instr]:
    """The flat code with costs."""
    pairs = zip(program.ops, program.loop_of, strict=True)
    return [Instr(k, op, loop, program.ops, costs) for k, (op, loop) in enumerate(pairs)]
