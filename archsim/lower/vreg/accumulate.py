"""Vector instructions outside of a plain walk: accumulators, single points, rows of columns."""

from collections.abc import Sequence
from dataclasses import replace

from archsim.base.dtypes import DType
from archsim.isa.operands import TileView
from archsim.isa.vreg import Tail, VregMem, VregUop
from archsim.lower.vreg.emit import conversion_form, form


def neutral(step: str, dtype: DType) -> int | float:
    """What changes nothing: 0, 1, the least or the greatest value."""
    if step in ("VADD", "VMUL"):
        return 0 if step == "VADD" else 1
    if dtype.is_float:
        return float("-inf") if step == "VMAX" else float("inf")
    half = 1 << dtype.bits - 1
    low, high = (-half, half - 1) if dtype.name[0] == "i" else (0, 2 * half - 1)
    return low if step == "VMAX" else high


def op(name: str, dtype: DType, dst: str, *src: str, scalar: int | float | None = None) -> VregUop:
    """A computing instruction on whole registers."""
    return VregUop(name, form(dtype), (dst,), src, dtype, scalar=scalar)


def cvt(dst: str, src: str, source: DType, to: DType, effect: str) -> VregUop:
    """A conversion of whole registers."""
    kind = conversion_form(source, to)
    return VregUop("VCVT", kind, (dst,), (src,), source, to=to, effect=effect)


def load(register: str, src: TileView, steps: Sequence[int], lanes: int) -> VregUop:
    """`lanes` elements from the start of a tile, `steps` bytes further in each loop."""
    mem = VregMem(src.addr, tuple(steps), src.dtype, lanes)
    return VregUop("VLDS", form(src.dtype), (register,), (), src.dtype, mem)


def load_row(
    register: str, src: TileView, row: int, step: int, width: int, *, looped: bool = True
) -> VregUop:
    """A vector of columns of `row`, `step` rows further in each iteration."""
    steps = (width, step * src.row_bytes) if looped else (width,)
    moved = replace(src, addr=src.addr + row * src.row_bytes)
    return load(register, moved, steps, width // src.dtype.itemsize)


def store(
    dst: TileView, register: str, steps: Sequence[int], lanes: int, on: Tail | None
) -> VregUop:
    """`lanes` elements to the start of a tile, `steps` bytes further in each loop."""
    mem = VregMem(dst.addr, tuple(steps), dst.dtype, lanes)
    return VregUop("VSTS", form(dst.dtype), (), (register,), dst.dtype, mem, pred=on)


def store_point(dst: TileView, register: str) -> VregUop:
    """The lowest lane to the first element of a row."""
    mem = VregMem(dst.addr, (dst.row_bytes,), dst.dtype, 1, "onept")
    return VregUop("VSTS", form(dst.dtype), (), (register,), dst.dtype, mem)


def fence(dtype: DType) -> VregUop:
    """Loads behind it see the stores before it."""
    return VregUop("MEM_BAR", form(dtype), (), (), dtype, effect="vst_vld")
