"""Shapes, keys and values that show what an instruction does: edges, ties, and what is legal."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from definitions.call import FLOATS, TYPES, Array
from definitions.gather import records
from hypothesis import strategies as st

from archsim.base.dtypes import DTYPES
from archsim.isa.operands import BoundInstr, GmView, Operand, TileView
from archsim.isa.tile_op import TileOp

BLOCK = 32
FAR = 0x24000  # beyond what other tiles take
INF, NAN = float("inf"), float("nan")
EDGES = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.5, 126.5, 127.5, -128.5, 254.5, 255.5),
    *(256.0, 257.0, 2048.0, 2049.0, 32767.5, -32768.5, 32768.0, 65504.0, 65519.0, 65520.0, 1e6),
    *(2.0**31, -(2.0**31), 2.0**31 + 4096, 2.0**32, 16777216.0, 3e9, 1e8, 3.0, -3.0, 10.0, -9.75),
    *(2.0**-14, 2.0**-24, 2.0**-25, 3 * 2.0**-25, 2.0**-126, 2.0**-149, 1e-40, -1e-40, 6e-8, -6e-8),
    *(1 + 2.0**-11, 1 + 2.0**-10, 1 + 3 * 2.0**-11, 1 + 2.0**-23, 1 - 2.0**-24, 3.4e38, -3.4e38),
    *(88.72, 88.73, -87.3, -87.4, -103.9, -104.0, 11.09, 11.1, -9.7, -17.3, INF, -INF, NAN),
)
WHOLES = (0, 1, -1, 2, -2, 3, 7, -7, 10, 127, 128, -128, -129, 255, 256, 257, 32767, 32768, -32768)
GREAT = (65535, 65536, 2049, 16777215, 16777217, -16777217, 33554433, 2**31 - 1, -(2**31), -1)


@dataclass(frozen=True)
class Data:
    """Where values come from: a generator, and how many of them are edges."""

    rng: np.random.Generator
    op: TileOp
    core: str
    source: str
    to: str
    keys: Mapping[str, str]
    taste: str  # edge, plain or mixed

    def lanes(self, dtype: str, shape: tuple[int, int]) -> Array:
        """Values of a type: edges, plain small numbers, or both among numbers of every size."""
        edges, others = self._edges(dtype, shape), self._others(dtype, shape)
        share = {"edge": 0.7, "plain": 0.0, "mixed": 0.1}[self.taste]
        return np.where(self.rng.random(shape) < share, edges, others)

    def _edges(self, dtype: str, shape: tuple[int, int]) -> Array:
        with np.errstate(all="ignore"):
            if dtype in FLOATS:
                table = np.array(EDGES, np.float32).astype(TYPES[dtype])
            else:
                table = _low(np.array((*WHOLES, *GREAT)), dtype)
        return table[self.rng.integers(0, len(table), shape)]

    def _others(self, dtype: str, shape: tuple[int, int]) -> Array:
        rng = self.rng
        if dtype not in FLOATS:
            if self.taste == "plain":
                return _low(rng.integers(-20, 21, shape), dtype)
            return _low(rng.integers(-(2**62), 2**62, shape) >> rng.integers(20, 62, shape), dtype)
        if self.taste == "plain":
            values = rng.integers(-64, 65, shape) / rng.choice([1, 2, 4, 8], shape)
        else:
            reach = 6 if dtype == "f16" else 20
            values = rng.normal(size=shape) * 2.0 ** rng.integers(-reach, reach + 1, shape)
        with np.errstate(all="ignore"):
            return values.astype(np.float32).astype(TYPES[dtype])

    def scalar(self, name: str, instr: BoundInstr) -> int | float:
        """A value for a scalar operand."""
        made = SCALARS.get((self.op.mnemonic, name), SCALARS.get(("", name)))
        if made is not None:
            return made(instr, self)
        dtype = self.source
        value = self.lanes(dtype, (1, 1))[0, 0]
        return int(value) if dtype not in FLOATS else float(value)


def _low(x: Array, dtype: str) -> Array:
    size = TYPES[dtype].itemsize
    masked = np.asarray(x, np.int64).astype(np.uint64) & np.uint64((1 << 8 * size) - 1)
    return masked.astype(f"u{size}").view(TYPES[dtype])


def legal_keys(draw: st.DrawFn, op: TileOp, core: str, pair: tuple[str, str]) -> dict[str, str]:
    """Values of the keys: those that mean the form always, the others sometimes."""
    keys = {}
    for key, values in op.keys.items():
        always = key in op.requires or key in ("mode", "maskPattern", "rmode")
        if values and (always or draw(st.booleans())):
            keys[key] = draw(st.sampled_from(values))
    return keys


def sizes(
    draw: st.DrawFn, op: TileOp, core: str, pair: tuple[str, str], keys: Mapping[str, str]
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Declared shape and valid region: whole blocks of every type, up to a few vectors a row."""
    if op.mnemonic in SIZES:
        return SIZES[op.mnemonic](draw, op, core, pair)
    return _any_sizes(draw, op, pair)


def _any_sizes(
    draw: st.DrawFn, op: TileOp, pair: tuple[str, str]
) -> tuple[tuple[int, int], tuple[int, int]]:
    typed = [a.dtype for a in (*op.outs, *op.ins) if a.dtype and a.kind == "tile"]
    block = max(BLOCK // TYPES[t].itemsize for t in (*pair, *typed) if t in TYPES)
    is_halved = any(a.shape == "half" for a in op.outs)
    block *= 2 if is_halved else 1
    vector = 256 // min(TYPES[t].itemsize for t in pair)
    wide = draw(st.sampled_from((1, 1, 2, 3, 4)))
    most = max(wide * vector // block, 1)
    cols = block * draw(st.integers(max(most - vector // block, 0) + 1, most + 1))
    rows = draw(st.one_of(st.integers(1, 9), st.integers(1, max(1, min(40, 6000 // cols)))))
    if draw(st.integers(0, 19)) == 19 and cols <= 4 * block:
        rows = draw(st.sampled_from((255, 256, 300)))
    valid_rows = draw(st.one_of(st.just(rows), st.integers(1, rows)))
    valid_cols = draw(st.one_of(st.just(cols), st.integers(1, cols)))
    valid_cols += valid_cols % 2 if is_halved else 0
    return (rows, cols), (valid_rows, valid_cols)


def _random_sizes(
    draw: st.DrawFn, op: TileOp, core: str, pair: tuple[str, str]
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Small: Philox is slow in plain Python."""
    cols = 8 * draw(st.integers(1, 10))
    rows = draw(st.integers(1, 4))
    return (rows, cols), (draw(st.integers(1, rows)), draw(st.integers(1, cols)))


Maker = Callable[[BoundInstr, Data], int | float]
SCALARS: dict[tuple[str, str], Maker] = {}
SIZES: dict[str, Callable[..., tuple[tuple[int, int], tuple[int, int]]]] = {}
VALUES: dict[tuple[str, str], Callable[[TileView, BoundInstr, Data], Array]] = {}
ADAPT: dict[str, Callable[[st.DrawFn, BoundInstr, Data], BoundInstr]] = {}


def adapt(draw: st.DrawFn, instr: BoundInstr, data: Data) -> BoundInstr:
    """Operands as the instruction wants them where `Arg.shape` does not say all."""
    made = ADAPT.get(instr.op.mnemonic)
    return made(draw, instr, data) if made else instr


def values(name: str, operand: TileView | GmView, instr: BoundInstr, data: Data) -> Array:
    """What an operand holds before; the rest of memory is noise."""
    made = VALUES.get((instr.op.mnemonic, name))
    if isinstance(operand, GmView):
        return data.lanes(operand.dtype.name, operand.shape[-2:])  # type: ignore[arg-type]
    if made is not None:
        return made(operand, instr, data)
    shape = (operand.valid_rows, operand.valid_cols)
    if name in ("tmp",) or name in [a.name for a in instr.op.outs if a.kind != "mask"]:
        return data.lanes(operand.dtype.name, shape)
    if name in MASKS:
        return data.rng.integers(0, 256, shape).astype(TYPES[operand.dtype.name])
    return data.lanes(operand.dtype.name, shape)


MASKS = ("mask",)


def _below_width(instr: BoundInstr, data: Data) -> int:
    return int(data.rng.integers(0, 8 * TYPES[data.source].itemsize))


def _counts(tile: TileView, instr: BoundInstr, data: Data) -> Array:
    shape = (tile.valid_rows, tile.valid_cols)
    return data.rng.integers(0, 8 * tile.dtype.itemsize, shape).astype(TYPES[tile.dtype.name])


def _f32(instr: BoundInstr, data: Data) -> float:
    return float(data.lanes("f32", (1, 1))[0, 0])


SCALARS[("tshls", "scalar")] = SCALARS[("tshrs", "scalar")] = _below_width
VALUES[("tshl", "src1")] = VALUES[("tshr", "src1")] = _counts
SCALARS[("", "scale")] = _f32


def _destination_scalar(instr: BoundInstr, data: Data) -> int | float:
    value = data.lanes(data.to, (1, 1))[0, 0]
    return float(value) if data.to in FLOATS else int(value)


SCALARS[("texpands", "scalar")] = _destination_scalar


def _with_valid(tile: Operand, rows: int, cols: int) -> TileView:
    assert isinstance(tile, TileView)
    return replace(tile, valid_rows=rows, valid_cols=cols)


def _part(draw: st.DrawFn, instr: BoundInstr, data: Data) -> BoundInstr:
    """One of the sources has fewer valid rows or columns."""
    dst = instr.dst[0]
    assert isinstance(dst, TileView)
    rows = draw(st.integers(1, dst.valid_rows))
    cols = draw(st.integers(1, dst.valid_cols))
    which = draw(st.integers(0, 1))
    src = list(instr.src)
    for i in range(which, len(src), 2):
        src[i] = _with_valid(src[i], rows, cols)
    return replace(instr, src=tuple(src))


for _name in ("tpartadd", "tpartmul", "tpartmax", "tpartmin", "tpartargmax", "tpartargmin"):
    ADAPT[_name] = _part


def _indices(tile: TileView, instr: BoundInstr, data: Data) -> Array:
    shape = (tile.valid_rows, tile.valid_cols)
    return data.rng.integers(0, 1000, shape).astype(TYPES[tile.dtype.name])


for _name in ("tpartargmax", "tpartargmin"):
    VALUES[(_name, "src0Idx")] = VALUES[(_name, "src1Idx")] = _indices


def _concat(draw: st.DrawFn, instr: BoundInstr, data: Data) -> BoundInstr:
    """Each source has some of the columns."""
    dst, a, b = instr.dst[0], *instr.src
    assert isinstance(dst, TileView)
    assert isinstance(a, TileView)
    assert isinstance(b, TileView)
    first, second = draw(st.integers(1, a.cols)), draw(st.integers(1, b.cols))
    src = (_with_valid(a, a.valid_rows, first), _with_valid(b, b.valid_rows, second))
    return replace(instr, dst=(_with_valid(dst, dst.valid_rows, first + second),), src=src)


ADAPT["tconcat"] = _concat


def _pad(draw: st.DrawFn, instr: BoundInstr, data: Data) -> BoundInstr:
    """A pad value."""
    dst = instr.dst[0]
    assert isinstance(dst, TileView)
    pads = ("zero", "max", "min", *(("null",) if instr.op.mnemonic == "tload" else ()))
    dst = replace(dst, pad=draw(st.sampled_from(pads)))
    return replace(instr, dst=(dst,))


for _name in ("tfillpad", "tfillpad_expand", "tfillpad_inplace", "tload"):
    ADAPT[_name] = _pad


def _row_results(draw: st.DrawFn, instr: BoundInstr, data: Data) -> BoundInstr:
    """Results of rows in a row-major tile with one valid column, sometimes; indices of any type."""
    dst = instr.dst[0]
    assert isinstance(dst, TileView)
    if not dst.row_major and draw(st.booleans()):
        dst = _in_blocks(dst, 1)
    if "arg" in instr.op.mnemonic:
        dst = replace(dst, dtype=DTYPES[data.to])
    return replace(instr, dst=(dst,))


def _in_blocks(tile: TileView, valid_cols: int) -> TileView:
    """A row-major tile of one block a row in place of a column; it starts behind all others."""
    block = BLOCK // tile.dtype.itemsize
    return replace(
        tile,
        addr=FAR,
        cols=block,
        row_stride=block,
        valid_cols=valid_cols,
        row_major=True,
    )


for _name in ("sum", "max", "min", "prod", "argmax", "argmin"):
    ADAPT[f"trow{_name}"] = ADAPT[f"tcol{_name}"] = _row_results


def _broadcasts(draw: st.DrawFn, instr: BoundInstr, data: Data) -> BoundInstr:
    """A value for each row as a block a row, sometimes; either source may be the whole one."""
    src = list(instr.src)
    last = src[-1]
    assert isinstance(last, TileView)
    if not last.row_major and draw(st.booleans()):
        whole = len(src) == 1
        src[-1] = _in_blocks(last, 1 if whole else BLOCK // last.dtype.itemsize)
    if len(src) == 2 and draw(st.integers(0, 3)) == 0:
        src.reverse()
    return replace(instr, src=tuple(src))


for _name in ("", "add", "sub", "mul", "div", "max", "min", "expdif"):
    ADAPT[f"trowexpand{_name}"] = ADAPT[f"tcolexpand{_name}"] = _broadcasts


def _small(instr: BoundInstr, data: Data) -> int:
    return int(data.rng.integers(-40, 41))


SCALARS[("ttri", "diagonal")] = _small


def _places(tile: TileView, count: int, data: Data) -> Array:
    """Places of elements of a tile, counted in elements from its start through memory."""
    rows = data.rng.integers(0, tile.rows, count)
    return rows * tile.row_stride + data.rng.integers(0, tile.cols, count)


def _gather_indices(tile: TileView, instr: BoundInstr, data: Data) -> Array:
    src = instr.operands["src"]
    assert isinstance(src, TileView)
    shape = (tile.valid_rows, tile.valid_cols)
    found = _places(src, shape[0] * shape[1], data).reshape(shape)
    return (found % (1 << 8 * tile.dtype.itemsize - 1)).astype(TYPES[tile.dtype.name])


def _block_offsets(tile: TileView, instr: BoundInstr, data: Data) -> Array:
    src = instr.operands["src"]
    assert isinstance(src, TileView)
    shape = (tile.valid_rows, tile.valid_cols)
    rows = data.rng.integers(0, src.rows, shape)
    blocks = data.rng.integers(0, src.cols * src.dtype.itemsize // BLOCK, shape)
    return (rows * src.row_bytes + blocks * BLOCK).astype(TYPES[tile.dtype.name])


def _scatter_indices(tile: TileView, instr: BoundInstr, data: Data) -> Array:
    """A place of dst for each element, no two alike: which of equals wins differs."""
    dst = instr.dst[0]
    assert isinstance(dst, TileView)
    shape = (tile.valid_rows, tile.valid_cols)
    cells = data.rng.permutation(dst.rows * dst.cols)[: shape[0] * shape[1]]
    places = cells // dst.cols * dst.row_stride + cells % dst.cols
    return places.reshape(shape).astype(TYPES[tile.dtype.name])


VALUES[("tgather", "indices")] = _gather_indices
VALUES[("tgatherb", "offsets")] = _block_offsets
VALUES[("tscatter", "indices")] = _scatter_indices


def _ascending(tile: TileView, instr: BoundInstr, data: Data) -> Array:
    steps = data.rng.integers(1, 1000, (tile.valid_rows, tile.valid_cols))
    return np.cumsum(steps, axis=1).astype(TYPES[tile.dtype.name])


VALUES[("tsort32", "idx")] = _ascending


def _sort(draw: st.DrawFn, instr: BoundInstr, data: Data) -> BoundInstr:
    """Indices for every row, or one row of them for all."""
    src, idx = instr.src
    assert isinstance(idx, TileView)
    if draw(st.booleans()):
        idx = replace(idx, rows=1, valid_rows=1)
    return replace(instr, src=(src, idx))


ADAPT["tsort32"] = _sort


def sorted_records(data: Data, dtype: str, count: int) -> Array:
    """`count` records of 8 bytes in falling order, as a row of elements."""
    values = data.lanes(dtype, (1, count))
    values = np.where(np.isnan(values.astype(np.float32)), values.dtype.type(1), values)
    order = np.argsort(-values.astype(np.float64)[0], kind="stable")
    index = data.rng.integers(0, 2**32, (1, count), np.uint32)
    return records(values[:, order], index).view(TYPES[dtype])


def _block_list(tile: TileView, instr: BoundInstr, data: Data) -> Array:
    length = instr.operands.get("blockLen", tile.valid_cols)
    assert isinstance(length, int)
    each = length * tile.dtype.itemsize // 8
    count = max(tile.valid_cols // length, 1)
    lists = [sorted_records(data, tile.dtype.name, each) for _ in range(count)]
    return np.concatenate(lists, axis=1)


for _name in ("src", "src0", "src1", "src2", "src3"):
    VALUES[("tmrgsort", _name)] = _block_list


def _merge_sizes(
    draw: st.DrawFn, op: TileOp, core: str, pair: tuple[str, str]
) -> tuple[tuple[int, int], tuple[int, int]]:
    """One row; four blocks of it once or twice, or a list."""
    cols = draw(st.sampled_from((256, 512, 1024) if op.form == "single" else (64, 128, 256)))
    return (1, cols), (1, cols)


SIZES["tmrgsort"] = _merge_sizes
SIZES["trandom"] = _random_sizes


def _block_length(instr: BoundInstr, data: Data) -> int:
    src = instr.operands["src"]
    assert isinstance(src, TileView)
    most = src.valid_cols // 4
    return int(data.rng.choice([n for n in (64, 128, 256) if n <= most]))


SCALARS[("tmrgsort", "blockLen")] = _block_length


def _sum_sizes(
    draw: st.DrawFn, op: TileOp, core: str, pair: tuple[str, str]
) -> tuple[tuple[int, int], tuple[int, int]]:
    """The shapes that A2A3 reduces by blocks, now and then."""
    if pair == ("f32", "f32") and draw(st.integers(0, 3)) == 0:
        shape = draw(st.sampled_from(((64, 128), (32, 256), (16, 512), (8, 1024))))
        return shape, shape
    return _any_sizes(draw, op, pair)


for _name in ("trowsum", "trowmax", "trowmin"):
    SIZES[_name] = _sum_sizes


def _part_of(draw: st.DrawFn, instr: BoundInstr, data: Data) -> BoundInstr:
    """A part of the whole tile, at a block; of bytes two columns at least, an even number."""
    dst, src = instr.dst[0], instr.src[0]
    assert isinstance(dst, TileView)
    assert isinstance(src, TileView)
    is_extract = instr.op.mnemonic == "textract"
    whole, part = (src, dst) if is_extract else (dst, src)
    block, step = BLOCK // whole.dtype.itemsize, 2 if whole.dtype.itemsize == 1 else 1
    row = draw(st.integers(0, whole.valid_rows - 1))
    col = block * draw(st.integers(0, (whole.valid_cols - 1) // block))
    rows = draw(st.integers(1, whole.valid_rows - row))
    cols = draw(st.integers(1, whole.valid_cols - col))
    part = _with_valid(part, rows, max(cols // step * step, 1))
    if is_extract:
        return replace(instr, dst=(part,), src=(src, row, col))
    return replace(instr, src=(part, row, col))


ADAPT["textract"] = ADAPT["tinsert"] = _part_of


def _memory_indices(tile: TileView, instr: BoundInstr, data: Data) -> Array:
    mem = instr.operands["mem"]
    assert isinstance(mem, GmView)
    shape = (tile.valid_rows, tile.valid_cols)
    count = int(np.prod(mem.shape))
    return data.rng.integers(0, count, shape).astype(TYPES[tile.dtype.name])


VALUES[("mgather", "idx")] = VALUES[("mscatter", "idx")] = _memory_indices


def _element(name: str) -> Maker:
    def place(instr: BoundInstr, data: Data) -> int:
        tile = instr.operands[name]
        assert isinstance(tile, TileView)
        return int(_places(tile, 1, data)[0])

    return place


SCALARS[("tsetval", "offset")] = _element("dst")
SCALARS[("tgetval", "offset")] = _element("src")
SCALARS[("tsetval", "val")] = _destination_scalar


def _window(draw: st.DrawFn, instr: BoundInstr, data: Data) -> BoundInstr:
    """A window of a wider tensor, sometimes; a pad value for what is loaded."""
    extra = draw(st.sampled_from((0, 3, 64)))

    def wider(operand: Operand) -> Operand:
        if not isinstance(operand, GmView):
            return operand
        return replace(operand, strides=(operand.strides[0] + extra, 1))

    instr = _pad(draw, instr, data) if instr.op.mnemonic == "tload" else instr
    dst = tuple(wider(operand) for operand in instr.dst)
    return replace(instr, dst=dst, src=tuple(wider(operand) for operand in instr.src))


ADAPT["tload"] = ADAPT["tstore"] = ADAPT["tprefetch"] = _window
