"""Every instruction's cycles on several chips, as one table."""

from collections.abc import Sequence
from typing import Any

from archsim.analysis.basis import main_basis
from archsim.analysis.sample import Sample, Shape, all_samples
from archsim.arch import ArchConfig

Row = dict[str, Any]


def cycles_rows(archs: Sequence[ArchConfig], shape: Shape | None, liked: str) -> list[Row]:
    """One row a form of an instruction; per chip its cycles, or null and why."""
    columns = [list(all_samples(arch, shape, liked)) for arch in archs]
    return [_row(archs, line) for line in zip(*columns, strict=True)]


def _row(archs: Sequence[ArchConfig], line: tuple[Sample, ...]) -> Row:
    op = line[0].op
    per_arch = {arch.name: _cell(taken) for arch, taken in zip(archs, line, strict=True)}
    return {"op": op.name, "form": op.form, "pipe": str(op.pipe), "archs": per_arch}


def _cell(taken: Sample) -> Row:
    answer, asked = taken.answer, taken.question
    if answer is None or asked is None:
        return {"cycles": None, "reason": taken.refusal}
    dtype = asked.src.name if asked.src is asked.dst else f"{asked.src.name},{asked.dst.name}"
    return {
        "cycles": answer.cycles,
        "interval": list(answer.interval),
        "dtype": dtype,
        "shape": f"{asked.shape[0]}x{asked.shape[1]}",
        "basis": main_basis(answer.issued.uops) or None,
    }


def cycles_table(rows: list[Row]) -> str:
    """The same for people; `-` where a chip has no such instruction, with the reasons below."""
    chips = list(rows[0]["archs"])
    head = f"{'OP':<28}{'PIPE':<6}"
    for chip in chips:
        head += f"{chip:>9}  {'dtype':<11}{'basis':<12}"
    lines, reasons = [head.rstrip()], []
    others: dict[str, str] = {}
    shapes = [c["shape"] for row in rows for c in row["archs"].values() if c["cycles"] is not None]
    usual = max(dict.fromkeys(shapes), key=shapes.count, default="")
    for row in rows:
        name = f"{row['op']} ({row['form']})" if row["form"] else str(row["op"])
        text = f"{name:<28}{row['pipe']:<6}"
        for chip in chips:
            cell = row["archs"][chip]
            if cell["cycles"] is None:
                text += f"{'-':>9}  {'':<23}"
                reasons.append(f"  {name} on {chip}: {cell['reason']}")
            else:
                text += f"{cell['cycles']:>9}  {cell['dtype']:<11}{cell['basis'] or '':<12}"
                if cell["shape"] != usual:
                    others[name] = cell["shape"]
        lines.append(text.rstrip())
    if reasons:
        lines += ["Without cycles:", *reasons]
    told = (f"{name} at {shape}" for name, shape in others.items())
    lines.append("".join([f"All at {usual}", *(f", {text}" for text in told)]) + ".")
    lines.append(
        "basis: what most of the time of the micro-ops rests on; `archsim isa OP` tells all."
    )
    return "\n".join(lines)
