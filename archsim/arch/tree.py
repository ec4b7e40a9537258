"""Flat values as the tree that the models check, with bases where the models declare them."""

from typing import Any

from pydantic import BaseModel

from archsim.arch import shape
from archsim.arch.layers import ABOUT, Flat, Leaf, dotted
from archsim.arch.provenance import Provenance, least_trusted
from archsim.arch.quantity import Basis, Quantity
from archsim.base.errors import Faults
from archsim.base.places import KeyPath

_NOT_STATED = Provenance(Basis.ASSUMED, "not stated")  # `require_basis` has noted the fault


def require_basis(model: type[BaseModel], flat: Flat, faults: Faults) -> None:
    """Note every mapping with numbers that nothing around them gives a basis."""
    bare: dict[KeyPath, list[KeyPath]] = {}
    for path, leaf in flat.items():
        if leaf.provenance is None and shape.is_number(shape.at(model, path)):
            bare.setdefault(path[:-1], []).append(path)
    for owner, paths in bare.items():
        names = ", ".join(str(path[-1]) for path in paths)
        verb = "has" if len(paths) == 1 else "have"
        where = f" in {dotted(owner)}" if owner else ""
        flat[paths[0]].origin.fault(
            faults,
            f"{names}{where} {verb} no basis and source; every number has both",
            "write basis: and source: beside it, or in a mapping around it",
            key=True,
        )


def nested(model: type[BaseModel], flat: Flat) -> dict[str, Any]:
    """The tree of all values; quantities and rows carry their basis."""
    tree: dict[str, Any] = {}
    stated: dict[KeyPath, list[Provenance]] = {}
    for path, leaf in flat.items():
        node = tree
        for step in path[:-1]:
            node = node.setdefault(str(step), {})
        node[str(path[-1])] = _quantity(leaf) if shape.at(model, path) is Quantity else leaf.value
        if leaf.provenance:
            for owner in _owners(path):
                stated.setdefault(owner, []).append(leaf.provenance)
    for owner in dict.fromkeys(path[:n] for path in flat for n in range(1, len(path))):
        keys = [key for key in ABOUT if key in shape.keys_at(model, owner)]
        if keys:
            found = least_trusted(stated.get(owner, [])) or _NOT_STATED
            node = tree
            for step in owner:
                node = node[str(step)]
            node.update({key: getattr(found, key) for key in keys})
    return tree


def _owners(path: KeyPath) -> list[KeyPath]:
    """The mappings whose basis a value counts for: a type's own entry not for its row."""
    start = path.index("by_dtype") + 2 if "by_dtype" in path else 1
    return [path[:n] for n in range(start, len(path))]


def _quantity(leaf: Leaf) -> dict[str, Any]:
    found = leaf.provenance or _NOT_STATED
    return {"value": leaf.value, **{key: getattr(found, key) for key in ABOUT}}
