"""Sizes and frequencies as people write them: exact in, readable out."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from archsim.base.errors import did_you_mean

_WRITTEN = re.compile(r"\s*([0-9][0-9_]*(?:\.[0-9]+)?|\.[0-9]+)\s*([A-Za-z/%]*)\s*$")


class UnitError(ValueError):
    """A text that is no amount of the quantity. `rule` says what is, `fix` what was meant."""

    def __init__(self, rule: str, fix: str | None = None) -> None:
        super().__init__(rule if fix is None else f"{rule}; {fix}")
        self.rule = rule
        self.fix = fix


@dataclass(frozen=True, slots=True)
class Measure:
    """What is counted: `unit` in words, an example, and the accepted units, smallest first."""

    unit: str
    example: str
    units: Mapping[str, int]

    @property
    def rule(self) -> str:
        """`a whole number of bytes, such as 196608 or "192 KiB" (units: B, KiB, MiB, GiB)`."""
        return f"a whole number of {self.unit}, such as {self.example} (units: {self.names})"

    @property
    def names(self) -> str:
        """The accepted units, listed."""
        return ", ".join(self.units)

    def parse(self, written: object) -> int:
        """The amount in the base unit; `written` is a whole number or a text such as `1.85 GHz`.

        Exact: an amount that is no whole number of base units raises `UnitError`, like a negative
        one, an unknown unit or anything that is not an amount.
        """
        amount = self._amount(written)
        if amount.denominator != 1 or amount < 0:
            raise UnitError(self.rule)
        return int(amount)

    def _amount(self, written: object) -> Fraction:
        if isinstance(written, int | Fraction) and not isinstance(written, bool):
            return Fraction(written)
        match = _WRITTEN.match(written) if isinstance(written, str) else None
        if match is None:
            raise UnitError(self.rule)
        number, unit = match.groups()
        if unit and unit not in self.units:
            raise UnitError(self.rule, did_you_mean(unit, self.units))
        return Fraction(number.replace("_", "")) * (self.units[unit] if unit else 1)

    def show(self, amount: int) -> str:
        """`192 KiB`, `1.85 GHz`: the largest unit that is exact in at most three decimals.

        `parse` gives the amount back.
        """
        name, size = "", 1
        for unit, factor in self.units.items():
            if factor <= abs(amount) and amount * 1000 % factor == 0:
                name, size = unit, factor
        name = name or next(iter(self.units))
        whole, rest = divmod(abs(amount) * 1000 // size, 1000)
        decimals = f".{rest:03d}".rstrip("0") if rest else ""
        return f"{'-' if amount < 0 else ''}{whole}{decimals} {name}"


BYTES = Measure(
    "bytes", '196608 or "192 KiB"', {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
)
HERTZ = Measure(
    "hertz",
    '1850000000 or "1.85 GHz"',
    {"Hz": 1, "kHz": 10**3, "MHz": 10**6, "GHz": 10**9},
)


def format_bytes(amount: int) -> str:
    """`192 KiB`; see `Measure.show`."""
    return BYTES.show(amount)
