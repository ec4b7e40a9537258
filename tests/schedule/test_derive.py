"""Derived waits, against the rule spelled out on plain byte sets."""

from hypothesis import given
from hypothesis import strategies as st

from archsim.isa.operands import Region
from archsim.isa.pipes import Pipe
from archsim.schedule.derive import Derivation, Needs

PIPES = (Pipe.MTE2, Pipe.V, Pipe.MTE3)


def run(addr: int, size: int = 32, memory: str = "UB") -> Region:
    return Region(memory, addr, 1, size, size)


def derive(
    *instrs: tuple[Pipe, list[Region], list[Region]], streaming: bool = True, ids: int = 8
) -> tuple[list[Needs], Derivation]:
    derivation = Derivation(frozenset({Pipe.V} if streaming else ()), ids)
    needs = [
        derivation.needs(i, pipe, reads, writes, 0)
        for i, (pipe, reads, writes) in enumerate(instrs)
    ]
    return needs, derivation


def test_read_after_write_waits_for_the_writer() -> None:
    needs, _ = derive((Pipe.MTE2, [], [run(0)]), (Pipe.V, [run(0)], [run(64)]))
    assert needs[1] == Needs(((Pipe.MTE2, 0),), False)


def test_only_the_latest_of_a_pipe_is_waited_for() -> None:
    needs, _ = derive(
        (Pipe.MTE2, [], [run(0)]),
        (Pipe.MTE2, [], [run(32)]),
        (Pipe.V, [run(0), run(32)], [run(64)]),
    )
    assert needs[2].waits == ((Pipe.MTE2, 1),)


def test_write_after_read_and_write_after_write_wait_across_pipes() -> None:
    needs, _ = derive(
        (Pipe.V, [run(0)], [run(64)]), (Pipe.MTE2, [], [run(0)]), (Pipe.MTE2, [], [run(64)])
    )
    assert needs[1].waits == ((Pipe.V, 0),)
    assert needs[2].waits == ()  # the first wait told MTE2 already


def test_what_a_third_pipe_told_is_not_waited_for_again() -> None:
    needs, _ = derive(
        (Pipe.MTE2, [], [run(0)]),
        (Pipe.V, [run(0)], [run(64)]),
        (Pipe.MTE3, [run(64), run(0)], [run(0, memory="GM")]),
    )
    assert needs[2].waits == ((Pipe.V, 1),)


def test_a_streaming_pipe_needs_a_barrier_for_read_after_write_only() -> None:
    chain = ((Pipe.V, [run(0)], [run(64)]), (Pipe.V, [run(64)], [run(128)]))
    assert [n.barrier for n in derive(*chain)[0]] == [False, True]
    assert [n.barrier for n in derive(*chain, streaming=False)[0]] == [False, False]
    again = ((Pipe.V, [run(64)], [run(0)]), (Pipe.V, [run(128)], [run(64)]))  # war
    assert [n.barrier for n in derive(*again)[0]] == [False, False]


def test_one_barrier_serves_all_that_stood_before_it() -> None:
    needs, _ = derive(
        (Pipe.V, [], [run(0)]),
        (Pipe.V, [], [run(32)]),
        (Pipe.V, [run(0)], [run(64)]),
        (Pipe.V, [run(32)], [run(96)]),
    )
    assert [n.barrier for n in needs] == [False, False, True, False]


def test_events_in_flight_are_counted_against_the_core() -> None:
    loads = [(Pipe.MTE2, [], [run(64 * i)]) for i in range(9)]
    uses = [(Pipe.V, [run(64 * i)], [run(4096 + 64 * i)]) for i in range(9)]
    _, fits = derive(*loads[:8], *uses[:8])
    assert fits.exhausted() == []
    _, full = derive(*loads, *uses)
    assert full.exhausted() == [(Pipe.MTE2, Pipe.V, 9, 8)]


@st.composite
def programs(draw: st.DrawFn) -> list[tuple[Pipe, list[Region], list[Region]]]:
    slots = st.lists(st.integers(0, 5).map(lambda s: run(32 * s)), max_size=2)
    return draw(st.lists(st.tuples(st.sampled_from(PIPES), slots, slots), max_size=14))


@given(programs())
def test_every_conflict_across_pipes_is_ordered(
    instrs: list[tuple[Pipe, list[Region], list[Region]]],
) -> None:
    """Transitive closure of waits and pipe order, computed the slow way, covers every conflict."""
    needs, _ = derive(*instrs)
    before: list[set[int]] = []
    for i, (pipe, reads, writes) in enumerate(instrs):
        known = {a for _, a in needs[i].waits}
        known |= {a for a in range(i) if instrs[a][0] is pipe}
        for a in list(known):
            known |= before[a]
            known |= {j for j in range(a) if instrs[j][0] is instrs[a][0]}
        before.append(known)
        for a in range(i):
            other_reads, other_writes = instrs[a][1], instrs[a][2]
            conflict = set(writes) & set(other_reads + other_writes) or set(reads) & set(
                other_writes
            )
            assert not conflict or a in known
