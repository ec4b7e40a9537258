"""The JSON Schema of traces: checked in as the tables make it, and in step with the reader."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest
from test_printing import EVERYTHING
from trace_texts import HEAD, with_program

from archsim.base.yaml import parse_document, read_document
from archsim.program.schema import SCHEMA_FILE, schema_text, trace_schema

TRACES = sorted(Path(__file__).parents[2].glob("traces/**/*.yaml"))
VALIDATOR = jsonschema.Draft202012Validator(trace_schema())


def faults(text: str) -> list[str]:
    value: Any = parse_document(text, "t.yaml").value
    return ["/".join(map(str, error.absolute_path)) for error in VALIDATOR.iter_errors(value)]


def test_file_is_what_the_tables_make() -> None:
    """Write it anew with `SCHEMA_FILE.write_text(schema_text())`."""
    assert SCHEMA_FILE.read_text() == schema_text()
    jsonschema.Draft202012Validator.check_schema(trace_schema())


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_shipped_traces_are_valid(path: Path) -> None:
    assert list(VALIDATOR.iter_errors(read_document(path).value)) == []


def test_everything_that_the_reader_takes_is_valid() -> None:
    assert faults(EVERYTHING) == []
    assert faults(HEAD + "program: []\n") == []


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("pto: 2\nprogram: []\n", "pto"),
        ("pto: 1\n", ""),
        ("porgram: []\nprogram: []\n", ""),
        ("tensors: {a: {dtype: f32, shape: [0]}}\nprogram: []\n", "tensors/a/shape/0"),
        ("tensors: {a: {dtype: f32, shape: [4], init: {z: 1}}}\nprogram: []\n", "tensors/a/init"),
        ("tiles: {t: {loc: vce, dtype: f32, shape: [8, 8]}}\nprogram: []\n", "tiles/t/loc"),
        ("tiles: {t: {loc: vec, dtype: f32}}\nprogram: []\n", "tiles/t"),
        ("events: {e: {from: V}}\nprogram: []\n", "events/e"),
        ("program: [{foo: 1}]\n", "program/0"),
        ("program: [3]\n", "program/0"),
        ("program: []\nexpect: {a: {numpy: a, file: b}}\n", "expect/a"),
        ("scalars: {1a: 3}\nprogram: []\n", "scalars"),
    ],
)  # fmt: skip
def test_wrong_structure_is_invalid(text: str, place: str) -> None:
    assert faults(text) == [place]


def test_text_of_statements_is_the_readers_business() -> None:
    assert faults(with_program("- no such thing")) == []
