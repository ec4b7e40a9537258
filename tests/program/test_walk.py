"""The walk: what it yields, what it keeps, and what stops it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trace_texts import HEAD, Load, with_program

from archsim.base.errors import InputError
from archsim.isa.operands import BoundInstr, GmView, TileView
from archsim.isa.pipes import Pipe
from archsim.program.binding import CACHE_LIMIT
from archsim.program.ir import For, If, Instr, Program, ScalarArg, Statement, TileArg, WindowArg
from archsim.program.trace import load_program
from archsim.program.walk import Step, StepKind, leaves, walk

DOUBLE_BUFFER = """\
scalars: {N: 8}
tensors:
  a: {dtype: f32, shape: [128, 64]}
  b: {dtype: f32, shape: [128, 64]}
  c: {dtype: f16, shape: [128, 64]}
tiles:
  ta: {loc: vec, dtype: f32, shape: [16, 64], addr: 0x0000, ring: 2}
  tb: {loc: vec, dtype: f32, shape: [16, 64], addr: 0x2000, ring: 2}
  tc: {loc: vec, dtype: f16, shape: [16, 64], valid: [16, 64], addr: 0x4000, ring: 2}
events:
  ready:    {from: tload,  to: vec,    ring: 2}
  done:     {from: vec,    to: tstore, ring: 2}
  in_free:  {from: vec,    to: tload,  ring: 2}
  out_free: {from: tstore, to: vec,    ring: 2}
program:
  - for: {var: s, range: 2}
    do: [{record: "in_free[s]"}, {record: "out_free[s]"}]
  - for: {var: i, range: $N}
    do:
      - wait: in_free[i % 2]
      - tload ta[i % 2] <- a[i*16, 0]
      - tload tb[i % 2] <- b[i*16, 0]
      - record: ready[i % 2]
      - wait: ready[i % 2]
      - wait: out_free[i % 2]
      - taddreluconv tc[i % 2] <- ta[i % 2], tb[i % 2]
      - record: in_free[i % 2]
      - record: done[i % 2]
      - wait: done[i % 2]
      - tstore c[i*16, 0] <- tc[i % 2]
      - record: out_free[i % 2]
  - for: {var: s, range: 2}
    do: [{wait: "in_free[s]"}, {wait: "out_free[s]"}]
"""


def told(step: Step) -> str:
    """A step in one line: what, on which pipe, where."""
    if step.flag is not None:
        name = step.flag.name or f"{step.flag.src}>{step.flag.dst}"
        return f"{step.kind.value} {name}[{step.flag.slot}] on {step.pipe}"
    if step.bound is None:
        return f"barrier {step.pipe}"
    addrs = [view.addr for view in (*step.bound.dst, *step.bound.src) if isinstance(view, TileView)]
    return f"{step.bound.op.mnemonic} {addrs} gm {step.gm_addr}"


def test_double_buffer(load: Load) -> None:
    steps = [told(step) for step in walk(load(DOUBLE_BUFFER))]
    first = ["in_free[0] on V", "out_free[0] on MTE3", "in_free[1] on V", "out_free[1] on MTE3"]
    assert steps[:4] == [f"set {flag}" for flag in first]
    for i in range(8):
        s = i % 2
        a, b, c = s * 4096, 0x2000 + s * 4096, 0x4000 + s * 2048
        assert steps[4 + 12 * i : 16 + 12 * i] == [
            f"wait in_free[{s}] on MTE2",
            f"tload [{a}] gm {i * 16 * 256}",
            f"tload [{b}] gm {128 * 256 + i * 16 * 256}",
            f"set ready[{s}] on MTE2",
            f"wait ready[{s}] on V",
            f"wait out_free[{s}] on V",
            f"taddreluconv {[c, a, b]} gm 0",
            f"set in_free[{s}] on V",
            f"set done[{s}] on V",
            f"wait done[{s}] on MTE3",
            f"tstore [{c}] gm {2 * 128 * 256 + i * 16 * 128}",
            f"set out_free[{s}] on MTE3",
        ]
    assert len(steps) == 4 + 8 * 12 + 4


def test_bound_form_is_the_same_object_while_only_the_window_moves(load: Load) -> None:
    forms: dict[int, list[BoundInstr | None]] = {}
    for step in walk(load(DOUBLE_BUFFER)):
        if step.kind is StepKind.INSTR:
            forms.setdefault(step.statement, []).append(step.bound)
    assert len(forms) == 4
    for kept in forms.values():
        assert [form is kept[i % 2] for i, form in enumerate(kept)] == [True] * 8
        assert kept[0] is not kept[1]


def test_step_knows_its_statement(load: Load) -> None:
    program = load(DOUBLE_BUFFER)
    statements = leaves(program)
    for step in walk(program):
        assert statements[step.statement].span == step.span


def test_views(load: Load) -> None:
    head = HEAD.replace("addr: 0x1000}", "addr: 0x1000, valid: [N - i, 64], pad: zero, stride: 72}")
    program = load(with_program('- for: {var: i, range: 3}\n  do: ["tload tb <- x[i, 0]"]', head))
    steps = list(walk(program, bases={"x": 0x10000, "y": 0, "line": 0}))
    assert [step.gm_addr for step in steps] == [0x10000, 0x10100, 0x10200]
    bound = steps[2].bound
    assert bound is not None
    (dst,), (src,) = bound.dst, bound.src
    assert dst == TileView(
        "tb", program.tiles["tb"].loc, program.tiles["tb"].dtype, 16, 64, 6, 64, 0x1000, 72,
        static_rows=False, static_cols=True, pad="zero",
    )  # fmt: skip
    assert src == GmView("x", program.tensors["x"].dtype, 0, (6, 64), (64, 1))
    assert (bound.tmp, bound.attrs) == (None, {})


def test_windows_of_one_and_of_five_dimensions(load: Load) -> None:
    head = """\
tensors:
  one: {dtype: f32, shape: [256]}
  five: {dtype: f32, shape: [2, 3, 4, 32, 64]}
tiles:
  row: {loc: vec, dtype: f32, shape: [1, 64], addr: 0}
  t: {loc: vec, dtype: f32, shape: [16, 64], addr: 0x100}
"""
    text = "- tload row <- one[64]\n- tload t <- five[1, 2, 3, 16, 0]"
    steps = list(walk(load(with_program(text, head))))
    views = [step.bound.src[0] for step in steps if step.bound]
    assert [view.shape for view in views if isinstance(view, GmView)] == [(64,), (1, 1, 1, 16, 64)]
    five = 1024 + 4 * (((1 * 3 + 2) * 4 + 3) * 32 * 64 + 16 * 64)
    assert [step.gm_addr for step in steps] == [256, five]


def test_scratch_is_apart_from_the_sources(load: Load) -> None:
    (step,) = walk(load(with_program("- tsel ta <- tm, ta, tb, tm")))
    bound = step.bound
    assert bound is not None
    assert [v.name for v in bound.src if isinstance(v, TileView)] == ["tm", "ta", "tb"]
    assert bound.tmp is not None
    assert bound.tmp.name == "tm"


def test_scalars(load: Load) -> None:
    text = """
        - for: {var: i, range: 2}
          do: ['tadds ta <- ta, $i', 'tadds ta <- ta, $alpha', 'tadds ta <- ta, N - i']
    """
    scalars = [step.bound.src[1] for step in walk(load(with_program(text))) if step.bound]
    assert scalars == [0, 0.5, 8, 1, 0.5, 7]


def test_more_forms_than_are_kept_are_right_still(load: Load) -> None:
    count = CACHE_LIMIT + 10
    text = f"- for: {{var: i, range: {count}}}\n  do: ['tadds ta <- ta, $i']"
    scalars = [step.bound.src[1] for step in walk(load(with_program(text))) if step.bound]
    assert scalars == list(range(count))


def test_placed_tiles_take_the_given_address(load: Load) -> None:
    head = "alloc: auto\ntiles:\n  t: {loc: vec, dtype: f32, shape: [16, 64], ring: 2}\n"
    (step,) = walk(load(with_program("- tadds t[1] <- t[0], 1", head)), placements={"t": 512})
    assert told(step) == "tadds [4608, 512] gm 0"


def test_returned_and_awaited_events_stand_around_the_instruction(load: Load) -> None:
    text = "- ready = tload ta <- x, waits=[free[1]]\n- tadd tb <- ta, ta, waits=[ready]"
    steps = list(walk(load(with_program(text))))
    assert [told(step) for step in steps] == [
        "wait free[1] on MTE2",
        "tload [0] gm 0",
        "set ready[0] on MTE2",
        "wait ready[0] on V",
        "tadd [4096, 0, 0] gm 0",
    ]
    assert [step.statement for step in steps] == [0, 0, 0, 1, 1]


def test_wait_on_the_pipe_of_the_event_itself_is_a_barrier(load: Load) -> None:
    text = "- done = tadd ta <- ta, tb\n- tadd tb <- ta, ta, waits=[done]"
    steps = [told(step) for step in walk(load(with_program(text)))]
    assert steps == ["tadd [0, 0, 4096] gm 0", "barrier V", "tadd [4096, 0, 0] gm 0"]


def test_flags_and_barriers(load: Load) -> None:
    text = """
        - for: {var: i, range: 2}
          do: [{set_flag: [MTE2, V, i]}, {wait_flag: [MTE2, V, i]}]
        - barrier: V
        - barrier: ALL
    """
    assert [told(step) for step in walk(load(with_program(text)))] == [
        "set MTE2>V[0] on MTE2",
        "wait MTE2>V[0] on V",
        "set MTE2>V[1] on MTE2",
        "wait MTE2>V[1] on V",
        "barrier V",
        "barrier None",
    ]


def test_branches_and_empty_loops(load: Load) -> None:
    text = """
        - for: {var: i, range: [6, 0, -2]}
          do:
            - if: i == 4
              then: [{barrier: V}]
              else: [{barrier: ALL}]
        - {for: {var: i, range: 0}, do: [{barrier: MTE2}]}
        - {if: N > 100, then: [{barrier: MTE2}]}
    """
    pipes = [step.pipe for step in walk(load(with_program(text)))]
    assert pipes == [None, Pipe.V, None]


def test_iteration_names_the_loops_of_the_step(load: Load) -> None:
    text = """
        - barrier: V
        - for: {var: i, range: 2}
          do:
            - for: {var: j, range: [5, 6]}
              do: [{barrier: V}]
            - barrier: V
    """
    steps = walk(load(with_program(text)))
    assert [steps.iteration for _ in steps] == [
        "",
        "i = 0, j = 5",
        "i = 0",
        "i = 1, j = 5",
        "i = 1",
    ]


def test_tassign_moves_a_tile(load: Load) -> None:
    head = HEAD.replace("addr: 0x1000}", "pad: null}")
    text = """
        - for: {var: i, range: 3}
          do:
            - tassign tb <- 0x8000 + i % 2 * 0x1000
            - tadd tb <- tb, ta
    """
    steps = list(walk(load(with_program(text, head))))
    assert [told(step) for step in steps] == [
        "tassign [32768] gm 0",
        "tadd [32768, 32768, 0] gm 0",
        "tassign [36864] gm 0",
        "tadd [36864, 36864, 0] gm 0",
        "tassign [32768] gm 0",
        "tadd [32768, 32768, 0] gm 0",
    ]
    assert steps[0].bound is steps[4].bound
    assert steps[1].bound is steps[5].bound
    assert steps[0].bound is not None
    assert steps[0].bound.src == (0x8000,)


def test_tile_with_an_address_has_it_until_it_is_bound(load: Load) -> None:
    text = "- tadds tb <- ta, 1\n- tassign tb <- 0x9000\n- tadds tb <- ta, 1"
    steps = [told(step) for step in walk(load(with_program(text)))]
    assert steps == ["tadds [4096, 0] gm 0", "tassign [36864] gm 0", "tadds [36864, 0] gm 0"]


VIEWED = """\
tiles:
  p: {loc: vec, dtype: f32, shape: [16, 64], addr: 0x1000, valid: [10, 40], stride: 72, ring: 2}
  v: {loc: vec, dtype: f32, shape: [8, 32], valid: [4, 32]}
"""


def viewed(load: Load, text: str, head: str = VIEWED) -> list[TileView]:
    """The destination of each instruction."""
    views = [step.bound.dst[0] for step in walk(load(with_program(text, head))) if step.bound]
    assert all(isinstance(view, TileView) for view in views)
    return [view for view in views if isinstance(view, TileView)]


def test_tsubview_names_a_part_of_its_parent(load: Load) -> None:
    bound, used = viewed(load, "- tsubview v <- p[1], 2, 8\n- tadds v <- v, 1")
    assert bound == used
    assert (used.name, used.addr) == ("v", 0x1000 + 16 * 72 * 4 + (2 * 72 + 8) * 4)
    assert (used.row_stride, used.rows, used.cols) == (72, 8, 32)
    assert (used.valid_rows, used.valid_cols) == (4, 32)


def test_tsubview_ends_where_the_valid_region_of_its_parent_does(load: Load) -> None:
    (corner,) = viewed(load, "- tsubview v <- p[0], 8, 32")
    assert (corner.valid_rows, corner.valid_cols) == (2, 8)
    assert (corner.rows, corner.cols) == (8, 32)
    (edge,) = viewed(load, "- tsubview v <- p[0], 9, 16", VIEWED.replace("[4, 32]}", "[7, 32]}"))
    assert (edge.valid_rows, edge.rows) == (1, 7)


def test_tsubview_follows_its_parent_through_a_loop(load: Load) -> None:
    text = """
        - for: {var: i, range: 4}
          do:
            - tsubview v <- p[i % 2], i, 0
            - tadds v <- v, 1
    """
    views = viewed(load, text)
    addrs = [0x1000 + i % 2 * 16 * 72 * 4 + i * 72 * 4 for i in range(4)]
    assert [view.addr for view in views] == [addr for addr in addrs for _ in range(2)]


def test_view_of_a_view_and_of_an_assigned_tile(load: Load) -> None:
    head = VIEWED + "  w: {loc: vec, dtype: f32, shape: [2, 8]}\n"
    text = """
        - tsubview v <- p[0], 1, 8
        - tsubview w <- v, 2, 16
        - tassign v <- 0
        - tsubview w <- v, 1, 0
    """
    views = viewed(load, text, head)
    assert [view.addr for view in views] == [
        0x1000 + (1 * 72 + 8) * 4,
        0x1000 + (3 * 72 + 24) * 4,
        0,
        32 * 4,
    ]
    assert [view.row_stride for view in views] == [72, 72, 32, 32]


def fault_of(load: Load, text: str, head: str = HEAD) -> tuple[str, str, str, str, int]:
    """Kind, message, place and iteration of what stops a walk, and the steps before it."""
    steps = walk(load(with_program(text, head)))
    count = sum(1 for _ in steps)
    assert steps.fault is not None
    fault = steps.fault
    return fault.kind, fault.message, str(fault.span), fault.iteration, count


def in_loop(statement: str) -> str:
    return f"- for: {{var: i, range: 9}}\n  do:\n    - {statement}"


def test_window_past_the_tensor_stops_the_walk(load: Load) -> None:
    assert fault_of(load, in_loop("tload ta <- x[i*10, 0]")) == (
        "bounds",
        "the window reaches from 50 to 66 in dimension 0; tensor x has 0 to 64",
        "t.yaml:19:21",
        "i = 5",
        5,
    )
    assert fault_of(load, in_loop("tload ta <- x[16, 2 - i*2 - 2]"))[1:] == (
        "the window reaches from -2 to 62 in dimension 1; tensor x has 0 to 64",
        "t.yaml:19:21",
        "i = 1",
        1,
    )


def test_window_that_grows_past_the_tensor_stops_the_walk(load: Load) -> None:
    head = HEAD.replace("[16, 64], addr: 0}", "[16, 64], valid: [i + 1, 64], addr: 0}", 1)
    assert fault_of(load, in_loop("tload ta <- x[60, 0]"), head) == (
        "bounds",
        "the window reaches from 60 to 65 in dimension 0; tensor x has 0 to 64",
        "t.yaml:19:21",
        "i = 4",
        4,
    )


def test_last_window_that_fits_is_walked(load: Load) -> None:
    steps = walk(load(with_program("- {for: {var: i, range: 4}, do: ['tload ta <- x[i*16, 0]']}")))
    assert (sum(1 for _ in steps), steps.fault) == (4, None)


@pytest.mark.parametrize(
    ("extent", "message", "count"),
    [
        ("5 - i", "valid rows of tile ta is 0; must be 1 to 16", 5),
        ("13 + i", "valid rows of tile ta is 17; must be 1 to 16", 4),
        ("1 - i*2", "valid rows of tile ta is -1; must be 1 to 16", 1),
    ],
)
def test_dynamic_extent_must_fit_the_shape(
    load: Load, extent: str, message: str, count: int
) -> None:
    head = HEAD.replace("[16, 64], addr: 0}", f"[16, 64], valid: [{extent}, 64], addr: 0}}", 1)
    assert fault_of(load, in_loop("tadds tb <- ta, 1"), head) == (
        "shape",
        message,
        "t.yaml:19:21",
        f"i = {count}",
        count,
    )


def test_slot_must_be_in_the_ring(load: Load) -> None:
    assert fault_of(load, in_loop("tadds ring[i] <- ta, 1")) == (
        "bounds",
        "slot of tile ring is 2; must be 0 to 1",
        "t.yaml:19:20",
        "i = 2",
        2,
    )
    assert fault_of(load, in_loop('record: "free[1 - i]"')) == (
        "bounds",
        "slot of event free is -1; must be 0 to 1",
        "t.yaml:19:23",
        "i = 2",
        2,
    )


def test_column_vector_does_not_fit_a_tensor_of_one_dimension(load: Load) -> None:
    head = HEAD.replace("[16, 64], addr: 0}", "[16, 64], valid: [i + 1, 64], addr: 0}", 1)
    assert fault_of(load, in_loop("tload ta <- line"), head)[:2] == (
        "bounds",
        "tile ta has 2 valid rows; a window of tensor line, which has one dimension, is one row",
    )


def test_view_must_lie_in_its_parent(load: Load) -> None:
    assert fault_of(load, in_loop("tsubview v <- p[0], i + 9, 0"), VIEWED) == (
        "shape",
        "tile v views no valid rows of its parent",
        "t.yaml:7:18",
        "i = 1",
        1,
    )
    narrow = VIEWED.replace("[4, 32]}", "[4, 8]}")
    assert fault_of(load, in_loop("tsubview v <- p[0], 0, i*8"), narrow)[:2] == (
        "shape",
        "tile v views no valid columns of its parent",
    )
    wide = VIEWED.replace("valid: [10, 40], ", "")
    assert fault_of(load, in_loop("tsubview v <- p[0], i*5, 0"), wide) == (
        "bounds",
        "tile v views rows 15 to 19 of tile p, which has 0 to 16",
        "t.yaml:7:9",
        "i = 3",
        3,
    )


def test_address_must_not_be_negative(load: Load) -> None:
    assert fault_of(load, in_loop("tassign ta <- 512 - i*512"))[:2] == (
        "bounds",
        "tassign puts tile ta at -512; must be 0 or more",
    )


def test_tile_that_a_branch_did_not_bind_has_no_address(load: Load) -> None:
    text = "- {if: N > 9, then: [tassign v <- 0]}\n- tadds v <- v, 1"
    fault = fault_of(load, text, "scalars: {N: 1}\n" + VIEWED)
    assert fault[:2] == (
        "bounds",
        "tile v has no address yet; tassign or tsubview gives it one",
    )


def test_nothing_is_walked_beyond_a_fault(load: Load) -> None:
    steps = walk(load(with_program(in_loop("tadds ring[i] <- ta, 1") + "\n- barrier: ALL")))
    assert [told(step) for step in steps] == ["tadds [12288, 0] gm 0", "tadds [16384, 0] gm 0"]


def test_arithmetic_that_has_no_value_is_wrong_input(load: Load) -> None:
    with pytest.raises(InputError, match=r"^t\.yaml:19:26: modulo by zero; "):
        list(walk(load(with_program(in_loop("tload ta <- x[16 % (3 - i), 0]")))))
    loop = "- {for: {var: i, range: 2}, do: [{for: {var: j, range: [0, 2, i]}, do: []}]}"
    with pytest.raises(InputError, match="step of range is 0; must be an integer other than 0"):
        list(walk(load(with_program(loop))))


def naive(program: Program) -> Iterator[tuple[Any, ...]]:
    """The steps of a program without faults, from its IR, by plain recursion and no cache."""
    bases, end = {}, 0
    for tensor in program.tensors.values():
        bases[tensor.name] = -(-end // 512) * 512
        end = bases[tensor.name] + 4 * tensor.shape[0] * tensor.shape[1]
    addresses: dict[str, int] = {}

    def run(body: tuple[Statement, ...], env: dict[str, int | float]) -> Iterator[tuple[Any, ...]]:
        for statement in body:
            if isinstance(statement, For):
                bounds = (statement.start, statement.stop, statement.step)
                for i in range(*(bound.value(env) for bound in bounds)):
                    yield from run(statement.body, {**env, statement.var: i})
            elif isinstance(statement, If):
                taken = statement.then if statement.cond.value(env) else statement.otherwise
                yield from run(taken, env)
            elif isinstance(statement, Instr):
                if statement.op.name == "TASSIGN":
                    number = statement.ins[0]
                    assert isinstance(number, ScalarArg)
                    addresses[statement.outs[0].name] = value(number, env)  # type: ignore[union-attr,assignment]
                yield describe(statement, env)

    def value(arg: ScalarArg, env: dict[str, int | float]) -> int | float:
        if arg.expr is not None:
            return arg.expr.value(env)
        return env[arg.name] if arg.name is not None else arg.value  # type: ignore[return-value]

    def describe(statement: Instr, env: dict[str, int | float]) -> tuple[Any, ...]:
        out: list[Any] = [statement.op.name]
        gm_addr = 0
        for arg in (*statement.outs, *statement.ins):
            if isinstance(arg, TileArg):
                tile = program.tiles[arg.name]
                slot = 0 if arg.slot is None else arg.slot.value(env)
                addr = addresses.get(arg.name, tile.addr or 0) + slot * tile.rows * tile.cols * 4
                out.append((arg.name, addr, *(v.extent.value(env) for v in tile.valid)))
            elif isinstance(arg, WindowArg):
                row, col = (offset.value(env) for offset in arg.offsets)
                gm_addr = bases[arg.name] + (row * program.tensors[arg.name].shape[1] + col) * 4
                out.append(arg.name)
            elif arg is not None:
                out.append(value(arg, env))
        return (*out, gm_addr)

    yield from run(program.body, dict(program.scalars))


def observed(step: Step) -> tuple[Any, ...]:
    assert step.bound is not None
    out: list[Any] = [step.bound.op.name]
    for view in (*step.bound.dst, *step.bound.src):
        if isinstance(view, TileView):
            out.append((view.name, view.addr, view.valid_rows, view.valid_cols))
        else:
            out.append(view.name if isinstance(view, GmView) else view)
    return (*out, step.gm_addr)


_NUMBERS = ["i", "j", "N", "i + j", "i*2 % 3", "min(i, j)", "3"]
_NUMBER = st.sampled_from(_NUMBERS)
_TILE = st.one_of(
    st.just("t"), st.just("moved"), _NUMBER.map(lambda e: f"r[({e}) % 3]"), st.just("part")
)
_LINE = st.one_of(
    st.tuples(_TILE, _NUMBER, _NUMBER).map(lambda t: f"tload {t[0]} <- x[{t[1]}, ({t[2]}) * 4]"),
    st.tuples(_TILE, _NUMBER).map(lambda t: f"tstore y[({t[1]}) + 2, 8] <- {t[0]}"),
    st.tuples(_TILE, _TILE, _TILE).map(lambda t: f"tadd {t[0]} <- {t[1]}, {t[2]}"),
    st.tuples(_TILE, _TILE, _NUMBER).map(lambda t: f"tadds {t[0]} <- {t[1]}, {t[2]}"),
    st.tuples(_TILE, st.sampled_from(["$i", "$N", "$alpha"])).map(
        lambda t: f"tmuls {t[0]} <- t, {t[1]}"
    ),
    _NUMBER.map(lambda e: f"tassign moved <- ({e}) * 0x400"),
)
_BLOCK = st.recursive(
    st.lists(_LINE, min_size=1, max_size=4),
    lambda inner: st.lists(
        st.one_of(_LINE, st.tuples(_NUMBER, inner, inner).map(list)), min_size=1, max_size=4
    ),
    max_leaves=8,
)


def _value(block: list[Any]) -> list[Any]:
    return [
        line if isinstance(line, str)
        else {"if": f"{line[0]} > 1", "then": _value(line[1]), "else": _value(line[2])}
        for line in block
    ]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(_BLOCK, st.integers(0, 3), st.integers(1, 3))
def test_walk_is_that_of_a_naive_interpreter(
    tmp_path_factory: pytest.TempPathFactory, block: list[Any], count: int, step: int
) -> None:
    tile = {"loc": "vec", "dtype": "f32", "shape": [4, 8], "addr": 0}
    loops = {"for": {"var": "j", "range": [0, 4, step]}, "do": _value(block)}
    trace = {
        "scalars": {"N": 5, "alpha": 0.25},
        "tensors": {name: {"dtype": "f32", "shape": [16, 40]} for name in ("x", "y")},
        "tiles": {
            "t": tile,
            "r": {**tile, "addr": 4096, "ring": 3},
            "moved": {**tile, "addr": 8192},
            "part": {**tile, "addr": 12288, "valid": ["1 + i % 4", "dynamic"]},
        },
        "program": [{"for": {"var": "i", "range": count}, "do": [loops]}],
    }
    path = Path(tmp_path_factory.getbasetemp()) / "walked.json"
    path.write_text(json.dumps(trace))
    program = load_program(str(path))
    steps = walk(program)
    assert [observed(step) for step in steps] == list(naive(program))
    assert steps.fault is None
