"""The JSON Schema of chip files: that of the models, with bases anywhere and overlays."""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from archsim.arch.config import ArchConfig, SimdArch, VregArch
from archsim.arch.fields import PIPES
from archsim.arch.layers import ABOUT
from archsim.arch.quantity import Basis
from archsim.base.dtypes import DTYPES

_ABOUT: dict[str, Any] = {
    "basis": {"enum": [str(basis) for basis in Basis], "description": "how far to trust it"},
    "source": {"type": "string", "minLength": 1, "description": "where it comes from"},
    "uncertainty": {"type": "number", "minimum": 0, "description": "relative: 0.05 is 5 %"},
}
# pydantic leaves out the names that a mapping's keys may have
_NAMES = {"pipes": PIPES, "by_dtype": tuple(DTYPES)}
_ANY_NUMBER = {"anyOf": [{"type": "number"}, {"type": "string", "pattern": "^[0-9]+/[0-9]+$"}]}


class _Plain(GenerateJsonSchema):
    """Without defaults: they are exact fractions, which JSON does not have."""

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])


def json_schema() -> dict[str, Any]:
    """The schema of a whole chip file, or of one that `extends` another and may be partial.

    It covers keys, types and ranges. Rules between values, the need for a basis and file names
    are checked on loading only.
    """
    definitions: dict[str, Any] = {}
    for model in (SimdArch, VregArch):
        whole = _definitions(model)
        definitions |= whole
        definitions |= {f"{name}Part": _partial(part) for name, part in whole.items()}
    vreg = {"properties": {"vector": {"properties": {"style": {"const": "vreg"}}}}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "archsim chip file",
        "if": {"required": ["extends"]},
        "then": {"anyOf": [_ref("SimdArchPart"), _ref("VregArchPart")]},
        "else": {
            "if": {"required": ["vector"], **vreg},
            "then": _ref("VregArch"),
            "else": _ref("SimdArch"),
        },
        "$defs": dict(sorted(definitions.items())),
    }


def _definitions(model: type[ArchConfig]) -> dict[str, Any]:
    """Every section of one style, by its name."""
    schema = model.model_json_schema(schema_generator=_Plain)
    sections: dict[str, Any] = schema.pop("$defs")
    schema["properties"]["extends"] = {
        "type": "string",
        "minLength": 1,
        "description": "the chip or file whose values hold where this file has none",
    }
    schema["required"] = [key for key in schema["required"] if key != "name"]
    sections[model.__name__] = schema
    return {
        name: _with_basis(_ANY_NUMBER) if name == "Quantity" else _section(section)
        for name, section in sections.items()
    }


def _section(schema: dict[str, Any]) -> dict[str, Any]:
    """An object with fixed keys: numbers in either form, and a basis for all of them."""
    if "properties" not in schema:
        return schema
    properties = {
        key: _with_basis(value) if _is_number(value) else _table(key, value)
        for key, value in schema["properties"].items()
        if key not in ABOUT
    }
    required = [key for key in schema.get("required", ()) if key not in ABOUT]
    return {**schema, "properties": properties | _ABOUT, "required": required}


def _table(key: str, schema: dict[str, Any]) -> dict[str, Any]:
    """A mapping with free keys holds a basis for all of its rows, too."""
    if not isinstance(schema.get("additionalProperties"), dict):
        return schema
    out = {**schema, "properties": dict(_ABOUT)}
    if key in _NAMES:
        out["propertyNames"] = {"enum": [*_NAMES[key], *ABOUT]}
    return out


def _is_number(schema: dict[str, Any]) -> bool:
    kinds = {option.get("type") for option in schema.get("anyOf", [schema])}
    return bool(kinds & {"integer", "number"})


def _with_basis(schema: dict[str, Any]) -> dict[str, Any]:
    about: dict[str, Any] = {k: schema[k] for k in ("title", "description") if k in schema}
    bare = {key: value for key, value in schema.items() if key not in about}
    stated = {
        "type": "object",
        "properties": {"value": bare, **_ABOUT},
        "required": ["value"],
        "additionalProperties": False,
    }
    return {**about, "anyOf": [bare, stated]}


def _partial(schema: Any) -> Any:
    """The same where nothing is required, down to the values."""
    if isinstance(schema, list):
        return [_partial(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "value" in schema.get("properties", ()):
        return schema
    out = {key: _partial(item) for key, item in schema.items() if key != "required"}
    if isinstance(out.get("$ref"), str):
        out["$ref"] += "Part"
    return out


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}
