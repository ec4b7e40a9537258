"""The section `tiles` of a trace file."""

from collections.abc import Mapping
from types import MappingProxyType

from archsim.base.dtypes import DType
from archsim.isa.operands import Loc
from archsim.program.expr import Names, literal, parse_expr
from archsim.program.ir import TileDecl, Valid
from archsim.program.reading import Node, counted, number_in
from archsim.program.symbols import Symbols
from archsim.program.tensor_decls import dtype_at

TILE_KEYS = (
    *("loc", "dtype", "shape", "rows", "cols", "valid", "v_row", "v_col", "addr", "ring"),
    *("blayout", "slayout", "fractal", "pad", "stride"),
)
BLAYOUTS = ("row_major", "col_major")
SLAYOUTS = ("none_box", "row_major", "col_major")
PADS = ("null", "zero", "max", "min")  # in the order of their codes in the assembly
DYNAMIC = ("dynamic", "?")
BLOCK_BYTES = 32
_DEFAULTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"blayout": BLAYOUTS, "slayout": SLAYOUTS}
)


def read_tiles(node: Node | None, symbols: Symbols) -> None:
    """Fill `symbols.tiles`."""
    if node is None or not node.is_mapping("tiles"):
        return
    for child in node.children():
        if not child.is_name("tile"):
            continue
        if isinstance(child.value, dict) and "ring" in child.value:
            symbols.rings[child.key] = None
        before = len(node.faults.found)
        tile = _tile(child, symbols)
        if tile is None or len(node.faults.found) > before:
            symbols.broken[child.key] = None
        else:
            symbols.tiles[child.key] = tile


def _tile(node: Node, symbols: Symbols) -> TileDecl | None:
    what = f"tile {node.key}"
    if not node.is_mapping(what, TILE_KEYS):
        return None
    loc, dtype, shape = _loc(node, what), dtype_at(node, what), _shape(node, what)
    valid = _valid(node, what, shape, symbols)
    addr, ring = _integer(node, "addr", what, None, 0), _integer(node, "ring", what, 1, 1)
    fractal = _integer(node, "fractal", what, 512, 1)
    blayout, slayout = (_choice(node, key, what, names) for key, names in _DEFAULTS.items())
    pad = _pad(node, what)
    if loc is None or dtype is None or shape is None or valid is None:
        return None
    if ring is None or fractal is None or blayout is None or slayout is None or pad is None:
        return None
    rows, cols = shape
    row_major = blayout == "row_major"
    stride = _stride(node, what, shape, row_major)
    if stride is None:
        return None
    if slayout == "none_box":
        _check_pitch(node, what, dtype, shape, stride if row_major else None)
    return TileDecl(
        node.key, loc, dtype, rows, cols, valid, addr, ring, row_major, pad, stride,
        node.key_span, slayout, fractal,
    )  # fmt: skip


def _loc(node: Node, what: str) -> Loc | None:
    part = node.get("loc")
    if part is None:
        node.faults.add(f"{what} has no loc; it must be one of {', '.join(Loc)}", node.key_span)
        return None
    name = part.choice(f"loc of {what}", tuple(Loc))
    return None if name is None else Loc(name)


def _shape(node: Node, what: str) -> tuple[int, int] | None:
    """`shape: [rows, cols]` or `rows:` and `cols:`."""
    extents = _pair(node, what, "shape", ("rows", "cols"))
    if extents is None:
        return None
    if extents == (None, None):
        rule = "it must state shape: [rows, cols], or rows and cols"
        node.faults.add(f"{what} has no shape; {rule}", node.key_span)
        return None
    numbers = [
        None if part is None else part.integer(f"{name} of {what}", 1)
        for name, part in zip(("rows", "cols"), extents, strict=True)
    ]
    for name, part in zip(("rows", "cols"), extents, strict=True):
        if part is None:
            node.faults.add(f"{what} has no {name}; it must state both", node.key_span)
    rows, cols = numbers
    return None if rows is None or cols is None else (rows, cols)


def _pair(
    node: Node, what: str, together: str, apart: tuple[str, str]
) -> tuple[Node | None, Node | None] | None:
    """Two values written as one list or under two keys; None where that is faulty."""
    both, singles = node.get(together), (node.get(apart[0]), node.get(apart[1]))
    if both is None:
        return singles
    if singles != (None, None):
        both.fault(f"{what} has both {together} and {apart[0]}/{apart[1]}; must have one of them")
        return None
    if not isinstance(both.value, list) or len(both.value) != 2:
        fix = None
        if isinstance(both.value, list) and any(isinstance(item, str) for item in both.value):
            fix = "in a list, put an expression that holds commas in quotes"
        count = (
            counted(len(both.value), "entry", "entries")
            if isinstance(both.value, list)
            else "no list"
        )
        both.fault(f"{together} of {what} has {count}; must be a list of rows and columns", fix)
        return None
    return both.at(0), both.at(1)


def _valid(
    node: Node, what: str, shape: tuple[int, int] | None, symbols: Symbols
) -> tuple[Valid, Valid] | None:
    parts = _pair(node, what, "valid", ("v_row", "v_col"))
    if parts is None or shape is None:
        return None
    names = symbols.names(symbols.loop_variables)
    rows = _extent(parts[0], f"valid rows of {what}", f"its {shape[0]} rows", shape[0], names)
    cols = _extent(parts[1], f"valid columns of {what}", f"its {shape[1]} columns", shape[1], names)
    return None if rows is None or cols is None else (rows, cols)


def _extent(node: Node | None, what: str, bound: str, most: int, names: Names) -> Valid | None:
    """A literal is static; `dynamic` starts out as the whole extent."""
    if node is None:
        return Valid(literal(most), True)
    if node.value in DYNAMIC:
        return Valid(literal(most, "dynamic", node.span), False)
    if isinstance(node.value, str) and number_in(node.value.strip()) is None:
        expr = parse_expr(node.value, node.text_span, names, node.faults)
        return None if expr is None else Valid(expr, False)
    value = node.integer(what, 1)
    if value is not None and value > most:
        node.fault(f"{what} is {value}; must be at most {bound}")
        return None
    return None if value is None else Valid(literal(value, None, node.span), True)


def _integer(node: Node, key: str, what: str, default: int | None, least: int) -> int | None:
    part = node.get(key)
    return default if part is None else part.integer(f"{key} of {what}", least)


def _choice(node: Node, key: str, what: str, names: tuple[str, ...]) -> str | None:
    part = node.get(key)
    return names[0] if part is None else part.choice(f"{key} of {what}", names)


def _pad(node: Node, what: str) -> str | None:
    """A name, or its code in the assembly (0 to 3)."""
    part = node.get("pad")
    if part is None or part.value is None:  # a plain `null` in YAML
        return PADS[0]
    if not isinstance(part.value, bool) and part.value in range(len(PADS)):
        return PADS[part.value]
    return part.choice(f"pad of {what}", PADS)


def _stride(node: Node, what: str, shape: tuple[int, int], row_major: bool) -> int | None:
    part = node.get("stride")
    cols = shape[1]
    if part is None:
        return cols
    if not row_major:
        part.fault(f"{what} has a stride; only row_major tiles take one")
        return cols
    value = part.integer(f"stride of {what}", 1)
    if value is not None and value < cols:
        part.fault(f"stride of {what} is {value}; must be at least its {cols} columns")
        return None
    return value


def _check_pitch(
    node: Node, what: str, dtype: DType, shape: tuple[int, int], stride: int | None
) -> None:
    """A row takes a multiple of 32 bytes; so does a column of a col_major tile (no `stride`)."""
    elements = shape[0] if stride is None else stride
    size = dtype.bytes_of(elements)
    if size % BLOCK_BYTES == 0:
        return
    per_block = BLOCK_BYTES * 8 // dtype.bits
    wide = -(-elements // per_block) * per_block
    padded = [wide, shape[1]] if stride is None else [shape[0], wide]
    part, fix = node.get("stride"), f"write stride: {wide}"
    if part is None:
        part, fix = node.get("shape") or node, f"write shape: {padded}, valid: {list(shape)}"
    part.fault(
        f"a {'column' if stride is None else 'row'} of {what} is {size} bytes "
        f"({elements} x {dtype}); must be a multiple of {BLOCK_BYTES} bytes",
        fix,
    )
