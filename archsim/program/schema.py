"""The JSON Schema of traces, made from the tables that the reader uses.

`trace.schema.json` beside this module is its checked-in form, for editors and for
`archsim schema trace`; a test keeps the two alike. What needs more than one value at a time (names
that must be declared, rows of 32 bytes, the text of statements) only the reader judges.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from archsim.base.dtypes import SPELLINGS
from archsim.isa.operands import Loc
from archsim.isa.pipes import EVENT_CLASSES, Pipe
from archsim.program.init_decls import KEYS as INIT_KEYS
from archsim.program.tensor_decls import LAYOUTS, MAX_RANK
from archsim.program.tile_decls import BLAYOUTS, PADS, SLAYOUTS
from archsim.program.trace import VERSION

SCHEMA_FILE = Path(__file__).with_name("trace.schema.json")
Schema = dict[str, Any]


def trace_schema() -> Schema:
    """JSON Schema (draft 2020-12) of a trace file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "archsim trace",
        "description": "The program of one NPU core: tensors, tiles, events and statements.",
        **_object(
            {
                "pto": {"const": VERSION, "description": "version of this format"},
                "arch": {"type": "string", "description": "the core it runs on by default"},
                "archs": _list({"type": "string"}, description="cores it is meant for; all"),
                "sync": _words(("explicit", "auto"), "taken literally, or derived"),
                "alloc": _words(("explicit", "auto"), "auto: tiles without addr are placed"),
                "scalars": _named(_ref("number")),
                "tensors": _named(_tensor()),
                "tiles": _named(_tile()),
                "events": _named(_event()),
                "program": _ref("block"),
                "expect": _named(_expect()),
            },
            required=("program",),
        ),
        "$defs": _definitions(),
    }


def schema_text() -> str:
    """The text of `trace.schema.json`."""
    return json.dumps(trace_schema(), indent=1) + "\n"


def _definitions() -> Schema:
    return {
        "number": {
            "anyOf": [
                {"type": "number"},
                {"type": "string", "pattern": r"^\s*[-+]?(\d|\.|inf|nan)"},
            ],
            "description": 'a number, or a text such as "-inf" or "0x20"',
        },
        "integer": {
            "anyOf": [{"type": "integer"}, {"type": "string", "pattern": r"^\s*[-+]?\d"}],
            "description": 'an integer, or a text such as "0x2000"',
        },
        "expression": {
            "type": ["integer", "string", "boolean"],
            "description": "integers, $names, + - * // % min max, comparisons, parentheses",
        },
        "pipe": {
            "type": "string",
            "description": f"{', '.join(Pipe)}, or a class: {', '.join(EVENT_CLASSES)}",
        },
        "block": _list(_ref("statement")),
        "statement": {"anyOf": [{"type": "string", "minLength": 1}, *_statements()]},
    }


def _tensor() -> Schema:
    extent = {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string"}]}
    step = {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string"}]}
    return _object(
        {
            "dtype": _dtype(),
            "shape": _list(extent, 1, MAX_RANK),
            "strides": _list(step, 1, MAX_RANK, "in elements, outermost first"),
            "layout": _words(LAYOUTS),
            "init": _init(),
        },
        required=("dtype", "shape"),
    )


def _init() -> Schema:
    kinds: list[Schema] = [
        _object({"const": _ref("number")}, required=("const",)),
        _object({"linspace": _list(_ref("number"), 2, 2)}, required=("linspace",)),
        _object({"file": {"type": "string"}, "key": {"type": "string"}}, required=("file",)),
    ]
    for kind, keys in INIT_KEYS.items():
        needed = [key for key, default in keys.items() if default is ...]
        whole = kind == "randint"
        values = {key: _ref("integer" if whole or key == "seed" else "number") for key in keys}
        kinds.append(_object({kind: _object(values, required=needed)}, required=(kind,)))
    return {"oneOf": kinds, "description": "initial contents; zeros without it"}


def _tile() -> Schema:
    extent = {"type": "integer", "minimum": 1}
    valid = {
        "anyOf": [extent, {"type": "string"}],
        "description": "a literal is static; $x, an expression or dynamic is dynamic",
    }
    keys: Schema = {
        "loc": _words(tuple(Loc)),
        "dtype": _dtype(),
        "shape": _list(_ref("integer"), 2, 2, "rows, columns"),
        "rows": _ref("integer"),
        "cols": _ref("integer"),
        "valid": _list(valid, 2, 2),
        "v_row": valid,
        "v_col": valid,
        "addr": _ref("integer"),
        "ring": {**_ref("integer"), "description": "copies, one behind the other"},
        "blayout": _words(BLAYOUTS),
        "slayout": _words(SLAYOUTS),
        "fractal": _ref("integer"),
        "pad": {"enum": [*PADS, *range(len(PADS)), None]},
        "stride": {**_ref("integer"), "description": "elements from one row to the next"},
    }
    shapes = [{"required": ["shape"]}, {"required": ["rows", "cols"]}]
    return {**_object(keys, required=("loc", "dtype")), "oneOf": shapes}


def _event() -> Schema:
    keys = {"from": _ref("pipe"), "to": _ref("pipe"), "ring": _ref("integer")}
    return _object(keys, required=("from", "to"))


def _expect() -> Schema:
    keys: Schema = {
        "numpy": {"type": ["string", "number"], "description": "over initial tensor values"},
        "file": {"type": "string"},
        "key": {"type": "string"},
        "atol": _ref("number"),
        "rtol": _ref("number"),
        "exact": {"type": "boolean", "description": "compare bits"},
    }
    return {**_object(keys), "oneOf": [{"required": ["numpy"]}, {"required": ["file"]}]}


def _statements() -> list[Schema]:
    """The statements that are mappings."""
    event = {"type": "string", "description": "event or event[slot]"}
    short = _object(
        {"event": {"type": "string"}, "from": _ref("pipe"), "to": _ref("pipe")},
        required=("event", "from", "to"),
    )
    flag = {
        "type": "array",
        "prefixItems": [_ref("pipe"), _ref("pipe"), _ref("expression")],
        "minItems": 3,
        "maxItems": 3,
    }
    simple: Schema = {
        "wait": event,
        "record": {"anyOf": [event, short]},
        "set_flag": flag,
        "wait_flag": flag,
        "barrier": {"type": "string", "description": "ALL, a pipe or a class"},
        "tsync": {"anyOf": [event, _list(event, 1)]},
    }
    loop = _object(
        {"var": {"type": "string"}, "range": _range()},
        required=("var", "range"),
    )
    found = [_object({key: value}, required=(key,)) for key, value in simple.items()]
    found.append(_object({"for": loop, "do": _ref("block")}, required=("for", "do")))
    branch = {"if": _ref("expression"), "then": _ref("block"), "else": _ref("block")}
    found.append(_object(branch, required=("if", "then")))
    return found


def _range() -> Schema:
    parts = {key: _ref("expression") for key in ("start", "stop", "step")}
    return {
        "anyOf": [
            _ref("expression"),
            _list(_ref("expression"), 2, 3, "start, stop, step"),
            _object(parts, required=("stop",)),
        ]
    }


def _dtype() -> Schema:
    return {"type": "string", "examples": list(SPELLINGS), "description": "in any case"}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _named(value: Schema) -> Schema:
    return {
        "type": "object",
        "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
        "additionalProperties": value,
    }


def _object(keys: Schema, required: Iterable[str] = ()) -> Schema:
    out: Schema = {"type": "object", "properties": keys, "additionalProperties": False}
    return {**out, "required": list(required)} if tuple(required) else out


def _list(
    item: Schema, least: int | None = None, most: int | None = None, description: str = ""
) -> Schema:
    out: Schema = {"type": "array", "items": item}
    if least is not None:
        out["minItems"] = least
    if most is not None:
        out["maxItems"] = most
    return {**out, "description": description} if description else out


def _words(words: Iterable[str], description: str = "") -> Schema:
    """One of some words; the reader takes them in any case, the schema as they are spelled here."""
    out: Schema = {"enum": list(words)}
    return {**out, "description": description} if description else out
