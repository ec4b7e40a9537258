"""Draws legal operands of an instruction and puts them into the memory of a core.

The operands are those of `archsim cycles` (`bind_alone`), then moved apart and given rows that are
further apart than they are long, as a sub-view has them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from definitions.call import TYPES, Array, Call, Shape
from hypothesis import assume
from hypothesis import strategies as st
from law_data import Data, adapt, legal_keys, sizes, values

from archsim.arch import ArchConfig, load
from archsim.base.dtypes import DTYPES
from archsim.check import check
from archsim.isa.operands import BoundInstr, GmView, Loc, Operand, TileView
from archsim.isa.tile_op import TileOp
from archsim.numerics.memory import GM, Memory
from archsim.schedule.alone import Question, bind_alone

GM_BYTES = 1 << 17
GAP_BYTES = 64
BLOCK = 32


@cache
def chip(core: str, infnan: bool) -> ArchConfig:
    """A core in one of the two profiles."""
    return load(core, (("numerics.profile", "infnan" if infnan else "reset"),))


@dataclass(frozen=True)
class Example:
    """An instruction on a core whose memory holds its operands."""

    instr: BoundInstr
    arch: ArchConfig
    memory: Memory
    call: Call


def whole_bytes(op: TileOp, core: str) -> list[tuple[str, str]]:
    """The type pairs that are drawn: elements of 4 bits are held in tests/numerics/ alone."""
    return [p for p in op.dtypes[core] if all(DTYPES[name].bits >= 8 for name in p)]


@st.composite
def examples(draw: st.DrawFn, op: TileOp, core: str, pair: tuple[str, str] | None) -> Example:
    """One legal example of a form on a core."""
    arch = chip(core, draw(st.booleans()))
    source, to = pair or draw(st.sampled_from(whole_bytes(op, core)))
    keys = legal_keys(draw, op, core, (source, to))
    shape, valid = sizes(draw, op, core, (source, to), keys)
    dynamic = draw(st.sampled_from(("", "both", "cols", "rows")))
    chosen, omitted = _optional(draw, op)
    asked = Question(
        chosen, DTYPES[source], DTYPES[to], shape, valid, dynamic, op.sample_scalar, keys
    )
    instr = replace(bind_alone(asked, arch), op=op.on(core), omitted=omitted)
    instr = _in_place(draw, _spread(draw, instr))
    if op.scratch is not None and instr.tmp is None and draw(st.booleans()):
        instr = replace(instr, tmp=_scratch(op, instr))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    data = Data(rng, op, core, source, to, keys, draw(st.sampled_from(("edge", "plain", "mixed"))))
    instr = replace(instr, src=_scalars(instr, data))
    if op.swappable and draw(st.booleans()):
        instr = replace(instr, src=instr.src[::-1])
    instr = adapt(draw, instr, data)
    assume(_avoids_reserved(instr, arch))
    faults = [f for f in check(instr, arch, may_allocate=False) if f.severity == "error"]
    assume(not faults)
    return _placed(instr, arch, data)


def _avoids_reserved(instr: BoundInstr, arch: ArchConfig) -> bool:
    """Whether all tiles lie below what the device keeps for itself at the top of UB."""
    ub = arch.memory.ub
    tiles = [t for t in (*instr.dst, *instr.src, instr.tmp) if isinstance(t, TileView)]
    return all(t.addr + _extent(t) <= ub.size_bytes - ub.reserved_top_bytes for t in tiles)


def _optional(draw: st.DrawFn, op: TileOp) -> tuple[TileOp, tuple[str, ...]]:
    """The form with its optional operands made certain or left out."""
    names = [a.name for a in op.ins if a.optional and not a.scratch]
    if not names:
        return op, ()
    given = draw(st.integers(0, len(names)))
    left_out = tuple(names[given:])
    ins = tuple(
        replace(a, optional=False) if a.name in names[:given] else a
        for a in op.ins
        if a.name not in left_out
    )
    return replace(op, ins=ins), left_out


def _spread(draw: st.DrawFn, instr: BoundInstr) -> BoundInstr:
    """The tiles at places of their own, some with blocks between their rows."""
    extra = draw(st.sampled_from((0, 0, 1, 2, 8)))
    same = draw(st.booleans())
    place, places = 0, dict[str, TileView]()
    given = [a for a in instr.op.ins if not a.scratch and a.name not in instr.omitted]
    at = {id(value): a.at for a, value in zip(given, instr.src, strict=True)}
    names = {id(value): a.name for a, value in zip(instr.op.outs, instr.dst, strict=True)}

    def moved(operand: Operand) -> Operand:
        nonlocal place
        if not isinstance(operand, TileView):
            return operand
        blocks = extra if same else draw(st.sampled_from((0, extra)))
        stride = operand.row_stride
        if operand.row_major:
            stride += blocks * BLOCK // operand.dtype.itemsize
        if at.get(id(operand)):
            like = at[id(operand)]
            return replace(operand, addr=places[like].addr, row_stride=places[like].row_stride)
        out = replace(operand, addr=place, row_stride=stride)
        place = -(-(out.addr + _extent(out) + GAP_BYTES) // BLOCK) * BLOCK
        places[names.get(id(operand), "")] = out
        return out

    dst = tuple(moved(operand) for operand in instr.dst)
    src = tuple(moved(operand) for operand in instr.src)
    tmp = moved(instr.tmp) if instr.tmp is not None else None
    assert tmp is None or isinstance(tmp, TileView)
    return replace(instr, dst=dst, src=src, tmp=tmp)


def _in_place(draw: st.DrawFn, instr: BoundInstr) -> BoundInstr:
    """Elementwise instructions may write what they read: dst is one of the sources, sometimes."""
    dst = instr.dst[0]
    if instr.op.mnemonic not in MAY_ALIAS or not isinstance(dst, TileView) or draw(st.booleans()):
        return instr
    like = [t for t in instr.src if isinstance(t, TileView)]
    place = draw(st.sampled_from(like))
    return replace(instr, dst=(replace(dst, addr=place.addr, row_stride=place.row_stride),))


MAY_ALIAS = (
    *("tadd", "tsub", "tmul", "tmax", "tmin", "tand", "tor", "tabs", "tneg", "tnot", "trelu"),
    *("texp", "tlog", "tsqrt", "tadds", "tsubs", "tmuls", "tmaxs", "tmins", "tlrelu", "tshls"),
    *("tshrs", "tsubrelu", "tdiv"),
)


def _extent(tile: TileView) -> int:
    if tile.row_major:
        return tile.size_bytes
    return tile.rows * tile.cols * tile.dtype.itemsize


def _scratch(op: TileOp, instr: BoundInstr) -> TileView:
    """A generous scratch tile, of the type that the row fixes or of the source."""
    assert op.scratch is not None
    tiles = [t for t in (*instr.dst, *instr.src) if isinstance(t, TileView)]
    like = max(tiles, key=lambda t: t.rows * t.cols)
    sources = [t for t in instr.src if isinstance(t, TileView)]
    dtype = DTYPES[op.scratch.dtype] if op.scratch.dtype else (sources or tiles)[-1].dtype
    per_block = BLOCK // dtype.itemsize
    cols = max(-(-like.cols // per_block) * per_block, 256 // dtype.itemsize)
    rows = like.rows + 1
    addr = -(-(max(t.addr + _extent(t) for t in tiles) + GAP_BYTES) // BLOCK) * BLOCK
    return TileView("tmp", Loc.VEC, dtype, rows, cols, rows, cols, addr, cols)


def _scalars(instr: BoundInstr, data: Data) -> tuple[Operand, ...]:
    """The scalar operands with values of their own."""
    names = [a.name for a in instr.op.ins if not a.scratch and a.name not in instr.omitted]
    return tuple(
        data.scalar(name, instr) if isinstance(value, int | float) else value
        for name, value in zip(names, instr.src, strict=True)
    )


def _placed(instr: BoundInstr, arch: ArchConfig, data: Data) -> Example:
    size = arch.memory.ub.size_bytes
    memory = Memory({"UB": size}, GM_BYTES)
    for name in ("UB", GM):
        memory.bytes_of(name)[:] = data.rng.integers(0, 256, memory.sizes[name], np.uint8)
    for name, operand in named(instr).items():
        if not isinstance(operand, int | float):
            held = values(name, operand, instr, data)
            window(memory, operand, held.shape)[...] = held
    return Example(instr, arch, memory, _call(instr, arch, memory, data))


def window(
    memory: Memory, operand: TileView | GmView, shape: tuple[int, int], dtype: str = ""
) -> Array:
    """The first rows and columns of an operand in memory, to read and write."""
    to = TYPES[dtype] if dtype else TYPES[operand.dtype.name]
    if isinstance(operand, GmView):
        raw = memory.bytes_of(GM)
        strides = [stride * operand.dtype.itemsize for stride in operand.strides]
        steps = (strides[-2] if len(strides) > 1 else 0, strides[-1])
        return np.ndarray(shape, to, raw, operand.addr, steps)
    size = operand.dtype.itemsize
    steps = (operand.row_stride * size, size) if operand.row_major else (size, operand.rows * size)
    return np.ndarray(shape, to, memory.bytes_of("UB"), operand.addr, steps)


def _call(instr: BoundInstr, arch: ArchConfig, memory: Memory, data: Data) -> Call:
    valid, whole, shapes = {}, {}, {}
    scalars: dict[str, int | float] = {}
    for name, operand in named(instr).items():
        if isinstance(operand, TileView):
            region = (operand.valid_rows, operand.valid_cols)
            valid[name] = window(memory, operand, region).copy()
            whole[name] = window(memory, operand, (operand.rows, operand.cols)).copy()
            shapes[name] = Shape(
                operand.rows,
                operand.cols,
                operand.valid_rows,
                operand.valid_cols,
                operand.row_stride,
                operand.static_cols,
                operand.row_major,
                operand.pad,
                operand.static_rows,
            )
        elif isinstance(operand, GmView):
            valid[name] = whole[name] = window(memory, operand, operand.shape[-2:]).copy()  # type: ignore[arg-type]
        else:
            scalars[name] = operand
    swapped = instr.op.swappable and not isinstance(instr.src[0], TileView)
    return Call(
        arch.isa,
        data.source,
        data.to,
        valid,
        whole,
        shapes,
        scalars,
        dict(instr.attrs),
        arch.numerics.profile == "infnan",
        swapped,
    )


def named(instr: BoundInstr) -> Mapping[str, Any]:
    """The operands by name; a scalar written before its tile is still the scalar."""
    named = dict(instr.operands)
    if instr.op.swappable and not isinstance(instr.src[0], TileView):
        names = [a.name for a in instr.op.ins if not a.scratch]
        named.update(zip(names, instr.src[::-1], strict=True))
    return named
