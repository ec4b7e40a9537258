"""Jumping over periods changes nothing but the work: cycles, windows and counters stay the same."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vreg_programs import PUBLIC, barrier, cycles, flat, loop, model, nest, op, vlds, vsts

from archsim.cost.vreg import skip
from archsim.cost.vreg.core import Core
from archsim.cost.vreg.program import canonical
from archsim.cost.vreg.skip import Skipper
from archsim.isa.vreg import VectorFunction, VregNode

ONE_INPUT = ("VEXP", "VADDS", "VMULS", "VMAXS", "VABS", "VCMAX", "VCVT")
TWO_INPUTS = ("VADD", "VMUL", "VMAX", "VDIV", "VSEL", "VAND")
ADDRESSES = st.sampled_from([0, 128, 256, 384, 1 << 16])
STEPS = st.sampled_from([0, 32, 128, 256, 512, 640])


@st.composite
def bodies(draw, depth: int, carries: bool) -> tuple[VregNode, ...]:
    """Loads, computes that may read anything before them, stores, now and then a barrier."""

    def steps() -> list[int]:
        return [draw(STEPS) for _ in range(depth)]

    registers = [f"v{k}" for k in range(draw(st.integers(1, 3)))]
    body: list[VregNode] = [vlds(name, draw(ADDRESSES), *steps()) for name in registers]
    if carries:
        registers.append("v50")
    for k in range(draw(st.integers(1, 6))):
        inputs = draw(st.integers(1, 2))
        name = draw(st.sampled_from(ONE_INPUT if inputs == 1 else TWO_INPUTS))
        sources = [draw(st.sampled_from(registers)) for _ in range(inputs)]
        target = "v50" if carries and draw(st.integers(0, 4)) == 0 else f"v{10 + k}"
        body.append(op(name, target, *sources, form=draw(st.sampled_from(["fp32", "fp16"]))))
        registers.append(target)
    stored = [draw(st.sampled_from(registers)) for _ in range(draw(st.integers(1, 2)))]
    body.extend(vsts(register, draw(ADDRESSES), *steps()) for register in stored)
    if draw(st.integers(0, 9)) == 0:
        body.append(barrier(draw(st.sampled_from(["vst_vst", "vst_vld", ""]))))
    return tuple(body)


# a core whose queues fill at once, so that short loops come to repeat
SMALL = (
    "vector.physical_registers=22",
    "vector.waiting_queue_entries=6",
    "vector.port_queue_entries=3",
)
SHAPES = [(60,), (40,), (30, 2), (20, 4), (4, 40), (3, 20, 2)]


@st.composite
def loops(draw) -> VregNode:
    """A nest of one to three loops; outer bodies may go on behind the inner loop."""
    shape = draw(st.sampled_from(SHAPES))
    depth = len(shape)
    carries, post = draw(st.booleans()), draw(st.booleans())
    node = None
    for longest in reversed(shape):
        iters = longest - draw(st.integers(0, longest // 3))
        if node is None:
            node = loop(iters, *draw(bodies(depth, carries)), post_update=post)
        else:
            after = [op("VADDS", "v60", "v60")] if draw(st.integers(0, 4)) == 0 else []
            sibling = [loop(3, *draw(bodies(1, False)))] if draw(st.integers(0, 6)) == 0 else []
            node = loop(iters, node, *sibling, *after)
    assert node is not None
    return node


@st.composite
def functions(draw) -> VectorFunction:
    """A broadcast and one or two nests."""
    tops = [draw(loops()) for _ in range(draw(st.integers(1, 2)))]
    return VectorFunction((op("VBR", "v50"), *tops))


def both_ways(vf: VectorFunction, chip: str, *sets: str):
    cost = model(chip, *sets)
    nodes = canonical(vf, cost.costs.unit, cost.period)
    return cost.simulate(nodes, skip=True), cost.simulate(nodes, skip=False)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(functions())
def test_skipping_is_exact(vf):
    jumped, walked = both_ways(vf, "a5", *SMALL)
    assert jumped == walked


@settings(max_examples=25, deadline=None, derandomize=True)
@given(functions())
def test_skipping_is_exact_where_ports_are_predicted(vf):
    jumped, walked = both_ways(vf, PUBLIC, *SMALL)
    assert jumped == walked


@settings(max_examples=40, deadline=None, derandomize=True)
@given(functions())
def test_the_state_alone_decides(vf):
    """Without hints every iteration is compared with one before it: the state must tell."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Skipper, "hint", lambda self, number: 0)
        patch.setattr(skip, "MULTIPLES", 24)
        patch.setattr(skip, "ATTEMPTS", 1 << 30)
        jumped, walked = both_ways(vf, "a5", *SMALL)
    assert jumped == walked


@pytest.mark.parametrize("chip", ["a5", PUBLIC])
def test_long_accumulation_is_exact(chip):
    body = (vlds("v0", 0, 256), op("VEXP", "v1", "v0"), op("VADD", "v9", "v9", "v1"))
    vf = VectorFunction((op("VBR", "v9"), loop(700, *body), vsts("v9")))
    jumped, walked = both_ways(vf, chip)
    assert jumped == walked


@pytest.fixture
def simulated(monkeypatch):
    """Counts the cycles that the core really goes through."""
    seen: list[int] = []
    cycle = Core.cycle

    def counted(core: Core, now: int) -> None:
        seen.append(now)
        cycle(core, now)

    monkeypatch.setattr(Core, "cycle", counted)
    return seen


def work(simulated: list[int], node: VregNode) -> int:
    """Simulated cycles of a function that no cache knows."""
    cost = model("a5")
    simulated.clear()
    cost.simulate(canonical(VectorFunction((node,)), cost.costs.unit, cost.period), skip=True)
    return len(simulated)


@pytest.mark.parametrize(("name", "inputs"), [("VADD", 2), ("VEXP", 1), ("VMINS", 1), ("VDIV", 2)])
def test_the_work_does_not_grow_with_the_trip_count(simulated, name, inputs):
    hundred = work(simulated, flat(name, inputs, 100))
    assert work(simulated, flat(name, inputs, 10_000)) <= 1.5 * hundred
    assert work(simulated, flat(name, inputs, 10_007)) <= 1.5 * hundred


@pytest.mark.parametrize("pitch", [512, 640, 5248])
def test_the_work_does_not_grow_with_the_rows(simulated, pitch):
    forty = work(simulated, nest("VADD", 2, 40, 3, pitch))
    assert work(simulated, nest("VADD", 2, 4000, 3, pitch)) <= 1.5 * forty


def test_a_long_loop_goes_on_at_its_rate():
    """Far into a loop each further period takes the same time."""
    periods = [cycles(flat("VADD", 2, n)) for n in (1000, 1800, 2600)]
    assert periods[2] - periods[1] == periods[1] - periods[0]


def test_equal_shapes_are_simulated_once(simulated):
    cost = model("a5", "vector.drain_cycles=13")
    here = VectorFunction((nest("VADD", 2, 4, 3, 1024),))
    moved = VectorFunction((loop(4, loop(3, *_moved(here, 512))),))
    elsewhere = VectorFunction((loop(4, loop(3, *_moved(here, 256))),))
    first = cost.time(here)
    once = len(simulated)
    assert cost.time(moved) == first
    assert len(simulated) == once
    cost.time(elsewhere)
    assert len(simulated) > once


def _moved(vf: VectorFunction, ahead: int) -> list[VregNode]:
    """The innermost body with all addresses shifted."""
    body = vf.nodes[0].body[0].body
    return [
        replace(uop, mem=replace(uop.mem, addr=uop.mem.addr + ahead)) if uop.mem else uop
        for uop in body
    ]
