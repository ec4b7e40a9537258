"""What the checks of the models found, in the words and places of the file."""

from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from archsim.arch import shape
from archsim.arch.layers import ABOUT, ROWS, Flat, Origin, dotted, shown
from archsim.base.errors import Faults, did_you_mean
from archsim.base.places import KeyPath


class Explainer:
    """Turns the errors of one validation into diagnostics."""

    def __init__(self, model: type[BaseModel], flat: Flat, top: Origin, faults: Faults) -> None:
        self._model = model
        self._flat = flat
        self._top = top
        self._faults = faults

    def explain(self, error: ValidationError, skip: tuple[str, ...] = ()) -> None:
        """Note every error, except those in the sections `skip`."""
        for detail in error.errors(include_url=False):
            path = _clean(detail["loc"])
            if not path or path[0] not in skip:
                self._one(detail, path)

    def _one(self, detail: ErrorDetails, path: KeyPath) -> None:
        kind = detail["type"]
        if kind == "extra_forbidden":
            self._unknown(path)
        elif kind == "missing":
            self._missing(path)
        elif kind == "rule" and detail["ctx"]["at"]:
            self._disagreement(detail, path)
        else:
            rule, fix = self._rule(detail)
            message = f"{dotted(path)} is {shown(detail['input'])}; {rule}{self._about(path)}"
            self._origin(path).fault(self._faults, message, fix)

    def _disagreement(self, detail: ErrorDetails, section: KeyPath) -> None:
        """Two values of one section: point at the one written on the command line, if any."""
        context = detail["ctx"]
        path = (*section, *context["at"])
        value = self._flat[path].value if path in self._flat else None
        message = f"{dotted(path)} is {shown(value)}; it must be {context['rule']}"
        written = [leaf.origin for p, leaf in self._flat.items() if p[: len(section)] == section]
        said = [origin for origin in written if origin.override is not None]
        (said[-1] if said else self._origin(path)).fault(self._faults, message, context["fix"])

    def _unknown(self, path: KeyPath) -> None:
        where = f" in {dotted(path[:-1])}" if len(path) > 1 else ""
        known = [k for k in shape.keys_at(self._model, path[:-1]) if k not in ABOUT]
        near = did_you_mean(str(path[-1]), known)
        fix = near or f"known keys: {', '.join(known)}"
        if near:
            (key,) = [k for k in known if f'"{k}"' in near]
            fix = near + self._about((*path[:-1], key))
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
        """What must hold, and a near value."""
        kind, context = detail["type"], detail.get("ctx", {})
        if kind == "rule":
            return f"it must be {context['rule']}", context["fix"]
        if kind == "literal_error":
            choices = str(context["expected"]).replace("'", "").replace(" or ", ", ").split(", ")
            return f"it must be {' or '.join(choices)}", did_you_mean(str(detail["input"]), choices)
        if kind in ("model_type", "model_attributes_type", "dict_type", "mapping_type"):
            return "it must be a mapping", None
        if kind == "value_error":
            return detail["msg"].removeprefix("Value error, "), None
        message = detail["msg"].removeprefix("Input should be ").removeprefix("a valid ")
        return f"it must be {message[:1].lower()}{message[1:]}", None

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


def _head(written: KeyPath, path: KeyPath) -> KeyPath:
    """The part of where a value was written that `path` names: overrides write at their root."""
    return path if written[: len(path)] == path else written


def _clean(loc: tuple[Any, ...]) -> KeyPath:
    """Path of an error: without the marks of keys and of the value inside a quantity."""
    path = tuple(step for step in loc if step != "[key]")
    return path[:-1] if path and path[-1] == "value" else path
