"""Reading of traces: the program, or what the reader says about a wrong one."""

from pathlib import Path
from typing import Any

import pytest
from trace_texts import Load, Told

from archsim.base.errors import InputError
from archsim.program.ir import Program
from archsim.program.trace import load_program


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Reads a text as the file t.yaml."""

    def read(text: str, **options: Any) -> Program:
        path = tmp_path / "t.yaml"
        path.write_text(text)
        return load_program(str(path), display_name="t.yaml", **options)

    return read


@pytest.fixture
def told(load: Load) -> Told:
    """All faults of a text: "line:column: message", and behind " | " the fix."""

    def read(text: str, **options: Any) -> list[str]:
        with pytest.raises(InputError) as caught:
            load(text, **options)
        out = []
        for fault in caught.value.diagnostics:
            place = f"{fault.span.line}:{fault.span.column}: " if fault.span else ""
            out.append(place + fault.message + (f" | {fault.fix}" if fault.fix else ""))
        return out

    return read
