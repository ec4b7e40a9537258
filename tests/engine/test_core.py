"""The engine's rules, one by one, with made-up work: what happens at t, and not at t - 1."""

from collections.abc import Iterable

import pytest

from archsim.analysis.critical_path import critical_path
from archsim.analysis.usage import pipe_usage
from archsim.engine.core import Core
from archsim.engine.deadlock import deadlock
from archsim.engine.jobs import Flag, Issued, Job, Work, no_values
from archsim.engine.models import SerialModel
from archsim.isa.pipes import Pipe
from archsim.trace.records import RunLog


class Script:
    """Builds jobs by hand: `load(10)` is ten ticks on MTE2."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.flags: dict[str, Flag] = {}

    def _add(self, kind: str, pipe: Pipe) -> Job:
        job = Job(kind, pipe, None, len(self.jobs))
        self.jobs.append(job)
        return job

    def run(self, pipe: Pipe, ticks: int, effect: object = None) -> Job:
        job = self._add("instr", pipe)
        job.work = Work("OP", pipe, ticks, effect or no_values)  # type: ignore[arg-type]
        job.gm_addr = 0
        return job

    def set(self, name: str, pipe: Pipe) -> Job:
        job = self._add("set", pipe)
        job.flag = self.flags.setdefault(name, Flag(name))
        return job

    def wait(self, name: str, pipe: Pipe) -> Job:
        job = self._add("wait", pipe)
        job.flag = self.flags.setdefault(name, Flag(name))
        return job

    def token(self, pipe: Pipe, producer: Job) -> Job:
        job = self._add("token", pipe)
        job.token = producer
        return job

    def barrier(self, pipe: Pipe) -> Job:
        return self._add("barrier", pipe)

    def barrier_all(self) -> None:
        for pipe in Pipe:
            self._add("all", pipe)


class Streaming(SerialModel):
    """Takes the next instruction `free` ticks after the one before it."""

    def __init__(self, free: int) -> None:
        super().__init__(lambda ticks: (ticks, ()))
        self.free = free

    def issue(self, work: Work, state: None, ready: int) -> tuple[Issued, None]:
        return Issued(0, 0, self.free, work.lowered, ()), None


def simulate(
    jobs: Iterable[Job],
    depth: int = 16,
    issue: int = 1,
    flag_ticks: int = 0,
    model: SerialModel | None = None,
) -> tuple[RunLog, Core]:
    serial = SerialModel(lambda ticks: (ticks, ()))
    models = {pipe: model if model and pipe is Pipe.V else serial for pipe in Pipe}
    log = RunLog(1, pipes=tuple(Pipe))
    core = Core(models, dict.fromkeys(Pipe, depth), issue, flag_ticks, log)
    core.run(jobs)
    critical_path(log)  # its law is checked inside
    pipe_usage(log)
    return log, core


def spans(log: RunLog) -> dict[int, tuple[int, int]]:
    return {record.id: (record.start, record.end) for record in log.records}


def test_an_instruction_starts_when_it_was_issued_and_not_before() -> None:
    s = Script()
    s.run(Pipe.MTE2, 10)
    s.run(Pipe.V, 5)
    assert spans(simulate(s.jobs)[0]) == {0: (1, 11), 1: (2, 7)}
    assert spans(simulate(s.jobs, issue=3)[0]) == {0: (3, 13), 1: (6, 11)}


def test_one_pipe_is_in_order_and_pipes_are_parallel() -> None:
    s = Script()
    s.run(Pipe.MTE2, 10)
    s.run(Pipe.MTE2, 10)
    s.run(Pipe.MTE3, 2)
    assert spans(simulate(s.jobs)[0]) == {0: (1, 11), 1: (11, 21), 2: (3, 5)}


@pytest.mark.parametrize("flag_ticks", [0, 1, 7])
def test_a_wait_ends_when_the_flag_is_set_and_not_before(flag_ticks: int) -> None:
    s = Script()
    s.run(Pipe.MTE2, 10)
    s.set("f", Pipe.MTE2)
    s.wait("f", Pipe.V)
    s.run(Pipe.V, 5)
    log, _ = simulate(s.jobs, flag_ticks=flag_ticks)
    assert spans(log)[3] == (11 + flag_ticks, 16 + flag_ticks)
    stall = log.stalls[-1]
    assert (stall.pipe, stall.cause, stall.start, stall.end) == (Pipe.V, "flag", 3, 11 + flag_ticks)
    assert stall.producer == 0


def test_a_flag_that_is_up_already_costs_nothing() -> None:
    s = Script()
    s.run(Pipe.MTE2, 1)
    s.set("f", Pipe.MTE2)
    s.run(Pipe.V, 20)
    s.wait("f", Pipe.V)
    s.run(Pipe.V, 5)
    log, _ = simulate(s.jobs)
    assert spans(log)[4] == (23, 28)
    assert [stall.cause for stall in log.stalls] == []


def test_a_wait_blocks_only_its_own_pipe() -> None:
    s = Script()
    s.run(Pipe.MTE2, 50)
    s.set("f", Pipe.MTE2)
    s.wait("f", Pipe.V)
    s.run(Pipe.V, 5)
    s.run(Pipe.MTE3, 5)
    assert spans(simulate(s.jobs)[0])[4] == (5, 10)


def test_a_wait_takes_the_flag_down() -> None:
    s = Script()
    s.set("f", Pipe.MTE2)
    s.wait("f", Pipe.V)
    s.wait("f", Pipe.V)
    _, core = simulate(s.jobs)
    assert core.stuck


def test_a_set_does_not_block_its_pipe_and_fires_behind_all_earlier_work() -> None:
    s = Script()
    s.run(Pipe.V, 10)
    s.set("f", Pipe.V)
    s.run(Pipe.V, 10)
    s.wait("f", Pipe.MTE3)
    s.run(Pipe.MTE3, 1)
    log, _ = simulate(s.jobs)
    assert spans(log)[2] == (11, 21)
    assert spans(log)[4] == (11, 12)


def test_set_while_set_is_a_finding() -> None:
    s = Script()
    s.set("f", Pipe.MTE2)
    s.set("f", Pipe.MTE2)
    s.wait("f", Pipe.V)
    s.wait("f", Pipe.V)
    log, _ = simulate(s.jobs)
    assert [f.kind for f in log.findings] == ["set_twice"]
    assert log.findings[0].message == (
        "flag f is set while it is still set; a wait must take it down in between"
    )


@pytest.mark.parametrize(("ticks", "twice"), [(11, False), (12, True), (13, True)])
def test_at_one_moment_sets_come_before_waits(ticks: int, twice: bool) -> None:
    s = Script()
    s.run(Pipe.V, ticks)  # 1..12, 13 or 14
    s.set("f", Pipe.MTE2)  # at 2
    s.run(Pipe.MTE2, 10)  # 3..13
    s.set("f", Pipe.MTE2)
    s.wait("f", Pipe.V)
    log, _ = simulate(s.jobs)
    assert [f.kind for f in log.findings] == (["set_twice"] if twice else [])


def test_a_flag_is_set_when_the_set_fires_and_not_before() -> None:
    """Two sets on their way at once: the wait in between takes the first one down."""
    s = Script()
    s.run(Pipe.V, 10)  # 1..11, free at 1 + 3
    s.set("f", Pipe.V)  # fires at 11
    s.run(Pipe.V, 10)  # 4..14
    s.set("f", Pipe.V)  # fires at 14
    s.wait("f", Pipe.MTE3)
    first = s.run(Pipe.MTE3, 1)
    s.wait("f", Pipe.MTE3)
    second = s.run(Pipe.MTE3, 1)
    log, core = simulate(s.jobs, model=Streaming(3))
    assert log.findings == []
    assert not core.stuck
    assert spans(log)[first.id] == (11, 12)
    assert spans(log)[second.id] == (14, 15)


def test_alternating_set_and_wait_are_fine() -> None:
    s = Script()
    for _ in range(3):
        s.set("f", Pipe.MTE2)
        s.wait("f", Pipe.V)
    log, core = simulate(s.jobs)
    assert log.findings == []
    assert not core.stuck


def test_a_full_queue_stalls_the_scalar_unit() -> None:
    s = Script()
    for _ in range(4):
        s.run(Pipe.V, 100)
    s.run(Pipe.MTE3, 1)
    log, _ = simulate(s.jobs, depth=2)
    # 0 leaves its queue at 1, then 1 and 2 wait in it; 3 gets room when 1 leaves, at 101.
    queued = {record.id: record.queued for record in log.records}
    assert queued == {0: 1, 1: 2, 2: 3, 3: 101, 4: 102}
    assert [(x.pipe, x.cause, x.start, x.end) for x in log.stalls] == [
        (Pipe.S, "queue_full", 4, 101)
    ]


def test_a_full_queue_is_explained_by_what_freed_it() -> None:
    s = Script()
    for ticks in (100, 50, 70):
        s.run(Pipe.V, ticks)
    s.run(Pipe.MTE3, 300)
    log, _ = simulate(s.jobs, depth=1)
    # 2 gets room at 101, when 1 leaves the queue to run; it is 0 that made the queue wait.
    steps = [(t.id, t.kind, t.start, t.end) for t in critical_path(log)]
    assert steps == [
        (0, "issue", 0, 1),
        (0, "run", 1, 101),
        (3, "issue", 101, 102),
        (3, "run", 102, 402),
    ]


def test_a_full_queue_and_a_wait_of_the_scalar_pipe_count_once() -> None:
    s = Script()
    s.run(Pipe.V, 100)  # 1..101
    s.set("f", Pipe.V)
    s.wait("f", Pipe.S)  # 3..101
    s.run(Pipe.V, 100)
    s.run(Pipe.V, 100)  # finds a full queue from 5 to 101
    usage = pipe_usage(simulate(s.jobs, depth=2)[0])[Pipe.S]
    assert (usage.busy, usage.stalls, usage.idle) == (0, {"flag": 98}, 203)


def test_a_queue_that_just_fits_does_not_stall() -> None:
    s = Script()
    for _ in range(3):
        s.run(Pipe.V, 100)
    log, _ = simulate(s.jobs, depth=2)
    assert log.stalls == []


def test_barrier_over_all_pipes_waits_for_the_last_one() -> None:
    s = Script()
    s.run(Pipe.MTE2, 30)
    s.run(Pipe.V, 10)
    s.barrier_all()
    late = s.run(Pipe.V, 5)
    log, _ = simulate(s.jobs)
    assert spans(log)[late.id] == (31, 36)
    assert {r.id: r.queued for r in log.records}[late.id] == 4  # the barrier was issued once


def test_a_token_waits_for_the_end_of_its_producer() -> None:
    s = Script()
    load = s.run(Pipe.MTE2, 10)
    s.token(Pipe.V, load)
    use = s.run(Pipe.V, 5)
    s.token(Pipe.MTE3, use)
    store = s.run(Pipe.MTE3, 5)
    log, _ = simulate(s.jobs)
    assert spans(log) == {load.id: (1, 11), use.id: (11, 16), store.id: (16, 21)}
    steps = critical_path(log)
    assert [(t.id, t.start, t.end, t.cause) for t in steps] == [
        (0, 0, 1, "program start"),
        (0, 1, 11, "issued"),
        (2, 11, 16, "flag ready <- 0"),
        (4, 16, 21, "flag ready <- 2"),
    ]


def test_two_pipes_may_wait_for_one_producer() -> None:
    s = Script()
    s.run(Pipe.MTE2, 50)
    load = s.run(Pipe.MTE2, 10)
    s.token(Pipe.V, load)
    use = s.run(Pipe.V, 5)
    s.token(Pipe.MTE3, load)
    store = s.run(Pipe.MTE3, 5)
    log, core = simulate(s.jobs)
    assert not core.stuck
    assert spans(log)[use.id] == spans(log)[store.id] == (61, 66)


@pytest.mark.parametrize("flag_ticks", [0, 7])
def test_a_token_waits_until_results_are_there_and_the_signal_has_come(flag_ticks: int) -> None:
    """On one pipe results appear in order: not before those of a slower earlier instruction."""
    s = Script()
    s.run(Pipe.V, 20)  # 1..21
    fast = s.run(Pipe.V, 5)  # 4..9, its results at 21
    s.token(Pipe.MTE3, fast)
    store = s.run(Pipe.MTE3, 5)
    log, _ = simulate(s.jobs, model=Streaming(3), flag_ticks=flag_ticks)
    assert spans(log)[fast.id] == (4, 9)
    assert spans(log)[store.id] == (21 + flag_ticks, 26 + flag_ticks)


def test_results_appear_at_the_end_and_operands_are_read_at_the_start() -> None:
    memory = {"x": 0}
    seen: list[tuple[str, int]] = []

    def writer(gm_addr: int) -> object:
        return lambda: memory.update(x=1)

    def reader(gm_addr: int) -> object:
        seen.append(("read", memory["x"]))
        return lambda: None

    s = Script()
    s.run(Pipe.MTE2, 10, writer)  # 1..11
    s.run(Pipe.V, 1, reader)  # 2: too early
    s.run(Pipe.V, 7, None)  # 3..10
    s.run(Pipe.V, 1, reader)  # 10: still too early
    s.run(Pipe.V, 1, reader)  # 11: there
    simulate(s.jobs)
    assert seen == [("read", 0), ("read", 0), ("read", 1)]


def test_deadlock_tells_who_waits_for_what() -> None:
    s = Script()
    s.wait("go", Pipe.MTE2)
    s.run(Pipe.MTE2, 10)
    s.set("ready", Pipe.MTE2)
    s.wait("ready", Pipe.V)
    _, core = simulate(s.jobs)
    assert core.stuck
    finding = deadlock(core, {"ready": ["x.yaml:3"]})
    assert finding.message == (
        "nothing can move after cycle 4\n"
        "MTE2 waits at ? for flag go, which no statement sets\n"
        "V waits at ? for flag ready; it would be set at ?, which is queued on MTE2 "
        "behind the wait at ?"
    )


def test_deadlock_names_who_has_not_come_to_a_barrier_over_all_pipes() -> None:
    s = Script()
    s.wait("go", Pipe.MTE2)
    s.barrier_all()
    _, core = simulate(s.jobs)
    told = deadlock(core, {}).message.splitlines()
    assert told[1] == "S waits at ? in a barrier not reached by MTE2"


def test_two_runs_are_the_same() -> None:
    def script() -> list[Job]:
        s = Script()
        for i in range(20):
            s.run((Pipe.MTE2, Pipe.V, Pipe.MTE3)[i % 3], 7 * i % 11)
            s.set(f"f{i}", Pipe.MTE2)
            s.wait(f"f{i}", Pipe.V)
        return s.jobs

    first, second = simulate(script())[0], simulate(script())[0]
    assert spans(first) == spans(second)
    assert first.stalls == second.stalls
