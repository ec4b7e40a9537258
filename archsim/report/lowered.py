"""The micro-ops of a whole program, as text and JSON."""

from archsim.analysis.run import Run
from archsim.report.uops import Row, uop_line, uop_rows


def lowered_json(run: Run) -> list[Row]:
    """The instructions of a run with their micro-ops; times in cycles of the run."""
    records = {record.id: record for record in run.log.records}
    found = []
    for id, (lowered, window) in run.lowered.items():
        record = records.get(id)
        if record is None:  # never reached its pipe: the run was stuck
            continue
        rows = uop_rows(lowered, record.uops, run.log.ticks_per_cycle)
        ready = run.log.cycles(record.ready)
        for row in rows:
            for key in ("start", "end"):
                row[key] = None if row[key] is None else row[key] + ready
            for burst in (row["src"], row["dst"]) if "path" in row else ():
                burst["addr"] += window if burst["memory"] == "GM" else 0
        where = record.span.where if record.span else None
        found.append({"id": id, "op": record.op, "where": where, "uops": rows})
    return found


def lowered_text(run: Run) -> str:
    """The same for people: an instruction, then a line for each of its micro-ops."""
    lines = []
    for instr in lowered_json(run):
        lines.append(f"[{instr['id']}] {instr['op']}  {instr['where']}")
        lines += [f"    {uop_line(row)}" for row in instr["uops"]]
    return "\n".join(lines)
