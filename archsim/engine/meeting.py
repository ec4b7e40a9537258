"""Where the pipes meet for a barrier over all of them."""

from dataclasses import dataclass, field

import simpy

from archsim.engine.machine import ORDER, Clock
from archsim.isa.pipes import Pipe
from archsim.trace.records import START, Edge


@dataclass(slots=True, eq=False)
class Round:
    """One barrier over all pipes: who has come, how far each was, what it waited for last."""

    event: simpy.Event
    arrived: list[Pipe] = field(default_factory=list)
    sequences: list[int] = field(default_factory=lambda: [0] * len(ORDER))
    edge: Edge = START


class Meeting:
    """The barriers over all pipes, one after the other."""

    def __init__(self, env: Clock) -> None:
        self._env = env
        self.round = Round(env.event())

    def arrive(self, pipe: Pipe, complete: Edge, sequence: int) -> tuple[simpy.Event, Round]:
        """Come to the barrier; its event fires when every pipe has come and is complete."""
        round_ = self.round
        round_.arrived.append(pipe)
        round_.sequences[ORDER[pipe]] = sequence
        if complete.at > round_.edge.at:
            round_.edge = complete
        if len(round_.arrived) == len(ORDER):
            round_.event._ok, round_.event._value = True, None
            self._env.schedule(round_.event, delay=max(0, round_.edge.at - self._env.now))
            self.round = Round(self._env.event())
        return round_.event, round_
