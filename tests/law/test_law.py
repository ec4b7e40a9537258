"""Every instruction on every core does what its definition says, to the bit, and nothing else.

The definitions (`definitions/`) are plain numpy, written from what is known of the devices and not
from archsim. Operands are drawn: element types, shapes, valid regions, rows further apart than
they are long, static or dynamic, keys, edge values. What `archsim.check` refuses is not drawn.
`HYPOTHESIS_PROFILE=thorough` draws many more.
"""

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from zlib import crc32

import numpy as np
import pytest
from definitions.call import READ, Array, Bits, Clobbered, Lanes, Result, Results, Turned
from definitions.table import DEFINITIONS, definition
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from law_operands import Example, examples, named, whole_bytes, window

from archsim.isa.lanes.state import NumericState
from archsim.isa.operands import GmView, Operand, Region, TileView
from archsim.isa.tile_op import TileOp
from archsim.isa.tile_ops import FORMS
from archsim.lower import lower
from archsim.lower.lowered import Lowered
from archsim.numerics.execute import execute
from archsim.numerics.memory import GM, Memory

EXAMPLES = {"thorough": 200, "quick": 5}.get(os.environ.get("HYPOTHESIS_PROFILE", ""), 14)
NOTHING_RUNS = ("tassign", "tsubview", "treshape")  # they bind names to addresses
FORMS_OF_ALL = [op for forms in FORMS.values() for op in forms if op.mnemonic not in NOTHING_RUNS]
CASES = [
    pytest.param(op, core, id=f"{op.mnemonic}{'.' + op.form if op.form else ''}-{core}")
    for op in FORMS_OF_ALL
    for core in op.dtypes
    if definition(op.mnemonic, op.form)
]


def test_every_instruction_has_a_definition() -> None:
    without = [op.mnemonic for op in FORMS_OF_ALL if not definition(op.mnemonic, op.form)]
    assert without == [], "rows of these instructions have no definition in tests/law/definitions"


def test_every_definition_is_of_an_instruction() -> None:
    known = {name for op in FORMS_OF_ALL for name in (op.mnemonic, f"{op.mnemonic}.{op.form}")}
    assert sorted(set(DEFINITIONS) - known) == []


@pytest.mark.parametrize(("op", "core"), CASES)
def test_law(op: TileOp, core: str, record_property: Callable[[str, object], None]) -> None:
    pairs = whole_bytes(op, core)
    if op.family == "convert":  # every pair is an instruction of its own
        ran = sum(_examples_held(op, core, pair, max(EXAMPLES // 2, 5)) for pair in pairs)
    else:
        ran = _examples_held(op, core, None, max(EXAMPLES, 2 * len(pairs)))
    record_property("law", f"{op.family} {ran}")
    assert ran >= 3, f"only {ran} of the drawn operands are legal"


def _examples_held(op: TileOp, core: str, pair: tuple[str, str] | None, count: int) -> int:
    """Draw examples, the same ones in every run, and hold them against the definition."""
    ran: Counter[str] = Counter()

    @seed(crc32(f"{op.name} {op.form} {core} {pair}".encode()))
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        print_blob=False,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        obeys(data.draw(examples(op, core, pair)))
        ran["examples"] += 1

    holds()
    return ran["examples"]


def _wrong_lane(example: Example) -> None:
    dst = example.instr.dst[0]
    assert isinstance(dst, TileView)
    window(example.memory, dst, (dst.valid_rows, dst.valid_cols), "i32")[-1, -1] ^= 1


def _stray_byte(example: Example) -> None:
    dst = example.instr.dst[0]
    assert isinstance(dst, TileView)
    example.memory.bytes_of("UB")[dst.addr + dst.size_bytes] ^= 1


def _lost_source(example: Example) -> None:
    src = example.instr.src[0]
    assert isinstance(src, TileView)
    example.memory.bytes_of("UB")[src.addr] ^= 1


@pytest.mark.parametrize("core", ["a2a3", "a5"])
@pytest.mark.parametrize(
    ("disturb", "notice"),
    [
        (_wrong_lane, "1 of "),
        (_stray_byte, "1 undeclared bytes of UB change"),
        (_lost_source, "1 undeclared bytes of UB change"),
    ],
)
def test_the_law_notices(core: str, disturb: Callable[[Example], None], notice: str) -> None:
    @settings(max_examples=4, deadline=None, derandomize=True, database=None)
    @given(st.data())
    def is_noticed(data: st.DataObject) -> None:
        example = data.draw(examples(FORMS["tprelu"][0], core, ("f32", "f32")))
        with pytest.raises(pytest.fail.Exception, match=notice):
            obeys(example, disturb)

    is_noticed()


def obeys(example: Example, disturb: Callable[[Example], None] = lambda example: None) -> None:
    """Run the instruction (and disturb memory) and hold what it did against its definition."""
    instr, memory = example.instr, example.memory
    law = definition(instr.op.mnemonic, instr.op.form)
    assert law is not None, f"{instr.op.name} has no definition"
    lowered = lower(instr, example.arch)
    with np.errstate(all="ignore"):
        results = law(example.call)
    before = {name: memory.bytes_of(name).copy() for name in ("UB", GM)}
    execute(lowered.uops, memory, 0, NumericState.of(example.arch)).apply()
    disturb(example)
    operands = named(instr)
    if READ in results:
        (cell,) = lowered.sources
        got, want = memory.read(cell), results[READ]
        assert isinstance(want, np.ndarray)
        assert got.tobytes() == want.tobytes(), f"{instr.op.mnemonic} reads {got}, must be {want}"
        results = {}
    for name, result in results.items():
        _agrees(example, name, operands[name], result)
    _touches_nothing_else(example, before, lowered, operands, results)
    again = _with_other_bytes(example, before, lowered)
    execute(lowered.uops, again.memory, 0, NumericState.of(example.arch)).apply()
    for name, result in results.items():
        _agrees(
            again, f"with other bytes outside its declared sources {name}", operands[name], result
        )


def _agrees(example: Example, name: str, operand: Operand, result: Result) -> None:
    assert isinstance(operand, TileView | GmView)
    if isinstance(result, Clobbered):
        return
    if isinstance(result, Bits):
        want, care = result.packed
        size = operand.dtype.itemsize
        base = (want.shape[0], -(-want.shape[1] // size))
        got = np.ascontiguousarray(window(example.memory, operand, base)).view(np.uint8)
        got = got[:, : want.shape[1]]
        _equal(example, name, got & care, want & care, np.ones(want.shape, bool))
        return
    values = result.values if isinstance(result, Lanes | Turned) else result
    defined = result.defined if isinstance(result, Lanes) else np.array(True)
    assert values.dtype.itemsize == operand.dtype.itemsize, f"{name}: {values.dtype}"
    raw = np.ascontiguousarray(window(example.memory, operand, values.shape))  # type: ignore[arg-type]
    _equal(example, name, raw.view(values.dtype), values, np.broadcast_to(defined, values.shape))


def _equal(example: Example, name: str, got: Array, want: Array, defined: Array) -> None:
    bits = f"u{want.dtype.itemsize}"
    want = np.ascontiguousarray(want)
    same = got.view(bits) == want.view(bits)
    if want.dtype.kind not in "iub":
        same |= np.isnan(got.astype(np.float32)) & np.isnan(want.astype(np.float32))
    wrong = ~same & defined
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        pytest.fail(_story(example, name, at, got, want, int(wrong.sum())), pytrace=False)


def _story(
    example: Example, name: str, at: tuple[int, ...], got: Array, want: Array, wrong: int
) -> str:
    call, lines = example.call, []
    for operand, value in named(example.instr).items():
        if isinstance(value, TileView):
            held = call.valid[operand]
            here = ""
            if at[0] < held.shape[0] and at[1] < held.shape[1]:
                here = f" holds {held[at]!r} there"
            order = "" if value.row_major else " column-major"
            fixed = f"{'S' if value.static_rows else 'D'}{'S' if value.static_cols else 'D'}"
            lines.append(
                f"  {operand} {value.dtype} {value.rows}x{value.cols} valid {value.valid_rows}x"
                f"{value.valid_cols} {fixed} stride {value.row_stride}"
                f" at {value.addr:#x}{order}{here}"
            )
        else:
            lines.append(f"  {operand} {value!r}")
    keys = " ".join(f"{k}={v}" for k, v in call.keys.items())
    profile = "infnan" if call.infnan else "reset"
    bits = f"u{want.dtype.itemsize}"
    return "\n".join(
        [
            f"{example.instr.op.mnemonic} {call.src}>{call.dst} {keys} on {call.core} ({profile}):",
            f"  {name}[{at[0]}, {at[1]}] is {got[at]!r} ({got.view(bits)[at]:#x}), must be"
            f" {want[at]!r} ({want.view(bits)[at]:#x}); {wrong} of {got.size} lanes differ",
            *lines,
        ]
    )


def _touches_nothing_else(
    example: Example,
    before: dict[str, Array],
    lowered: Lowered,
    operands: dict[str, Operand],
    results: Results,
) -> None:
    """Only declared bytes changed; sources that the definition does not name kept theirs."""
    said = set(results)
    for memory, old in before.items():
        changed = old != example.memory.bytes_of(memory)
        declared = _bytes_of(old.size, [r for r in lowered.writes if r.memory == memory])
        stray = np.flatnonzero(changed & ~declared)
        if stray.size:
            _fail(example, f"{stray.size} undeclared bytes of {memory} change, first {stray[0]:#x}")
        if memory != "UB":
            continue
        dst_regions = [t.whole_region() for t in example.instr.dst if isinstance(t, TileView)]
        meant = [operands.get(name) for name in (*said, "tmp")]
        theirs = _bytes_of(old.size, [t.whole_region() for t in meant if isinstance(t, TileView)])
        for arg in example.instr.op.ins:
            tile = operands.get(arg.name)
            if arg.scratch or not isinstance(tile, TileView):
                continue
            if isinstance(results.get(arg.name), Turned):
                continue
            if arg.name in said:
                kept = _bytes_of(old.size, [*lowered.destroyed, *dst_regions])
                if (changed & ~kept & _bytes_of(old.size, [tile.valid_region()])).any():
                    _fail(example, f"{arg.name} changes, but the lowering does not say destroyed")
                continue
            if (changed & ~theirs & _bytes_of(old.size, [tile.valid_region()])).any():
                _fail(example, f"{arg.name} changes, but its definition does not say so")


def _with_other_bytes(example: Example, before: dict[str, Array], lowered: Lowered) -> Example:
    """The same memory, every bit flipped that the lowering does not call a source.

    Global memory counts as written from the start: it stays.
    """
    memory = Memory({"UB": example.memory.sizes["UB"]}, example.memory.sizes[GM])
    for name, old in before.items():
        sources = _bytes_of(old.size, [r for r in lowered.sources if r.memory == name])
        memory.bytes_of(name)[:] = np.where(sources, old, ~old) if name == "UB" else old
    return replace(example, memory=memory)


def _fail(example: Example, what: str) -> None:
    nothing = np.zeros((1, 1))
    pytest.fail(f"{what}\n{_story(example, 'dst', (0, 0), nothing, nothing, 0)}", pytrace=False)


def _bytes_of(size: int, regions: list[Region]) -> Array:
    inside = np.zeros(size, bool)
    for region in regions:
        for row in range(region.rows):
            start = region.addr + row * region.pitch
            inside[start : start + region.row_bytes] = True
    return inside
