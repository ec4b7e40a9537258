"""The record of a tile instruction, and the words that its rows are written in."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from archsim.isa.conversions import Pair
from archsim.isa.pipes import Pipe


@dataclass(frozen=True, slots=True)
class Arg:
    """One operand: `kind` is tile, mask, gm, scalar or any (tile or tensor window).

    `shape` is its extent against the instruction's R rows and C columns: `full` R x C, `row`
    1 x C, `col` R x 1 column-major, `block_col` R x one block of 32 bytes, `transposed` C x R,
    `double` R x 2C, `half` R x C/2, `bins` R x 256, `kept` R x what the pattern keeps of C,
    `blocks` R x an offset for each block of 32 bytes, `records` R x 8 bytes for each of C, in whole
    groups of 32, `groups` R x one for each 32 of C, `counts` 1 x 4, `line` 1 x R*C, `two_lines`
    1 x 2*R*C. `dtype` names its element type where that is fixed, `index` an integer type that
    scatters elements of the source type; else a destination has the instruction's destination type
    and a source its source type.
    `pad` is the padding that shows the instruction, `at` the operand whose memory this one is.
    """

    name: str
    kind: str
    optional: bool = False
    scratch: bool = False
    shape: str = "full"
    dtype: str = ""
    pad: str = "null"
    at: str = ""


@dataclass(frozen=True, slots=True)
class TileOp:
    """One tile instruction, or one form of it.

    `dtypes[isa]` lists the legal (source, destination) pairs of a core generation; a generation
    that is absent does not have the instruction, and `refused[isa]` says why. `uops[isa]` is the
    micro-op that computes it, where the family needs only one. `keys` are the `key=value` operands
    and their legal values (empty tuple: any). `swappable` marks two sources of different kinds that
    may be written in either order, which then means something (`tdivs d <- a, scalar` and
    `tdivs d <- scalar, a`): bound operands keep the order as written. An instruction with several
    operand lists has a row for each, told apart by `form`; `requires` are the keys that must be
    given to mean this form. `sample` is a shape that shows it, `sample_valid` its
    valid region (None: all of it), `sample_scalar` a legal scalar.
    `pipe_on` are the cores where it has another pipe than `pipe`.
    """

    name: str
    family: str
    pipe: Pipe
    outs: tuple[Arg, ...]
    ins: tuple[Arg, ...]
    dtypes: Mapping[str, tuple[Pair, ...]]
    uops: Mapping[str, str]
    summary: str
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    swappable: bool = False
    form: str = ""
    requires: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    sample: tuple[int, int] = (16, 64)
    sample_valid: tuple[int, int] | None = None
    sample_scalar: float = 1.0
    pipe_on: Mapping[str, Pipe] = field(default_factory=dict)

    def on(self, isa: str) -> "TileOp":
        """The row with the pipe that the instruction has on a core generation."""
        pipe = self.pipe_on.get(isa, self.pipe)
        return self if pipe is self.pipe else replace(self, pipe=pipe)

    @property
    def mnemonic(self) -> str:
        """The lower-case name that programs use."""
        return self.name.lower()

    def refusal(self, isa: str) -> str:
        """Why a core generation that is absent from `dtypes` does not run it."""
        return self.refused.get(isa, "the core does not have it")

    @property
    def scratch(self) -> Arg | None:
        """The scratch operand, where the instruction has one."""
        return next((arg for arg in self.ins if arg.scratch), None)


def same(types: str) -> tuple[Pair, ...]:
    """Pairs of equal source and destination type."""
    return tuple((t, t) for t in types.split())


def pairs(text: str) -> tuple[Pair, ...]:
    """Pairs written `f32>f16 f16>i8`."""
    return tuple((a, b) for a, b in (item.split(">") for item in text.split()))


def both(pairs_: tuple[Pair, ...]) -> dict[str, tuple[Pair, ...]]:
    """The same pairs on every core generation."""
    return {"a2a3": pairs_, "a5": pairs_}


DST = (Arg("dst", "tile"),)
BINARY = (Arg("src0", "tile"), Arg("src1", "tile"))
SCALAR = (Arg("src", "tile"), Arg("scalar", "scalar"))
UNARY = (Arg("src", "tile"),)
TMP = Arg("tmp", "tile", optional=True, scratch=True)
VF_IMPL: Mapping[str, tuple[str, ...]] = {
    "vf_impl": (
        "DEFAULT",
        "1D_NO_POST_UPDATE",
        "1D_POST_UPDATE",
        "2D_NO_POST_UPDATE",
        "2D_POST_UPDATE",
    )
}
COMPARE: Mapping[str, tuple[str, ...]] = {"mode": ("eq", "ne", "lt", "le", "gt", "ge")}
PRECISION: Mapping[str, tuple[str, ...]] = {"precision": ("default", "high")}
A2A3_ARITH = "i32 i16 f16 f32"
A5_ALL = "i32 u32 i16 u16 i8 u8 f16 bf16 f32"
A5_MUL = "i32 u32 i16 u16 f16 bf16 f32"
FLOATS = "f16 f32"
COPY = "i8 u8 i16 u16 i32 u32 f16 bf16 f32"
