"""The JSON forms of a run: `archsim.summary/1` and the manifest."""

import hashlib
from importlib.metadata import version
from operator import itemgetter

from archsim import __version__
from archsim.analysis.run import Run
from archsim.analysis.traffic import PathUsage
from archsim.report.numbers import finite

SUMMARY_SCHEMA = "archsim.summary/1"
CHECK_SCHEMA = "archsim.check/1"
MANIFEST_SCHEMA = "archsim.run/1"


def summary(run: Run) -> dict[str, object]:
    """What `run --json` prints and `summary.json` holds; times in cycles."""
    return {
        "schema": SUMMARY_SCHEMA,
        "program": run.program.name,
        "arch": run.arch.name,
        "total_cycles": run.total_cycles,
        "time_us": run.time_us,
        "frequency_hz": run.arch.frequency_hz,
        "pipes": {
            pipe.value: {"busy": use.busy, "stalls": use.stalls, "idle": use.idle}
            for pipe, use in run.pipes.items()
        },
        "paths": {use.path: _path(use) for use in run.paths},
        "instructions": instructions(run),
        "critical_path": {
            "total": run.total_cycles,
            "basis": dict(run.path_basis),
            "steps": [
                {"id": s.id, "from": s.start, "to": s.end, "kind": s.kind, "cause": s.cause}
                for s in run.path
            ],
        },
        "basis": dict(run.basis),
        "findings": [finding.as_json() for finding in run.findings],
        "expect": {name: dict(result) for name, result in run.expect.items()},
    }


def _path(use: PathUsage) -> dict[str, object]:
    return {
        "transfers": use.transfers,
        "bytes": use.bytes,
        "busy": use.busy,
        "bytes_per_cycle": round(use.bytes_per_cycle, 3),
        "peak_bytes_per_cycle": round(use.peak_bytes_per_cycle, 3),
        "gb_per_s": use.gigabytes_per_second,
        "share_of_peak": round(use.share, 4),
    }


def verdict(run: Run) -> dict[str, object]:
    """What `check --json` prints."""
    return {
        "schema": CHECK_SCHEMA,
        "program": run.program.name,
        "arch": run.arch.name,
        "findings": [finding.as_json() for finding in run.findings],
    }


def instructions(run: Run) -> list[dict[str, object]]:
    """One entry a dynamic instruction, in program order."""
    places: dict[int, str | None] = {}
    counts: dict[int, int] = {}
    found = []
    cycles = run.log.cycles
    for record, (start, end) in zip(run.log.records, run.log.spans, strict=True):
        span, uops = record.span, record.uops
        where = places.get(id(span))
        if where is None:
            where = places[id(span)] = span.where if span else None
        count = counts.get(id(uops))
        if count is None:
            count = counts[id(uops)] = sum(uop.count for uop in uops)
        found.append(
            {
                "id": record.id,
                "op": record.op,
                "pipe": record.pipe.value,
                "where": where,
                "queued": cycles(record.queued),
                "start": start,
                "end": end,
                "cycles": end - start,
                "uops": count,
            }
        )
    found.sort(key=itemgetter("id"))
    return found


def manifest(run: Run) -> dict[str, object]:
    """What a run was made of: versions, chip with overrides, hashes of program and chip.

    `tensors` are the element types; files hold those that numpy does not know as unsigned integers.
    """
    text = "\n".join(run.program.source.lines)
    return {
        "schema": MANIFEST_SCHEMA,
        "archsim": __version__,
        "versions": {name: version(name) for name in ("numpy", "ml_dtypes", "simpy")},
        "program": {
            "file": run.program.name,
            "sha256": hashlib.sha256(text.encode()).hexdigest(),
            "scalars": {name: finite(value) for name, value in run.program.scalars.items()},
        },
        "arch": {
            "name": run.arch.name,
            "sha256": run.arch.digest,
            "overrides": [list(pair) for pair in run.arch.overrides],
        },
        "sync": run.sync,
        "seeds": seeds(run),
        "tensors": {name: str(decl.dtype) for name, decl in run.program.tensors.items()},
    }


def seeds(run: Run) -> dict[str, object]:
    """The random seed of each tensor that has one."""
    found = {name: tensor.init.args.get("seed") for name, tensor in run.program.tensors.items()}
    return {name: seed for name, seed in found.items() if seed is not None}
