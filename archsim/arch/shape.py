"""What may stand at a path of a chip file: walks the models."""

import types
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from archsim.arch.quantity import Quantity
from archsim.base.places import KeyPath


def bare(annotation: Any) -> Any:
    """The type without `Annotated` and `| None`; a union of several stays one."""
    while True:
        origin = get_origin(annotation)
        if origin is Annotated:
            annotation = get_args(annotation)[0]
        elif origin in (Union, types.UnionType):
            some = [a for a in get_args(annotation) if a is not type(None)]
            if len(some) != 1:
                return annotation
            annotation = some[0]
        else:
            return annotation


@lru_cache(maxsize=8192)
def at(model: type[BaseModel], path: KeyPath) -> Any:
    """The type at `path`, or None where nothing may stand there."""
    return bare(_below(at(model, path[:-1]), str(path[-1]))) if path else model


def field_at(model: type[BaseModel], path: KeyPath) -> FieldInfo | None:
    """The declaration of the value at `path`; None inside tables of free names."""
    owner = at(model, path[:-1])
    return owner.model_fields.get(str(path[-1])) if path and is_model(owner) else None


def keys_at(model: type[BaseModel], path: KeyPath) -> tuple[str, ...]:
    """The keys that the mapping at `path` may hold; none for tables of free names."""
    owner = at(model, path)
    return tuple(owner.model_fields) if is_model(owner) else ()


def is_model(kind: Any) -> bool:
    """Whether a type is a section with fixed keys."""
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def is_number(kind: Any) -> bool:
    """Whether a value of this type needs a basis: every number does."""
    return kind in (int, Fraction, Quantity)


def _below(kind: Any, key: str) -> Any:
    if is_model(kind):
        field = kind.model_fields.get(key)
        if field is None:
            return None
        return Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
    if get_origin(kind) in (Mapping, dict):
        return get_args(kind)[1]
    return None
