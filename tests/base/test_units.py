"""Sizes and frequencies: exact, refused with a reason, and shown so that they read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archsim.base.units import BYTES, HERTZ, UnitError


@pytest.mark.parametrize(
    ("quantity", "written", "amount"),
    [
        (BYTES, "192 KiB", 196608),
        (BYTES, "192KiB", 196608),
        (BYTES, "0.5 MiB", 524288),
        (BYTES, "1 GiB", 1 << 30),
        (BYTES, "12", 12),
        (BYTES, " 12 B ", 12),
        (BYTES, "196_608", 196608),
        (BYTES, "1__0_", 10),
        (BYTES, 0, 0),
        (HERTZ, "1.85 GHz", 1_850_000_000),
        (HERTZ, "1650 MHz", 1_650_000_000),
        (HERTZ, 1_850_000_000, 1_850_000_000),
    ],
)
def test_amounts_read_exactly(quantity, written, amount):
    assert quantity.parse(written) == amount


@pytest.mark.parametrize(
    "written",
    ["", "KiB", "-1 KiB", "1.3 B", "0.0001 KiB", "1 KiB KiB", "1,5 KiB", "0x10", True, None, -4,
     1.5, [1]],
)  # fmt: skip
def test_what_is_no_amount_is_refused_with_the_rule(written):
    with pytest.raises(UnitError) as caught:
        BYTES.parse(written)
    assert str(caught.value) == (
        'a whole number of bytes, such as 196608 or "192 KiB" (units: B, KiB, MiB, GiB)'
    )


@pytest.mark.parametrize(
    ("quantity", "written", "near"),
    [(BYTES, "192 KB", "KiB"), (BYTES, "1 mib", "MiB"), (HERTZ, "1.85 ghz", "GHz")],
)
def test_a_wrong_unit_names_the_near_one(quantity, written, near):
    with pytest.raises(UnitError) as caught:
        quantity.parse(written)
    assert caught.value.fix == f'did you mean "{near}"?'
    assert str(caught.value) == f'{quantity.rule}; did you mean "{near}"?'


@pytest.mark.parametrize(
    ("quantity", "amount", "shown"),
    [
        (BYTES, 196608, "192 KiB"),
        (BYTES, 1 << 20, "1 MiB"),
        (BYTES, 1536, "1.5 KiB"),
        (BYTES, 1025, "1025 B"),
        (BYTES, 0, "0 B"),
        (BYTES, -2048, "-2 KiB"),
        (HERTZ, 1_850_000_000, "1.85 GHz"),
        (HERTZ, 1_650_000_001, "1650000.001 kHz"),
    ],
)
def test_amounts_are_shown_in_the_largest_exact_unit(quantity, amount, shown):
    assert quantity.show(amount) == shown


@given(st.sampled_from([BYTES, HERTZ]), st.integers(0, 1 << 60))
def test_what_is_shown_reads_back(quantity, amount):
    assert quantity.parse(quantity.show(amount)) == amount


@given(st.integers(0, 10**9), st.sampled_from(sorted(BYTES.units)), st.sampled_from(["", " "]))
def test_number_times_unit(number, unit, space):
    assert BYTES.parse(f"{number}{space}{unit}") == number * BYTES.units[unit]


@given(st.text(max_size=8))
def test_any_text_is_an_amount_or_a_unit_error(text):
    try:
        amount = BYTES.parse(text)
    except UnitError:
        return
    assert amount >= 0
