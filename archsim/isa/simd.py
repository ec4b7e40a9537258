"""Micro-op records of the simd vector style: UB to UB, with repeats and masks.

Names end in what they do: `vcmpvs_<mode>`; `vconv_<a>2<b><r>` and `vaddreluconv_<a>2<b>`, with r
the rounding (r nearest even, a nearest away, f floor, c ceil, z towards zero, o odd; none: exact,
or nearest even). The type that an operand's `Access` names is how the micro-op reads its bytes,
whatever the tile holds.
"""

from dataclasses import dataclass

from archsim.base.dtypes import DType


@dataclass(frozen=True, slots=True)
class Access:
    """Where the lanes of one operand lie in UB; all strides in bytes.

    Lane l of repeat r of row i is at
    `addr + i*row_stride + r*repeat_stride + (l // per_block)*block_stride + (l % per_block)*size`
    with `per_block = 32 // size`. `lanes` is how many lanes each repeat has here whatever the mask
    says, where that differs from the micro-op's: one for a vcadd, 8 elements that a vbrcb reads;
    0: those that the mask leaves on.

    A packed mask operand (`dtype` u8, `bits=True`) holds lane l of
    repeat r in bit `l % 8` of byte `addr + i*row_stride + r*repeat_stride + l // 8`.
    """

    addr: int
    dtype: DType
    block_stride: int = 32
    repeat_stride: int = 256
    row_stride: int = 0
    bits: bool = False
    lanes: int = 0


@dataclass(frozen=True, slots=True)
class Mask:
    """Which lanes of each repeat take part.

    full: every lane. partial: the first `lanes` of every repeat. count: the first `lanes` of all
    repeats together (the repeats are then ceil(lanes / lanes per repeat)).
    """

    mode: str  # full | partial | count
    lanes: int = 0


FULL = Mask("full")


@dataclass(frozen=True, slots=True)
class Table:
    """Bytes of UB into which data point: `size_bytes` from `addr`, the same in all rows."""

    addr: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class SimdUop:
    """One vector micro-op.

    `name` is its row in `uops:` of the chip file and in the effect table; `dtype` the type that
    sets the lanes (256 bytes / itemsize of the widest operand) and picks `by_dtype` costs.
    `repeat` is what the hardware walks: in count mode ceil(count / lanes); `argument` is the repeat
    count that the library passes where that differs (count mode ignores it). `scalar_step` is added
    to `scalar` per row (TSEL writes the address of each mask row). `effect` says how a narrowing
    to integers treats what does not fit: `sat` clamps, `wrap` keeps the low bits; empty, the
    ambient state of the core decides. vcmpvs and vcmpv keep the tile's own `dtype`, its oddities
    are theirs; their `dst` and the first source of vsel (mask, on_true, on_false) are packed bits.
    `table` is what a micro-op reaches through its data: vgather and vgatherb read there, what byte
    offsets (srcs[0]) say; a vmuls makes such offsets of indices; scalar_scatter writes srcs[0]
    where srcs[1] says; vreducev2 packs srcs[0] there where the bits of srcs[1] are set.
    scatter_vnchwconv turns `lanes` = rows * columns elements, rows `block_stride` bytes apart on
    both sides.
    """

    name: str
    dtype: DType
    lanes: int
    repeat: int
    mask: Mask
    dst: Access
    srcs: tuple[Access, ...] = ()
    scalar: int | float | None = None
    scalar_step: int = 0
    effect: str = ""
    argument: int | None = None
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class Barrier:
    """pipe_barrier(V) inside an instruction: later micro-ops wait until all earlier complete."""


@dataclass(frozen=True, slots=True)
class Control:
    """A mask, mode or compare-mask set-up: `set_vector_mask`, `set_mask_count`, ..."""

    name: str


SimdItem = SimdUop | Barrier | Control


@dataclass(frozen=True, slots=True)
class RowLoop:
    """The micro-ops of one row, done `rows` times; operand addresses step by `row_stride`."""

    rows: int
    body: tuple[SimdItem, ...]
