"""Reading YAML and JSON: values, places, and every fault with its whole message."""

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archsim.base.errors import Faults, InputError
from archsim.base.yaml import parse_document, read_document


def fault_of(text, name="t.yaml"):
    with pytest.raises(InputError) as caught:
        parse_document(text, name)
    return str(caught.value)


# ---- values


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1", 1), ("-12", -12), ("0x2000", 0x2000), ("0o17", 15), ("0b101", 5), ("1_000", 1000),
        ("010", 10), ("1.5", 1.5), ("1e-3", 0.001), (".5", 0.5), ("1.", 1.0),
        ("-.inf", -float("inf")),
        (".inf", float("inf")), ("true", True), ("False", False), ("null", None), ("~", None),
        ("", None), ("on", "on"), ("no", "no"), ("1:30", "1:30"), ("2024-01-01", "2024-01-01"),
        ("0x", "0x"), ("'1'", "1"), ("!!str 5", "5"), ("inf", "inf"), ("1.85 GHz", "1.85 GHz"),
        ("|\n  x\n  y\n", "x\ny\n"), ("[1, [2]]", [1, [2]]), ("{b: {c: 1}}", {"b": {"c": 1}}),
        ("&x [1]\nb: *x", [1]), ("!!float 2", 2.0),
    ],
)  # fmt: skip
def test_yaml_values(written, value):
    read = parse_document(f"a: {written}", "t.yaml").value["a"]
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(("text", "value"), [("null", None), ("~", None), ("4", 4), ("x", "x")])
def test_a_lone_scalar_is_a_document(text, value):
    assert parse_document(text, "t.yaml").value == value


def test_nan_is_read():
    read = parse_document("a: .nan", "t.yaml").value["a"]
    assert read != read


@pytest.mark.parametrize(
    "text", ["a: 2.11\nb: 1e-3\nc: .inf\n", '{"a": 2.11, "b": 1e-3, "c": Infinity}']
)
def test_decimals_stay_exact_where_wanted(text):
    value = parse_document(text, "t.yaml", parse_float=Fraction).value
    assert value == {"a": Fraction("2.11"), "b": Fraction(1, 1000), "c": float("inf")}
    assert isinstance(value["a"], Fraction)


numbers = st.floats(allow_nan=False, allow_infinity=False)


def json_values(text):
    return st.recursive(
        st.none() | st.booleans() | st.integers() | numbers | text,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
        max_leaves=20,
    )


ANY = json_values(st.text())
# what YAML takes as it stands: no control characters, no surrogate pairs
LETTERS = st.characters(min_codepoint=0x20, max_codepoint=0xD7FF, exclude_categories=["C"])
PLAIN = st.text(LETTERS, max_size=20)  # a key has at most 1024 characters in YAML


@given(st.dictionaries(st.text(), ANY, max_size=4), st.sampled_from([None, 1]))
def test_json_reads_as_the_json_module_does(value, indent):
    text = json.dumps(value, indent=indent)
    document = parse_document(text, "t.json")
    assert document.value == json.loads(text)
    assert document.span().line == 1  # the scan of places holds on every valid text
    for key in value:
        place = document.key_span((key,))
        line = text.split("\n")[place.line - 1]
        assert json.loads(line[place.column - 1 : place.column - 1 + place.width]) == key


@given(st.dictionaries(PLAIN, json_values(PLAIN), max_size=4))
def test_a_json_text_is_the_same_in_yaml(value):
    text = f"# a comment makes it YAML\n{json.dumps(value)}"
    assert parse_document(text, "t.yaml").value == value


def test_a_yaml_flow_mapping_is_not_taken_for_json():
    assert parse_document("{a: 1, b: [x, y]}", "t.yaml").value == {"a": 1, "b": ["x", "y"]}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_do_not_matter(end):
    document = parse_document(end.join(["a: 1", "b:", "  c: [1, 2]", ""]), "t.yaml")
    assert document.value == {"a": 1, "b": {"c": [1, 2]}}
    assert str(document.span(("b", "c", 1))) == "t.yaml:3:10"
    assert document.source.lines[2] == "  c: [1, 2]"


# ---- places

YAML = """\
a: 1
long: "two words"
list:
  - x
  - {k: 2.5, ä: ö}
text: |
  first
  second
"""


@pytest.mark.parametrize(
    ("path", "value", "key"),
    [
        (("a",), "1:4+1", "1:1+1"),
        (("long",), "2:7+11", "2:1+4"),
        (("list",), "4:3+1", "3:1+4"),
        (("list", 0), "4:5+1", "4:5+1"),
        (("list", 1, "k"), "5:9+3", "5:6+1"),
        (("list", 1, "ä"), "5:17+1", "5:14+1"),
        (("text",), "6:7+1", "6:1+4"),
        (("list", 1, "missing"), "5:5+1", "5:5+1"),
        (("list", 7), "4:3+1", "3:1+4"),
        (("a", "b"), "1:4+1", "1:1+1"),
        ((), "1:1+1", "1:1+1"),
    ],
)
def test_yaml_places(path, value, key):
    document = parse_document(YAML, "t.yaml")
    shown = [
        f"{s.line}:{s.column}+{s.width}" for s in (document.span(path), document.key_span(path))
    ]
    assert shown == [value, key]


JSON = '{"a": 1,\n "list": [[], {}, {"k\\n": -2.5e3}, "x\\"]"],\n "b": null}'


@pytest.mark.parametrize(
    ("path", "value", "key"),
    [
        (("a",), "1:7+1", "1:2+3"),
        (("list",), "2:10+1", "2:2+6"),
        (("list", 1), "2:15+1", "2:15+1"),
        (("list", 2, "k\n"), "2:27+6", "2:20+5"),
        (("list", 3), "2:36+6", "2:36+6"),
        (("b",), "3:7+4", "3:2+3"),
        (("list", 9), "2:10+1", "2:2+6"),
        (("nope",), "1:1+1", "1:1+1"),
    ],
)
def test_json_places(path, value, key):
    document = parse_document(JSON, "t.json")
    shown = [
        f"{s.line}:{s.column}+{s.width}" for s in (document.span(path), document.key_span(path))
    ]
    assert shown == [value, key]


def test_an_alias_stands_where_its_anchor_does():
    document = parse_document("a: &x {k: 1}\nb: *x\n", "t.yaml")
    assert str(document.span(("b", "k"))) == "t.yaml:1:11"


# ---- faults of the text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t.yaml:1:1: the file is empty; it must hold a mapping of keys to values"),
        (
            "# only a comment\n",
            "t.yaml:1:1: the file is empty; it must hold a mapping of keys to values\n"
            "    1 | # only a comment\n      | ^",
        ),
        (
            "a:\n\tb: 1\n",
            "t.yaml:2:1: not valid YAML: a tab in front of a value; YAML indents with spaces only\n"
            "    2 | \tb: 1\n      | ^",
        ),
        (
            "a: b: c\n",
            't.yaml:1:5: not valid YAML: a second ": " on the line, or wrong indentation\n'
            "    1 | a: b: c\n      |     ^\n"
            '  put a text that holds ": " in quotes',
        ),
        (
            "a: [1, 2\nb: 3\n",
            "t.yaml:2:2: not valid YAML: did not find expected ',' or ']' "
            "while parsing a flow sequence\n    2 | b: 3\n      |  ^",
        ),
        (
            "a: 'x\n",
            "t.yaml:1:5: not valid YAML: found unexpected end of stream "
            "while scanning a quoted scalar\n    1 | a: 'x\n      |     ^",
        ),
        (
            "a: @x\n",
            "t.yaml:1:4: not valid YAML: a value cannot start with @\n"
            "    1 | a: @x\n      |    ^\n  put the text in quotes",
        ),
        (
            "a: *x\n",
            "t.yaml:1:4: not valid YAML: found undefined alias\n    1 | a: *x\n      |    ^",
        ),
        (
            "a: &x [1, *x]\n",
            "t.yaml:1:4: the alias stands inside what it repeats; an alias must be closed\n"
            "    1 | a: &x [1, *x]\n      |    ^",
        ),
        (
            "a: 1\n---\nb: 2\n",
            "t.yaml:2:1: the file holds a second document (`---`); it must hold one\n"
            "    2 | ---\n      | ^",
        ),
        (
            "a: 1\nb: \x07\n",
            "t.yaml:2:4: not valid YAML: the character U+0007 is not allowed\n"
            "    2 | b: \x07\n      |    ^",
        ),
        (
            "a: !point 1\n",
            "t.yaml:1:4: the tag !point is not read; write the plain value\n"
            "    1 | a: !point 1\n      |    ^^^^^^^^",
        ),
        (
            "a: 0x_\n",
            "t.yaml:1:4: 0x_ is not a number that can be read\n    1 | a: 0x_\n      |    ^^^",
        ),
    ],
)  # fmt: skip
def test_yaml_faults(text, message):
    assert fault_of(text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"a": 1,}',
            "t.json:1:9: not valid JSON: expecting property name enclosed in double quotes\n"
            '    1 | {"a": 1,}\n      |         ^',
        ),
        (
            '{"a": "\\ud800"}',
            "t.json:1:7: the text holds half of a surrogate pair; it must be valid Unicode\n"
            '    1 | {"a": "\\ud800"}\n      |       ^^^^^^^^',
        ),
    ],
)
def test_json_faults(text, message):
    assert fault_of(text, "t.json") == message


ONCE = "a mapping holds each key once"


def test_duplicate_keys_and_keys_that_are_not_text_come_together():
    assert fault_of("a: 1\nb: {c: 1, c: 2}\na: 3\n4: x\ntrue: y\n? [z]\n: 1\n") == (
        f't.yaml:2:11: key "c" is written twice, first at t.yaml:2:5; {ONCE}\n'
        "    2 | b: {c: 1, c: 2}\n      |           ^\n"
        f't.yaml:3:1: key "a" is written twice, first at t.yaml:1:1; {ONCE}\n'
        "    3 | a: 3\n      | ^\n"
        "t.yaml:4:1: the key 4 is an integer; keys must be text\n"
        '    4 | 4: x\n      | ^\n  write "4" in quotes if that is meant\n'
        "t.yaml:5:1: the key true is true or false; keys must be text\n"
        '    5 | true: y\n      | ^^^^\n  write "true" in quotes if that is meant\n'
        "t.yaml:6:3: the key is a list or mapping; keys must be text\n"
        "    6 | ? [z]\n      |   ^"
    )


def test_json_duplicate_keys_at_every_depth():
    assert fault_of('{"a": 1, "a": {"b": 1, "b": 2}, "c": [{"d": 0,\n"d": 1}]}', "t.json") == (
        f't.json:1:10: key "a" is written twice, first at t.json:1:2; {ONCE}\n'
        '    1 | {"a": 1, "a": {"b": 1, "b": 2}, "c": [{"d": 0,\n      |          ^^^\n'
        f't.json:1:24: key "b" is written twice, first at t.json:1:16; {ONCE}\n'
        '    1 | {"a": 1, "a": {"b": 1, "b": 2}, "c": [{"d": 0,\n'
        "      |                        ^^^\n"
        f't.json:2:1: key "d" is written twice, first at t.json:1:40; {ONCE}\n'
        '    2 | "d": 1}]}\n      | ^^^'
    )


def test_mild_faults_go_to_the_caller_with_a_usable_value():
    faults = Faults()
    document = parse_document("a: 1\na: 2\n3: x\n", "t.yaml", faults=faults)
    assert document.value == {"a": 1, "3": "x"}
    assert len(faults.found) == 2


@pytest.mark.parametrize("text", ["- " * 150 + "x", "[" * 150 + "]" * 150 + "x", "[" * 50000])
def test_deep_nesting_is_an_error_not_a_crash(text):
    with pytest.raises(InputError):
        parse_document(text, "t.yaml")


def test_deep_json_is_an_error_not_a_crash():
    text = "[" * 100_000 + "]" * 100_000
    assert fault_of(text, "t.json").startswith(
        "t.json:1:1: nested too deeply; at most about 100 levels are read\n"
    )


@pytest.mark.parametrize("text", ["a: " + "1" * 5000, '{"a": ' + "1" * 5000 + "}"])
def test_enormous_integers_are_an_error_not_a_crash(text):
    with pytest.raises(InputError):
        parse_document(text, "t.yaml")


@given(st.text())
def test_any_text_is_read_or_refused(text):
    found = ()
    try:
        parse_document(text, "t.yaml")
    except InputError as error:
        found = error.diagnostics
    assert all(fault.span is not None and fault.span.line >= 1 for fault in found)


# ---- faults of the file


def file_fault(tmp_path, data):
    path = tmp_path / "t.yaml"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_document(path, "t.yaml")
    return str(caught.value)


def test_files_are_read_with_and_without_byte_order_mark(tmp_path):
    path = tmp_path / "t.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: \xc3\xa4\r\n")
    document = read_document(path)
    assert document.value == {"a": "ä"}
    assert str(document.span(("a",))) == f"{path}:1:4"


def test_binary_files_are_refused(tmp_path):
    assert file_fault(tmp_path, b"a: 1\nb: \0\n") == (
        "t.yaml:1:1: the file is binary (byte 8 is zero); it must be text in UTF-8"
    )


def test_other_encodings_are_refused_at_their_byte(tmp_path):
    assert file_fault(tmp_path, "a: 1\nbä: 2\n".encode("latin-1")) == (
        "t.yaml:2:2: byte 0xe4 is not UTF-8; the file must be text in UTF-8\n"
        "    2 | b\ufffd: 2\n      |  ^"
    )


def test_utf_16_is_named(tmp_path):
    assert file_fault(tmp_path, "a: 1".encode("utf-16")) == (
        "t.yaml:1:1: the file is UTF-16; it must be UTF-8"
    )


def test_a_missing_file_names_a_near_one(tmp_path):
    (tmp_path / "softmax.yaml").write_text("a: 1")
    with pytest.raises(InputError) as caught:
        read_document(tmp_path / "sofmax.yaml", "sofmax.yaml")
    assert str(caught.value) == (
        'sofmax.yaml: no such file; a YAML or JSON file is read\n  did you mean "softmax.yaml"?'
    )


def test_a_missing_folder_and_a_folder_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"^x\.yaml: no such file; a YAML or JSON file is read$"):
        read_document(tmp_path / "no" / "x.yaml", "x.yaml")
    with pytest.raises(InputError, match=r"^here: is a folder; a YAML or JSON file is read$"):
        read_document(tmp_path, "here")
