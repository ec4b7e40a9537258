"""The instruction set as rows for people and for `isa --json`, from the tables."""

from archsim.isa.tile_op import Arg, TileOp
from archsim.isa.tile_ops import CONSTRAINTS, FORMS, ISAS


def reference(forms: tuple[TileOp, ...]) -> dict[str, object]:
    """One instruction: op, pipe, operands, and per core its element types and rules, or why not.

    With several operand lists, `forms` has a row like this for each; the top level is the main one.
    """
    main = _row(forms[0])
    if len(forms) > 1:
        main["forms"] = [{"form": form.form, **_row(form)} for form in forms]
    return main


def all_references() -> list[dict[str, object]]:
    """Every instruction, in the table's order."""
    return [reference(forms) for forms in FORMS.values()]


def operands_text(op: TileOp) -> str:
    """How a program writes the instruction: `tprelu dst <- src0, src1[, tmp]`."""
    return short_text(op) + "".join(_key(op, key) for key in op.keys)


def short_text(op: TileOp) -> str:
    """The same without `key=value` operands."""
    outs = ", ".join(arg.name for arg in op.outs)
    text = f"{op.mnemonic} {outs} <- {op.ins[0].name}"
    return text + "".join(_operand(arg) for arg in op.ins[1:])


def _row(op: TileOp) -> dict[str, object]:
    return {
        "op": op.name,
        "pipe": str(op.pipe),
        "operands": operands_text(op),
        "summary": op.summary,
        "support": {isa: _support(op, isa) for isa in ISAS},
    }


def _key(op: TileOp, key: str) -> str:
    text = f", {key}={'|'.join(op.keys[key])}"
    return text if key in op.requires else f"[{text}]"


def _operand(arg: Arg) -> str:
    return f"[, {arg.name}]" if arg.optional else f", {arg.name}"


def _support(op: TileOp, isa: str) -> dict[str, object]:
    if isa not in op.dtypes:
        return {"supported": False, "refused": op.refusal(isa)}
    pairs = [source if source == to else f"{source} -> {to}" for source, to in op.dtypes[isa]]
    rules = [c.text for c in CONSTRAINTS[isa][op.family]]
    return {"supported": True, "dtypes": pairs, "constraints": rules}
