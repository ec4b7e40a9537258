"""What micro-ops cost: rows and pair tables of the configuration, as small integers."""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from archsim.arch.quantity import Quantity
from archsim.arch.vreg import PairRule, PairTable, Unit, VregUopRow, VregUops, VregVector
from archsim.base.dtypes import dtype_named
from archsim.base.errors import Faults, did_you_mean

Kind = tuple[str, str]  # micro-op name, form


@lru_cache(maxsize=1024)
def form_name(form: str) -> str:
    """One spelling for each form: `fp16` and `half` are `f16`, `f32_to_s32` is `f32_to_i32`."""
    parts = (d.name if (d := dtype_named(part)) else part for part in form.split("_to_"))
    return "_to_".join(parts)


def whole(quantity: Quantity) -> int:
    """The value of a quantity that the configuration has checked to be whole."""
    return quantity.value.numerator


class Costs:
    """Latencies, forwarding and initiation intervals of one chip, by kind of micro-op."""

    def __init__(self, vector: VregVector, uops: VregUops) -> None:
        self._uops = uops
        self._forwarding = _Pairs(vector.forwarding, self)
        self._interval = _Pairs(vector.initiation_interval, self)
        self._latency: dict[Kind, int] = {}

    def unit(self, name: str) -> Unit:
        """The unit that runs a micro-op; one without a row must be found by `check` first."""
        return self._uops[name].unit

    def row(self, name: str) -> VregUopRow:
        """The row of a micro-op."""
        return self._uops[name]

    def check(self, names: Iterable[str]) -> None:
        """Refuse micro-ops without a row, all at once: nothing is free by omission."""
        faults = Faults()
        for name in names:
            if name not in self._uops:
                message = f"vector micro-op {name} has no row in `uops`; every micro-op needs one"
                faults.add(message, fix=did_you_mean(name, self._uops))
        faults.raise_if_any()

    def latency(self, kind: Kind) -> int:
        """Cycles from start to done."""
        if kind not in self._latency:
            self._latency[kind] = whole(self.latency_quantity(kind))
        return self._latency[kind]

    def latency_quantity(self, kind: Kind) -> Quantity:
        """The latency with its basis."""
        row = self._uops[kind[0]]
        return _by_form(row.by_form, kind[1]) or row.latency_cycles

    def store(self, store: Kind, producer: Kind) -> int:
        """Cycles of a store of the result of `producer`."""
        row = self._uops[producer[0]]
        own = _by_form(row.store_by_form, producer[1]) or row.store_cycles
        return whole(own) if own else self.latency(store)

    def straight_line(self, name: str) -> int:
        """Cycles on top of a function without loops that has this micro-op."""
        own = self._uops[name].straight_line_cycles
        return whole(own) if own else 0

    def forward(self, first: Kind, then: Kind) -> int:
        """Cycles from the start of `first` to the earliest start of its reader `then`."""
        return self._forwarding.value(first, then)

    def interval(self, first: Kind, then: Kind) -> int:
        """Cycles from issue to issue on one port."""
        return max(1, self._interval.value(first, then))


def _by_form(values: Mapping[str, Quantity], form: str) -> Quantity | None:
    wanted = form_name(form)
    return next((value for key, value in values.items() if form_name(key) == wanted), None)


class _Pairs:
    """First match in a `PairTable`, remembered."""

    def __init__(self, table: PairTable, costs: Costs) -> None:
        self.costs = costs
        self.found: dict[tuple[Kind, Kind], int] = {}
        self.rules = [(_spelled(table, r.first), _spelled(table, r.then), r) for r in table.rules]
        self.otherwise = table.otherwise

    def value(self, first: Kind, then: Kind) -> int:
        key = (first, then)
        if key not in self.found:
            self.found[key] = self._amount(self._match(first, then), first)
        return self.found[key]

    def _match(self, first: Kind, then: Kind) -> PairRule:
        for firsts, thens, rule in self.rules:
            if _among(first, firsts) and _among(then, thens):
                return rule
        return self.otherwise

    def _amount(self, rule: PairRule, first: Kind) -> int:
        if rule.cycles is not None:
            return rule.cycles
        return max(0, self.costs.latency(first) - (rule.latency_minus or 0))


def _spelled(table: PairTable, names: tuple[str, ...] | None) -> frozenset[str] | None:
    """Members of a rule's list with their forms in the one spelling."""
    members = table.members(names)
    if members is None:
        return None
    split = (name.partition(".") for name in members)
    return frozenset(name + dot + form_name(form) for name, dot, form in split)


def _among(kind: Kind, names: frozenset[str] | None) -> bool:
    return names is None or kind[0] in names or f"{kind[0]}.{form_name(kind[1])}" in names


def unknown_names(vector: VregVector, uops: VregUops) -> list[str]:
    """One message for each name in the pair tables that is neither a micro-op nor a group."""
    tables = {"forwarding": vector.forwarding, "initiation_interval": vector.initiation_interval}
    return sorted(
        f"vector.{label} names {name}, which has no row in `uops`"
        for label, table in tables.items()
        for name in _all_names(table)
        if name.partition(".")[0] not in uops
    )


def _all_names(table: PairTable) -> frozenset[str]:
    lists = [names for rule in table.rules for names in (rule.first, rule.then)]
    return frozenset().union(*(table.members(names) or () for names in lists))
