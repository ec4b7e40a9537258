"""The instruction set as rows for people and for `isa --json`, from the tables."""

from archsim.isa.tile_op import Arg, TileOp
from archsim.isa.tile_ops import CONSTRAINTS, TILE_OPS


def reference() -> list[dict[str, object]]:
    """One row an instruction: op, pipe, operands, and per core its element types and rules."""
    return [
        {
            "op": op.name,
            "pipe": str(op.pipe),
            "operands": operands_text(op),
            "summary": op.summary,
            "support": {isa: _support(op, isa) for isa in op.dtypes},
        }
        for op in TILE_OPS.values()
    ]


def operands_text(op: TileOp) -> str:
    """How a program writes the instruction: `tprelu dst <- src0, src1[, tmp]`."""
    keys = (f"[, {key}={'|'.join(values)}]" for key, values in op.keys.items())
    return short_text(op) + "".join(keys)


def short_text(op: TileOp) -> str:
    """The same without `key=value` operands."""
    outs = ", ".join(arg.name for arg in op.outs)
    text = f"{op.mnemonic} {outs} <- {op.ins[0].name}"
    return text + "".join(_operand(arg) for arg in op.ins[1:])


def _operand(arg: Arg) -> str:
    return f"[, {arg.name}]" if arg.optional else f", {arg.name}"


def _support(op: TileOp, isa: str) -> dict[str, object]:
    pairs = [source if source == to else f"{source} -> {to}" for source, to in op.dtypes[isa]]
    return {"dtypes": pairs, "constraints": [c.text for c in CONSTRAINTS[isa][op.family]]}
