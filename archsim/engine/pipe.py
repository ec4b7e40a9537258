"""One in-order pipe: take the next entry; wait for it, or run it; signal."""

from collections import deque

import simpy

from archsim.engine.jobs import Flag, Issued, Job, PipeModel, Signal
from archsim.engine.machine import ORDER, Machine, Process
from archsim.engine.meeting import Meeting
from archsim.isa.pipes import Pipe
from archsim.trace.records import START, Edge, Finding, Record, Stall


class PipeUnit:
    """One in-order pipe: take the next entry; wait for it, or run it; signal."""

    def __init__(
        self, core: Machine, meeting: Meeting, pipe: Pipe, model: PipeModel, depth: int
    ) -> None:
        self.core = core
        self.meeting = meeting
        self.pipe = pipe
        self.model = model
        self.depth = depth
        self.queue: deque[Job] = deque()
        self.asleep: simpy.Event | None = None
        self.space: simpy.Event | None = None
        self.current: Job | None = None
        self.state = model.initial()
        self.edge = START  # why the pipe is where it is
        self.complete = START  # the completion of all its work so far
        self.last_id: int | None = None
        self.index = ORDER[pipe]
        self.sequence = 0  # instructions taken so far
        self.known = [0] * len(ORDER)  # of every pipe's sequence: complete for sure
        self.visible = 0  # when the results of its latest instruction appear

    @property
    def busy(self) -> bool:
        """Whether an entry waits in it or in its queue."""
        return self.current is not None or bool(self.queue)

    def run(self) -> Process:
        env, queue = self.core.env, self.queue
        while True:
            while not queue:
                self.asleep = env.event()
                yield self.asleep
            job = queue[0]
            if job.queued > env.now:
                yield env.timeout(job.queued - env.now)
            queue.popleft()
            self.current = job
            if job.queued > self.edge.at:
                self.edge = Edge(job.queued, "issue", job.id, job.cause)
            if self.space is not None:
                self.space.succeed(self.edge)
                self.space = None
            kind = job.kind
            if kind == "instr":
                issued = self._start(job, env.now)
                held = 0
                if self.core.numerics:
                    yield from self._compute(job, issued)
                    held = issued.reads
                if issued.free > held:
                    yield env.timeout(issued.free - held)
                if job.done is not None:
                    job.done.succeed(self.edge)
            elif kind == "set":
                self._set(job, env.now)
            elif kind == "wait":
                if job.flag.up is not None and env.peek() > env.now:
                    self._take(job.flag)
                else:
                    yield from self._wait(job)
            elif kind == "barrier":
                self._barrier(env.now)
            elif kind == "all":
                yield from self._barrier_all(job)
            else:
                yield from self._token(job)
            self.current = None

    def _start(self, job: Job, ready: int) -> Issued:
        """Time an instruction and note it."""
        core, work = self.core, job.work
        self.sequence += 1
        if core.observer is not None:
            core.observer(job, self.sequence, self.known)
        issued, self.state = self.model.issue(work, self.state, ready)
        start, end = ready + issued.start, ready + issued.end
        if start > ready:
            self._held(issued.held, ready, start, job)
        why, id = self.edge, job.id
        self.edge = Edge(ready + issued.free, "run", id, why)
        run = self.edge if issued.free == issued.end else Edge(end, "run", id, why)
        job.record = Record(
            id, work.op, self.pipe, job.span, job.queued, start, end, ready, issued.uops, why
        )
        core.log.records.append(job.record)
        self.last_id = id
        if end >= self.complete.at:
            self.complete = run
            if end > core.log.last.at:
                core.log.last = run  # the run ends with its last completion
        if core.tokens:
            job.known, job.complete = self.drained(self.sequence), self.complete
            if job.waiter is not None:
                job.waiter._ok, job.waiter._value = True, None
                core.env.schedule(
                    job.waiter, delay=self.complete.at + core.flag_ticks - core.env.now
                )
        return issued

    def _held(self, cause: str, ready: int, start: int, job: Job) -> None:
        """The model held the start back: a barrier's release, or front-end work."""
        self.core.log.stalls.append(
            Stall(self.pipe, cause, ready, start, self.last_id, "", job.span)
        )
        prev = self.complete if cause == "barrier" else self.edge
        self.edge = Edge(start, cause, job.id, prev)

    def _compute(self, job: Job, issued: Issued) -> Process:
        """Read the operands once it may; let the results appear at the end, in order."""
        core = self.core
        ready = core.env.now
        if issued.reads:
            yield core.env.timeout(issued.reads)
        core.settle(core.env.now)
        self.visible = max(self.visible, ready + issued.end)
        core.later(self.visible, job.id, job.work.compute(job.gm_addr))

    def _take(self, flag: Flag) -> Signal:
        """Take down a flag that is up."""
        signal, flag.up = flag.up, None
        assert signal is not None
        self._learn(signal.known)
        return signal

    def _wait(self, job: Job) -> Process:
        """Block this pipe until the flag is up, then take it down."""
        flag, env = job.flag, self.core.env
        since = env.now
        if flag.up is None:
            flag.waiter = env.event()
            yield flag.waiter
        else:
            yield env.timeout(0)  # at one moment sets come before waits
        signal = self._take(flag)
        self._released(since, "flag", signal.edge, signal.producer, flag.name, job)

    def _set(self, job: Job, now: int) -> None:
        """Raise the flag once all earlier work of this pipe is complete; do not block."""
        complete, env = self.complete, self.core.env
        cause = complete if complete.at >= self.edge.at else self.edge
        at = (complete.at if complete.at > now else now) + self.core.flag_ticks
        edge = cause if cause.at == at else Edge(at, "flag", self.last_id, cause)
        signal = Signal(job.span, self.last_id, edge, self.drained(self.sequence))
        if at == now:
            self._raise(job.flag, signal)
        else:
            env.timeout(at - now).callbacks.append(lambda _: self._raise(job.flag, signal))

    def _raise(self, flag: Flag, signal: Signal) -> None:
        """The flag goes up, and lets go who waits for it."""
        if flag.up is not None:
            self.core.log.findings.append(_set_twice(flag, signal, flag.up))
        flag.up = signal
        if flag.waiter is not None:
            flag.waiter.succeed()
            flag.waiter = None

    def _barrier(self, now: int) -> None:
        """Drain this pipe before later work of it."""
        self.known = self.drained(self.sequence)
        self.state = self.model.barrier(self.state, now)

    def _barrier_all(self, job: Job) -> Process:
        """Drain every pipe: all meet, and go on together when the last one is complete."""
        now = self.core.env.now
        edge = max(self.complete, self.edge, key=lambda reached: reached.at)
        event, meeting = self.meeting.arrive(self.pipe, edge, self.sequence)
        yield event
        self.state = self.model.barrier(self.state, self.core.env.now)
        self._learn(meeting.sequences)
        self._released(now, "barrier", meeting.edge, meeting.edge.ref, "", job)

    def _token(self, job: Job) -> Process:
        """Wait for another pipe's instruction, as for a flag set behind it (derived waits)."""
        producer, env = job.token, self.core.env
        since = env.now
        if producer.record is None:
            if producer.waiter is None:
                producer.waiter = env.event()
            yield producer.waiter  # fires when the wait is over
        complete = producer.complete
        at = complete.at + self.core.flag_ticks
        if at > env.now:
            yield env.timeout(at - env.now)
        edge = complete if complete.at == at else Edge(at, "flag", producer.id, complete)
        self._learn(producer.known)
        self._released(since, "flag", edge, producer.id, "", job)

    def drained(self, sequence: int) -> list[int]:
        """What is known once this pipe's first `sequence` instructions are complete."""
        known = self.known.copy()
        known[self.index] = sequence
        return known

    def _learn(self, known: list[int]) -> None:
        """Take over what another pipe knew when it signalled."""
        self.known = list(map(max, self.known, known))

    def _released(
        self, since: int, cause: str, edge: Edge, producer: int | None, flag: str, job: Job
    ) -> None:
        """Note the wait that just ended, and why."""
        now = self.core.env.now
        if now > since:
            self.core.log.stalls.append(
                Stall(self.pipe, cause, since, now, producer, flag, job.span)
            )
            self.edge = edge._replace(at=now) if edge.at != now else edge
            self.edge = Edge(now, cause, producer, edge)


def _set_twice(flag: Flag, *signals: Signal) -> Finding:
    where = tuple(signal.span.where for signal in signals if signal.span is not None)
    return Finding(
        "set_twice",
        "error",
        f"flag {flag.name} is set while it is still set; a wait must take it down in between",
        where,
    )
