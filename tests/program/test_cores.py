"""Instructions that another pipe runs on another core."""

from pathlib import Path

import pytest

from archsim.api import simulate

TEXT = """\
pto: 1
sync: auto
alloc: auto
tensors:
  out: {dtype: i32, shape: [1, 64]}
tiles:
  numbers: {loc: vec, dtype: i32, shape: [1, 64]}
  sums: {loc: vec, dtype: i32, shape: [1, 64]}
program:
  - for: {var: i, range: 2}
    do:
      - if: i
        then:
          - tci numbers <- 5, descending=true
        else:
          - tci numbers <- 7
      - tadds sums <- numbers, 1
  - tstore out[0, 0] <- sums
"""


@pytest.mark.parametrize(("arch", "pipe"), [("a2a3", "S"), ("a5", "V")])
def test_the_scalar_unit_makes_numbers_on_a2a3(tmp_path: Path, arch: str, pipe: str) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(TEXT)
    run = simulate(str(path), arch=arch)
    made = [record for record in run.log.records if record.op == "TCI"]
    assert [str(record.pipe) for record in made] == [pipe, pipe]
    assert not run.findings
    assert run.tensors["out"][0].tolist() == [6 - k for k in range(64)]
    if arch == "a2a3":
        cycles = [(r.end - r.start) / run.log.ticks_per_cycle for r in made]
        assert cycles == [64 * 2, 64 * 2]  # a store and the loop for each element
