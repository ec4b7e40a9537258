"""The instruction set as text and JSON: what exists, what it means, what it is made of."""

from collections.abc import Iterator, Sequence
from typing import Any

from archsim.analysis.sample import Sample, sample
from archsim.arch import ArchConfig
from archsim.base.errors import Diagnostic, InputError, did_you_mean
from archsim.isa.reference import all_references, operands_text, reference, short_text
from archsim.isa.tile_op import TileOp
from archsim.isa.tile_ops import CONSTRAINTS, FORMS, ISAS
from archsim.report.cost_basis import cost_rows
from archsim.report.uops import uop_line, uop_rows

EVERYWHERE = "vf_impl"  # a key of every vector instruction


def forms_of(name: str) -> tuple[TileOp, ...]:
    """The rows of an instruction. Raises `InputError` for an unknown name."""
    forms = FORMS.get(name.lower())
    if forms is None:
        fix = did_you_mean(name, FORMS)
        raise InputError([Diagnostic(f'"{name}" is no tile instruction', None, fix)])
    return forms


def isa_json(op: str | None, archs: Sequence[ArchConfig]) -> list[dict[str, Any]]:
    """Rows of all instructions; or of one, with the micro-ops of a sample on each core."""
    if op is None:
        return all_references()
    forms = forms_of(op)
    samples = [
        {"form": form.form, "arch": arch.name, **_sample_json(sample(form, arch))}
        for form in forms
        for arch in archs
    ]
    return [{**reference(forms), "samples": samples}]


def _sample_json(taken: Sample) -> dict[str, Any]:
    answer = taken.answer
    if answer is None:
        return {"cycles": None, "reason": taken.refusal}
    return {
        "question": question_text(taken),
        "cycles": answer.cycles,
        "interval": list(answer.interval),
        "uops": uop_rows(answer.lowered, answer.issued.uops, answer.ticks_per_cycle),
        "cost": cost_rows(answer),
    }


def question_text(taken: Sample) -> str:
    """What the sample asks, as words of `archsim cycles`."""
    asked = taken.question
    assert asked is not None
    dtype = asked.src.name if asked.src is asked.dst else f"{asked.src.name},{asked.dst.name}"
    words = [f"--dtype {dtype}", f"--shape {asked.shape[0]}x{asked.shape[1]}"]
    words += [f"--valid {asked.valid[0]}x{asked.valid[1]}"] if asked.valid != asked.shape else []
    words += [f"form={asked.op.form}"] if asked.op.form else []
    return " ".join([*words, *(f"{key}={value}" for key, value in asked.attrs.items())])


def isa_list() -> str:
    """One line an instruction, and how many each core runs."""
    lines = [f"{'OP':<18}{'PIPE':<6}{'CORES':<9}OPERANDS"]
    for forms in FORMS.values():
        for row in forms:
            keys = "".join(f"[, {key}=]" for key in row.keys if key != EVERYWHERE)
            cores = " ".join(row.dtypes)
            lines.append(f"{row.name:<18}{row.pipe:<6}{cores:<9}{short_text(row)}{keys}")
    counts = (f"{isa} {len(runs_on(isa))}" for isa in ISAS)
    lines.append(f"{len(FORMS)} instructions; {', '.join(counts)}.")
    lines.append(f"Vector instructions also take {EVERYWHERE}=; `archsim isa OP` tells all of one.")
    return "\n".join(lines)


def runs_on(isa: str) -> list[str]:
    """The instructions that a core generation runs in at least one form."""
    return [name for name, forms in FORMS.items() if any(isa in form.dtypes for form in forms)]


def isa_text(op: str, archs: Sequence[ArchConfig]) -> str:
    """All about one instruction: meaning, rules, and on each core the micro-ops of a sample."""
    return "\n".join(line for form in forms_of(op) for line in _described(form, archs))


def _described(form: TileOp, archs: Sequence[ArchConfig]) -> Iterator[str]:
    title = f"{form.name} ({form.form} form)" if form.form else form.name
    yield f"{title}  pipe {form.pipe}"
    yield f"  {form.summary}"
    yield f"  {operands_text(form)}"
    shared = [isa for isa in ISAS if isa in form.dtypes]
    common = [c for c in _rules(form, shared[0]) if all(c in _rules(form, i) for i in shared)]
    if common:
        yield "on every core:" if len(shared) > 1 else f"on {shared[0]}:"
        yield from (f"  - {text}" for text in common)
    for arch in archs:
        yield from _on_core(form, arch, common)


def _on_core(form: TileOp, arch: ArchConfig, common: list[str]) -> Iterator[str]:
    if arch.isa not in form.dtypes:
        yield f"{arch.name}: refused, {form.refusal(arch.isa)}"
        return
    pairs = (a if a == b else f"{a} -> {b}" for a, b in form.dtypes[arch.isa])
    yield f"{arch.name}: {', '.join(pairs)}"
    yield from (f"  - {text}" for text in _rules(form, arch.isa) if text not in common)
    taken = sample(form, arch)
    if taken.answer is None:
        yield f"  no sample: {taken.refusal}"
        return
    low, high = taken.answer.interval
    yield f"  {question_text(taken)}: {taken.answer.cycles} cycles ({low} to {high})"
    rows = uop_rows(taken.answer.lowered, taken.answer.issued.uops, taken.answer.ticks_per_cycle)
    yield from (f"    {uop_line(row)}" for row in rows)
    if rows:
        yield "  the cost of each micro-op rests on"
    for row in cost_rows(taken.answer):
        yield f"    {row['name']}: {row['basis']}, {row['source']}"


def _rules(form: TileOp, isa: str) -> list[str]:
    return [constraint.text for constraint in CONSTRAINTS[isa][form.family]]
