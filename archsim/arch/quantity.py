"""A number with where it came from."""

from enum import StrEnum
from fractions import Fraction
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator


class Basis(StrEnum):
    """How far to trust a number, best first."""

    MEASURED = "measured"
    FITTED = "fitted"
    DOCUMENTED = "documented"
    ASSUMED = "assumed"
    PLACEHOLDER = "placeholder"
    OVERRIDE = "override"


class Quantity(BaseModel):
    """An exact value with its basis, its source and its uncertainty (in the value's unit).

    Reads `23`, `2.11` (basis `assumed`) or `{value: 2.11, basis: fitted, source: "..."}`;
    decimals stay exact.
    """

    model_config = ConfigDict(
        frozen=True, defer_build=True, extra="forbid", arbitrary_types_allowed=True
    )

    value: Fraction
    basis: Basis = Basis.ASSUMED
    source: str = ""
    uncertainty: Fraction = Field(default=Fraction(0), ge=0)

    @model_validator(mode="before")
    @classmethod
    def _from_plain(cls, data: Any) -> Any:
        return data if isinstance(data, dict | Quantity) else {"value": data}

    @field_validator("value", "uncertainty", mode="before")
    @classmethod
    def _exact(cls, data: Any) -> Any:
        if isinstance(data, bool) or not isinstance(data, int | float | str | Fraction):
            raise ValueError(f"is {data!r}, must be a number")
        return Fraction(str(data))
