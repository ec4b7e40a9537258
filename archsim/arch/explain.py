"""What the checks of the models found, in the words and places of the file."""

import difflib
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from archsim.arch import shape
from archsim.arch.layers import ABOUT, ROWS, Flat, Origin, dotted, shown
from archsim.base.errors import Faults, did_you_mean
from archsim.base.places import KeyPath

_TYPES = {
    "model_type": "a mapping",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "bool_type": "true or false",
    "int_type": "an integer",
    "string_type": "a text",
    "tuple_type": "a list",
}


STYLES = ("simd", "vreg")


class Explainer:
    """Turns the errors of one validation into diagnostics."""

    def __init__(self, model: type[BaseModel], flat: Flat, top: Origin, faults: Faults) -> None:
        self._model = model
        self._flat = flat
        self._top = top
        self._faults = faults

    def explain(self, error: ValidationError, *, style_known: bool) -> None:
        """Note every error; without a style none inside the sections that depend on it."""
        style: KeyPath = ("vector", "style")
        if not style_known and any(path[0] == "vector" and len(path) > 1 for path in self._flat):
            value = self._flat[style].value if style in self._flat else None
            message = f"vector.style is {shown(value)}; it must be simd or vreg"
            self._origin(style).fault(self._faults, message, did_you_mean(str(value), STYLES))
        for detail in error.errors(include_url=False):
            path = _clean(detail["loc"])
            if style_known or len(path) == 1 or path[0] not in ("vector", "uops"):
                self._one(detail, path)

    def _one(self, detail: ErrorDetails, path: KeyPath) -> None:
        kind = detail["type"]
        if kind == "extra_forbidden":
            self._unknown(path)
        elif kind == "missing":
            self._missing(path)
        elif kind == "disagreement":
            for key, rule in detail["ctx"]["failed"]:
                self._disagreement(path, (*path, *key.split(".")), rule)
        elif detail["loc"][-1] == "[key]":
            context = detail["ctx"]
            message = f'unknown key "{path[-1]}" in {dotted(path[:-1])}; it must be '
            origin = self._origin(path)
            origin.fault(self._faults, message + context["rule"], context["fix"], key=True)
        else:
            rule, fix = self._rule(detail)
            value = self._flat[path].value if path in self._flat else detail["input"]
            message = f"{dotted(path)} is {shown(value)}; it must be {rule}{self._about(path)}"
            self._origin(path).fault(self._faults, message, fix)

    def _disagreement(self, section: KeyPath, path: KeyPath, rule: str) -> None:
        """Values of one section: point at the one that came last, which broke the peace."""
        value = self._flat[path].value if path in self._flat else None
        own = self._origin(path)
        written = [(p, leaf) for p, leaf in self._flat.items() if p[: len(section)] == section]
        last = [(p, leaf.origin) for p, leaf in written if leaf.origin.override is not None]
        if not last:
            top = self._top.document
            last = [(p, leaf.origin) for p, leaf in written if leaf.origin.document is top]
        if last and own not in [origin for _, origin in last]:
            # the rule names the other value
            own = max(last, key=lambda entry: str(entry[0][-1]) in rule)[1]
        own.fault(self._faults, f"{dotted(path)} is {shown(value)}; it must be {rule}")

    def _unknown(self, path: KeyPath) -> None:
        where = f" in {dotted(path[:-1])}" if len(path) > 1 else ""
        known = [k for k in shape.keys_at(self._model, path[:-1]) if k not in ABOUT]
        near = near_key(str(path[-1]), known)
        if near:
            fix = f'did you mean "{near}"?{self._about((*path[:-1], near))}'
        else:
            fix = f"known keys: {', '.join(known[:12])}{', ...' if len(known) > 12 else ''}"
        if path[0] == "uops" and path[-1] == "floor_cycles":
            fix = "floor_cycles belongs to the simd style; this core is of the vreg style"
        message = f'unknown key "{path[-1]}"{where}'
        self._origin(path).fault(self._faults, message, fix, key=True)

    def _missing(self, path: KeyPath) -> None:
        owner = dotted(path[:-1]) or "the file"
        fix = None
        if path[0] in ROWS and len(path) > 2:
            others = {str(p[1]) for p in self._flat if p[0] == path[0] and len(p) > 2}
            fix = did_you_mean(str(path[1]), sorted(others - {str(path[1])}))
        origin = self._origin(path)
        message = f"{owner} has no {path[-1]}{self._about(path)}"
        origin.fault(self._faults, message, fix, key=True)

    def _rule(self, detail: ErrorDetails) -> tuple[str, str | None]:
        """What the value must be, and a near one."""
        kind, context, message = detail["type"], detail.get("ctx", {}), detail["msg"]
        if kind == "rule":
            return str(context["rule"]), context["fix"]
        if kind == "literal_error":
            choices = str(context["expected"]).replace("'", "").replace(" or ", ", ").split(", ")
            return " or ".join(choices), did_you_mean(str(detail["input"]), choices)
        if kind == "value_error":
            return message.rpartition("must be ")[2] if "must be " in message else "a number", None
        if kind in _TYPES:
            return _TYPES[kind], None
        return message.removeprefix("Input should be ").removeprefix("a valid "), None

    def _about(self, path: KeyPath) -> str:
        """` (what the value at `path` means)`, where its declaration says so."""
        field = shape.field_at(self._model, path)
        return f" ({field.description})" if field and field.description else ""

    def _origin(self, path: KeyPath) -> Origin:
        """Where `path`, or the part of it that exists, was written last."""
        if path in self._flat:
            return self._flat[path].origin
        for length in range(len(path), 0, -1):
            below = [leaf.origin for p, leaf in self._flat.items() if p[:length] == path[:length]]
            if below:
                said = [origin for origin in below if origin.override is not None]
                last = (said or below)[-1]
                return Origin(last.document, _head(last.path, path[:length]), last.override)
        return self._top


def near_key(name: str, known: Iterable[str]) -> str | None:
    """The known key nearest to `name`, as a whole or in one of its words."""
    keys = list(known)
    words = {word: key for key in reversed(keys) for word in key.split("_")}
    for choices in ({key: key for key in keys}, words):
        near = difflib.get_close_matches(name.lower(), choices, n=1, cutoff=0.6)
        if near:
            return choices[near[0]]
    return None


def _head(written: KeyPath, path: KeyPath) -> KeyPath:
    """The part of where a value was written that `path` names: overrides write at their root."""
    return path if written[: len(path)] == path else written


def _clean(loc: tuple[Any, ...]) -> KeyPath:
    """Path of an error: without the marks of keys and of the value inside a quantity."""
    path = tuple(step for step in loc if step != "[key]")
    return path[:-1] if path and path[-1] == "value" else path
