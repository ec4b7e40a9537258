"""A chip: one frozen object, every number with its basis and source."""

import hashlib
import json
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field, PrivateAttr

from archsim.arch.fields import Hertz, PipeName, Section, Text
from archsim.arch.parts import Events, Memory, Numerics, PathCost, PipeConfig, Scalar
from archsim.arch.provenance import Provenance, least_trusted
from archsim.arch.quantity import Basis
from archsim.arch.simd import SimdUopRow, SimdVector, UopCost
from archsim.arch.vreg import VregUopRow, VregVector
from archsim.base.dtypes import dtype_named
from archsim.base.errors import did_you_mean


class ArchConfig(Section):
    """What every core has; `vector` and `uops` depend on the style, see the two subclasses.

    Made by `archsim.arch.load` only: paths of values are the keys of the file, joined by dots.
    """

    name: Text
    isa: Literal["a2a3", "a5"] = Field(description="generation: picks the instruction tables")
    description: str = ""
    frequency_hz: Hertz = Field(description="core clock")
    memory: Memory
    vector: SimdVector | VregVector
    pipes: Mapping[PipeName, PipeConfig]
    scalar: Scalar
    events: Events
    paths: Mapping[str, PathCost]
    uops: Mapping[str, SimdUopRow] | Mapping[str, VregUopRow]
    numerics: Numerics

    _values: dict[str, Any] = PrivateAttr(default_factory=dict)  # as merged, by path
    _provenance: dict[str, Provenance] = PrivateAttr(default_factory=dict)
    _overrides: tuple[tuple[str, str], ...] = PrivateAttr(default=())

    @property
    def overrides(self) -> tuple[tuple[str, str], ...]:
        """The `--set` pairs that went into it, as given."""
        return self._overrides

    @cached_property
    def digest(self) -> str:
        """sha256 of all values and bases; names, descriptions and source texts do not count."""
        bases = {path: str(p.basis) for path, p in sorted(self._provenance.items())}
        content = {"values": _plain(self), "bases": bases}
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def dump(self) -> str:
        """A chip file (JSON) without `extends` that loads to the same values and bases."""
        tree: dict[str, Any] = {}
        for path, value in self._values.items():
            node = tree
            *above, last = path.split(".")
            for step in above:
                node = node.setdefault(step, {})
            node[last] = _stated(value, self._provenance.get(path))
        return json.dumps(tree, indent=1) + "\n"

    def __hash__(self) -> int:
        return hash(self.digest)

    def basis_of(self, path: str) -> tuple[Basis, str]:
        """Basis and source of the value at `path`, or the least trusted below it.

        `KeyError` (with a near path) where nothing with a basis stands there.
        """
        own = self._provenance.get(path)
        below = [p for key, p in self._provenance.items() if key.startswith(f"{path}.")]
        found = own or least_trusted(below)
        if found is None:
            fix = did_you_mean(path, self._provenance)
            raise KeyError(f"{path}: no value with a basis" + (f"; {fix}" if fix else ""))
        return found.basis, found.source


class SimdArch(ArchConfig):
    """A core whose vector unit works from UB to UB (A2A3)."""

    vector: SimdVector
    uops: Mapping[str, SimdUopRow]

    def uop(self, name: str, dtype: str | None = None) -> UopCost:
        """The cost of micro-op `name` on `dtype` (any spelling).

        A row called `vconv_*` covers every name with that beginning that has no row of its own;
        the longest such row counts. `KeyError` (with a near name) where no row does.
        """
        row = self.uops.get(name) or covering_row(name, self.uops)
        if row is None:
            fix = did_you_mean(name, self.uops)
            raise KeyError(f'no micro-op "{name}" in uops' + (f"; {fix}" if fix else ""))
        known = dtype_named(dtype) if dtype else None
        return row.cost(name, known.name if known else None)


class VregArch(ArchConfig):
    """A core whose vector unit works on vector registers (A5)."""

    vector: VregVector
    uops: Mapping[str, VregUopRow]


Row = TypeVar("Row")


def covering_row(name: str, rows: Mapping[str, Row]) -> Row | None:
    """The row `prefix*` with the longest prefix of `name`."""
    covering = [key for key in rows if key.endswith("*") and name.startswith(key[:-1])]
    return rows[max(covering, key=len)] if covering else None


def _stated(value: Any, provenance: Provenance | None) -> Any:
    """A value with its basis, numbers as JSON can hold them exactly."""
    if isinstance(value, Fraction):
        near = float(value)
        value = near if Fraction(repr(near)) == value else str(value)
    if provenance is None:
        return value
    about = {"basis": str(provenance.basis), "source": provenance.source}
    if provenance.uncertainty:
        about["uncertainty"] = _stated(provenance.uncertainty, None)
    return {"value": value, **about}


_TEXTS = ("name", "description", "source")


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        fields = type(value).model_fields
        return {key: _plain(getattr(value, key)) for key in fields if key not in _TEXTS}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Fraction) else value
