"""The reference page of the instruction set, from the same tables as `archsim isa`."""

from collections.abc import Iterator, Sequence

from archsim.analysis.sample import sample
from archsim.arch import ArchConfig
from archsim.isa.reference import operands_text
from archsim.isa.tile_op import TileOp
from archsim.isa.tile_ops import CONSTRAINTS, FORMS, GROUPS, ISAS
from archsim.report.cost_basis import cost_rows
from archsim.report.isa import question_text, runs_on

_HEAD = """# Tile instructions

Written by `archsim isa --markdown > docs/isa.md`; a test holds it against the tables.
`archsim isa OP` shows the same of one instruction, with every micro-op's operands and times.

A sample is the instruction alone on an idle core. *basis* says what the micro-ops' costs rest on:
measured, fitted, documented, assumed or placeholder; `archsim isa OP` names the source of each.
"""


def isa_page(archs: Sequence[ArchConfig]) -> str:
    """The whole page: what each core runs, then every instruction."""
    return "\n".join(_lines(archs)) + "\n"


def _lines(archs: Sequence[ArchConfig]) -> Iterator[str]:
    yield _HEAD
    yield "| core | instructions |"
    yield "|---|---|"
    for isa in ISAS:
        yield f"| {isa} | {len(runs_on(isa))} of {len(FORMS)} |"
    for group in GROUPS:
        names = dict.fromkeys(row.mnemonic for row in group.ROWS)
        title = (group.__doc__ or "").split("\n")[0].rstrip(".").partition(": ")[0]
        yield f"\n## {title}\n"
        yield ", ".join(f"[{name.upper()}](#{name})" for name in names)
        for name in names:
            yield f"\n### {name.upper()}"
            for form in FORMS[name]:
                yield from _form(form, archs)


def _form(form: TileOp, archs: Sequence[ArchConfig]) -> Iterator[str]:
    if form.form:
        yield f"\n**{form.form} form**"
    yield f"\n{form.summary}. Pipe {form.pipe}.\n"
    yield f"`{operands_text(form)}`\n"
    yield from _rules(form)
    yield "| core | element types | sample | cycles | micro-ops | basis |"
    yield "|---|---|---|---|---|---|"
    for arch in archs:
        yield _on_core(form, arch)


def _rules(form: TileOp) -> Iterator[str]:
    cores = [isa for isa in ISAS if isa in form.dtypes]
    rules = {isa: [c.text for c in CONSTRAINTS[isa][form.family]] for isa in cores}
    for text in dict.fromkeys(text for own in rules.values() for text in own):
        only = [isa for isa in cores if text in rules[isa]]
        yield f"- {text}" + ("" if only == cores else f" ({', '.join(only)})")
    yield ""


def _on_core(form: TileOp, arch: ArchConfig) -> str:
    if arch.isa not in form.dtypes:
        reason = form.refusal(arch.isa)
        return f"| {arch.name} | refused: {reason} | | | | |"
    types = ", ".join(a if a == b else f"{a} -> {b}" for a, b in form.dtypes[arch.isa])
    taken = sample(form, arch)
    if taken.answer is None:
        return f"| {arch.name} | {types} | {taken.refusal} | | | |"
    rows = cost_rows(taken.answer)
    names = ", ".join(f"`{row['name']}`" for row in rows)
    basis = ", ".join(dict.fromkeys(row["basis"] for row in rows))
    question = question_text(taken)
    return f"| {arch.name} | {types} | {question} | {taken.answer.cycles} | {names} | {basis} |"
