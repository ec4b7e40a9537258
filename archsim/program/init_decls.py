"""The key `init` of a tensor: how it gets its contents."""

import math
import os
from collections.abc import Callable, Mapping
from types import MappingProxyType

from archsim.base.dtypes import DType, Kind
from archsim.base.errors import did_you_mean
from archsim.program.ir import Init
from archsim.program.reading import Node

# keys of each kind with their defaults; ... must be given
KEYS: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {
        "arange": {"start": 0, "step": 1},
        "normal": {"seed": ..., "mean": 0, "std": 1},
        "uniform": {"seed": ..., "low": 0, "high": 1},
        "randint": {"seed": ..., "low": 0, "high": ...},
    }
)
KINDS = ("const", "linspace", *KEYS, "file")
_RULE = f"a mapping with one of {', '.join(KINDS)}"


def integer_limits(dtype: DType) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    if dtype.kind is Kind.SIGNED:
        return -(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1
    return 0, (1 << dtype.bits) - 1


def read_init(node: Node | None, what: str, dtype: DType | None, directory: str) -> Init | None:
    """The `init` of the tensor `what`; without one it holds zeros. None where it is faulty."""
    if node is None:
        return Init("zeros")
    name = f"init of {what}"
    if not isinstance(node.value, dict):
        node.must_be(name, _RULE)
        return None
    kinds = [key for key in node.value if key in KINDS]
    allowed = ("file", "key") if "file" in kinds else KINDS
    before = len(node.faults.found)
    node.check_keys(name, allowed)
    if len(kinds) != 1:
        if len(node.faults.found) == before:
            node.fault(f"{name} has {len(kinds) or 'no'} kinds; must be {_RULE}")
        return None
    args = _READERS[kinds[0]](node, name, dtype, directory)
    return None if args is None else Init(kinds[0], args, node.span)


Args = Mapping[str, object] | None


def _const(node: Node, what: str, dtype: DType | None, directory: str) -> Args:
    part = node.at("const")
    value = part.number(f"const of {what}")
    if value is None:
        return None
    if dtype is not None and dtype.is_integer:
        least, most = integer_limits(dtype)
        if not math.isfinite(value) or value != int(value) or not least <= value <= most:
            part.must_be(f"const of {what}", f"an integer from {least} to {most} ({dtype})")
            return None
        value = int(value)
    return {"value": value}


def _linspace(node: Node, what: str, dtype: DType | None, directory: str) -> Args:
    part = node.at("linspace")
    if not isinstance(part.value, list) or len(part.value) != 2:
        part.must_be(f"linspace of {what}", "a list of the first and the last value")
        return None
    low, high = (_finite(child, f"an end of linspace of {what}") for child in part.children())
    return None if low is None or high is None else {"low": low, "high": high}


def _finite(node: Node, what: str) -> int | float | None:
    value = node.number(what)
    if value is not None and not math.isfinite(value):
        node.must_be(what, "finite")
        return None
    return value


def _keyed(node: Node, what: str, dtype: DType | None, directory: str) -> Args:
    kind = next(key for key in node.value if key in KEYS)
    part, keys = node.at(kind), KEYS[kind]
    name = f"{kind} of {what}"
    if not part.is_mapping(name, keys):
        return None
    args = {key: _argument(part, key, default, name, kind) for key, default in keys.items()}
    if any(value is None for value in args.values()):
        return None
    return args if _in_order(part, name, args, dtype) else None


def _argument(node: Node, key: str, default: object, what: str, kind: str) -> object:
    part = node.get(key)
    if part is None:
        if default is ...:
            node.fault(f"{what} has no {key}; it must state one")
            return None
        return default
    if key == "seed":
        return part.integer(f"seed of {what}", 0)
    if kind == "randint":
        return part.integer(f"{key} of {what}")
    return _finite(part, f"{key} of {what}")


def _in_order(node: Node, what: str, args: Mapping[str, object], dtype: DType | None) -> bool:
    low, high, std = args.get("low"), args.get("high"), args.get("std", 0)
    if isinstance(std, int | float) and std < 0:
        node.at("std").must_be(f"std of {what}", "0 or more")
        return False
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return True
    integers = node.key == "randint"
    if low > high or (integers and low == high):
        relation = "less than" if integers else "at most"
        node.fault(f"low of {what} is {low}; must be {relation} high, {high}")
        return False
    if integers and not -(2**63) <= low < high <= 2**63:
        node.fault(f"{what} reaches from {low} to {high}; must stay within 64-bit integers")
        return False
    if integers and dtype is not None and dtype.is_integer:
        least, most = integer_limits(dtype)
        if low < least or high - 1 > most:
            reach = f"from {low} to {high - 1}"
            node.fault(f"{what} reaches {reach}; {dtype} holds {least} to {most}")
            return False
    return True


def _file(node: Node, what: str, dtype: DType | None, directory: str) -> Args:
    return file_reference(node, what, directory)


def file_reference(node: Node, what: str, directory: str) -> Args:
    """The keys `file` and `key` of a mapping; the file must be there."""
    part = node.at("file")
    name = part.text(f"file of {what}")
    if name is None:
        return None
    if not os.path.isfile(os.path.join(directory, name)):
        folder = os.path.dirname(os.path.join(directory, name)) or "."
        near = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        fix = did_you_mean(os.path.basename(name), near)
        part.fault(f"file of {what} is {name}; no such file beside the program", fix)
        return None
    key_node = node.get("key")
    if key_node is None:
        return {"file": name}
    key = key_node.text(f"key of {what}")
    return None if key is None else {"file": name, "key": key}


_READERS: Mapping[str, Callable[[Node, str, DType | None, str], Args]] = MappingProxyType(
    {
        "const": _const,
        "linspace": _linspace,
        "arange": _keyed,
        "normal": _keyed,
        "uniform": _keyed,
        "randint": _keyed,
        "file": _file,
    }
)
