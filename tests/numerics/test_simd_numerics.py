"""simd micro-ops on memory against the naive model, and what masks and strides mean by hand."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_simd import NaiveCore

from archsim.base.dtypes import F32, I16, I32, U8, U32, DType
from archsim.isa.lanes.state import NumericState
from archsim.isa.operands import Region
from archsim.isa.simd import FULL, Access, Barrier, Control, Mask, RowLoop, SimdUop
from archsim.numerics.execute import execute
from archsim.numerics.memory import Memory

STATE = NumericState()
UB_BYTES = 8192


def memory_with(data: bytes) -> Memory:
    memory = Memory({"UB": len(data)}, 0)
    array = np.frombuffer(data, np.uint8).reshape(1, -1)
    # Below the marks: nothing counts as written yet.
    memory.view("UB", 0, np.dtype(np.uint8), array.shape, (len(data), 1))[...] = array
    return memory


def ub(memory: Memory) -> bytes:
    size = memory.sizes["UB"]
    return memory.read(Region("UB", 0, 1, size, size)).tobytes()


def written(memory: Memory) -> set[int]:
    size = memory.sizes["UB"]
    marks = memory.written(Region("UB", 0, 1, size, size))[0]
    return {int(at) for at in np.flatnonzero(marks)}


def run_both(work: tuple[RowLoop, ...], seed: int) -> None:
    """The fast and the naive model on the same bytes; nothing changes before the results apply."""
    data = np.random.default_rng(seed).integers(0, 256, UB_BYTES, dtype=np.uint8).tobytes()
    naive = NaiveCore(data)
    naive.run(work)
    memory = memory_with(data)
    effects = execute(work, memory, 0, STATE)
    assert ub(memory) == data
    effects.apply()
    assert ub(memory) == bytes(naive.ub)
    assert written(memory) == naive.written


@st.composite
def accesses(
    draw: st.DrawFn, dtype: DType, lanes: int, *, is_dst: bool = False, bits: bool = False
) -> Access:
    natural = lanes // 8 if bits else lanes * dtype.itemsize
    addr = 32 * draw(st.integers(0, 40))
    repeat_stride = draw(st.sampled_from([natural, natural, natural // 2, 512, 0]))
    row_stride = draw(st.sampled_from([1024, 1024, 512, 256, natural, 0]))
    blocks = [32, 32, 64] if is_dst else [32, 32, 64, 0]
    block_stride = 32 if bits else draw(st.sampled_from(blocks))
    return Access(addr, dtype, block_stride, repeat_stride, row_stride, bits)


SHAPES = {
    # name: (destination type, source types); "bits" is a packed mask
    "vadd": (I32, (I32, I32)),
    "vmax": (I16, (I16, I16)),
    "vadds": (I32, (I32,)),
    "vector_dup": (U32, ()),
    "copy_ubuf_to_ubuf": (I16, (I16,)),
    "vconv_s322s16": (I16, (I32,)),
    "vconv_s162f32": (F32, (I16,)),
    "vsel": (I32, ("bits", I32, I32)),
    "vcmpvs_eq": ("bits", (I32,)),
    "vcadd": (I32, (I32,)),
    "vcgadd": (I16, (I16,)),
    "vcpadd": (I32, (I32,)),
    "vbrcb": (I16, (I16,)),
}
MIXED = {"vcadd": (1, 0), "vcgadd": (8, 0), "vcpadd": (32, 0), "vbrcb": (0, 8)}  # lanes: dst, src


@st.composite
def uops(draw: st.DrawFn) -> SimdUop:
    name = draw(st.sampled_from(sorted(SHAPES)))
    to, sources = SHAPES[name]
    types = [t for t in (to, *sources) if t != "bits"]
    widest = max(types, key=lambda t: t.itemsize)
    lanes = 256 // widest.itemsize
    repeat = draw(st.integers(1, 3))
    mask = draw(
        st.one_of(
            st.just(FULL),
            st.integers(1, lanes).map(lambda n: Mask("partial", n)),
            st.integers((repeat - 1) * lanes + 1, repeat * lanes).map(lambda n: Mask("count", n)),
        )
    )

    def access(kind: DType | str, is_dst: bool) -> Access:
        if kind == "bits":
            return draw(accesses(U8, lanes, is_dst=is_dst, bits=True))
        return draw(accesses(kind, lanes, is_dst=is_dst))

    scalar = (
        draw(st.sampled_from([0, 1, -1, 77])) if name[-1] in "sq" or name == "vector_dup" else None
    )
    step = draw(st.sampled_from([0, 32])) if name == "vector_dup" else 0
    srcs = tuple(access(kind, False) for kind in sources)
    dst = access(to, True)
    if name in MIXED:
        own, read = MIXED[name]
        near = draw(st.sampled_from([dst.repeat_stride, dst.dtype.itemsize * max(own, 1)]))
        dst = replace(dst, lanes=own, repeat_stride=near)
        srcs = tuple(replace(src, lanes=read) for src in srcs)
        mask = FULL if read else mask
    return SimdUop(name, widest, lanes, repeat, mask, dst, srcs, scalar, step)


@settings(max_examples=200, deadline=None)
@given(
    rows=st.integers(1, 4), body=st.lists(uops(), min_size=1, max_size=3), seed=st.integers(0, 9)
)
def test_any_row_loop_gives_the_bytes_of_the_naive_model(
    rows: int, body: list[SimdUop], seed: int
) -> None:
    run_both((RowLoop(rows, (*body[:1], Barrier(), Control("set_mask_norm"), *body[1:])),), seed)


@st.composite
def tile_loops(draw: st.DrawFn) -> RowLoop:
    """Chains over a few tiles of one pitch, as lowering makes them: mostly independent rows."""
    pitch = draw(st.sampled_from([256, 288, 512]))
    tiles = [0, 2048, 4096, 6144]

    def plane(dtype: DType) -> Access:
        return Access(draw(st.sampled_from(tiles)), dtype, row_stride=pitch)

    kinds = draw(st.lists(st.sampled_from(["vadd", "vadds", "vector_dup"]), min_size=1, max_size=4))
    mask = draw(st.one_of(st.just(FULL), st.integers(1, 64).map(lambda n: Mask("partial", n))))
    body = tuple(
        SimdUop(k, I32, 64, 1, mask, plane(I32), tuple(plane(I32) for _ in range(n)), 5)
        for k, n in ((k, {"vadd": 2, "vadds": 1, "vector_dup": 0}[k]) for k in kinds)
    )
    return RowLoop(draw(st.integers(1, 4)), body)


@settings(max_examples=100, deadline=None)
@given(loops=st.lists(tile_loops(), min_size=1, max_size=2), seed=st.integers(0, 9))
def test_chains_over_tiles_give_the_bytes_of_the_naive_model(
    loops: list[RowLoop], seed: int
) -> None:
    run_both(tuple(loops), seed)


def uop(
    name: str = "vadds",
    dtype: DType = I32,
    *,
    dst: Access | None = None,
    srcs: tuple[Access, ...] | None = None,
    repeat: int = 2,
    mask: Mask = FULL,
    scalar: int | None = 1,
    scalar_step: int = 0,
) -> SimdUop:
    return SimdUop(
        name,
        dtype,
        256 // dtype.itemsize,
        repeat,
        mask,
        dst or Access(4096, dtype),
        (Access(0, dtype),) if srcs is None else srcs,
        scalar,
        scalar_step,
    )


MASKS = [
    (FULL, set(range(4096, 4608))),
    (Mask("partial", 3), {*range(4096, 4108), *range(4352, 4364)}),
    (Mask("count", 65), set(range(4096, 4356))),
    (Mask("count", 128), set(range(4096, 4608))),
    (Mask("count", 64), set(range(4096, 4352))),
    (Mask("count", 1), set(range(4096, 4100))),
]


@pytest.mark.parametrize(("mask", "want"), MASKS)
def test_masks_leave_other_lanes_alone(mask: Mask, want: set[int]) -> None:
    memory = memory_with(bytes(UB_BYTES))
    execute((uop(mask=mask),), memory, 0, STATE).apply()
    assert written(memory) == want
    changed = {at for at, byte in enumerate(ub(memory)) if byte}
    assert changed == {at for at in want if at % 4 == 0}


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_a_place_that_all_rows_write_keeps_the_last_rows_value(rows: int) -> None:
    memory = memory_with(bytes(UB_BYTES))
    words = Access(4096, U32)
    point = uop(
        "vector_dup",
        U32,
        dst=words,
        srcs=(),
        repeat=1,
        mask=Mask("count", 2),
        scalar=0x100,
        scalar_step=0x40,
    )
    execute((RowLoop(rows, (point,)),), memory, 0, STATE).apply()
    got = memory.read(Region("UB", 4096, 1, 12, 12)).view(np.uint32)[0]
    assert got.tolist() == [0x100 + 0x40 * (rows - 1)] * 2 + [0]


def test_rows_of_one_dup_may_each_have_their_own_scalar() -> None:
    memory = memory_with(bytes(UB_BYTES))
    words = Access(4096, U32, row_stride=32)
    point = uop(
        "vector_dup",
        U32,
        dst=words,
        srcs=(),
        repeat=1,
        mask=Mask("count", 2),
        scalar=0x100,
        scalar_step=0x40,
    )
    execute((RowLoop(3, (point,)),), memory, 0, STATE).apply()
    got = memory.read(Region("UB", 4096, 3, 8, 32)).view(np.uint32)
    assert got.tolist() == [[0x100] * 2, [0x140] * 2, [0x180] * 2]


def test_a_scratch_that_every_row_fills_and_reads_is_each_rows_own() -> None:
    data = np.arange(UB_BYTES // 4, dtype=np.int32)
    held = Access(4096, I32)
    to_scratch = uop(dst=held, srcs=(Access(0, I32, row_stride=256),), repeat=1, scalar=100)
    back = uop(dst=Access(6144, I32, row_stride=256), srcs=(held,), repeat=1, scalar=1000)
    memory = memory_with(data.tobytes())
    execute((RowLoop(3, (to_scratch, Barrier(), back)),), memory, 0, STATE).apply()
    got = memory.read(Region("UB", 6144, 3, 256, 256)).view(np.int32)
    assert (got == data[: 3 * 64].reshape(3, 64) + 1100).all()


def test_a_block_stride_of_zero_repeats_one_block() -> None:
    data = np.arange(UB_BYTES // 4, dtype=np.int32)
    memory = memory_with(data.tobytes())
    row = uop(repeat=1, srcs=(Access(64, I32, block_stride=0),), scalar=0)
    execute((row,), memory, 0, STATE).apply()
    got = memory.read(Region("UB", 4096, 1, 256, 256)).view(np.int32)[0]
    assert got.tolist() == list(range(16, 24)) * 8


def test_a_conversion_may_narrow_in_place() -> None:
    data = np.arange(UB_BYTES // 4, dtype=np.int32)
    memory = memory_with(data.tobytes())
    narrow = SimdUop(
        "vconv_s322s16", I32, 64, 4, FULL, Access(0, I16, repeat_stride=128), (Access(0, I32),)
    )
    execute((narrow,), memory, 0, STATE).apply()
    assert memory.read(Region("UB", 0, 1, 512, 512)).view(np.int16)[0].tolist() == list(range(256))


def test_the_effect_word_decides_how_a_narrowing_cuts() -> None:
    memory = memory_with(np.full(2048, 70000, np.int32).tobytes())
    results = []
    for effect in ("", "sat", "wrap"):
        narrow = SimdUop(
            "vconv_s322s16", I32, 64, 1, FULL, Access(4096, I16), (Access(0, I32),), effect=effect
        )
        execute((narrow,), memory, 0, STATE).apply()
        results.append(int(memory.read(Region("UB", 4096, 1, 2, 2)).view(np.int16)[0, 0]))
    assert results == [32767, 32767, 4464]
