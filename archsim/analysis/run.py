"""One simulated run: what went in, what happened, and the facts drawn from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from archsim.analysis.basis import basis_shares
from archsim.analysis.critical_path import Step, critical_path
from archsim.analysis.traffic import PathUsage, path_usage
from archsim.analysis.usage import PipeUsage, pipe_usage, total_cycles
from archsim.arch import ArchConfig
from archsim.isa.pipes import Pipe
from archsim.lower import Lowered
from archsim.program.ir import Program
from archsim.trace.records import Finding, RunLog


@dataclass(frozen=True, slots=True)
class Run:
    """The result of a simulation.

    `total_cycles` is the last completion; `pipes` obeys busy + stalls + idle = total; `paths` is
    the traffic of each data path; `path` tiles 0 to total. `expect` holds one result a checked
    tensor, `tensors` every tensor after the run (empty without numerics), `lowered` each
    instruction's micro-ops and the byte address of its tensor window, by id.
    """

    program: Program
    arch: ArchConfig
    log: RunLog
    total_cycles: int
    pipes: Mapping[Pipe, PipeUsage]
    paths: tuple[PathUsage, ...]
    path: tuple[Step, ...]
    basis: Mapping[str, float]
    path_basis: Mapping[str, float]
    findings: tuple[Finding, ...]
    expect: Mapping[str, Mapping[str, object]]
    tensors: Mapping[str, NDArray[Any]]
    lowered: Mapping[int, tuple[Lowered, int]]

    @property
    def sync(self) -> str:
        """How the program was synchronised."""
        return "auto" if self.program.auto_sync else "explicit"

    @property
    def time_us(self) -> float:
        """Run time in microseconds at the chip's clock, to three places."""
        return round(self.total_cycles / self.arch.frequency_hz * 1e6, 3)

    def failed(self, strict: bool = False) -> bool:
        """Whether a finding (with `strict` also a warning) or an expectation says so."""
        bad = {"error", "warning"} if strict else {"error"}
        return any(finding.severity in bad for finding in self.findings)


def analyse(
    program: Program,
    arch: ArchConfig,
    log: RunLog,
    findings: Sequence[Finding],
    expect: Mapping[str, Mapping[str, object]],
    tensors: Mapping[str, NDArray[Any]],
    lowered: Mapping[int, tuple[Lowered, int]],
) -> Run:
    """Draw the facts from a run's log. Checks both laws (splits and path add up)."""
    path = tuple(critical_path(log))
    on_path = {step.id for step in path if step.kind == "run" and step.id is not None}
    return Run(
        program,
        arch,
        log,
        total_cycles(log),
        pipe_usage(log),
        tuple(path_usage(log, lowered, arch)),
        path,
        basis_shares(log),
        basis_shares(log, on_path),
        tuple(findings),
        expect,
        tensors,
        lowered,
    )
