"""Faults of statements: place, rule and repair of each."""

import pytest
from trace_texts import Told, with_program

# a statement on line 17, and all that is said of it
FAULTS: list[tuple[str, list[str]]] = [
    (
        "- tadx ta <- ta, tb",
        [
            (
                '17:5: unknown instruction "tadx"; `archsim isa` lists what exists | did you mean'
                ' "tadd"?'
            )
        ],
    ),
    (
        "- wait ready[0]",
        [
            (
                '17:5: unknown instruction "wait"; `archsim isa` lists what exists | a statement of'
                " its own kind, with a colon: wait: ..."
            )
        ],
    ),
    (
        "- tadd tq <- ta, tb",
        ['17:10: unknown tile or tensor "tq"; declared: ta, tb, tm, ring, x, y, line'],
    ),
    (
        "- tload ta <- xx[0, 0]",
        [
            (
                '17:17: unknown tile or tensor "xx"; declared: ta, tb, tm, ring, x, y, line | did'
                ' you mean "x"?'
            )
        ],
    ),
    (
        "- {wait: raedy}",
        ['17:12: unknown event "raedy"; declared: ready, free | did you mean "ready"?'],
    ),
    (
        "- tadds ta <- ta, $alhpa",
        ['17:21: unknown scalar "alhpa"; known here: N, alpha | did you mean "alpha"?'],
    ),
    (
        "- tadd ta <- ta",
        ["17:5: tadd takes 2 operands right of <-, 1 given | write tadd dst <- src0, src1"],
    ),
    (
        "- tadd ta, tb <- ta, tb",
        ["17:5: tadd takes 1 operand left of <-, 2 given | write tadd dst <- src0, src1"],
    ),
    (
        "- tadd ta ta, tb",
        [
            (
                "17:5: tadd has no <-; it must stand between results and operands | write tadd dst"
                " <- src0, src1"
            )
        ],
    ),
    (
        "- tcmps tm <- ta, 0.5, mod=gt",
        [('17:26: unknown key "mod" of tcmps; known: mode, vf_impl, waits | did you mean "mode"?')],
    ),
    (
        "- tcmps tm <- ta, 0.5, mode=gtt",
        [
            (
                '17:26: mode of tcmps is "gtt"; must be one of eq, ne, lt, le, gt, ge | did you'
                ' mean "gt"?'
            )
        ],
    ),
    (
        "- tadd ta[0] <- ta, tb",
        ["17:13: tile ta is no ring; it takes no slot, or a declaration with ring: N"],
    ),
    (
        "- tadd ring[2] <- ta, tb",
        ["17:15: slot of tile ring is 2; must be 0 to 1"],
    ),
    (
        "- tadd ring <- ta, tb",
        ["17:10: tile ring is a ring of 2; one of its slots must be named: ring[0] to ring[1]"],
    ),
    (
        "- tload ta <- x[0]",
        ["17:17: the window has 1 index; tensor x has 2 dimensions"],
    ),
    (
        "- tload ta <- x[56, 0]",
        ["17:17: the window reaches 56 + 16 = 72 in dimension 0; tensor x ends at 64"],
    ),
    (
        "- tload ta <- x[-1, 0]",
        ["17:19: the offset is -1; must be 0 or more"],
    ),
    (
        "- tload ta <- line[0]",
        [
            (
                "17:17: tile ta has 16 valid rows; a window of tensor line, which has one"
                " dimension, is one row"
            )
        ],
    ),
    (
        "- tadd ta <- ta, x",
        [
            (
                "17:20: operand src1 of tadd is the tensor x; must be a tile | write tadd dst <-"
                " src0, src1"
            )
        ],
    ),
    (
        "- tadds ta <- ta, tb",
        [
            (
                "17:21: operand scalar of tadds is the tile tb; must be a number, $name or an"
                " integer expression | write tadds dst <- src, scalar"
            )
        ],
    ),
    (
        "- tadds ta <- ta, alpha",
        ["17:21: alpha is a scalar; as an operand it is written $alpha"],
    ),
    (
        "- tadds ta <- ta, ready",
        ["17:21: ready is an event; an instruction waits for it by waits=[ready]"],
    ),
    (
        "- tcvt ta <- tb, rmode: rint",
        [
            (
                '17:5: "tcvt ta <- tb, rmode" is no statement; a plain line that holds ": " becomes'
                ' a mapping | write "tcvt ta <- tb, rmode: rint" with the quotes'
            )
        ],
    ),
    (
        "- {wiat: ready}",
        [
            (
                '17:6: "wiat" is no statement; a plain line that holds ": " becomes a mapping | did'
                ' you mean "wait"?'
            )
        ],
    ),
    (
        "- 3",
        ["17:5: a statement is 3; must be a line of text or a mapping such as {wait: event}"],
    ),
    (
        "- []",
        [
            (
                "17:5: a statement is a list; must be a line of text or a mapping such as {wait:"
                " event}"
            )
        ],
    ),
    (
        "- tload ta <- x[0, 0], waits=[done]",
        ['17:33: unknown event "done"; declared: ready, free'],
    ),
    (
        "- {record: free[2]}",
        [
            (
                "17:18: not valid YAML: did not find expected ',' or '}' while parsing a flow"
                " mapping | put a text that holds [ in quotes"
            )
        ],
    ),
    (
        "- {record: free}",
        ["17:14: event free is a ring of 2; one of its slots must be named: free[0] to free[1]"],
    ),
    (
        "- {record: ready[0]}",
        [
            (
                "17:19: not valid YAML: did not find expected ',' or '}' while parsing a flow"
                " mapping | put a text that holds [ in quotes"
            )
        ],
    ),
    (
        "- tadd ta <- ta,, tb",
        ["17:19: an operand is empty; one must stand on each side of a comma"],
    ),
    (
        "- tadd ta <- ring[0, tb",
        ["17:5: the brackets do not match"],
    ),
    (
        "- done = tload ta <- x",
        ['17:5: unknown event "done"; declared: ready, free'],
    ),
    (
        "- {barrier: VV}",
        [
            (
                '17:15: barrier is "VV"; must be a pipe (S, MTE2, MTE1, V, M, FIX, MTE3) or a class'
                ' (tload, tstore, vec, tmov_m2l, cube, fix, scalar) | did you mean "V"?'
            )
        ],
    ),
    (
        "- {set_flag: [V, V, 0]}",
        ["17:16: set_flag orders V after itself; must name two pipes | write barrier: V"],
    ),
    (
        "- {set_flag: [V, 0]}",
        [
            (
                "17:16: set_flag is a list; must be a list of source pipe, destination pipe and id,"
                " as in [MTE2, V, 0]"
            )
        ],
    ),
    (
        "- {for: {var: i, range: 4}}",
        ["17:5: the loop has no do; it must hold a list of statements"],
    ),
    (
        "- {for: {var: N, range: 4}, do: []}",
        ["17:17: N is a scalar; a loop variable needs a name of its own"],
    ),
    (
        "- {for: {vra: i, range: 4}, do: []}",
        [
            "17:11: the loop has no var; it must name its variable, as in {var: i, range: 8}",
            '17:12: unknown key "vra" in for; known: var, range | did you mean "var"?',
        ],
    ),
    (
        "- {for: {var: i, range: [1,2,0]}, do: []}",
        ["17:32: step of range is 0; must be an integer other than 0"],
    ),
    (
        "- {for: {var: i, range: {start: 0}}, do: []}",
        ["17:27: range has no stop; it must state one"],
    ),
    (
        "- {if: N, then: [], esle: []}",
        ['17:23: unknown key "esle" in if; known: if, then, else | did you mean "else"?'],
    ),
    (
        "- {if: N}",
        ["17:5: the if has no then; it must hold a list of statements"],
    ),
    (
        "- {for: {var: i, range: 4}, do: [{for: {var: i, range: 2}, do: []}]}",
        ["17:48: i is the variable of an enclosing loop; each needs its own"],
    ),
    (
        "- {for: {var: i, range: 4}, do: [tadd ta <- ta, tb]}",
        [
            (
                "17:36: tadd takes 2 operands right of <-, 1 given | in a list written in [ ], put"
                " a statement that holds commas in quotes"
            ),
            (
                '17:51: unknown instruction "tb"; `archsim isa` lists what exists | in a list'
                " written in [ ], put a statement that holds commas in quotes"
            ),
        ],
    ),
    (
        "- tassign ring[0] <- 0",
        ["17:13: tassign gives tile ring an address; it must have no ring"],
    ),
    (
        "- tassign ta <- 1.5",
        ["17:19: addr of tassign is 1.5; must be an integer of at least 0"],
    ),
    (
        "- ready = tadd ta <- ta, tb",
        ["17:5: event ready comes from MTE2; this instruction runs on V"],
    ),
    (
        "- tstore x <- ta, waits=[ready]",
        ["17:28: event ready goes to V; this instruction runs on MTE3"],
    ),
    (
        "- tsync",
        [
            (
                "17:5: tsync has no operand; it waits for events, or drains the pipe of a class |"
                " write tsync e0, e1 or tsync vec"
            )
        ],
    ),
    (
        "- tsync nope",
        ['17:11: unknown event "nope"; declared: ready, free'],
    ),
    (
        "- tadd ta <- ta, tb, tb=3",
        ['17:24: unknown key "tb" of tadd; known: vf_impl, waits'],
    ),
    (
        "- tadds ta <- ta, 1 +",
        ["17:24: the expression ends too early; a number, a name or ( must stand here"],
    ),
    (
        "- tadds ta <- ta, M",
        [
            (
                '17:21: unknown tile or tensor "M"; declared: ta, tb, tm, ring, x, y, line | did'
                ' you mean "tm"?'
            )
        ],
    ),
    (
        "- tload ta <- x[i, 0]",
        ['17:19: unknown name "i"; known here: N'],
    ),
    (
        "- tload ta <- x[N/2, 0]",
        ['17:20: unexpected "/"; an operator must stand here | write // for integer division'],
    ),
    (
        "- tload ta <- x[alpha, 0]",
        ["17:19: alpha is not an integer; expressions are over integers"],
    ),
    (
        "- tadd ta <- ta, waits=ready",
        [
            "17:5: tadd takes 2 operands right of <-, 1 given | write tadd dst <- src0, src1",
            "17:26: waits is ready; must be a list of events | write waits=[ready]",
        ],
    ),
    (
        "- {record: {event: e, from: tload}}",
        [
            (
                "17:6: event e has no to; it must name a pipe (S, MTE2, MTE1, V, M, FIX, MTE3) or a"
                " class (tload, tstore, vec, tmov_m2l, cube, fix, scalar)"
            )
        ],
    ),
    (
        "- {record: {event: ta, from: tload, to: vec}}",
        ['17:22: "ta" is a tile; an event needs a name of its own'],
    ),
    (
        "- {record: {event: free, from: tload, to: vec}}",
        ["17:22: event free is declared elsewhere with other pipes or a ring"],
    ),
    (
        "- tadd <- ta, tb",
        ["17:5: tadd takes 1 operand left of <-, 0 given | write tadd dst <- src0, src1"],
    ),
    (
        "- '?? <- a'",
        ['17:6: "?? <- a" is no statement; an instruction starts with its name'],
    ),
    (
        '- tadd ta <- ta, "tb"',
        ["17:20: unexpected '\"'; a number, a name or ( must stand here"],
    ),
    (
        "- tcvt ta <- tb, rmode=rimt",
        [
            (
                '17:20: rmode of tcvt is "rimt"; must be one of none, rint, round, floor, ceil,'
                ' trunc, odd | did you mean "rint"?'
            )
        ],
    ),
    (
        "- tcvt ta <- tb, rmode=rint, rmode=rint",
        ["17:32: rmode is given twice; tcvt takes it once"],
    ),
    (
        "- {}",
        ["17:5: an empty mapping is no statement; one of its keys must say what to do"],
    ),
    (
        "- ''",
        ['17:5: a statement is ""; must be a line of text or a mapping such as {wait: event}'],
    ),
    (
        "- tsel ta <- tm, ta",
        [
            (
                "17:5: tsel takes 3 to 4 operands right of <-, 2 given | write tsel dst <- mask,"
                " src0, src1[, tmp]"
            )
        ],
    ),
    (
        "- tsel ta <- tm, ta, tb, tm, tm",
        [
            (
                "17:5: tsel takes 3 to 4 operands right of <-, 5 given | write tsel dst <- mask,"
                " src0, src1[, tmp]"
            )
        ],
    ),
    (
        "- tload ring[i] <- x",
        ['17:16: unknown name "i"; known here: N'],
    ),
    (
        "- tassign ta <- 0x10, 3",
        ["17:5: tassign takes 1 operand right of <-, 2 given | write tassign dst <- addr"],
    ),
    (
        "- tsubview ta <- tb, -1, 0",
        ["17:24: row of tsubview is -1; must be an integer of at least 0"],
    ),
    (
        "- {wait_flag: [V, MTE2, -1]}",
        ["17:27: id of wait_flag is -1; must be 0 or more"],
    ),
    (
        "- {wait_flag: [V, MTE2, e]}",
        ['17:27: unknown name "e"; known here: N'],
    ),
    (
        "- {wait: [ready]}",
        ["17:12: wait is a list; must be a text"],
    ),
    (
        "- {wait: ''}",
        ['17:12: wait is ""; must be a text'],
    ),
    (
        "- {tsync: []}",
        ["17:13: tsync is an empty list; must be a list of events"],
    ),
    (
        "- {tsync: [3]}",
        ["17:14: tsync is 3; must be a text"],
    ),
    (
        "- {for: 3, do: []}",
        ["17:11: for is 3; must be a mapping of keys to values"],
    ),
    (
        "- {for: {var: i}, do: []}",
        [
            (
                "17:11: the loop has no range; it must be a count, [start, stop] or [start, stop,"
                " step]"
            )
        ],
    ),
    (
        "- {for: {var: 3, range: 2}, do: []}",
        ["17:17: var of the loop is 3; must be a name of letters, digits and _"],
    ),
    (
        "- {for: {var: i, range: [1]}, do: []}",
        ["17:27: range has 1 entry; must be a count, [start, stop] or [start, stop, step]"],
    ),
    (
        "- {for: {var: i, range: {stop: 3, setp: 2}}, do: []}",
        ['17:37: unknown key "setp" in range; known: start, stop, step | did you mean "stop"?'],
    ),
    (
        "- {for: {var: i, range: 1.5}, do: []}",
        ["17:27: stop of range is 1.5; must be an integer or an expression"],
    ),
    (
        "- {for: {var: i, range: 2}, do: {wait: ready}}",
        ["17:35: do is a mapping; must be a list of statements"],
    ),
    (
        "- {if: i == 0, then: [3]}",
        [
            '17:10: unknown name "i"; known here: N',
            "17:25: a statement is 3; must be a line of text or a mapping such as {wait: event}",
        ],
    ),
    (
        "- {wait: ready, record: ready}",
        ['17:19: unknown key "record" in wait; known: wait'],
    ),
    (
        "- {record: {from: tload, to: vec}}",
        ["17:14: the record names no event; must be {event: NAME, from: A, to: B}"],
    ),
    (
        "- {record: {event: q, from: tload, to: vec, ring: 2}}",
        ['17:47: unknown key "ring" in record; known: event, from, to'],
    ),
    (
        "- tload ta <- x[(0, 0]",
        ["17:5: the brackets do not match"],
    ),
    (
        "- tadd ta <- tb[1+], tb",
        ["17:19: tile tb is no ring; it takes no slot, or a declaration with ring: N"],
    ),
    (
        "- tload ta <- y[0, 0, 0]",
        ["17:17: the window has 3 indices; tensor y has 2 dimensions"],
    ),
    (
        "- tload ta <- line[0, 0]",
        ["17:17: the window has 2 indices; tensor line has 1 dimension"],
    ),
    (
        "- {wait: '3'}",
        ['17:13: "3" is no event; must be a name or name[slot]'],
    ),
    (
        "- {set_flag: [V, MTE2, 1.5]}",
        ["17:26: id of set_flag is 1.5; must be an integer or an expression"],
    ),
    (
        "- ready[0] = tload ta <- x",
        ["17:11: event ready is no ring; it takes no slot, or a declaration with ring: N"],
    ),
    (
        "- nope[0] = tload ta <- x",
        ['17:5: unknown event "nope"; declared: ready, free'],
    ),
    (
        "- 'tadd ta <- ta, tb # x: y'",
        [
            '17:21: unknown name "tb"; known here: N',
            '17:24: unexpected "#"; an operator must stand here',
        ],
    ),
    (
        "- x",
        ['17:5: unknown instruction "x"; `archsim isa` lists what exists'],
    ),
    (
        "- tload <- x",
        ["17:5: tload takes 1 operand left of <-, 0 given | write tload dst <- src"],
    ),
    (
        "- tload ta <-",
        ["17:5: tload takes 1 operand right of <-, 0 given | write tload dst <- src"],
    ),
    (
        "- tstore x[0, 0] <- tb, vf_impl=DEFAULT",
        ['17:27: unknown key "vf_impl" of tstore; known: atomic, waits'],
    ),
]


@pytest.mark.parametrize(("statement", "faults"), FAULTS, ids=[fault[0] for fault in FAULTS])
def test_fault(told: Told, statement: str, faults: list[str]) -> None:
    assert told(with_program(statement)) == faults
