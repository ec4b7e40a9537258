"""Division, roots and logarithms alone against points that were measured or profiled.

a2a3: tdiv, tlog and trsqrt of a board (910B3); tsqrt and tdivs of a profile of unknown origin.
a5: a profile that does not say whether of a board or a simulator. Points like these fitted the
costs, so the tolerances are what was reached, rounded up: they show change, not accuracy.
"""

import pytest

from archsim.analysis.instruction import instruction_cycles
from archsim.report.uops import cycles_json

POINTS = [  # arch, op, dtype, shape, valid, measured cycles, tolerance
    ("a2a3", "tdiv", "f32", "64x64", "64x64", 288, 0.01),
    ("a2a3", "tlog", "f32", "8x64", "8x64", 49, 0.01),
    ("a2a3", "tlog", "f32", "128x64", "128x64", 289, 0.01),
    ("a2a3", "trsqrt", "f32", "64x64", "64x64", 92, 0.01),
    ("a2a3", "trsqrt", "f16", "64x64", "64x64", 58, 0.035),
    ("a2a3", "tsqrt", "f16", "64x64", "64x64", 160, 0.01),
    ("a2a3", "tsqrt", "f32", "64x64", "64x64", 198, 0.20),
    ("a2a3", "tdivs", "f16", "63x64", "63x64", 328, 0.08),
    ("a5", "tdivs", "f16", "10x448", "10x384", 184, 0.015),
    ("a5", "tdivs", "f32", "1x64", "1x64", 67, 0.01),
    ("a5", "tdivs", "f32", "1x1280", "1x1217", 103, 0.01),
    ("a5", "tdivs", "f32", "2x160", "2x128", 74, 0.025),
    ("a5", "tdivs", "f32", "20x1312", "20x1217", 867, 0.025),
    ("a5", "trecip", "f16", "1x128", "1x128", 72, 0.01),
    ("a5", "trecip", "f16", "1x1280", "1x1280", 104, 0.01),
]


@pytest.mark.parametrize(("arch", "op", "dtype", "shape", "valid", "measured", "within"), POINTS)
def test_one_instruction_takes_what_was_measured(arch, op, dtype, shape, valid, measured, within):
    answer = instruction_cycles(op, dtype, shape, valid, [], arch, [])
    assert cycles_json(answer)["cycles"] == pytest.approx(measured, rel=within)
