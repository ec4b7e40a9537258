"""The folder of a run: it appears whole or not at all."""

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from archsim.analysis.run import Run
from archsim.base.errors import Diagnostic, InputError
from archsim.report.perfetto import perfetto_trace
from archsim.report.summary import manifest, summary
from archsim.report.tables import instructions_csv, pipes_csv


def folders(out: Path | None, programs: Sequence[str]) -> dict[str, Path]:
    """The folder of each program's run: `out` itself for one, a folder inside it for several.

    Raises `InputError` where two programs would share one.
    """
    if out is None:
        return {}
    if len(programs) == 1:
        return {programs[0]: out}
    homes: dict[str, Path] = {}
    for program in programs:
        home = out / Path(program).stem
        if home in homes.values():
            raise _fault(f"two programs would write to {home}; run them one by one")
        homes[program] = home
    return homes


def write_run(run: Run, folder: Path) -> None:
    """Write summary.json, run.json, instructions.csv, pipes.csv, trace.json and tensors/.

    A folder of an earlier run is replaced; any other folder with contents is refused, so that no
    user's files are lost. The same run writes the same bytes. Raises `InputError`.
    """
    check_folder(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise _refused(folder, "made", error) from None
    try:
        _fill(run, draft)
        draft.chmod(0o777 & ~_umask())
        if folder.exists():
            shutil.rmtree(folder)
        draft.rename(folder)
    except OSError as error:
        raise _refused(folder, "written", error) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def check_folder(folder: Path) -> None:
    """Refuse a folder that holds something else than a run. Raises `InputError`."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise _fault(f"--out is {folder}, a file; it must be a folder")
    if any(folder.iterdir()) and not (folder / "run.json").exists():
        raise _fault(
            f"--out is {folder}, a folder with other files; "
            "it must be new, empty or the folder of an earlier run"
        )


def _refused(folder: Path, done: str, error: OSError) -> InputError:
    reason = (error.strerror or str(error)).lower()
    return _fault(f"--out is {folder}, which cannot be {done}: {reason}")


def _fault(message: str) -> InputError:
    return InputError([Diagnostic(message)])


def _fill(run: Run, folder: Path) -> None:
    _json(folder / "summary.json", summary(run), indent=1)
    _json(folder / "run.json", manifest(run), indent=1)
    _text(folder / "instructions.csv", instructions_csv(run))
    _text(folder / "pipes.csv", pipes_csv(run))
    _json(folder / "trace.json", perfetto_trace(run))
    tensors = folder / "tensors"
    tensors.mkdir()
    for name, values in run.tensors.items():
        np.save(tensors / f"{name}.npy", storable(values))


def storable(values: NDArray[Any]) -> NDArray[Any]:
    """The array, or its bits as unsigned integers where numpy itself does not know the type.

    `numpy.load` cannot read f8e5m2 and gives raw bytes for bf16 and f8e4m3. The manifest names the
    type of every tensor, and an `init: {file: ...}` takes such bits back.
    """
    own = values.dtype.isbuiltin == 1
    return values if own else values.view(f"u{values.dtype.itemsize}")


def _json(path: Path, value: object, indent: int | None = None) -> None:
    _text(path, json.dumps(value, indent=indent, allow_nan=False) + "\n")


def _text(path: Path, content: str) -> None:
    path.write_text(content, encoding="utf-8", newline="\n")
