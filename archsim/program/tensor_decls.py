"""The section `tensors` of a trace file."""

import os
from collections.abc import Mapping

from archsim.base.dtypes import DTYPES, SPELLINGS, DType, dtype_named
from archsim.base.errors import Faults, did_you_mean
from archsim.isa.operands import BLOCK_BYTES, BOX_ROWS
from archsim.program.expr import parse_expr
from archsim.program.init_decls import read_init
from archsim.program.ir import Init, TensorDecl
from archsim.program.reading import Node, counted, number_in
from archsim.program.symbols import Symbols

TENSOR_KEYS = ("dtype", "shape", "strides", "layout", "init")
LAYOUTS = ("nd", "dn", "nz")
MAX_RANK = 5


def read_tensors(node: Node | None, symbols: Symbols, directory: str) -> None:
    """Fill `symbols.tensors`; files of initial values are looked for in `directory`."""
    if node is None or not node.is_mapping("tensors"):
        return
    for child in node.children():
        if not child.is_name("tensor"):
            continue
        tensor = _tensor(child, symbols, directory)
        if tensor is None:
            symbols.broken[child.key] = None
        else:
            symbols.tensors[child.key] = tensor


def override_inputs(inputs: Mapping[str, str], symbols: Symbols, faults: Faults) -> dict[str, Init]:
    """The contents that `--input tensor=file.npy` asks for, by tensor; paths as the shell sees."""
    found: dict[str, Init] = {}
    for name, path in inputs.items():
        if name in symbols.tensors:
            if not os.path.isfile(path):
                faults.add(f"--input {name}: {path}: no such file")
            found[name] = Init("file", {"file": os.path.abspath(path)})
        elif name not in symbols.broken:
            known = ", ".join(symbols.tensors) or "none"
            fix = did_you_mean(name, symbols.tensors)
            faults.add(f"--input {name}: the program has no such tensor; it has {known}", None, fix)
    return found


def dtype_at(node: Node, what: str) -> DType | None:
    """The element type under the key `dtype`."""
    part = node.get("dtype")
    if part is None:
        node.faults.add(f"{what} has no dtype; it must name one", node.key_span)
        return None
    found = dtype_named(part.value) if isinstance(part.value, str) else None
    if found is None:
        near = did_you_mean(part.value, SPELLINGS) if isinstance(part.value, str) else None
        part.must_be(f"dtype of {what}", "one of " + ", ".join(DTYPES), near)
    return found


def _tensor(node: Node, symbols: Symbols, directory: str) -> TensorDecl | None:
    what = f"tensor {node.key}"
    if not node.is_mapping(what, TENSOR_KEYS):
        return None
    dtype = dtype_at(node, what)
    if dtype is not None and (dtype.storage is None or dtype.coded):
        codes = "two in a byte" if dtype.bits == 4 else ""
        fix = ", ".join(filter(None, ("hold its codes in a tensor of u8", codes)))
        node.at("dtype").fault(f"{what} is {dtype}; numpy has no such type to hold it", fix)
        dtype = None
    shape = _shape(node, what, symbols)
    layout_node = node.get("layout")
    layout = "nd" if layout_node is None else layout_node.choice(f"layout of {what}", LAYOUTS)
    strides = None if shape is None else _strides(node, what, shape, layout or "nd", symbols)
    init = read_init(node.get("init"), what, dtype, directory)
    if dtype is None or shape is None or strides is None or layout is None or init is None:
        return None
    if layout == "nz" and not _is_blocks(node, what, dtype, shape):
        return None
    return TensorDecl(node.key, dtype, shape, strides, layout, init, node.key_span)


def _is_blocks(node: Node, what: str, dtype: DType, shape: tuple[int, ...]) -> bool:
    """An nz tensor consists of blocks: 16 rows of 32 bytes, in its last two dimensions."""
    block = (BOX_ROWS, BLOCK_BYTES // dtype.itemsize)
    if dtype.itemsize < 8 and len(shape) >= 4 and shape[-2:] == block:
        return True
    rule = f"4 or 5 extents, the last two {block[0]} and {block[1]}, for blocks of layout nz"
    if dtype.itemsize == 8:
        rule = "elements of 1, 2 or 4 bytes for layout nz"
    (node.get("shape") or node).fault(f"{what} is {list(shape)} of {dtype}; must have {rule}")
    return False


def _shape(node: Node, what: str, symbols: Symbols) -> tuple[int, ...] | None:
    part = node.get("shape")
    if part is None:
        node.faults.add(f"{what} has no shape; it must list 1 to 5 extents", node.key_span)
        return None
    rule = f"a list of 1 to {MAX_RANK} extents"
    if not part.is_list(f"shape of {what}", rule):
        return None
    if not 1 <= len(part.value) <= MAX_RANK:
        part.fault(
            f"shape of {what} has {counted(len(part.value), 'extent', 'extents')}; must be {rule}"
        )
        return None
    return _constants(part, f"extent of {what}", symbols, 1)


def _strides(
    node: Node, what: str, shape: tuple[int, ...], layout: str, symbols: Symbols
) -> tuple[int, ...] | None:
    part = node.get("strides")
    if part is None:
        return default_strides(shape, layout)
    if not part.is_list(f"strides of {what}", "a list of elements to step, one a dimension"):
        return None
    if len(part.value) != len(shape):
        part.fault(
            f"strides of {what} has {counted(len(part.value), 'entry', 'entries')}; "
            f"must have {len(shape)}, one a dimension"
        )
        return None
    return _constants(part, f"stride of {what}", symbols, 0)


def default_strides(shape: tuple[int, ...], layout: str) -> tuple[int, ...]:
    """Strides in elements of a dense tensor; `dn` has its last two dimensions exchanged."""
    order = list(range(len(shape)))
    if layout == "dn" and len(shape) > 1:
        order[-2:] = reversed(order[-2:])
    strides = [0] * len(shape)
    step = 1
    for dimension in reversed(order):
        strides[dimension] = step
        step *= shape[dimension]
    return tuple(strides)


def _constants(node: Node, what: str, symbols: Symbols, least: int) -> tuple[int, ...] | None:
    values = [_constant(child, what, symbols, least) for child in node.children()]
    known = tuple(value for value in values if value is not None)
    return known if len(known) == len(values) else None


def _constant(node: Node, what: str, symbols: Symbols, least: int) -> int | None:
    """An integer, or an expression over scalars."""
    if not isinstance(node.value, str) or number_in(node.value.strip()) is not None:
        return node.integer(what, least)
    expr = parse_expr(node.value, node.text_span, symbols.names(), node.faults)
    if expr is None:
        return None
    value = expr.value(symbols.scalars)
    if value < least:
        node.fault(f'{what} is "{node.value}" = {value}; must be an integer of at least {least}')
        return None
    return value
