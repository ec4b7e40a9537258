"""Tensors in global memory: their initial contents, and where they lie."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from archsim.base.errors import Diagnostic, InputError
from archsim.base.source import Span
from archsim.program.init_decls import integer_limits
from archsim.program.ir import TensorDecl
from archsim.program.rounded import to_dtype

ALIGNMENT_BYTES = 512


def initial_values(decl: TensorDecl, directory: str) -> NDArray[Any]:
    """The contents of a tensor before the run; shape and type as declared.

    Random numbers come from `numpy.random.default_rng(seed)`, are drawn in float64 (`randint` in
    int64) and rounded once, to the nearest, ties to even; integer tensors saturate. Files are
    looked for in `directory`. Raises `InputError` where a file does not suit.
    """
    if decl.init.kind == "zeros":
        return np.zeros(decl.shape, decl.dtype.np)
    if decl.init.kind == "file":
        path = os.path.join(directory, str(decl.init.args["file"]))
        key = decl.init.args.get("key")
        place = decl.init.span  # an option of the command line has none
        name = f"init of {decl.name}" if place is not None else f"--input {decl.name}"
        return load_array(path, None if key is None else str(key), decl, name, place)
    with np.errstate(all="ignore"):
        values = _MAKERS[decl.init.kind](decl.shape, decl.init.args)
    if decl.dtype.is_integer:
        return _saturated(values, decl)
    return to_dtype(values, decl.dtype)


def _saturated(values: NDArray[Any], decl: TensorDecl) -> NDArray[Any]:
    least, most = integer_limits(decl.dtype)
    if values.dtype.kind == "f":
        whole = np.rint(values)
        top = whole >= float(most)  # for 64 bits float(most) is one too many to convert
        out = np.where(top, 0.0, np.maximum(whole, float(least))).astype(decl.dtype.np)
        out[top] = most
        return cast(NDArray[Any], out)
    info = np.iinfo(values.dtype)
    inside: NDArray[Any] = np.clip(values, max(least, info.min), min(most, info.max))
    return inside.astype(decl.dtype.np)


Maker = Callable[[tuple[int, ...], Mapping[str, Any]], NDArray[Any]]


def _const(shape: tuple[int, ...], args: Mapping[str, Any]) -> NDArray[Any]:
    return np.full(shape, args["value"])


def _linspace(shape: tuple[int, ...], args: Mapping[str, Any]) -> NDArray[Any]:
    return np.linspace(args["low"], args["high"], _count(shape)).reshape(shape)


def _arange(shape: tuple[int, ...], args: Mapping[str, Any]) -> NDArray[Any]:
    steps: NDArray[Any] = args["start"] + args["step"] * np.arange(_count(shape))
    return steps.reshape(shape)


def _normal(shape: tuple[int, ...], args: Mapping[str, Any]) -> NDArray[Any]:
    return np.random.default_rng(args["seed"]).normal(args["mean"], args["std"], shape)


def _uniform(shape: tuple[int, ...], args: Mapping[str, Any]) -> NDArray[Any]:
    return np.random.default_rng(args["seed"]).uniform(args["low"], args["high"], shape)


def _randint(shape: tuple[int, ...], args: Mapping[str, Any]) -> NDArray[Any]:
    return np.random.default_rng(args["seed"]).integers(args["low"], args["high"], shape)


def _count(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape))


_MAKERS: Mapping[str, Maker] = MappingProxyType(
    {
        "const": _const,
        "linspace": _linspace,
        "arange": _arange,
        "normal": _normal,
        "uniform": _uniform,
        "randint": _randint,
    }
)


def load_array(
    path: str, key: str | None, decl: TensorDecl, what: str, span: Span | None
) -> NDArray[Any]:
    """The array in a .npy or .npz file, which must have the tensor's shape and type.

    A .npz file with several arrays needs `key`. Types that numpy does not know (bf16, f8) are
    stored as raw bytes, or by `.view("uint16")`, `.view("uint8")`: those are taken as the tensor's
    type if the width fits. Raises `InputError`.
    """
    name = os.path.basename(path)
    array = _loaded(path, name, key, what, span)
    if array.shape != decl.shape:
        given, rule = list(array.shape), list(decl.shape)
        raise _fault(f"{what}: {name} has shape {given}; tensor {decl.name} has {rule}", span)
    want = decl.dtype.np
    if array.dtype.newbyteorder("=") == want:
        return array.astype(want)
    if _is_raw(array, want):
        return np.ascontiguousarray(array).view(want)
    fix = f'save it with .astype("{want}")' if want.isbuiltin == 1 else None
    message = f"{what}: {name} holds {array.dtype}; tensor {decl.name} is {decl.dtype}"
    raise _fault(message, span, fix)


def _is_raw(array: NDArray[Any], want: np.dtype[Any]) -> bool:
    """Bits that stand for a type which numpy does not know itself."""
    plain = array.dtype.kind in "Vu" and array.dtype.names is None
    return plain and want.isbuiltin != 1 and array.itemsize == want.itemsize


def _loaded(path: str, name: str, key: str | None, what: str, span: Span | None) -> NDArray[Any]:
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            if key is not None:
                raise _fault(f"{what}: {name} is a single array; only .npz files take a key", span)
            return loaded
        with loaded as archive:
            return archive[_member(archive.files, name, key, what, span)]  # type: ignore[no-any-return]
    except FileNotFoundError:
        raise _fault(f"{what}: {name}: no such file", span) from None
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        reason = getattr(error, "strerror", None) or "it holds something else"
        rule = "must be a .npy or .npz file of plain numbers"
        raise _fault(f"{what}: {name} cannot be read: {reason.lower()}; {rule}", span) from None


def _member(files: list[str], name: str, key: str | None, what: str, span: Span | None) -> str:
    if key is None and len(files) == 1:
        return files[0]
    if key in files:
        return str(key)
    known = ", ".join(files) or "no arrays"
    if key is None:
        message = f"{what}: {name} holds {len(files)} arrays; key must name one of {known}"
        raise _fault(message, span)
    raise _fault(f'{what}: {name} has no array "{key}"; it holds {known}', span)


def _fault(message: str, span: Span | None, fix: str | None = None) -> InputError:
    return InputError([Diagnostic(message, span, fix)])


@dataclass(frozen=True, slots=True)
class GmLayout:
    """Where tensors lie in one flat byte array of `size_bytes`: byte address by name."""

    bases: Mapping[str, int]
    size_bytes: int

    @staticmethod
    def of(tensors: Iterable[TensorDecl]) -> "GmLayout":
        """Each tensor at the next multiple of 512 bytes, in declaration order."""
        bases: dict[str, int] = {}
        end = 0
        for decl in tensors:
            bases[decl.name] = -(-end // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
            end = bases[decl.name] + span_bytes(decl)
        return GmLayout(bases, end)

    def write(self, memory: NDArray[np.uint8], decl: TensorDecl, values: NDArray[Any]) -> None:
        """Store `values` (the tensor's shape and type) into `memory`; gaps keep their bytes."""
        self._view(memory, decl)[...] = values

    def read(self, memory: NDArray[np.uint8], decl: TensorDecl) -> NDArray[Any]:
        """The tensor in `memory`, as a dense copy."""
        return self._view(memory, decl).copy()

    def _view(self, memory: NDArray[np.uint8], decl: TensorDecl) -> NDArray[Any]:
        strides = [step * decl.dtype.itemsize for step in decl.strides]
        base = self.bases[decl.name]
        return np.ndarray(decl.shape, decl.dtype.np, memory.data, base, strides)


def span_bytes(decl: TensorDecl) -> int:
    """Bytes from the first element of a tensor to the end of its last one."""
    last = sum((extent - 1) * step for extent, step in zip(decl.shape, decl.strides, strict=True))
    return (last + 1) * decl.dtype.itemsize
