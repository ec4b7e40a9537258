"""Vector functions on memory against the naive model, and every distribution by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_vreg import NaiveUnit

from archsim.base.dtypes import F16, F32, I8, I16, I32, U8, U16, DType
from archsim.isa.lanes.state import NumericState
from archsim.isa.operands import Region
from archsim.isa.vreg import Tail, VectorFunction, VregLoop, VregMem, VregNode, VregUop
from archsim.numerics.execute import execute
from archsim.numerics.memory import Memory
from archsim.numerics.vreg_order import iterations_are_independent

STATE = NumericState()
UB_BYTES = 4096
LANES = 8  # of a 32-byte register: the model has no width of its own


def memory_with(data: bytes) -> Memory:
    memory = Memory({"UB": len(data)}, 0)
    memory.bytes_of("UB")[:] = np.frombuffer(data, np.uint8)
    return memory


def written(memory: Memory) -> set[int]:
    size = memory.sizes["UB"]
    return {int(at) for at in np.flatnonzero(memory.written(Region("UB", 0, 1, size, size))[0])}


def run_both(nodes: tuple[VregNode, ...], seed: int) -> None:
    """The fast and the naive model on the same bytes; nothing changes before the results apply."""
    data = np.random.default_rng(seed).integers(0, 256, UB_BYTES, dtype=np.uint8).tobytes()
    naive = NaiveUnit(data)
    naive.run(nodes)
    memory = memory_with(data)
    effects = execute((VectorFunction(nodes),), memory, 0, STATE)
    assert memory.bytes_of("UB").tobytes() == data
    effects.apply()
    assert memory.bytes_of("UB").tobytes() == bytes(naive.ub)
    assert written(memory) == naive.written


VECTORS, MASKS = ("v0", "v1", "v2"), ("p0", "p1")
OPS = ["VLDS", "VSTS", "VLDS", "VSTS", "PLDS", "PSTS"]
OPS += ["VADD", "VMAX", "VADDS", "VDUP", "VCMPS", "VSEL", "VCADD"]


@st.composite
def uops(draw: st.DrawFn, depth: int, tail: Tail | None) -> VregUop:
    op = draw(st.sampled_from(OPS))
    vector, mask = st.sampled_from(VECTORS), st.sampled_from(MASKS)
    mem = None
    if op in ("VLDS", "VSTS", "PLDS", "PSTS"):
        steps = tuple(draw(st.sampled_from([0, 32, 64, 96, 256])) for _ in range(depth))
        mem = VregMem(4 * draw(st.integers(0, 120)), steps, I32, LANES)
    pred = draw(st.sampled_from([tail, tail, None]))
    if op == "VLDS":
        dist = draw(st.sampled_from(["norm", "norm", "brc", "dintlv", "blk", "e2b"]))
        names = ("v0", "v1") if dist == "dintlv" else (draw(vector),)
        lanes = 2 * LANES if dist == "dintlv" else LANES
        return VregUop(op, "", names, (), I32, VregMem(mem.addr, mem.steps, I32, lanes, dist))
    if op == "VSTS" and draw(st.integers(0, 3)) == 0:
        point = VregMem(mem.addr, mem.steps, I32, 1, "onept")
        return VregUop(op, "", (), (draw(vector),), I32, point)
    if op == "VSTS":
        return VregUop(op, "", (), (draw(vector),), I32, mem, pred=pred)
    if op in ("PLDS", "PSTS"):
        names = draw(st.sampled_from([("p0",), ("p0", "p1")]))
        image = VregMem(mem.addr, mem.steps, U8, LANES * len(names), "bits")
        return VregUop(
            op, "", names if op == "PLDS" else (), () if op == "PLDS" else names, U8, image
        )
    if op == "VCMPS":
        return VregUop(
            op, "", (draw(mask),), (draw(vector),), I32, scalar=5, effect="gt", pred=pred
        )
    if draw(st.booleans()):
        pred = draw(mask)
    sources = {"VADD": 2, "VMAX": 2, "VADDS": 1, "VDUP": 0, "VSEL": 2, "VCADD": 1}[op]
    names = tuple(draw(vector) for _ in range(sources))
    if op == "VSEL":
        names = (draw(mask), *names)
    if op == "VCADD" and not isinstance(pred, Tail):
        pred = Tail(LANES, LANES, steady=True)  # nothing else says how wide a spread scalar is
    scalar = draw(st.integers(-9, 9)) if op in ("VADDS", "VDUP") else None
    return VregUop(op, "", (draw(vector),), names, I32, scalar=scalar, pred=pred)


@st.composite
def bodies(draw: st.DrawFn, depth: int = 0) -> tuple[VregNode, ...]:
    total, offset = draw(st.integers(1, 20)), draw(st.sampled_from([0, 0, LANES]))
    tail = Tail(total, LANES, offset, steady=draw(st.integers(0, 3)) == 0)
    nodes: list[VregNode] = []
    for _ in range(draw(st.integers(1, 4))):
        if depth < 3 and draw(st.integers(0, 2)) == 0:
            nodes.append(VregLoop(draw(st.integers(1, 3)), draw(bodies(depth + 1))))
        else:
            nodes.append(draw(uops(depth, tail)))
    return tuple(nodes)


PROLOGUE: tuple[VregNode, ...] = (
    *(VregUop("VDUP", "", (name,), (), I32, scalar=k) for k, name in enumerate(VECTORS)),
    *(VregUop("VCMPS", "", (name,), ("v1",), I32, scalar=0, effect="gt") for name in MASKS),
)


@settings(max_examples=250, deadline=None)
@given(nodes=bodies(), seed=st.integers(0, 9))
def test_any_function_gives_the_bytes_of_the_naive_model(
    nodes: tuple[VregNode, ...], seed: int
) -> None:
    run_both((*PROLOGUE, *nodes), seed)


def mem(
    addr: int, *steps: int, lanes: int = LANES, dtype: DType = I32, dist: str = "norm"
) -> VregMem:
    return VregMem(addr, steps, dtype, lanes, dist)


def load(register: str, where: VregMem) -> VregUop:
    return VregUop("VLDS", "", (register,), (), where.dtype, where)


def store(register: str, where: VregMem, pred: Tail | None = None) -> VregUop:
    return VregUop("VSTS", "", (), (register,), where.dtype, where, pred=pred)


def add(dst: str, a: str, b: str, pred: Tail | None = None) -> VregUop:
    return VregUop("VADD", "", (dst,), (a, b), I32, pred=pred)


def nest(rows: int, chunks: int, pitch: int, a: int, b: int, c: int, cols: int) -> VregLoop:
    """c = a + b over rows x cols lanes, row by row, as lowering nests it."""
    tail = Tail(cols, LANES)
    steps = (pitch, 4 * LANES)
    body = (
        load("v0", mem(a, *steps)),
        load("v1", mem(b, *steps)),
        add("v2", "v0", "v1", tail),
        store("v2", mem(c, *steps), tail),
    )
    return VregLoop(rows, (VregLoop(chunks, body),))


@settings(max_examples=120, deadline=None)
@given(
    rows=st.integers(1, 5),
    cols=st.integers(1, 20),
    room=st.integers(0, 2),
    places=st.lists(st.integers(0, 3), min_size=3, max_size=3),
    seed=st.integers(0, 9),
)
def test_tiles_added_row_by_row_in_place_or_not(
    rows: int, cols: int, room: int, places: list[int], seed: int
) -> None:
    pitch = 32 * (-(-cols // LANES) + room)
    a, b, c = (1024 * place for place in places)
    run_both((nest(rows, -(-cols // LANES), pitch, a, b, c, cols),), seed)


def two_deep(*body: VregUop) -> VregLoop:
    """Two iterations of two."""
    return VregLoop(2, (VregLoop(2, body),))


def two_lanes_a_row(*body: VregUop) -> VregLoop:
    """Rows of two lanes, in place; loads take eight, into the rows behind."""
    place, on = mem(0, 8, 32), Tail(2, LANES)
    return VregLoop(3, (VregLoop(1, (load("v0", place), store("v0", place, on), *body)),))


INDEPENDENT = [
    # what, loop, trip counts around it, runs together
    ("apart", nest(4, 2, 64, 0, 1024, 2048, 16), (), True),
    ("in place", nest(4, 2, 64, 0, 1024, 0, 16), (), True),
    ("in place, loads run into the next row", nest(4, 2, 48, 0, 1024, 0, 10), (), True),
    ("shifted by a row", nest(4, 2, 64, 0, 1024, 64, 16), (), False),
    ("shifted by a lane", nest(4, 2, 64, 0, 1024, 4, 16), (), False),
    ("one row", nest(1, 1, 64, 0, 1024, 4, 8), (), True),
    (
        "one place for all",
        VregLoop(3, (load("v0", mem(0, 32)), store("v0", mem(512, 0)))),
        (),
        False,
    ),
    ("a carried register", VregLoop(3, (load("v0", mem(0, 32)), add("v1", "v1", "v0"))), (), False),
    ("a new register", VregLoop(3, (load("v1", mem(0, 32)), add("v1", "v1", "v1"))), (), True),
    ("masked lanes do not count", two_lanes_a_row(), (), True),
    ("a consumer of all lanes", two_lanes_a_row(add("v1", "v0", "v0")), (), False),
    (
        "a consumer of a new value",
        two_lanes_a_row(load("v0", mem(512, 32, 32)), add("v1", "v0", "v0")),
        (),
        True,
    ),
    (
        "an inner loop that stands still",
        two_deep(load("v0", mem(512, 32, 0)), store("v0", mem(0, 16, 0), Tail(9, 8))),
        (),
        False,
    ),
    (
        "outer steps that differ",
        VregLoop(2, (load("v0", mem(0, 64, 32)), store("v0", mem(224, 0, 32)))),
        (4,),
        False,
    ),
    (
        "outer steps that differ, apart",
        VregLoop(2, (load("v0", mem(0, 64, 32)), store("v0", mem(256, 0, 32)))),
        (4,),
        True,
    ),
]


@pytest.mark.parametrize(
    ("loop", "outer", "want"), [row[1:] for row in INDEPENDENT], ids=[row[0] for row in INDEPENDENT]
)
def test_loops_run_together_where_iterations_touch_nothing_of_each_other(
    loop: VregLoop, outer: tuple[int, ...], want: bool
) -> None:
    assert iterations_are_independent(loop, outer) is want


def test_lanes_count_where_a_register_outlives_its_loop() -> None:
    loop = two_lanes_a_row()
    assert iterations_are_independent(loop, (), (store("v0", mem(2048)),)) is False
    assert (
        iterations_are_independent(loop, (), (load("v0", mem(0)), store("v0", mem(2048)))) is True
    )
    run_both((loop, store("v0", mem(2048))), 1)


def test_such_loops_give_the_bytes_of_the_naive_model() -> None:
    start: tuple[VregNode, ...] = (
        VregUop("VDUP", "", ("v1",), (), I32, scalar=3),
        VregUop("VDUP", "", ("v2",), (), I32, scalar=4),
    )
    for _, loop, outer, _ in INDEPENDENT:
        run_both((*start, VregLoop(outer[0], (loop,)) if outer else loop), 1)


def run(nodes: tuple[VregNode, ...], data: np.ndarray, at: int = 0) -> Memory:
    memory = memory_with(bytes(UB_BYTES))
    memory.bytes_of("UB")[at : at + data.nbytes] = data.view(np.uint8).ravel()
    execute((VectorFunction(nodes),), memory, 0, STATE).apply()
    return memory


def stored(memory: Memory, addr: int, dtype: DType, count: int) -> list[float]:
    return memory.bytes_of("UB")[addr : addr + count * dtype.itemsize].view(dtype.np).tolist()


def test_an_accumulator_goes_from_iteration_to_iteration() -> None:
    body = (load("v0", mem(0, 32)), add("v1", "v1", "v0"))
    nodes = (
        VregUop("VDUP", "", ("v1",), (), I32, scalar=100),
        VregLoop(3, body),
        store("v1", mem(1024)),
    )
    memory = run(nodes, np.arange(24, dtype=np.int32))
    assert stored(memory, 1024, I32, 8) == [100 + 3 * lane + 24 for lane in range(8)]


def test_rows_accumulate_side_by_side() -> None:
    inner = VregLoop(2, (load("v0", mem(0, 64, 32)), add("v1", "v1", "v0")))
    start = VregUop("VDUP", "", ("v1",), (), I32, scalar=0)
    outer = VregLoop(3, (start, inner, store("v1", mem(1024, 32))))
    assert iterations_are_independent(outer, ())
    assert not iterations_are_independent(inner, (3,))
    memory = run((outer,), np.arange(48, dtype=np.int32))
    want = np.arange(48).reshape(3, 2, 8).sum(axis=1).ravel().tolist()
    assert stored(memory, 1024, I32, 24) == want


def test_an_unpacking_load_and_a_packing_store_keep_one_lane_each() -> None:
    halves = np.arange(8, dtype=np.float16)
    widen = VregUop("VCVT", "", ("v1",), ("v0",), F16, to=F32)
    narrow = VregUop("VCVT", "", ("v2",), ("v1",), F32, to=F16, effect="rint")
    nodes = (
        load("v0", mem(0, dtype=F16, dist="unpk")),
        widen,
        store("v1", mem(256, dtype=F32)),
        narrow,
        store("v2", mem(512, dtype=F16, dist="pk")),
    )
    memory = run(nodes, halves)
    assert stored(memory, 256, F32, 8) == halves.tolist()
    assert stored(memory, 512, F16, 8) == halves.tolist()


def test_a_packing_store_takes_the_even_lanes_of_a_filled_part() -> None:
    narrow = VregUop("VCVT", "", ("v1",), ("v0",), I32, to=I16, effect="sat part_even")
    memory = run(
        (load("v0", mem(0)), narrow, store("v1", mem(512, dtype=I16, dist="pk"), Tail(5, 8))),
        np.arange(8, dtype=np.int32) * 10000,
    )
    assert stored(memory, 512, I16, 6) == [0, 10000, 20000, 30000, 32767, 0]


def test_even_and_odd_parts_of_a_deinterleaved_load_merge_in_order() -> None:
    source = np.arange(32, dtype=np.int32) - 5

    def part(dst: str, src: str, which: str) -> VregUop:
        return VregUop("VCVT", "", (dst,), (src,), I32, to=I16, effect=f"sat part_{which}")

    spread = VregMem(0, (64,), I32, 16, "dintlv")
    tail = Tail(27, 16)
    body = (
        VregUop("VLDS", "", ("v0", "v1"), (), I32, spread),
        part("v2", "v1", "odd"),
        part("v3", "v0", "even"),
        VregUop("VOR", "", ("v4",), ("v2", "v3"), U16, pred=tail),
        store("v4", mem(1024, 32, lanes=16, dtype=I16), tail),
    )
    memory = run((VregLoop(2, body),), source)
    assert stored(memory, 1024, I16, 28) == [*(source[:27].tolist()), 0]


def test_unsigned_bytes_store_as_signed_ones() -> None:
    narrow = VregUop("VCVT", "", ("v1",), ("v0",), I16, to=U8)
    memory = run(
        (load("v0", mem(0, dtype=I16)), narrow, store("v1", mem(512, dtype=I8, dist="pk"))),
        np.array([0, 1, 126, 127, 0, 0, 0, 0], np.int16),
    )
    assert stored(memory, 512, I8, 4) == [0, 1, 126, 127]


def test_mask_images_split_and_join_in_lane_order() -> None:
    bits = np.array([0b1010_0101, 0b0000_1111], np.uint8)
    nodes = (
        VregUop("PLDS", "", ("p0", "p1"), (), U8, mem(0, dtype=U8, lanes=16, dist="bits")),
        VregUop("VDUP", "", ("v0",), (), I32, scalar=1),
        VregUop("VDUP", "", ("v1",), (), I32, scalar=2),
        VregUop("VSEL", "", ("v2",), ("p0", "v0", "v1"), I32),
        VregUop("VSEL", "", ("v3",), ("p1", "v0", "v1"), I32),
        store("v2", mem(256)),
        store("v3", mem(288)),
        VregUop("PSTS", "", (), ("p1", "p0"), U8, mem(512, dtype=U8, lanes=16, dist="bits")),
    )
    memory = run(nodes, bits)
    assert stored(memory, 256, I32, 16) == [1, 2, 1, 2, 2, 1, 2, 1, 1, 1, 1, 1, 2, 2, 2, 2]
    assert stored(memory, 512, U8, 2) == [0b0000_1111, 0b1010_0101]


def test_a_compare_behind_the_last_lane_stores_zeros() -> None:
    tail = Tail(10, LANES)
    body = (
        load("v0", mem(0, 32)),
        VregUop("VCMPS", "", ("p0",), ("v0",), I32, scalar=-1, effect="gt", pred=tail),
        VregUop("PSTS", "", (), ("p0",), U8, mem(512, 1, dtype=U8, dist="bits")),
    )
    memory = run((VregLoop(2, body),), np.zeros(16, np.int32))
    assert stored(memory, 512, U8, 3) == [0xFF, 0b11, 0]
    assert written(memory) == {512, 513}


def test_stores_touch_only_the_lanes_that_are_on() -> None:
    tail = Tail(11, LANES)
    memory = run(
        (VregLoop(2, (load("v0", mem(0, 32)), store("v0", mem(512, 32), tail))),),
        np.arange(16, dtype=np.int32),
    )
    assert written(memory) == set(range(512, 512 + 44))


def test_a_loop_leaves_the_registers_of_its_last_iteration() -> None:
    nodes = (VregLoop(3, (load("v0", mem(0, 32)),)), store("v0", mem(512)))
    memory = run(nodes, np.arange(24, dtype=np.int32))
    assert stored(memory, 512, I32, 8) == list(range(16, 24))
