"""All tile instructions by name, and what each core asks of their operands."""

from collections.abc import Mapping
from itertools import groupby
from types import MappingProxyType

from archsim.isa.families import (
    arithmetic,
    compare,
    convert,
    elementwise,
    expand,
    fill,
    fused,
    generate,
    moves,
    part,
    quantise,
    rearrange,
    reduce,
    scalar_unit,
    sort,
)
from archsim.isa.rules import Rules
from archsim.isa.tile_op import TileOp

GROUPS = (
    moves,
    elementwise,
    arithmetic,
    compare,
    convert,
    fused,
    scalar_unit,
    part,
    fill,
    generate,
    reduce,
    expand,
    quantise,
    rearrange,
    sort,
)
ISAS = ("a2a3", "a5")

FORMS: Mapping[str, tuple[TileOp, ...]] = MappingProxyType(
    {
        name: tuple(forms)
        for group in GROUPS
        for name, forms in groupby(group.ROWS, lambda row: row.mnemonic)
    }
)
"""The rows of each instruction, by the name that programs use; the first is its main form."""

TILE_OPS: Mapping[str, TileOp] = MappingProxyType({name: forms[0] for name, forms in FORMS.items()})
"""The main form of each instruction."""


def _rules(isa: str) -> Mapping[str, Rules]:
    return MappingProxyType(
        {
            family: (*rules, *group.OWN.get(isa, {}).get(family, ()))
            for group in GROUPS
            for family, rules in group.RULES.items()
        }
    )


CONSTRAINTS: Mapping[str, Mapping[str, Rules]] = MappingProxyType(
    {isa: _rules(isa) for isa in ISAS}
)
"""The rules of each family on each core generation: those of all cores, then its own."""
