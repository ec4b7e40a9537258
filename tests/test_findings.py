"""What only a run brings out: each kind of finding, its place, its whole message, exit 1."""

import pytest
from cli_runs import ADD, archsim, trace

TILE = "  td: {loc: vec, dtype: f32, shape: [16, 64]%s}"
EVENT = "events:\n  e: {from: tload, to: vec, ring: %d}"
LOOP = "for: {var: i, range: %s}\n    do: [%s]"
FLAG = "flag MTE2 -> V id 0"

# statements, how the trace differs, and every finding; the first statement stands on line 13,
# behind one more line on line 14, behind two on line 15
ERRORS = {
    "a tail without rows": (
        [LOOP % (4, '"tload td <- a[0, 0]"')],
        {"more": TILE % ", valid: ['15 - i*5', 64]"},
        ["shape error t.yaml:15: valid rows of tile td is 0; must be 1 to 16 (at i = 3)"],
    ),
    "a tail of less than no rows": (
        [LOOP % (4, '"tload td <- a[0, 0]"')],
        {"more": TILE % ", valid: ['16 - i*9', 64]"},
        ["shape error t.yaml:15: valid rows of tile td is -2; must be 1 to 16 (at i = 2)"],
    ),
    "valid regions that differ in the last iteration": (
        [*ADD[:2], LOOP % (2, '"tload td <- a[0, 0]", "tadd tc <- ta, td"')],
        {"more": TILE % ", valid: ['16 - i', 64]"},
        ["shape error t.yaml:17: src1 has valid 15x64, must have 16x64 like dst"],
    ),
    "a window past the tensor in the last iteration": (
        [LOOP % (5, '"tload ta <- a[i*16, 0]", "tstore c <- ta"')],
        {},
        [
            "bounds error t.yaml:14: the window reaches from 64 to 80 in dimension 0; "
            "tensor a has 0 to 64 (at i = 4)"
        ],
    ),
    "a view outside its parent in the last iteration": (
        ["tload ta <- a", LOOP % (3, '"tsubview td <- ta, i*6, 0"')],
        {"more": "  td: {loc: vec, dtype: f32, shape: [8, 64]}"},
        [
            "bounds error t.yaml:16: tile td views rows 12 to 20 of tile ta, which has 0 to 16 "
            "(at i = 2)"
        ],
    ),
    "a slot outside its ring": (
        [LOOP % (3, '{record: "e[i]"}, {wait: "e[i]"}')],
        {"more": EVENT % 2, "explicit": True},
        ["bounds error t.yaml:16: slot of event e is 2; must be 0 to 1 (at i = 2)"],
    ),
    "an id that turns out to be out of range": (
        [LOOP % (9, "{set_flag: [MTE2, V, i]}, {wait_flag: [MTE2, V, i]}")],
        {"explicit": True},
        ["ids_exhausted error t.yaml:14: event id is 8, must be 0 to 7 from MTE2 to V"],
    ),
    "a tile that nothing wrote": (
        ["tload ta <- a", "tadd tc <- ta, tb", "tstore c <- tc"],
        {},
        [
            "uninitialized error t.yaml:14: tadd reads tile tb, but nothing has written byte 0 "
            "of row 0 of its valid region"
        ],
    ),
    "a flag that is set twice": (
        ["set_flag: [MTE2, V, 0]", "set_flag: [MTE2, V, 0]", "wait_flag: [MTE2, V, 0]"],
        {"explicit": True},
        [
            f"set_twice error t.yaml:14 t.yaml:13: {FLAG} is set while it is still set; a wait "
            "must take it down in between"
        ],
    ),
    "a flag that is left set": (
        ["set_flag: [MTE2, V, 0]"],
        {"explicit": True},
        [f"flag_left_set error t.yaml:13: {FLAG} is left set at the end; every set needs a wait"],
    ),
    "a wait that nothing satisfies": (
        ["wait_flag: [MTE2, V, 0]"],
        {"explicit": True},
        [
            "deadlock error t.yaml:13: nothing can move after cycle 1\n"
            f"V waits at t.yaml:13 for {FLAG}, which no statement sets"
        ],
    ),
    "more waits than sets": (
        ["set_flag: [MTE2, V, 0]", "wait_flag: [MTE2, V, 0]", "wait_flag: [MTE2, V, 0]"],
        {"explicit": True},
        [
            "deadlock error t.yaml:15: nothing can move after cycle 3\n"
            f"V waits at t.yaml:15 for {FLAG}; it is set only at t.yaml:13, "
            "and every set so far was used up"
        ],
    ),
    "an expectation that is missed": (
        ["tload ta <- a", "tstore c <- ta", "tstore c[16, 0] <- ta"],
        {"more": 'expect:\n  c: {numpy: "a * 0"}\nevents: {}'},
        [
            "expect error t.yaml:13: c is wrong in 2048 of 4096 elements; the first, [0, 0], is "
            "0.3455841839313507, must be 0.0"
        ],
    ),
}

WARNINGS = {
    "what a core ignores": (
        ["tload ta <- a", '"texp tc <- ta, precision=high"', "tstore c <- tc"],
        {},
        ["portability warning t.yaml:14: precision=high of texp is ignored on a2a3"],
    ),
    "the reserved top of UB": (
        ["tload td <- a", "tstore c <- td"],
        {"more": TILE % ", addr: 0x2e000"},
        [
            "reserved_memory warning t.yaml:12: tile td lies at 0x2e000 to 0x2f000; UB from "
            "0x2e000 on is reserved on a2a3"
        ],
    ),
}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("case", ERRORS)
def test_an_error_is_exit_1(here, case):
    statements, options, findings = ERRORS[case]
    (here / "t.yaml").write_text(trace(*statements, **options))
    answer = archsim("run", "t.yaml", "--json")
    assert (answer.code, answer.err) == (1, "")
    assert answer.findings == findings
    check = archsim("check", "t.yaml", "--json")
    assert (check.code, check.findings) == (1, findings)


def test_a_derived_synchronisation_that_runs_out_of_ids(here):
    names = ("ta", "tb", "tc")
    loads, uses = [f"tload {t} <- a" for t in names], [f"texp {t} <- {t}" for t in names]
    (here / "t.yaml").write_text(trace(*loads, *uses))
    words = ("run", "t.yaml", "--json", "--set")
    answer = archsim(*words, "events.ids=2")
    assert answer.findings == [
        "ids_exhausted error t.yaml:15: 3 events from MTE2 to V are needed at once; a2a3 has 2"
    ]
    assert archsim(*words, "events.ids=3").findings == []


@pytest.mark.parametrize("case", WARNINGS)
def test_a_warning_fails_only_with_strict(here, case):
    statements, options, findings = WARNINGS[case]
    (here / "t.yaml").write_text(trace(*statements, **options))
    answer = archsim("run", "t.yaml", "--json")
    assert (answer.code, answer.findings) == (0, findings)
    assert archsim("check", "t.yaml", "--strict").code == 1


def test_findings_as_text(here):
    (here / "t.yaml").write_text(trace("set_flag: [MTE2, V, 0]", explicit=True))
    assert archsim("check", "t.yaml").out.splitlines() == [
        "t.yaml on a2a3: FAILED",
        "ERROR   flag_left_set  t.yaml:13",
        f"        {FLAG} is left set at the end; every set needs a wait",
    ]
