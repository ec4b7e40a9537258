"""Micro-ops as text and JSON: names, addresses, repeats, masks, cycles; of one instruction."""

from collections.abc import Iterable, Iterator
from typing import Any

from archsim.analysis.instruction import InstructionCycles
from archsim.isa.moves import Burst, Move, ScalarAccess, Transfer
from archsim.isa.simd import Access, Barrier, Control, Mask, RowLoop, SimdUop
from archsim.isa.timing import UopSlice, half_up
from archsim.isa.vreg import VectorFunction, VregLoop, VregNode, VregUop
from archsim.lower import Lowered
from archsim.report.numbers import finite

Row = dict[str, Any]


def uop_rows(lowered: Lowered, slices: Iterable[UopSlice], ticks: int) -> list[Row]:
    """One row a micro-op of the text of an instruction.

    `start` and `end` are cycles from the moment that its pipe took the instruction, of the first
    and the last time that the micro-op runs; null where it takes no time.
    """
    timed = list(slices)
    rows: list[Row] = []
    for item in lowered.uops:
        part = list(_rows(item))
        if isinstance(item, RowLoop):
            own = [row for row in part if "dst" in row]
            used = len(own) * item.rows
            runs = [timed[i : used : len(own)] for i in range(len(own))]
        else:
            own = _that_take_time(part, timed)
            used = len(own)
            runs = [timed[i : i + 1] for i in range(used)]
        for row, run in zip(own, runs, strict=True):
            row["start"] = half_up(min(s.start for s in run), ticks)
            row["end"] = half_up(max(s.end for s in run), ticks)
            row["basis"] = run[0].basis
        timed = timed[used:]
        rows += part
    return rows


def _that_take_time(rows: list[Row], slices: list[UopSlice]) -> list[Row]:
    """The rows that have a slice: slices come in text order, free micro-ops have none."""
    found: list[Row] = []
    for row in rows:
        if len(found) < len(slices) and slices[len(found)].name == row["name"]:
            found.append(row)
    return found


def _rows(item: RowLoop | VectorFunction | Transfer | Control | ScalarAccess) -> Iterator[Row]:
    if isinstance(item, RowLoop):
        yield from (_simd(part, item.rows) for part in item.body)
    elif isinstance(item, VectorFunction):
        yield from _vreg(item.nodes, ())
    elif isinstance(item, Control):
        yield _simd(item, 1)
    elif isinstance(item, ScalarAccess):
        yield _access_of_scalar(item)
    else:
        yield _move(item)


def _simd(item: Any, rows: int) -> Row:
    if isinstance(item, SimdUop):
        return {
            "name": item.name,
            "dtype": item.dtype.name,
            "repeat": item.repeat,
            "rows": rows,
            "mask": _mask(item.mask),
            "dst": _access(item.dst),
            "src": [_access(src) for src in item.srcs],
            "scalar": finite(item.scalar),
            "start": None,
            "end": None,
            "basis": None,
        }
    name = "pipe_barrier" if isinstance(item, Barrier) else item.name
    return {"name": name, "repeat": 1, "rows": rows, "start": None, "end": None, "basis": None}


def _mask(mask: Mask) -> Row:
    return {"mode": mask.mode, "lanes": mask.lanes or None}


def _access(access: Access) -> Row:
    return {
        "addr": access.addr,
        "dtype": access.dtype.name,
        "block_stride": access.block_stride,
        "repeat_stride": access.repeat_stride,
        "row_stride": access.row_stride,
    }


def _vreg(nodes: Iterable[VregNode], trips: tuple[int, ...]) -> Iterator[Row]:
    for node in nodes:
        if isinstance(node, VregLoop):
            yield from _vreg(node.body, (*trips, node.iters))
        else:
            yield _vreg_uop(node, trips)


def _vreg_uop(uop: VregUop, trips: tuple[int, ...]) -> Row:
    times = 1
    for trip in trips:
        times *= trip
    memory = uop.mem
    return {
        "name": uop.op,
        "form": uop.form,
        "repeat": times,
        "loops": list(trips),
        "dst": list(uop.dst),
        "src": list(uop.src),
        "mem": None
        if memory is None
        else {"addr": memory.addr, "steps": list(memory.steps), "dist": memory.dist},
        "scalar": finite(uop.scalar),
        "effect": uop.effect or None,
        "start": None,
        "end": None,
        "basis": None,
    }


def _access_of_scalar(access: ScalarAccess) -> Row:
    return {
        "name": access.name,
        "dtype": access.dtype.name,
        "repeat": 1,
        "memory": access.memory,
        "addr": access.addr,
        "scalar": finite(access.value),
        "start": None,
        "end": None,
        "basis": None,
    }


def _move(move: Transfer) -> Row:
    if isinstance(move, Move):
        src, dst = _burst(move.src), _burst(move.dst)
    else:
        lanes, size = _burst(move.data), move.dtype.itemsize
        tensor = _burst(Burst("GM", 0, move.elements, size, size))
        src, dst = (lanes, tensor) if move.scatter else (tensor, lanes)
    return {
        "name": move.name,
        "path": move.path,
        "repeat": move.runs,
        "bytes": move.bytes_moved,
        "src": src,
        "dst": dst,
        "start": None,
        "end": None,
        "basis": None,
    }


def _burst(burst: Burst) -> Row:
    return {
        "memory": burst.memory,
        "addr": burst.addr,
        "count": burst.count,
        "bytes_each": burst.bytes_each,
        "pitch": burst.pitch,
    }


def uop_line(row: Row) -> str:
    """One micro-op: name, time, repeats, mask and operands."""
    time = "" if row["start"] is None else f"{row['start']}..{row['end']}"
    parts = [f"{row['name']:<26}{time:>14}"]
    if row.get("rows", 1) > 1:
        parts.append(f"rows {row['rows']}")
    if "dst" in row:
        parts.append(f"repeat {row['repeat']}")
    if row.get("mask", {"mode": "full"})["mode"] != "full":
        parts.append(f"{row['mask']['mode']} {row['mask']['lanes']} lanes")
    parts += _operand_texts(row)
    return "  ".join(parts).rstrip()


def _operand_texts(row: Row) -> list[str]:
    if "path" in row:
        return [f"{row['bytes']} bytes  {_place(row['dst'])} <- {_place(row['src'])}"]
    if "memory" in row:
        value = "" if row["scalar"] is None else f" <- {row['scalar']}"
        return [f"{_place(row)}:{row['dtype']}{value}"]
    if "dtype" in row:
        sources = ", ".join(_simd_place(src) for src in row["src"])
        scalar = [] if row["scalar"] is None else [str(row["scalar"])]
        return [f"{_simd_place(row['dst'])} <- {', '.join([p for p in (sources, *scalar) if p])}"]
    if "form" not in row:
        return []
    memory = row["mem"]
    texts = [f"{row['form']}  {', '.join(row['dst'])} <- {', '.join(row['src'])}"]
    if memory is not None:
        steps = "".join(f" +{step}*i{level}" for level, step in enumerate(memory["steps"]) if step)
        texts.append(f"UB {memory['addr']:#x}{steps} {memory['dist']}")
    return texts


def _place(burst: Row) -> str:
    return f"{burst['memory']} {burst['addr']:#x}"


def _simd_place(access: Row) -> str:
    step = f"/{access['repeat_stride']}" if access["repeat_stride"] != 256 else ""
    down = f"+{access['row_stride']}/row" if access["row_stride"] else ""
    return f"{access['addr']:#x}{step}{down}:{access['dtype']}"


def cycles_json(answer: InstructionCycles) -> Row:
    """What `cycles --json` prints."""
    return {
        "op": answer.op,
        "arch": answer.arch.name,
        "cycles": answer.cycles,
        "interval": list(answer.interval),
        "uops": uop_rows(answer.lowered, answer.issued.uops, answer.ticks_per_cycle),
    }


def cycles_text(answer: InstructionCycles) -> str:
    """The same for people."""
    low, high = answer.interval
    time = f"{answer.cycles / answer.arch.frequency_hz * 1e6:.3f} us"
    lines = [
        f"{answer.op} on {answer.arch.name}: {answer.cycles} cycles "
        f"({low} to {high} within the figures' uncertainty), {time}"
    ]
    rows = uop_rows(answer.lowered, answer.issued.uops, answer.ticks_per_cycle)
    lines += [f"  {uop_line(row)}  {row['basis'] or ''}".rstrip() for row in rows]
    return "\n".join(lines)
