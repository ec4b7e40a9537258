"""The kinds of values a chip file holds, each with the rule that errors and the schema quote."""

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from archsim.base.dtypes import DTYPES, dtype_named
from archsim.base.errors import did_you_mean
from archsim.base.units import BYTES, HERTZ, Measure, UnitError

PIPES = ("S", "MTE2", "MTE1", "V", "M", "FIX", "MTE3")
JsonSchema = dict[str, Any]


class Section(BaseModel):
    """A part of a chip file: frozen; unknown keys and silent conversions are refused."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid", strict=True)


def broken(rule: str, fix: str | None = None) -> PydanticCustomError:
    """The error of a value that is not what `rule` says: "it must be *rule*"."""
    return PydanticCustomError("rule", "{rule}", {"rule": rule, "fix": fix})


def agree(*rules: tuple[bool, str, str]) -> None:
    """Check values of one section against each other: (holds, value's key below the
    section, what it must be).

    Raises one error with every rule that does not hold.
    """
    failed = [(key, rule) for holds, key, rule in rules if not holds]
    if failed:
        raise PydanticCustomError("disagreement", "{failed}", {"failed": failed})


def _integer(rule: str, least: int) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and value >= least:
            return value
        raise broken(rule)

    return check


def _power_of_two(value: Any) -> int:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if whole and value > 0 and value & (value - 1) == 0:
        return int(value)
    raise broken("a power of two")


def _exact(rule: str, zero: bool) -> Callable[[Any], Fraction]:
    def check(value: Any) -> Fraction:
        if isinstance(value, str) and value.count("/") == 1:  # "1/3": no decimal is exact
            above, below = value.split("/")
            if above.isdecimal() and below.isdecimal() and int(below):
                value = Fraction(int(above), int(below))
        number = isinstance(value, int | Fraction) and not isinstance(value, bool)
        if number and (value > 0 or (zero and value == 0)):
            return Fraction(value)
        raise broken(rule)

    return check


def _amount(measure: Measure, zero: bool) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        try:
            amount = measure.parse(value)
        except UnitError as error:
            raise broken(error.rule, error.fix) from None
        if amount == 0 and not zero:
            raise broken(f"more than 0: {measure.rule}")
        return amount

    return check


def _one_of(what: str, names: tuple[str, ...]) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if isinstance(value, str) and value in names:
            return value
        dtype = dtype_named(str(value)) if what == "an element type" else None
        fix = f'write "{dtype}"' if dtype else did_you_mean(str(value), names)
        raise broken(f"{what}: {', '.join(names)}", fix)

    return check


def _switch(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise broken("true or false")


def _text(value: Any) -> str:
    if isinstance(value, str) and value.strip():
        return value
    raise broken("a text that is not empty")


def _number(least: int, exclusive: bool = False) -> JsonSchema:
    bound = "exclusiveMinimum" if exclusive else "minimum"
    fraction = {"type": "string", "pattern": "^[0-9]+/[0-9]+$"}
    return {"anyOf": [{"type": "number", bound: least}, fraction]}


def _units(measure: Measure) -> JsonSchema:
    pattern = rf"^\s*[0-9_]*(\.[0-9]+)?\s*({'|'.join(measure.units)})?\s*$"
    return {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": pattern}]}


Count = Annotated[
    int,
    PlainValidator(_integer("an integer >= 1", 1)),
    WithJsonSchema({"type": "integer", "minimum": 1}),
]
Whole = Annotated[
    int,
    PlainValidator(_integer("an integer >= 0", 0)),
    WithJsonSchema({"type": "integer", "minimum": 0}),
]
PowerOfTwo = Annotated[
    int, PlainValidator(_power_of_two), WithJsonSchema({"type": "integer", "minimum": 1})
]
Exact = Annotated[
    Fraction, PlainValidator(_exact("a number >= 0", True)), WithJsonSchema(_number(0))
]
Rate = Annotated[
    Fraction, PlainValidator(_exact("a number > 0", False)), WithJsonSchema(_number(0, True))
]
Bytes = Annotated[int, PlainValidator(_amount(BYTES, False)), WithJsonSchema(_units(BYTES))]
BytesOrNone = Annotated[int, PlainValidator(_amount(BYTES, True)), WithJsonSchema(_units(BYTES))]
Hertz = Annotated[int, PlainValidator(_amount(HERTZ, False)), WithJsonSchema(_units(HERTZ))]
Switch = Annotated[bool, PlainValidator(_switch), WithJsonSchema({"type": "boolean"})]
Text = Annotated[str, PlainValidator(_text), WithJsonSchema({"type": "string", "minLength": 1})]
PipeName = Annotated[
    str, PlainValidator(_one_of("a pipe", PIPES)), WithJsonSchema({"enum": list(PIPES)})
]
DTypeName = Annotated[
    str,
    PlainValidator(_one_of("an element type", tuple(DTYPES))),
    WithJsonSchema({"enum": list(DTYPES)}),
]
