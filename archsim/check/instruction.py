"""`check`: everything that may be wrong with one bound instruction on one core."""

from collections.abc import Iterator

from archsim.arch import ArchConfig
from archsim.base.errors import Diagnostic
from archsim.check.case import Case
from archsim.check.places import place_faults
from archsim.check.rules import RULES
from archsim.check.scratch import scratch_tile
from archsim.isa.conversions import Pair
from archsim.isa.families.scalar_unit import BINDERS
from archsim.isa.operands import BoundInstr, TileView
from archsim.isa.rules import Constraint
from archsim.isa.tile_op import TileOp
from archsim.isa.tile_ops import CONSTRAINTS


def check(instr: BoundInstr, arch: ArchConfig, *, may_allocate: bool) -> list[Diagnostic]:
    """Every fault of an instruction, errors and warnings, none for a legal one.

    The same rules serve before a run and in one: `kind` and `severity` are those of the finding.
    `may_allocate`: the tool puts scratch where the program gives none.
    """
    op, case = instr.op, Case.of(instr, arch, may_allocate)
    if arch.isa not in op.dtypes:
        return [Diagnostic(_refusal(op, arch.isa), instr.span)]
    return [*_dtype_faults(case), *_broken_rules(case), *_places(case)]


def _refusal(op: TileOp, isa: str) -> str:
    """Why a core generation does not run an instruction, and which one does."""
    form = f"{op.form} form of {op.mnemonic}" if op.form else op.mnemonic
    reason = f": {op.refused[isa]}" if isa in op.refused else ""
    have = ", ".join(op.dtypes)
    return f"{isa} has no {form}{reason}; {have} {'have' if ',' in have else 'has'}"


def pair_text(pair: Pair) -> str:
    """`f32` or, where the types differ, `f32 -> f16`."""
    source, to = pair
    return source if source == to else f"{source} -> {to}"


def _dtype_faults(case: Case) -> Iterator[Diagnostic]:
    op, isa = case.instr.op, case.arch.isa
    got, offered = _compared(case, case.pair), op.dtypes[isa]
    if got in offered:
        return
    taken = [other for other in case.others if got in op.dtypes[other]]
    same = all(op.dtypes[other] == offered for other in case.others)
    elsewhere = f"({', '.join(taken)} takes it)" if taken else f"(nor on {', '.join(case.others)})"
    listed = ", ".join(pair_text(pair) for pair in offered)
    where = "" if same or not case.others else f" on {isa}"
    message = f"{op.mnemonic} takes {listed}{where}; {pair_text(got)} is not among them"
    yield Diagnostic(f"{message} {elsewhere}" if case.others else message, case.instr.span)


def _compared(case: Case, pair: Pair) -> Pair:
    """The pair that the table lists: for a mask the table says u8, any integer type will do; a
    destination of another type than all sources have is for a rule of its own."""
    offered = case.instr.op.dtypes[case.arch.isa]
    if case.instr.op.outs[0].kind == "mask":
        return pair[0], "u8"
    if all(source == to for source, to in offered):
        return pair[0], pair[0]
    return pair


def _broken_rules(case: Case) -> Iterator[Diagnostic]:
    instr, isa = case.instr, case.arch.isa
    for constraint in CONSTRAINTS[isa][instr.op.family]:
        is_about_tmp = "tmp" in constraint.operands and constraint.rule != "has_scratch"
        if is_about_tmp and not case.has("tmp"):
            continue
        rule = RULES[constraint.rule]
        fault = rule.test(case, constraint.operands)
        if fault is not None:
            fix = _scratch_fix(case) if constraint.rule == "has_scratch" else None
            message = fault + _elsewhere(case, constraint)
            yield Diagnostic(message, instr.place(constraint.operands[0]), fix, rule.kind)


def _elsewhere(case: Case, constraint: Constraint) -> str:
    """What the other cores say about a rule that only this one has."""
    family = case.instr.op.family
    free = [isa for isa in case.others if constraint not in CONSTRAINTS[isa][family]]
    if not free:
        return ""
    allows = "accepts and ignores any tmp" if "tmp" in constraint.operands else "allows it"
    return f" on {case.arch.isa}; {', '.join(free)} {allows}"


def _scratch_fix(case: Case) -> str | None:
    need = scratch_tile(case.instr, case.arch)
    if need is None:
        return None
    dtype, rows, cols = need
    return f"give it a tmp tile of {dtype} {rows}x{cols}, or let the tool place one: `alloc: auto`"


def _places(case: Case) -> Iterator[Diagnostic]:
    rules = CONSTRAINTS[case.arch.isa][case.instr.op.family]
    is_put = case.instr.op.family in BINDERS  # here, not where it is declared
    ignores_tmp = not any("tmp" in rule.operands for rule in rules)
    for name, operand in case.operands.items():
        if isinstance(operand, TileView) and not (name == "tmp" and ignores_tmp):
            span = case.instr.place(name) if is_put else operand.span or case.instr.span
            yield from place_faults(
                operand.name, operand.loc, operand.addr, operand.size_bytes, case.arch, span
            )
