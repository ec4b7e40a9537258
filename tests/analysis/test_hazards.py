"""Races: which pairs are told, in which direction, once."""

from archsim.analysis.hazards import Races
from archsim.base.source import Source, Span
from archsim.engine.jobs import Job, Work, no_values
from archsim.isa.operands import Region
from archsim.isa.pipes import Pipe

SOURCE = Source.of("x.yaml", "")
TILE = Region("UB", 0x1000, 1, 64, 64)
NOTHING = [0] * len(Pipe)


def job(id: int, op: str, pipe: Pipe, reads: tuple[Region, ...], writes: tuple[Region, ...]) -> Job:
    made = Job("instr", pipe, Span(SOURCE, 10 + id, 1), id)
    made.work = Work(op, pipe, None, no_values, reads, writes)
    made.gm_addr = 0
    return made


LOAD = job(1, "TLOAD", Pipe.MTE2, (), (TILE,))
USE = job(2, "TEXP", Pipe.V, (TILE,), ())


def known(pipe: Pipe, sequence: int) -> list[int]:
    found = NOTHING.copy()
    found[list(Pipe).index(pipe)] = sequence
    return found


def test_an_ordered_pair_is_no_race_and_one_short_is() -> None:
    ordered, short = Races(frozenset()), Races(frozenset())
    for races in (ordered, short):
        races.started(LOAD, 1, NOTHING)
    ordered.started(USE, 1, known(Pipe.MTE2, 1))
    assert ordered.findings == []
    short.started(USE, 1, NOTHING)
    (finding,) = short.findings
    assert (finding.hazard, finding.where) == ("raw", ("x.yaml:12", "x.yaml:11"))
    assert finding.message == (
        "read after write: TEXP (id 2) on V and TLOAD (id 1) on MTE2 both touch "
        "UB 0x1000..0x1040; no flag from MTE2 to V orders them"
    )


def test_the_pair_is_told_in_program_order_whoever_started_first() -> None:
    early, late = Races(frozenset()), Races(frozenset())
    late.started(USE, 1, NOTHING)
    late.started(LOAD, 1, NOTHING)
    early.started(LOAD, 1, NOTHING)
    early.started(USE, 1, NOTHING)
    assert late.findings == early.findings


def test_a_pair_of_places_is_told_once() -> None:
    races = Races(frozenset())
    for round_ in range(3):
        races.started(LOAD, 1 + round_, NOTHING)
        races.started(USE, 1 + round_, NOTHING)
    assert [f.hazard for f in races.findings] == ["raw"]


def test_two_reads_are_no_race() -> None:
    races = Races(frozenset())
    races.started(job(1, "TSTORE", Pipe.MTE3, (TILE,), ()), 1, NOTHING)
    races.started(USE, 1, NOTHING)
    assert races.findings == []


def test_one_pipe_races_with_itself_only_where_it_streams() -> None:
    write, read = job(1, "TADD", Pipe.V, (), (TILE,)), USE
    for streaming, told in ((frozenset({Pipe.V}), ["raw"]), (frozenset[Pipe](), [])):
        races = Races(streaming)
        races.started(write, 1, NOTHING)
        races.started(read, 2, NOTHING)
        assert [f.hazard for f in races.findings] == told
