"""The vreg sections: pair tables and whole numbers."""

import pytest
from pydantic import ValidationError

from archsim.arch import load
from archsim.arch.vreg import PairRule, PairTable, VregUopRow
from archsim.base.errors import InputError


@pytest.mark.parametrize("value", [{}, {"cycles": 1, "latency_minus": 2}])
def test_a_rule_has_one_value(value):
    with pytest.raises(ValidationError, match="exactly one of `cycles` and `latency_minus`"):
        PairRule.model_validate({"first": ["VADD"], **value})


def test_a_list_left_out_matches_everything_and_an_empty_group_nothing():
    table = PairTable.model_validate(
        {
            "groups": {"none": []},
            "rules": [{"first": ["none"], "cycles": 5}, {"then": ["VADD"], "cycles": 3}],
            "otherwise": {"cycles": 1},
            "basis": "assumed",
            "source": "test",
        }
    )
    assert table.members(None) is None
    assert table.members(("none",)) == frozenset()


@pytest.mark.parametrize(
    ("cycles", "rule"), [(2.5, "5/2, must be a whole number, 0"), (-1, "-1, must be a whole")]
)
def test_cycles_are_whole(cycles, rule):
    with pytest.raises(ValidationError, match=rule):
        VregUopRow.model_validate({"unit": "alu", "latency_cycles": cycles})


def test_a_count_is_at_least_one():
    with pytest.raises(InputError) as error:
        load("a5", [("vector.load_ports", "0")])
    assert str(error.value) == (
        "--set vector.load_ports=0: vector.load_ports is 0; it must be a whole number, 1 or more "
        "(loads that can start in a cycle)"
    )
