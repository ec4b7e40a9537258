"""What a wrong trace is told: place, rule, repair; the whole message, as text and JSON."""

import pytest
from cli_runs import ADD, archsim, refused, trace

LOAD = ADD[:2]
EVENT = "events:\n  e: {from: tload, to: vec, ring: %d}"


def td(shape="16, 64", dtype="f32", more=""):
    """A fourth tile, on line 12; statements then begin on line 14."""
    return f"  td: {{loc: vec, dtype: {dtype}, shape: [{shape}]{more}}}"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


# statements, how the trace differs, and all that is said of it
TRACES = {
    "an unknown instruction": (
        [*LOAD, "tadd_relu tc <- ta, tb"], {},
        '15:5: unknown instruction "tadd_relu"; `archsim isa` lists what exists'
        ' | did you mean "tadddeqrelu"?',
    ),
    "an unknown tile": (
        [*LOAD, "tadd tc <- ta, tbb"], {},
        '15:20: unknown tile or tensor "tbb"; declared: ta, tb, tc, a, c | did you mean "tb"?',
    ),
    "types that the instruction has not": (
        [*LOAD, "taddreluconv td <- ta, tb"], {"more": td(dtype="i8")},
        "16:5: taddreluconv takes f32 -> f16, f16 -> i8, i16 -> i8; f32 -> i8 is not among them"
        " (nor on a5)",
    ),
    "a half and a float source": (
        [*LOAD, "tadd tc <- ta, td"], {"more": td(dtype="f16")},
        "16:20: src1 is f16, must be f32 like dst",
    ),
    "a valid region larger than the shape": (
        [*ADD], {"more": td(more=", valid: [17, 64]")},
        "12:55: valid rows of tile td is 17; must be at most its 16 rows",
    ),
    "valid regions that differ": (
        [*LOAD, "tadd tc <- ta, td"], {"more": td(more=", valid: [16, 63]")},
        "16:20: src1 has valid 16x63, must have 16x64 like dst",
    ),
    "no valid row": (
        [*ADD], {"more": td(more=", valid: [0, 64]")},
        "12:55: valid rows of tile td is 0; must be an integer of at least 1",
    ),
    "too small a scratch": (
        [*LOAD, "tprelu tc <- ta, tb, td"], {"more": td("16, 32", "u8")},
        "16:26: tmp has 16 valid rows, must have more than the 16 of dst on a2a3; a5 accepts and"
        " ignores any tmp",
    ),
    "no scratch where none may be allocated": (
        [*LOAD, "tprelu tc <- ta, tb"], {"explicit": True},
        "15:5: tprelu has no tmp, must have one on a2a3; a5 accepts and ignores any tmp"
        " | give it a tmp tile of u8 17x32, or let the tool place one: `alloc: auto`",
    ),
    "scratch that finds no room": (
        [*LOAD, "tprelu tc <- ta, tb"], {"more": td(more=", addr: 0x2d000")},
        "16:5: tprelu needs 544 bytes of scratch behind all tiles in UB; 0 are free"
        " | let the tiles end earlier, or give it a tmp tile",
    ),
    "a tile larger than UB": (
        [*ADD], {"more": td("1024, 64")},
        "12:3: tile td takes 0x40000 bytes; UB has 0x30000 on a2a3",
    ),
    "tiles that do not fit together": (
        [*ADD], {"more": td("64, 64", more=", ring: 12")},
        "12:3: tile td takes 192 KiB and finds no room: 12 KiB of the 184 KiB of UB on a2a3 are"
        " taken"
        " | make tiles or rings smaller, or let tiles share an address",
    ),
    "a tile past the end of UB": (
        [*ADD], {"explicit": True, "more": td(more=", addr: 0x2ffe0")},
        "12:3: tile td lies at 0x2ffe0 to 0x30fe0; it must end within the 0x30000 bytes of UB on"
        " a2a3",
    ),
    "an address off its alignment": (
        [*ADD], {"explicit": True, "more": td(more=", addr: 0x3004")},
        "12:3: tile td is at 0x3004; it must be at a multiple of 32 bytes | use 0x3020",
    ),
    "an assigned address off its alignment": (
        ["tassign td <- 0x3004", "tload td <- a"], {"more": td()},
        "14:13: tile td is at 0x3004; it must be at a multiple of 32 bytes | use 0x3020",
    ),
    "no address": (
        [*ADD], {"explicit": True, "more": td()},
        "12:3: tile td has no addr; with sync: explicit each tile must have one"
        " | write alloc: auto at the top to have tiles placed",
    ),
    "a column-major tile": (
        [*LOAD, "tadd tc <- ta, td"], {"more": td(more=", blayout: col_major")},
        "16:20: src1 is column-major, must be row-major",
    ),
    "a line that becomes a mapping": (
        [*LOAD, "tadd tc <- ta: tb"], {},
        '15:5: "tadd tc <- ta" is no statement; a plain line that holds ": " becomes a mapping'
        ' | write "tadd tc <- ta: tb" with the quotes',
    ),
    "a key written twice": (
        [*ADD], {"more": "  ta: {loc: vec, dtype: f32, shape: [16, 64]}"},
        '12:3: key "ta" is written twice, first at t.yaml:9:3; a mapping holds each key once',
    ),
    "a window past its tensor": (
        ["tload ta <- a[50, 0]"], {},
        "13:17: the window reaches 50 + 16 = 66 in dimension 0; tensor a ends at 64",
    ),
    "a window before its tensor": (
        ["tload ta <- a[-1, 0]"], {},
        "13:19: the offset is -1; must be 0 or more",
    ),
    "an id that the core has not": (
        ["set_flag: [MTE2, V, 8]"], {"explicit": True},
        "13:25: flag id is 8; a2a3 has ids 0 to 7",
    ),
    "more declared events than a pair of pipes has": (
        [*ADD], {"more": EVENT % 9},
        "13:3: event e makes 9 flags from MTE2 to V; a2a3 has 8 for each pair of pipes",
    ),
    "a slot outside its ring": (
        ["record: e[2]"], {"more": EVENT % 2, "explicit": True},
        "15:15: slot of event e is 2; must be 0 to 1",
    ),
    "a view outside its parent": (
        ["tload ta <- a", "tsubview td <- ta, 12, 0"], {"more": td("8, 64")},
        "15:5: tile td views rows 12 to 20 of tile ta, which has 0 to 16",
    ),
    "a division by zero": (
        ["tload ta <- a[1 // 0, 0]"], {},
        "13:21: division by zero; the right side of // must not be 0",
    ),
    "a division by what turns out to be zero": (
        ['for: {var: i, range: [1, 2]}\n    do: ["tload ta <- a[4 // (i - 1), 0]"]'], {},
        "14:27: division by zero; the right side of // must not be 0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", TRACES)
def test_a_trace_with_a_fault(here, case):
    statements, options, message = TRACES[case]
    (here / "t.yaml").write_text(trace(*statements, **options))
    assert refused("run", "t.yaml") == [f"t.yaml:{message}"]


def test_every_command_says_the_same(here):
    (here / "t.yaml").write_text(trace(*LOAD, "tadd tc <- ta, tbb"))
    assert refused("run", "t.yaml") == refused("check", "t.yaml") == refused("lower", "t.yaml")


def test_all_faults_come_at_once_in_order_of_place(here):
    wrong = ["tadd tc <- ta, tx", "set_flag: [MTE2, V]", "tstore c <- tc[0]"]
    (here / "t.yaml").write_text(trace(*wrong, more=td(dtype="f33")))
    places = [fault.split(": ")[0] for fault in refused("run", "t.yaml")]
    assert places == ["t.yaml:12:25", "t.yaml:14:20", "t.yaml:15:15", "t.yaml:16:20"]


# the bytes of a file, and what is said of it
FILES = {
    "empty": (b"", "t.yaml:1:1: the file is empty; it must hold a mapping of keys to values"),
    "comments": (
        b"# x\n", "t.yaml:1:1: the file is empty; it must hold a mapping of keys to values"
    ),
    "binary": (
        b"\x01\x00\xff" * 9,
        "t.yaml:1:1: the file is binary (byte 1 is zero); it must be text in UTF-8",
    ),
    "latin-1": (
        b"pto: 1\n# caf\xe9\n", "t.yaml:2:6: byte 0xe9 is not UTF-8; the file must be text in UTF-8"
    ),
    "utf-16": ("pto: 1\n".encode("utf-16"), "t.yaml:1:1: the file is UTF-16; it must be UTF-8"),
    "a list": (b"- 1\n", "t.yaml:1:1: the trace is a list; must be a mapping of keys to values"),
    "a tab": (
        b"pto: 1\nprogram:\n\t- tload ta <- a\n",
        "t.yaml:3:1: not valid YAML: a tab in front of a value; YAML indents with spaces only",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_a_file_that_is_no_trace(here, case):
    content, message = FILES[case]
    (here / "t.yaml").write_bytes(content)
    assert refused("run", "t.yaml") == [message]


def test_a_file_that_is_not_there(here):
    (here / "softmax.yaml").write_text(trace(*ADD))
    (here / "folder.yaml").mkdir()
    (here / "t.txt").write_text(trace(*ADD))
    rule = "a YAML or JSON file is read"
    assert refused("run", "sofmax.yaml") == [
        f'sofmax.yaml: no such file; {rule} | did you mean "softmax.yaml"?'
    ]
    assert refused("run", "gone.yaml") == [f"gone.yaml: no such file; {rule}"]
    assert refused("run", "folder.yaml") == [f"folder.yaml: is a folder; {rule}"]
    assert refused("run", "t.txt")[0].startswith("t.txt: a trace must end in .yaml, .yml, .json")


def test_line_ends_of_windows_and_a_byte_order_mark_just_work(here):
    text = trace(*ADD)
    (here / "t.yaml").write_text(text)
    want = archsim("run", "t.yaml", "--json")
    (here / "t.yaml").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert archsim("run", "t.yaml", "--json") == want
    wrong = trace(*LOAD, "tadd tc <- ta, tbb").replace("\n", "\r\n")
    (here / "t.yaml").write_bytes(wrong.encode())
    assert refused("run", "t.yaml")[0].startswith('t.yaml:15:20: unknown tile or tensor "tbb"')
