"""One instruction by itself: the smallest legal operands, each tile at a base of its own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from archsim.arch import ArchConfig
from archsim.base.dtypes import DTYPES, SPELLINGS, U8, DType, dtype_named
from archsim.base.errors import Faults, did_you_mean
from archsim.check import scratch_tile
from archsim.isa.operands import BoundInstr, GmView, Loc, Operand, TileView
from archsim.isa.patterns import kept
from archsim.isa.shared_exponents import groups
from archsim.isa.tile_op import Arg, TileOp
from archsim.isa.tile_ops import FORMS

BASE_BYTES = 512  # tiles of a lone instruction start at multiples of this
ROW_BYTES = 32
SCALAR_KEYS = ("scalar", "scale")
DYNAMIC = ("rows", "cols", "both")


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked: an instruction, source and destination type, shape, valid region, keys."""

    op: TileOp
    src: DType
    dst: DType
    shape: tuple[int, int]
    valid: tuple[int, int]
    dynamic: str
    scalar: float
    attrs: Mapping[str, str]


def question(
    op: str, dtype: str, shape: str, valid: str | None, keys: Mapping[str, str]
) -> Question:
    """Read the words of a question. Raises `InputError` with everything that is wrong in them."""
    faults = Faults()
    row = _form(op, keys)
    if row is None:
        faults.add(f'"{op}" is no tile instruction', None, did_you_mean(op, FORMS))
    src, _, dst = dtype.partition(",")
    types = [_dtype(word, faults) for word in (src, dst or src)]
    size = _extent("--shape", shape, faults)
    part = _extent("--valid", valid, faults) if valid else size
    if valid and (part[0] > size[0] or part[1] > size[1]):
        faults.add(f"--valid is {valid}, must lie inside --shape {shape}")
    dynamic, scalar, attrs = _keys(row, keys, faults)
    faults.raise_if_any()
    for what in dict.fromkeys(types):
        _row_is_whole(what, size[1], faults)
    faults.raise_if_any()
    assert row is not None
    return Question(row, types[0], types[1], size, part, dynamic, scalar, attrs)


def _form(op: str, keys: Mapping[str, str]) -> TileOp | None:
    """The form of an instruction that `form=` names, or else the given keys mean."""
    forms = FORMS.get(op.lower(), ())
    named = [form for form in forms if form.form == keys.get("form")]
    meant = named or [form for form in forms if all(key in keys for key in form.requires)]
    return max(meant or forms, key=lambda form: len(form.requires), default=None)


def _dtype(word: str, faults: Faults) -> DType:
    found = dtype_named(word)
    if found is None:
        faults.add(f'"{word}" is no element type', None, did_you_mean(word, SPELLINGS))
    return found or DTYPES["f32"]


def _row_is_whole(dtype: DType, cols: int, faults: Faults) -> None:
    """A tile's rows are whole blocks; a narrower valid region is how fewer columns are asked."""
    size = dtype.bytes_of(cols)
    if size % ROW_BYTES:
        per_block = ROW_BYTES * 8 // dtype.bits
        wider = -(-cols // per_block) * per_block
        faults.add(
            f"a row of {cols} {dtype} is {size} bytes, must be a multiple of {ROW_BYTES}",
            None,
            f"take --shape ROWSx{wider} and --valid ROWSx{cols}",
        )


def extent(text: str) -> tuple[int, int]:
    """Rows and columns of `--shape`. Raises `InputError` for anything else."""
    faults = Faults()
    found = _extent("--shape", text, faults)
    faults.raise_if_any()
    return found


def element_type(word: str) -> DType:
    """The type of `--dtype`. Raises `InputError` for a word that is none."""
    faults = Faults()
    found = _dtype(word, faults)
    faults.raise_if_any()
    return found


def _extent(option: str, text: str, faults: Faults) -> tuple[int, int]:
    parts = text.lower().split("x")
    if len(parts) == 2 and all(part.isdigit() and int(part) > 0 for part in parts):
        return int(parts[0]), int(parts[1])
    faults.add(f'{option} is "{text}", must be ROWSxCOLS, both at least 1, such as 16x64')
    return 1, 1


def _keys(
    op: TileOp | None, keys: Mapping[str, str], faults: Faults
) -> tuple[str, float, dict[str, str]]:
    dynamic, scalar, attrs = "", 1.0 if op is None else op.sample_scalar, {}
    legal = op.keys if op is not None else {}
    numbers = (*SCALAR_KEYS, *(a.name for a in op.ins if a.kind == "scalar")) if op else SCALAR_KEYS
    for key, value in keys.items():
        if key == "form" and op is not None and op.form:
            _one_of(key, value, tuple(form.form for form in FORMS[op.mnemonic]), faults)
        elif key == "dynamic":
            dynamic = _one_of(key, value, DYNAMIC, faults)
        elif key in numbers:
            scalar = _number(key, value, faults)
        elif key in legal:
            attrs[key] = _one_of(key, value, legal[key], faults)
        elif op is not None:
            known = ("dynamic", *SCALAR_KEYS, *legal)
            faults.add(f'{op.mnemonic} has no key "{key}"', None, did_you_mean(key, known))
    return dynamic, scalar, attrs


def _one_of(key: str, value: str, legal: tuple[str, ...], faults: Faults) -> str:
    by_name = {word.lower(): word for word in legal}
    if value.lower() not in by_name and legal:
        faults.add(f'{key} is "{value}", must be one of {", ".join(legal)}')
    return by_name.get(value.lower(), value)


def _number(key: str, value: str, faults: Faults) -> float:
    try:
        return float(value)
    except ValueError:
        faults.add(f'{key} is "{value}", must be a number')
        return 1.0


def bind_alone(asked: Question, arch: ArchConfig) -> BoundInstr:
    """The instruction on tiles of its own, 0 modulo 512 bytes each, with the smallest scratch."""
    addr = 0
    placed: list[Operand] = []
    given = [a for a in asked.op.ins if not a.optional and not a.scratch]
    omitted = tuple(a.name for a in asked.op.ins if a.optional and not a.scratch)
    for arg in (*asked.op.outs, *given):
        operand = _operand(arg, asked, addr, is_dst=arg in asked.op.outs)
        if isinstance(operand, TileView) and arg.at:
            operand = replace(operand, addr=_place_of(arg.at, asked, placed))
        elif isinstance(operand, TileView):
            addr = _next_base(operand)
        placed.append(operand)
    outs = len(asked.op.outs)
    op, results, sources = asked.op.on(arch.isa), tuple(placed[:outs]), tuple(placed[outs:])
    bound = BoundInstr(op, results, sources, None, asked.attrs, omitted=omitted)
    scratch = scratch_tile(bound, arch) if asked.op.scratch else None
    if scratch is None:
        return bound
    dtype, rows, cols = scratch
    tmp = TileView("tmp", Loc.VEC, dtype, rows, cols, rows, cols, addr, cols)
    return replace(bound, tmp=tmp)


def _place_of(name: str, asked: Question, placed: list[Operand]) -> int:
    names = [arg.name for arg in asked.op.outs]
    tile = placed[names.index(name)]
    assert isinstance(tile, TileView)
    return tile.addr


def _next_base(tile: TileView) -> int:
    return -(-(tile.addr + tile.size_bytes) // BASE_BYTES) * BASE_BYTES


def _operand(arg: Arg, asked: Question, addr: int, is_dst: bool) -> Operand:
    rows, cols = asked.shape
    dtype = _dtype_of(arg, asked, is_dst)
    if arg.kind == "scalar":
        return int(asked.scalar) if asked.src.is_integer and arg.name == "scalar" else asked.scalar
    if arg.kind == "gm":
        return GmView(arg.name, dtype, 0, asked.valid, (asked.valid[1], 1))
    if arg.kind == "mask":
        width = max(ROW_BYTES, -(-cols // (8 * ROW_BYTES)) * ROW_BYTES)
        return TileView(arg.name, Loc.VEC, U8, rows, width, asked.valid[0], width, addr, width)
    return _tile(arg, asked, dtype, addr)


def _dtype_of(arg: Arg, asked: Question, is_dst: bool) -> DType:
    if arg.dtype == "index":
        return DTYPES["i32" if asked.src.bits == 32 else "i16"]
    return DTYPES[arg.dtype] if arg.dtype else asked.dst if is_dst else asked.src


def _extents(arg: Arg, asked: Question, per_block: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Declared and valid rows and columns of an operand, as `arg.shape` says."""
    (rows, cols), (v_rows, v_cols) = asked.shape, asked.valid
    size = asked.src.itemsize
    if arg.shape == "kept":
        pattern = asked.attrs.get("maskPattern", asked.op.keys["maskPattern"][0])
        return (rows, kept(pattern, cols)), (v_rows, kept(pattern, v_cols))
    if arg.shape == "blocks":
        return (rows, -(-cols * size // ROW_BYTES)), (v_rows, -(-v_cols * size // ROW_BYTES))
    if arg.shape == "records":
        return (rows, -(-cols // 32) * 32 * 8 // size), (v_rows, v_cols * 8 // size)
    if arg.shape == "counts":
        return (1, 4), (1, 4)
    extent = _EXTENTS[arg.shape]
    return extent(rows, cols, per_block), extent(v_rows, v_cols, per_block)


def _tile(arg: Arg, asked: Question, dtype: DType, addr: int) -> TileView:
    """A tile of the extent that `arg.shape` names; it is only as wide as whole blocks ask."""
    per_block = ROW_BYTES * 8 // dtype.bits
    (rows, cols), (v_rows, v_cols) = _extents(arg, asked, per_block)
    row_major = arg.shape != "col"
    if row_major:
        cols = -(-cols // per_block) * per_block
    else:
        rows = -(-rows // per_block) * per_block
    return TileView(
        arg.name,
        Loc.VEC,
        dtype,
        rows,
        cols,
        v_rows,
        v_cols,
        addr,
        cols,
        static_rows=asked.dynamic not in ("rows", "both"),
        static_cols=asked.dynamic not in ("cols", "both"),
        row_major=row_major,
        pad=arg.pad,
    )


# Rows and columns of an operand from those of the instruction and the elements of a block.
_EXTENTS: Mapping[str, Callable[[int, int, int], tuple[int, int]]] = {
    "full": lambda rows, cols, block: (rows, cols),
    "row": lambda rows, cols, block: (1, cols),
    "col": lambda rows, cols, block: (rows, 1),
    "block_col": lambda rows, cols, block: (rows, block),
    "transposed": lambda rows, cols, block: (cols, rows),
    "double": lambda rows, cols, block: (rows, 2 * cols),
    "bins": lambda rows, cols, block: (rows, 256),
    "line": lambda rows, cols, block: (1, rows * cols),
    "two_lines": lambda rows, cols, block: (1, 2 * rows * cols),
    "half": lambda rows, cols, block: (rows, cols // 2),
    "groups": lambda rows, cols, block: (rows, groups(cols)),
}
