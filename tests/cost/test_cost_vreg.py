"""The rules of the vreg core, one by one and at both sides."""

import pytest
from vreg_programs import (
    TILE,
    barrier,
    cycles,
    dintlv,
    flat,
    loop,
    model,
    nest,
    op,
    time,
    vector_op,
    vlds,
    vsts,
)

from archsim.base.dtypes import F32, U8
from archsim.base.errors import InputError
from archsim.cost.vreg import UbBanks, vf_cycles
from archsim.isa.vreg import Tail, VectorFunction, VregMem, VregUop

STARTUP, DRAIN = 23, 12
PLAIN = ("vector.straight_line_saving_cycles=0", "vector.bank_conflicts=off")


def plain(*nodes, sets=()):
    """Cycles without bank conflicts and without the saving of straight lines."""
    return cycles(*nodes, sets=(*PLAIN, *sets))


def rows(timing):
    return {row.name: (row.count, row.start, row.end) for row in timing.uops}


# --- one function -----------------------------------------------------------------------------


def test_an_empty_function_pays_start_up_and_drain():
    assert cycles() == STARTUP + DRAIN
    assert cycles(loop(0, *vector_op("VADD", 2))) == STARTUP + DRAIN


def test_load_add_store_is_a_chain_of_forwardings():
    timing = time(*vector_op("VADD", 2), sets=PLAIN)
    assert rows(timing) == {"VLDS": (1, 23, 32), "VADD": (1, 29, 36), "VSTS": (1, 34, 43)}
    assert timing.cycles == 43 + DRAIN


@pytest.mark.parametrize(
    ("name", "latency"), [("VADD", 7), ("VMUL", 8), ("VMAX", 6), ("VPRELU", 7), ("VDIV", 17)]
)
def test_a_store_is_forwarded_two_cycles_before_the_result(name, latency):
    assert plain(*vector_op(name, 2)) == STARTUP + 6 + latency - 2 + 9 + DRAIN


@pytest.mark.parametrize(("form", "latency"), [("fp32", 16), ("fp16", 21), ("half", 21)])
def test_latency_depends_on_the_form(form, latency):
    assert plain(*vector_op("VEXP", 1, form=form)) == STARTUP + 6 + latency - 2 + 9 + DRAIN


def test_start_up_and_drain_move_with_their_parameters():
    body = vector_op("VADD", 2)
    assert plain(*body, sets=("vector.startup_cycles=30",)) == plain(*body) + 7
    assert plain(*body, sets=("vector.drain_cycles=0",)) == plain(*body) - 12
    assert plain(*body, sets=("uops.VADD.latency_cycles=9",)) == plain(*body) + 2


def test_what_has_no_loop_saves_a_cycle_if_all_computes_are_alu():
    sets = ("vector.bank_conflicts=off",)
    assert cycles(*vector_op("VMINS", 1), sets=sets) == plain(*vector_op("VMINS", 1)) - 1
    assert cycles(*vector_op("VEXP", 1), sets=sets) == plain(*vector_op("VEXP", 1))
    assert cycles(flat("VMINS", 1, 2, post=False), sets=sets) == plain(
        flat("VMINS", 1, 2, post=False)
    )


def test_a_broadcast_costs_more_without_a_loop():
    once = op("VBR", "v8")
    body = (vlds("v0"), op("VDIV", "v1", "v0", "v8"), vsts("v1"))
    assert plain(once, *body) == plain(*vector_op("VDIV", 1)) + 2
    assert plain(once, loop(2, *body)) == plain(loop(2, *body))


# --- rows of the table ------------------------------------------------------------------------


def test_a_micro_op_without_a_row_is_refused():
    with pytest.raises(InputError) as error:
        cycles(op("VAD", "v1", "v0"), loop(2, op("XYZ", "v2", "v1")))
    assert str(error.value) == (
        "vector micro-op VAD has no row in `uops`; every micro-op needs one\n"
        '  did you mean "VADD"?\n'
        "vector micro-op XYZ has no row in `uops`; every micro-op needs one"
    )


def test_predicates_are_free():
    masks = (VregUop("PSET", "", ("p1",), (), U8), VregUop("PAND", "", ("p2",), ("p1", "p0"), U8))
    body = vector_op("VADD", 2, 256)
    tail = Tail(100, 64)
    masked = tuple(VregUop(u.op, u.form, u.dst, u.src, F32, u.mem, pred=tail) for u in body)
    assert time(loop(9, *masks, *masked)).cycles == time(loop(9, *body)).cycles
    assert [row.name for row in time(*masks, *masked).uops] == ["VLDS", "VLDS", "VADD", "VSTS"]


def test_a_mask_image_is_an_access():
    def image(name, dst, src):
        return VregUop(name, "", dst, src, U8, VregMem(2 * TILE, (32,), U8, 256, "bits"))

    compare = op("VCMPS", "p0", "v0")
    timing = time(loop(2, vlds("v0"), compare, image("PSTS", (), ("p0",))), sets=PLAIN)
    assert rows(timing)["PSTS"] == (2, 23 + 6 + 4, 23 + 6 + 4 + 1 + 9)
    select = VregUop("VSEL", "fp32", ("v2",), ("p0", "v0", "v0"), F32)
    three = loop(40, vlds("v0"), vlds("v1"), image("PLDS", ("p0",), ()), select, vsts("v2"))
    two = loop(40, vlds("v0"), vlds("v1"), select, vsts("v2"))
    assert plain(three) - plain(two) == pytest.approx(40 / 2, abs=2)


def test_unused_forms_fall_back_to_the_row():
    assert plain(*vector_op("VADD", 2, form="bf16")) == plain(*vector_op("VADD", 2))


# --- dispatch and loops -----------------------------------------------------------------------


def test_one_iteration_a_cycle():
    assert plain(flat("VMINS", 1, 9, post=False)) == plain(*vector_op("VMINS", 1)) + 8
    wide = ("vector.iteration_stride_cycles=3",)
    assert plain(flat("VMINS", 1, 9, post=False), sets=wide) == plain(*vector_op("VMINS", 1)) + 24


@pytest.mark.parametrize(("computes", "more"), [(3, 10), (4, 12)])
def test_dispatch_width(computes, more):
    """A load, a store and some independent computes: five micro-ops go in a cycle."""
    body = (vlds("v0"), *(op("VMUL", f"v{k}", "v0") for k in range(1, computes + 1)), vsts("v1"))
    sets = ("vector.execution_ports=4", "vector.physical_registers=500")
    first, later = (plain(loop(n, *body), sets=sets) for n in (20, 30))
    assert later - first == more


@pytest.mark.parametrize(("inner", "period"), [(2, 7), (3, 8), (10, 15)])
def test_rows_of_a_nest(inner, period):
    """max(7, inner + 5): the row's shortest period, or its dispatch and the loop-back."""
    ten, twenty = (plain(nest("VMINS", 1, rows, inner, 4096)) for rows in (10, 20))
    assert twenty - ten == 10 * period


@pytest.mark.parametrize(("inner", "period"), [(3, 8), (4, 8), (5, 9), (10, 14)])
def test_rows_of_a_post_update_nest(inner, period):
    def function(rows):
        return loop(rows, loop(inner, *vector_op("VMINS", 1, 4096, 256), post_update=True))

    assert plain(function(20)) - plain(function(10)) == 10 * period


def test_a_nest_of_single_iterations_is_flat():
    assert plain(nest("VMINS", 1, 9, 1, 4096)) == plain(flat("VMINS", 1, 9, post=False))


def test_post_update_delays_a_flat_loop_by_each_load():
    for name, inputs in (("VMINS", 1), ("VADD", 2)):
        without = plain(flat(name, inputs, 5, post=False))
        assert plain(flat(name, inputs, 5)) == without + inputs
        assert plain(flat(name, inputs, 1)) == plain(flat(name, inputs, 1, post=False))


def test_the_next_top_loop_opens_behind_the_last_dispatch():
    first = flat("VMINS", 1, 5, post=False)
    start = [
        min(row.start for row in time(first, second, sets=PLAIN).uops[3:])
        for second in (flat("VMINS", 1, 4, post=False), nest("VMINS", 1, 2, 4, 4096))
    ]
    # last dispatch at 21 + 4, the loop opens 2 later, the load starts 2 after its dispatch
    assert start == [21 + 4 + 2 + 2, 21 + 4 + 2 + 2 + 1]


def test_a_double_load_takes_two_strides_and_one_place():
    def body(load):
        return (*load, op("VCVT", "v2", "v0", form="f32_to_f16"), vsts("v2"))

    double = body((dintlv("v0", "v1", 0, 512),))
    ten, twenty = (plain(loop(n, *double)) for n in (10, 20))
    assert twenty - ten == 20
    row = time(loop(10, *double), sets=PLAIN).uops[0]
    assert (row.name, row.count, row.slots) == ("VLDS", 10, 20)


# --- registers --------------------------------------------------------------------------------


def test_registers_bound_the_iterations_in_flight():
    """An exponential keeps its register until it is stored and overwritten."""
    body = flat("VEXP", 1, 60, post=False)
    enough = plain(body, sets=("vector.physical_registers=200",))
    assert plain(body, sets=("vector.physical_registers=12",)) > enough
    assert plain(body, sets=("vector.physical_registers=400",)) == enough


def test_too_few_registers_are_an_error_not_a_hang():
    body = (vlds("v0"), vlds("v1"), op("VADD", "v2", "v0", "v1"), vsts("v2"))
    with pytest.raises(InputError) as error:
        cycles(*body, sets=("vector.physical_registers=1",))
    assert str(error.value) == (
        "vector.physical_registers is 1; "
        "the values that one vector function keeps at a time must fit"
    )
    assert cycles(*body, sets=("vector.physical_registers=3",)) > 0


def test_an_accumulator_is_a_chain():
    """Each addition waits for the one before: forwarding of 3 cycles from add to add."""
    body = (vlds("v0"), op("VADD", "v9", "v9", "v0"))
    ten, twenty = (plain(op("VBR", "v9"), loop(n, *body), vsts("v9")) for n in (10, 20))
    assert twenty - ten == 30
    loose = ("vector.loop_carried_values=false",)
    ten, twenty = (plain(op("VBR", "v9"), loop(n, *body), vsts("v9"), sets=loose) for n in (10, 20))
    assert twenty - ten == 10


# --- ports ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("form", "interval"), [("fp32", 4), ("fp16", 8)])
def test_exponentials_alternate_between_two_ports(form, interval):
    hundred, more = (plain(flat("VEXP", 1, n, form=form)) for n in (100, 120))
    assert more - hundred == 20 * interval // 2


def test_ports_are_bound_in_program_order():
    """Root and division take turns: each port has one kind, in steps of its own interval."""
    body = (vlds("v0"), op("VSQRT", "v1", "v0"), op("VDIV", "v2", "v8", "v1"), vsts("v2"))
    hundred, more = (plain(op("VDUP", "v8"), loop(n, *body)) for n in (100, 120))
    assert more - hundred == 20 * 4


def test_pinned_micro_ops_share_the_first_port():
    """Two of them start one after the other, two that may use any port start together."""
    for name, apart in (("VCPADD", 1), ("VADD", 0)):
        pair = (op(name, "v1", "v0"), op(name, "v2", "v0"))
        starts = [row.start for row in time(vlds("v0"), *pair, sets=PLAIN).uops[1:]]
        assert starts[1] - starts[0] == apart


def test_issue_distance_between_kinds():
    """A shorter latency right behind a longer one on one port waits for the write-back slot."""

    def gap(first, then):
        timing = time(
            vlds("v0"),
            op(first, "v1", "v0"),
            op(then, "v2", "v0"),
            sets=(
                *PLAIN,
                "vector.execution_ports=1",
            ),
        )
        starts = [row.start for row in timing.uops[1:]]
        return starts[1] - starts[0]

    assert gap("VADD", "VADD") == 1
    assert gap("VADD", "VMAX") == 2
    assert gap("VEXP", "VEXP") == 4
    assert gap("VEXP", "VDIV") == 6


def test_in_flight_limit():
    """Seven in flight on a port: a latency of 40 allows seven starts in 40 cycles."""
    sets = (
        "vector.execution_ports=1",
        "uops.VADD.latency_cycles=40",
        "vector.physical_registers=600",
    )
    hundred, more = (plain(flat("VADD", 1, n), sets=sets) for n in (105, 140))
    assert more - hundred == 35 * 40 // 7


# --- memory -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("loads", "period"), [(2, 1), (3, 1.5), (4, 2)])
def test_two_loads_a_cycle(loads, period):
    body = tuple(vlds(f"v{k}", k * 256) for k in range(loads))
    hundred, more = (plain(loop(n, *body)) for n in (100, 120))
    assert more - hundred == 20 * period


def test_one_store_a_cycle():
    body = (vlds("v0"), vsts("v0"), vsts("v0", TILE))
    hundred, more = (plain(loop(n, *body)) for n in (100, 120))
    assert more - hundred == 40
    sets = ("vector.store_ports=2",)
    hundred, more = (plain(loop(n, *body), sets=sets) for n in (100, 120))
    assert more - hundred == 20


@pytest.mark.parametrize(
    ("other", "later"),
    [(TILE, 1), (TILE + 128, 1), (TILE + 256, 0), (TILE + 511, 0), (TILE + 512, 1), (0, 0)],
)
def test_two_loads_meet_in_a_bank_by_bit_8_of_their_start(other, later):
    """The same address counts once."""
    timing = time(vlds("v0", 0), vlds("v1", other))
    assert [row.start for row in timing.uops] == [23, 23 + later]
    assert timing.stalls["bank"] == later


def test_a_load_turned_away_holds_back_younger_ones():
    timing = time(vlds("v0", 0), vlds("v1", TILE), vlds("v2", 256))
    assert [row.start for row in timing.uops] == [23, 24, 24]


@pytest.mark.parametrize(("places", "late"), [((), 0), ((256,), 0), ((0,), 1), ((0, 256), 1)])
def test_a_store_yields_to_loads(places, late):
    """The store to bank 0 is ready at 29 and meets loads of that cycle: none, one in the other
    bank, one in its own, two that fill the bank groups."""
    loads = tuple(vlds(f"v{k + 1}", TILE + at) for k, at in enumerate(places))
    # no load before cycle 29: 29 - 2 is a dispatch, and each cycle dispatches three micro-ops
    idle = tuple(op("VDUP", f"v{k + 5}") for k in range(16))
    sets = ("vector.dispatch_width=3", "vector.dispatch_window=3")
    timing = time(vlds("v0"), vsts("v0", 2 * TILE), *idle, *loads, sets=sets)
    names = [(row.name, row.start) for row in timing.uops if row.name in ("VLDS", "VSTS")]
    assert names == [("VLDS", 23), ("VSTS", 29 + late), *[("VLDS", 29)] * len(places)]


def test_wider_vectors_take_more_banks():
    pair = (vlds("v0", 0), vlds("v1", TILE + 256))
    assert [row.start for row in time(*pair).uops] == [23, 23]
    assert [row.start for row in time(*pair, sets=("vector.width_bytes=512",)).uops] == [23, 24]


def test_a_barrier_between_stores():
    """9 cycles of a store and 3 more to the next."""
    body = (vlds("v0", 0, 256), barrier("vst_vst"), vsts("v0", TILE, 256))
    hundred, more = (cycles(loop(n, *body)) for n in (100, 120))
    assert more - hundred == 20 * 12


def test_a_barrier_between_a_store_and_the_next_load():
    """A chain through memory: load to store 6, the store 9, the barrier 3."""
    body = (vlds("v0", 0, 256), vsts("v0", TILE, 256), barrier("vst_vld"))
    hundred, more = (cycles(loop(n, *body)) for n in (100, 120))
    assert more - hundred == 20 * 18


# --- accounting -------------------------------------------------------------------------------


def test_rows_count_iterations_and_carry_a_basis():
    timing = time(op("VBR", "v9"), nest("VADD", 2, 4, 3, 1024))
    assert [(row.name, row.count) for row in timing.uops] == [
        ("VBR", 1),
        ("VLDS", 12),
        ("VLDS", 12),
        ("VADD", 12),
        ("VSTS", 12),
    ]
    assert {row.basis for row in timing.uops} == {"fitted"}
    assert max(row.end for row in timing.uops) + DRAIN == timing.cycles
    assert (
        time(*vector_op("VADD", 2), sets=("uops.VADD.latency_cycles=9",)).uops[2].basis
        == "override"
    )


def test_stalls_of_dispatch_fill_the_time_to_the_last_dispatch():
    timing = time(flat("VEXP", 1, 200, post=False), sets=PLAIN)
    causes = ("width", "loop_start", "iteration", "registers", "queue")
    assert timing.stalls["registers"] + timing.stalls["queue"] > 100
    assert timing.stalls["port"] > 300
    assert (timing.stalls["startup"], timing.stalls["drain"]) == (STARTUP, DRAIN)
    assert sum(timing.stalls[cause] for cause in causes) < timing.cycles
    assert timing.stalls["bank"] == 0


def test_the_plain_function_keeps_its_models():
    cost = model("a5")
    vf = VectorFunction(vector_op("VADD", 2))
    first = vf_cycles(vf, cost.vector, cost.uops, UbBanks(8, 2))
    assert first is vf_cycles(vf, cost.vector, cost.uops, UbBanks(8, 2))
    assert first.cycles == 55
    assert vf_cycles(vf, cost.vector, cost.uops, UbBanks(8, 4)).cycles == 55
