"""The instruction set as text and JSON."""

from typing import Any

from archsim.base.errors import Diagnostic, InputError, did_you_mean
from archsim.isa.reference import reference, short_text
from archsim.isa.tile_ops import TILE_OPS

EVERYWHERE = "vf_impl"  # a key of every vector instruction


def isa_json(op: str | None) -> list[dict[str, Any]]:
    """Rows of all instructions, or of one. Raises `InputError` for an unknown one."""
    rows = reference()
    if op is None:
        return rows
    if op.lower() not in TILE_OPS:
        fix = did_you_mean(op, TILE_OPS)
        raise InputError([Diagnostic(f'"{op}" is no tile instruction', None, fix)])
    return [row for row in rows if str(row["op"]).lower() == op.lower()]


def isa_text(op: str | None) -> str:
    """One line an instruction; or all about one."""
    if op is not None:
        return _described(isa_json(op)[0])
    lines = [f"{'OP':<14}{'PIPE':<6}{'CORES':<9}OPERANDS"]
    for row in TILE_OPS.values():
        keys = "".join(f"[, {key}=]" for key in row.keys if key != EVERYWHERE)
        operands = short_text(row) + keys
        lines.append(f"{row.name:<14}{row.pipe:<6}{' '.join(row.dtypes):<9}{operands}")
    lines.append(f"Vector instructions also take {EVERYWHERE}=; `archsim isa OP` tells all of one.")
    return "\n".join(lines)


def _described(row: dict[str, Any]) -> str:
    lines = [f"{row['op']}  pipe {row['pipe']}", f"  {row['summary']}", f"  {row['operands']}"]
    for core, support in row["support"].items():
        lines.append(f"{core}: {', '.join(support['dtypes'])}")
        lines += [f"  - {rule}" for rule in support["constraints"]]
    return "\n".join(lines)
