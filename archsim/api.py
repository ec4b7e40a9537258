"""The whole flow: read, check, lower, time and compute, explain."""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from archsim.analysis.hazards import Races
from archsim.analysis.instruction import InstructionCycles, instruction_cycles
from archsim.analysis.run import Run, analyse
from archsim.arch import ArchConfig, load
from archsim.base.errors import Diagnostic, InputError
from archsim.base.source import Span
from archsim.check.program import check_program_static
from archsim.engine.build import streaming_pipes
from archsim.engine.execute import Outcome, execute, survey
from archsim.program.cores import for_core
from archsim.program.expect import compare, references
from archsim.program.ir import Program
from archsim.program.trace import load_program
from archsim.schedule.placement import place
from archsim.trace.records import Finding

__all__ = ["InstructionCycles", "Run", "instruction_cycles", "simulate"]


@contextmanager
def _no_collection() -> Iterator[None]:
    """Records only grow: looking for cycles among them would cost more than the run."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@_no_collection()
def simulate(
    path: str,
    *,
    arch: str | None = None,
    overrides: Sequence[tuple[str, str]] = (),
    sync: str | None = None,
    arguments: Mapping[str, str] | None = None,
    inputs: Mapping[str, str] | None = None,
    numerics: bool = True,
    progress: Callable[[int], None] | None = None,
) -> Run:
    """Run a trace file on a chip and explain where its cycles went.

    `arch` is a chip's name or file (default: what the program names), `overrides` change single
    values of it, `sync` replaces the program's own, `arguments` and `inputs` its scalars and
    tensors. Raises `InputError` for wrong input; what only the run shows is in `Run.findings`.
    """
    program = load_program(path, arguments=arguments or {}, inputs=inputs or {}, sync=sync)
    chip = load(arch, overrides) if arch is not None else default_chip(program, overrides)
    program = for_core(program, chip.isa)
    notes = program_findings(program, chip)
    placement = place(program, chip)
    steps = survey(program, chip, placement)
    races = Races(streaming_pipes(chip))
    outcome = execute(
        program,
        chip,
        placement,
        steps,
        numerics=numerics,
        observer=None if program.auto_sync else races.started,
        progress=progress,
    )
    comparisons = _expectations(program, outcome) if numerics else {}
    # What a stopped program leaves is wrong anyway: that says nothing beside why it stopped.
    missed = _missed(program, comparisons) if outcome.complete else []
    findings = [*notes, *outcome.findings, *races.findings, *missed]
    told_once = tuple(dict.fromkeys(findings))
    return analyse(
        program, chip, outcome.log, told_once, comparisons, outcome.tensors, outcome.lowered
    )


def default_chip(program: Program, overrides: Sequence[tuple[str, str]] = ()) -> ArchConfig:
    """The chip that the program names; a file of one is looked for beside the program."""
    if not program.arch:
        fix = "write arch: a2a3 at the top, or run it with --arch a2a3"
        raise InputError([Diagnostic("no core to run on is named", None, fix, file=program.name)])
    folder = Path(program.directory)
    try:
        chip = load(program.arch, (), folder)
    except InputError as error:
        raise InputError(_placed(found, program.arch_span) for found in error.diagnostics) from None
    return load(program.arch, overrides, folder) if overrides else chip


def _placed(found: Diagnostic, span: Span | None) -> Diagnostic:
    """A fault that has no place in a file, at `span`."""
    if found.span is not None:
        return found
    named = f"{found.file}: " if found.file else ""
    return Diagnostic(named + found.message, span, found.fix)


def program_findings(program: Program, chip: ArchConfig) -> list[Finding]:
    """What declarations alone tell; errors among it are wrong input and are raised."""
    found = check_program_static(program, chip)
    errors = [fault for fault in found if fault.severity == "error"]
    if errors:
        raise InputError(errors)
    return [
        Finding(f.kind, f.severity, f.message, (f.span.where,) if f.span else ()) for f in found
    ]


def _expectations(program: Program, outcome: Outcome) -> dict[str, dict[str, object]]:
    wanted = references(program, outcome.initial)
    return {
        expect.tensor: _verdict(expect, program, outcome.tensors, wanted)
        for expect in program.expect
    }


def _verdict(
    expect: Any,
    program: Program,
    tensors: Mapping[str, NDArray[Any]],
    wanted: Mapping[str, NDArray[Any]],
) -> dict[str, object]:
    name = expect.tensor
    result = compare(expect, program.tensors[name], tensors[name], wanted[name])
    verdict: dict[str, object] = {
        "ok": result.ok,
        "max_abs_err": result.max_abs_err if isfinite(result.max_abs_err) else None,
        "mismatches": result.mismatches,
        "elements": result.elements,
    }
    if result.first is not None:
        verdict["first"] = {
            "index": list(result.first.index),
            "value": str(result.first.value),
            "reference": str(result.first.reference),
        }
    return verdict


def _missed(program: Program, verdicts: Mapping[str, Mapping[str, object]]) -> list[Finding]:
    """A finding for each tensor that does not hold what it must."""
    missed = []
    for expect in program.expect:
        verdict = verdicts.get(expect.tensor)
        if verdict is None or verdict["ok"]:
            continue
        first: Any = verdict["first"]
        message = (
            f"{expect.tensor} is wrong in {verdict['mismatches']} of {verdict['elements']} "
            f"elements; the first, {first['index']}, is {first['value']}, "
            f"must be {first['reference']}"
        )
        missed.append(Finding("expect", "error", message, (expect.span.where,)))
    return missed
