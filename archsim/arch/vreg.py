"""The `vector:` and `uops:` sections of a vreg-style core: a vector unit as a table of numbers.

Every count and delay is a `Quantity` (value, basis, source). Cycles count from the start of one
vector function. The cost model in `archsim.cost.vreg` gives these numbers their meaning.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from archsim.arch.fields import Section, Switch, agree
from archsim.arch.quantity import Basis, Quantity


def _whole(quantity: Quantity) -> Quantity:
    if quantity.value.denominator != 1 or quantity.value < 0:
        raise ValueError(f"is {quantity.value}, must be a whole number, 0 or more")
    return quantity


def _positive(quantity: Quantity) -> Quantity:
    if quantity.value.denominator != 1 or quantity.value < 1:
        raise ValueError(f"is {quantity.value}, must be a whole number, 1 or more")
    return quantity


Cycles = Annotated[Quantity, AfterValidator(_whole)]
Count = Annotated[Quantity, AfterValidator(_positive)]
Names = Annotated[tuple[str, ...], Field(strict=False)]

Unit = Literal["alu", "sfu", "load", "store", "barrier", "free"]
Ports = Literal["any", "first"]
PortBinding = Literal["round_robin", "predictor"]


class PairRule(Section):
    """One line of a table over pairs of micro-ops (first, then), the first match counts.

    A list that is left out matches everything; a list holds micro-op names, alone (`VEXP`) or with
    a form (`VEXP.fp16`), and names of groups. The value is `cycles`, or the latency of `first`
    less `latency_minus`.
    """

    first: Names | None = None
    then: Names | None = None
    cycles: int | None = Field(default=None, ge=0)
    latency_minus: int | None = Field(default=None, ge=0)
    basis: Basis | None = Field(default=None, strict=False)
    source: str = ""

    @model_validator(mode="after")
    def _one_value(self) -> "PairRule":
        if (self.cycles is None) == (self.latency_minus is None):
            raise ValueError("a rule must have exactly one of `cycles` and `latency_minus`")
        return self


class PairTable(Section):
    """A value for every pair of micro-ops: the first rule that matches, else `otherwise`."""

    groups: Mapping[str, Names] = {}
    rules: Annotated[tuple[PairRule, ...], Field(strict=False)]
    otherwise: PairRule  # names are ignored
    basis: Basis = Field(strict=False)
    source: str

    def members(self, names: Iterable[str] | None) -> frozenset[str] | None:
        """The micro-op names of a rule's list, groups opened; None matches everything."""
        if names is None:
            return None
        return frozenset(member for name in names for member in self.groups.get(name, (name,)))


class PostUpdate(Section):
    """What loops pay whose loads and stores advance their own addresses."""

    stream_cycles: Cycles = Field(description="later start of a flat loop, for each loaded stream")
    loop_back_cycles: Cycles = Field(description="in place of the vector's own")
    row_period_cycles: Cycles = Field(description="in place of the vector's own")


class VregVector(Section):
    """One vector unit of the vreg style: in-order dispatch, out-of-order execution."""

    style: Literal["vreg"]
    width_bytes: int = Field(
        gt=0, description="bytes of one register; a multiple of 32, so that masks are whole bytes"
    )

    # a vector function
    startup_cycles: Cycles = Field(description="before the first load and the first compute")
    drain_cycles: Cycles = Field(description="after the last result")
    straight_line_saving_cycles: Cycles = Field(
        description="a function without loops whose computes are all ALU"
    )

    # dispatch, in program order
    dispatch_width: Count = Field(description="micro-ops a cycle")
    dispatch_window: Count = Field(description="micro-ops looked at a cycle")
    dispatch_lead_cycles: Cycles = Field(
        description="dispatch opens this long before the end of the start-up"
    )
    first_loop_lead_cycles: Cycles = Field(
        description="the first loop starts this long before the end of start-up"
    )
    loop_to_dispatch_cycles: Cycles = Field(description="start of a loop to its first dispatch")
    nest_gap_cycles: Cycles = Field(
        description="start of a loop to the start of the loop directly inside"
    )
    row_period_cycles: Cycles = Field(description="shortest time between starts of one inner loop")
    loop_back_cycles: Cycles = Field(description="last dispatch of an inner loop to its next start")
    iteration_stride_cycles: Cycles = Field(
        description="shortest time between iterations of an innermost loop"
    )
    double_load_stride_cycles: Cycles = Field(
        description="the same where a load fills two registers"
    )
    post_update: PostUpdate = Field(description="loops whose loads advance their own addresses")

    # registers
    physical_registers: Count = Field(description="vector registers behind the names")
    loop_carried_values: Switch = Field(
        description="false: as the public model, which loses accumulators"
    )
    rename_cycles: Count = Field(description="dispatch to rename")
    register_release_cycles: Count = Field(description="start of the last reader to release")

    # queues and execution ports
    queue_entry_cycles: Cycles = Field(description="rename to ready at the earliest")
    waiting_queue_entries: Count = Field(description="computes that wait, stores until they start")
    waiting_queue_release_cycles: Count = Field(description="a place left to a place free")
    execution_ports: Count = Field(description="computes that can start in a cycle")
    port_binding: PortBinding = Field(description="in turn in program order, or by predicted start")
    port_queue_entries: Count = Field(description="computes queued at one port")
    port_queue_receive_cycles: Cycles = Field(description="waiting queue to port queue")
    in_flight_per_port: Count = Field(description="computes begun and not done")

    # memory
    load_ports: Count = Field(description="loads that can start in a cycle")
    store_ports: Count = Field(description="stores that can start in a cycle")
    bank_conflicts: Literal["by_address", "off"] = Field(
        description="whether accesses that meet in a UB bank wait"
    )
    bank_accesses_per_cycle: Count = Field(
        description="of one bank group, at most one of them a write"
    )
    store_barrier_cycles: Cycles = Field(
        description="last store done to the next store, over a barrier"
    )

    # pairs of micro-ops
    forwarding: PairTable = Field(
        description="start of a producer to the earliest start of its reader"
    )
    initiation_interval: PairTable = Field(description="issue to issue on one port")

    @model_validator(mode="after")
    def _consistent(self) -> "VregVector":
        agree((self.width_bytes % 32 == 0, "width_bytes", "a multiple of 32"))
        return self


class VregUopRow(Section):
    """One vector micro-op: which unit runs it, on which ports, how long until its result.

    `latency_cycles` is start to done; for a load or store start to done of the access.
    `store_cycles` is the time of a store of this micro-op's result. `by_form` and
    `store_by_form` replace them for forms such as `fp16` or `f32_to_f16`. `straight_line_cycles`
    come on top of a function without loops that has this micro-op.
    """

    unit: Unit = Field(description="what runs it")
    ports: Ports = "any"
    latency_cycles: Cycles = Quantity(value=0, basis=Basis.DOCUMENTED, source="no execution")
    by_form: Mapping[str, Cycles] = {}
    store_cycles: Cycles | None = None
    store_by_form: Mapping[str, Cycles] = {}
    straight_line_cycles: Cycles | None = None


VregUops = Mapping[str, VregUopRow]
