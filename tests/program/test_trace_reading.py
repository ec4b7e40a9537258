"""What a right trace says, as IR."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from trace_texts import HEAD, Load, Told, with_program

from archsim.base.dtypes import F32, U8
from archsim.isa.operands import Loc
from archsim.isa.pipes import Pipe
from archsim.isa.tile_ops import TILE_OPS
from archsim.program.ir import (
    Barrier,
    EventDecl,
    Flag,
    For,
    If,
    Instr,
    Program,
    Record,
    ScalarArg,
    Statement,
    TileArg,
    Wait,
    WindowArg,
)
from archsim.program.printing import statement_text
from archsim.program.trace import load_program

TILES = "tiles:\n  t: {loc: vec, dtype: f32, shape: [16, 64], addr: 0x100}\n"


def only(program: Program) -> Statement:
    (statement,) = program.body
    return statement


def instr(load: Load, text: str) -> Instr:
    found = only(load(with_program(f"- {text}")))
    assert isinstance(found, Instr)
    return found


def test_header(load: Load) -> None:
    program = load("arch: a5\narchs: [a5, a2a3]\nsync: auto\nprogram: []\n")
    assert (program.name, program.arch, program.archs) == ("t.yaml", "a5", ("a5", "a2a3"))
    assert (program.auto_sync, program.place, program.body) == (True, True, ())


@pytest.mark.parametrize(
    ("keys", "option", "auto_sync", "place"),
    [
        ("", None, False, False),
        ("alloc: auto\n", None, False, True),
        ("sync: auto\n", None, True, True),
        ("sync: auto\nalloc: explicit\n", None, True, False),
        ("", "auto", True, True),
        ("sync: auto\n", "explicit", False, False),
    ],
)
def test_who_places_and_who_synchronises(
    load: Load, keys: str, option: str | None, auto_sync: bool, place: bool
) -> None:
    program = load(keys + "program: []\n", sync=option)
    assert (program.auto_sync, program.place) == (auto_sync, place)


def test_scalars_are_overridden_and_keep_their_kind(load: Load) -> None:
    text = "scalars: {N: 8, alpha: 0.5, low: -inf, hex: '0x10'}\nprogram: []\n"
    assert load(text).scalars == {"N": 8, "alpha": 0.5, "low": -math.inf, "hex": 16}
    scalars = load(text, arguments={"N": "3", "alpha": "2"}).scalars
    assert (scalars["N"], scalars["alpha"], type(scalars["alpha"])) == (3, 2.0, float)


def test_tensor(load: Load) -> None:
    text = """\
scalars: {N: 4}
tensors:
  a: {dtype: float32, shape: [2, 3, 4]}
  b: {dtype: half, shape: [4, 6], layout: dn}
  c: {dtype: int8_t, shape: [$N * 2, 32], strides: [64, 1]}
program: []
"""
    a, b, c = load(text).tensors.values()
    assert (a.dtype, a.shape, a.strides, a.layout, a.init.kind) == (
        F32, (2, 3, 4), (12, 4, 1), "nd", "zeros",
    )  # fmt: skip
    assert (str(b.dtype), b.strides) == ("f16", (1, 4))
    assert (str(c.dtype), c.shape, c.strides) == ("i8", (8, 32), (64, 1))


def test_tile_defaults(load: Load) -> None:
    tile = load(TILES + "program: []\n").tiles["t"]
    assert (tile.loc, tile.dtype, tile.rows, tile.cols, tile.addr, tile.ring) == (
        Loc.VEC, F32, 16, 64, 0x100, 1,
    )  # fmt: skip
    assert [(v.extent.literal, v.static) for v in tile.valid] == [(16, True), (64, True)]
    assert (tile.row_major, tile.slayout, tile.fractal, tile.pad, tile.row_stride) == (
        True, "none_box", 512, "null", 64,
    )  # fmt: skip
    assert (tile.size_bytes, tile.bound) == (16 * 64 * 4, False)


def test_tile_in_the_spelling_of_the_assembly(load: Load) -> None:
    text = """\
tiles:
  t: {loc: VEC, dtype: ui8, rows: 16, cols: 32, v_row: "?", v_col: 5, addr: "0x40", ring: 3,
      blayout: row_major, slayout: none_box, fractal: 512, pad: 3, stride: 64}
program: []
"""
    tile = load(text).tiles["t"]
    assert (tile.dtype, tile.addr, tile.ring, tile.pad, tile.row_stride) == (U8, 64, 3, "min", 64)
    assert [(v.extent.literal, v.static) for v in tile.valid] == [(16, False), (5, True)]


@pytest.mark.parametrize(
    ("written", "static", "value"),
    [
        ("7", True, 7),
        ('"7"', True, 7),
        ("dynamic", False, 16),
        ("$N", False, 8),
        ("N", False, 8),
        ('"min(16, N - 3)"', False, 5),
        ('"2 * 3"', False, 6),
    ],
)
def test_only_a_literal_extent_is_static(
    load: Load, written: str, static: bool, value: int
) -> None:
    text = f"scalars: {{N: 8}}\n{TILES}".replace("addr", f"valid: [{written}, 64], addr")
    rows = load(text + "program: []\n").tiles["t"].valid[0]
    assert (rows.static, rows.extent.value({"N": 8})) == (static, value)


def test_valid_extent_reads_a_loop_variable_of_each_use(load: Load, told: Told) -> None:
    head = HEAD.replace("[16, 64], addr: 0}", "[16, 64], valid: [N - i, 64], addr: 0}", 1)
    inside = "- for: {var: i, range: 4}\n  do:\n    - tadd ta <- ta, tb\n"
    assert load(with_program(inside, head)).tiles["ta"].valid[0].extent.names == {"N", "i"}
    assert told(with_program(inside + "- tadds tb <- ta, 1", head)) == [
        "20:17: the valid region of tile ta reads i; "
        "a loop over i must enclose each use of the tile"
    ]


def test_events(load: Load) -> None:
    text = "events:\n  a: {from: tload, to: vec, ring: 2}\n  b: {from: PIPE_V, to: MTE3}\n"
    a, b = load(text + "program: []\n").events.values()
    assert (a.src, a.dst, a.ring) == (Pipe.MTE2, Pipe.V, 2)
    assert (b.src, b.dst, b.ring) == (Pipe.V, Pipe.MTE3, 1)


def test_instruction(load: Load) -> None:
    found = instr(load, "tload ring[N % 2] <- x[N * 2, 0]")
    assert (found.op, found.attrs, found.waits, found.result) == (
        TILE_OPS["tload"], {}, (), None,
    )  # fmt: skip
    (dst,), (src,) = found.outs, found.ins
    assert isinstance(dst, TileArg)
    assert isinstance(src, WindowArg)
    assert dst.slot is not None
    assert (dst.name, dst.slot.text, dst.slot.value({"N": 7})) == ("ring", "N % 2", 1)
    assert [offset.value({"N": 7}) for offset in src.offsets] == [14, 0]
    assert (str(found.span), str(src.span)) == ("t.yaml:17:5", "t.yaml:17:26")


def test_window_without_brackets_starts_at_the_origin(load: Load) -> None:
    (src,) = instr(load, "tload ta <- x").ins
    assert isinstance(src, WindowArg)
    assert [offset.literal for offset in src.offsets] == [0, 0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2", 2),
        ("-2", -2),
        ("0x10", 16),
        ("1.5", 1.5),
        ("-1e-3", -1e-3),
        (".5", 0.5),
        ("inf", math.inf),
        ("-inf", -math.inf),
    ],
)
def test_literal(load: Load, text: str, value: float) -> None:
    scalar = instr(load, f"tadds ta <- tb, {text}").ins[1]
    assert isinstance(scalar, ScalarArg)
    assert (scalar.value, type(scalar.value)) == (value, type(value))


def test_nan_is_a_literal(load: Load) -> None:
    scalar = instr(load, "tadds ta <- tb, nan").ins[1]
    assert isinstance(scalar, ScalarArg)
    assert scalar.value is not None
    assert math.isnan(scalar.value)


def test_scalar_operand_is_a_name_or_an_expression(load: Load) -> None:
    named, computed = (instr(load, f"tadds ta <- tb, {s}").ins[1] for s in ("$alpha", "N*2 + 1"))
    assert isinstance(named, ScalarArg)
    assert isinstance(computed, ScalarArg)
    assert computed.expr is not None
    assert (named.name, computed.expr.value({"N": 8})) == ("alpha", 17)


def test_keys_take_the_spelling_of_the_table(load: Load) -> None:
    found = instr(load, "tcmps tm <- ta, 0.5, mode=GT, vf_impl=2d_post_update")
    assert found.attrs == {"mode": "gt", "vf_impl": "2D_POST_UPDATE"}


def test_scratch_stands_where_the_table_says_or_is_left_out(load: Load) -> None:
    with_tmp, without = (
        instr(load, "tsel ta <- tm, ta, tb, tm"),
        instr(load, "tsel ta <- tm, ta, tb"),
    )
    assert [arg and arg.name for arg in with_tmp.ins if not isinstance(arg, ScalarArg)] == [
        "tm", "ta", "tb", "tm",
    ]  # fmt: skip
    assert without.ins[3] is None


def test_name_of_an_instruction_in_any_case(load: Load) -> None:
    assert instr(load, "TADD ta <- ta, tb").op is TILE_OPS["tadd"]


def test_returned_and_awaited_events(load: Load) -> None:
    program = load(
        with_program("""
            - ready = tload ta <- x
            - tadd tb <- ta, ta, waits=[ready]
            - free[N % 2] = tadds ta <- tb, 1
            - tload ta <- x, waits=[free[N % 2]]
        """)
    )
    load_, add, adds, _ = program.body
    assert isinstance(load_, Instr)
    assert isinstance(add, Instr)
    assert isinstance(adds, Instr)
    assert load_.result is not None
    assert adds.result is not None
    assert adds.result.slot is not None
    assert (load_.result.name, [e.name for e in add.waits]) == ("ready", ["ready"])
    assert (adds.result.name, adds.result.slot.text) == ("free", "N % 2")


def test_event_between_two_instructions_needs_no_declaration(load: Load, told: Told) -> None:
    both = "- done = tadd ta <- ta, tb\n- tstore y <- ta, waits=[done]\n"
    done = load(with_program(both)).events["done"]
    assert (done.src, done.dst, done.ring) == (Pipe.V, Pipe.MTE3, 1)
    third = "- tload ta <- x, waits=[done]\n"  # which pipe does it go to?
    assert told(with_program(both + third)) == [
        "17:5: event done goes from V to MTE3 and MTE2; must go from one pipe to one"
        " | use an event of its own for each pair of pipes"
    ]


def test_short_form_declares_its_event_for_the_whole_program(load: Load) -> None:
    program = load(
        with_program("""
            - wait: e
            - for: {var: i, range: 2}
              do: [{record: {event: e, from: tstore, to: tload}}]
            - wait: e
        """)
    )
    event = program.events["e"]
    assert (event.src, event.dst, event.ring) == (Pipe.MTE3, Pipe.MTE2, 1)
    loop = program.body[1]
    assert isinstance(loop, For)
    assert isinstance(loop.body[0], Record)


def test_waits_flags_and_barriers(load: Load) -> None:
    body = load(
        with_program("""
            - wait: free[1]
            - record: ready
            - set_flag: [MTE2, vec, 3]
            - wait_flag: [PIPE_MTE2, V, "N % 4"]
            - barrier: ALL
            - barrier: PIPE_V
            - barrier: tstore
        """)
    ).body
    wait, record, set_flag, wait_flag, *barriers = body
    assert isinstance(wait, Wait)
    assert wait.event.slot is not None
    assert (wait.event.name, wait.event.slot.literal) == ("free", 1)
    assert isinstance(record, Record)
    assert isinstance(set_flag, Flag)
    assert isinstance(wait_flag, Flag)
    assert (set_flag.set, set_flag.src, set_flag.dst) == (True, Pipe.MTE2, Pipe.V)
    assert (wait_flag.set, wait_flag.id.value({"N": 7})) == (False, 3)
    assert [b.pipe for b in barriers if isinstance(b, Barrier)] == [None, Pipe.V, Pipe.MTE3]


@pytest.mark.parametrize("text", ["tsync ready, free[0]", '{tsync: [ready, "free[0]"]}'])
def test_tsync_waits_for_events(load: Load, text: str) -> None:
    waits = load(with_program(f"- {text}")).body
    assert [w.event.name for w in waits if isinstance(w, Wait)] == ["ready", "free"]


@pytest.mark.parametrize("text", ["tsync vec", "tsync V", "tsync tadd", "{tsync: vec}"])
def test_tsync_of_a_class_drains_its_pipe(load: Load, text: str) -> None:
    barrier = only(load(with_program(f"- {text}")))
    assert isinstance(barrier, Barrier)
    assert barrier.pipe is Pipe.V


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ("3", [0, 1, 2]),
        ("$N - 6", [0, 1]),
        ("[2, 4]", [2, 3]),
        ("[N, 0, -3]", [8, 5, 2]),
        ("{stop: 2}", [0, 1]),
        ("{start: 1, stop: N, step: 3}", [1, 4, 7]),
    ],
)
def test_range(load: Load, written: str, values: list[int]) -> None:
    loop = only(load(with_program(f"- {{for: {{var: i, range: {written}}}, do: []}}")))
    assert isinstance(loop, For)
    bounds = [expr.value({"N": 8}) for expr in (loop.start, loop.stop, loop.step)]
    assert list(range(*bounds)) == values


def test_branch(load: Load) -> None:
    branch = only(
        load(with_program("- {if: N % 2 == 0, then: [{barrier: V}], else: [{barrier: ALL}]}"))
    )
    assert isinstance(branch, If)
    assert (branch.cond.value({"N": 8}), branch.cond.value({"N": 7})) == (1, 0)
    assert [len(branch.then), len(branch.otherwise)] == [1, 1]


def test_tile_that_an_instruction_binds_needs_no_address(load: Load, told: Told) -> None:
    head = HEAD.replace("addr: 0x1000}", "pad: null}")
    for binding in ("tassign tb <- 0x4000", "tsubview tb <- ta, 0, 0"):
        program = load(with_program(f"- {binding}\n- tadd ta <- ta, tb", head))
        assert [tile.bound for tile in program.tiles.values()] == [False, True, False, False]
    assert told(with_program("- tadd ta <- ta, tb\n- tassign tb <- 0x4000", head)) == [
        "17:20: tile tb has no address yet; tassign must come first"
    ]


def test_json_gives_the_same_program(load: Load, tmp_path: Path) -> None:
    text = with_program("- for: {var: i, range: $N}\n  do:\n    - tload ring[i % 2] <- x[i, 0]")
    value = {
        "pto": 1,
        "scalars": {"N": 8, "alpha": 0.5},
        "tensors": {"x": {"dtype": "f32", "shape": [64, 64]}},
        "tiles": {
            "ring": {"loc": "vec", "dtype": "f32", "shape": [16, 64], "addr": "0x3000", "ring": 2}
        },
        "program": [{"for": {"var": "i", "range": "$N"}, "do": ["tload ring[i % 2] <- x[i, 0]"]}],
    }
    path = tmp_path / "t.json"
    path.write_text(json.dumps(value, indent=1))
    read = load_program(str(path))
    yaml_loop, json_loop = only(load(text)), only(read)
    assert isinstance(yaml_loop, For)
    assert isinstance(json_loop, For)
    ours, theirs = yaml_loop.body[0], json_loop.body[0]
    assert isinstance(ours, Instr)
    assert isinstance(theirs, Instr)
    assert statement_text(ours) == statement_text(theirs)
    line = path.read_text().splitlines()[theirs.span.line - 1]
    assert line[theirs.span.column - 1 :].startswith("tload ring")


def test_input_replaces_the_contents_of_a_tensor(load: Load, tmp_path: Path) -> None:
    file = tmp_path / "in.npy"
    np.save(file, np.zeros((64, 64), np.float32))
    tensors = load(with_program("- {barrier: ALL}"), inputs={"x": str(file)}).tensors
    assert (tensors["x"].init.kind, tensors["x"].init.args) == ("file", {"file": str(file)})
    assert tensors["y"].init.kind == "zeros"


def test_statement_in_quotes_starts_behind_them(load: Load) -> None:
    assert str(instr(load, '"tadd ta <- ta, tb"').span) == "t.yaml:17:6"


def test_event_declaration_has_its_place(load: Load) -> None:
    event = load(with_program("- {barrier: ALL}")).events["ready"]
    assert event == EventDecl("ready", Pipe.MTE2, Pipe.V, 1, event.span)
    assert str(event.span) == "t.yaml:14:3"
