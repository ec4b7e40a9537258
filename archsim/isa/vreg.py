"""Micro-op records of the vreg vector style: vector functions, loops over vector registers.

PINTLV and PUNPACK spread the bits of a mask image over the lanes of wider elements, PDINTLV joins
them again: predicates name logical lanes on both sides. MEM_BAR orders the accesses around it
(`effect`: vst_vld, ...).
VLDS fills the registers of `dst` from `mem`, VSTS writes its `src` to `mem` where `pred` is on.
PLDS shares the bits of a mask image out to its `dst` predicates in order; PSTS writes those of its
`src` predicates in order, whole: lanes that are off write 0. The second operand of the forms that
end in S (VADDS, VCMPS) is `scalar`. A conversion made in two halves ends in the VOR, in unsigned
lanes, of its even and its odd part; `from_even` and `from_odd` make a widening one take every other
lane. VGATHER2 and VGATHERB load from, VSCATTER stores to elements of `mem` that index lanes count
from where the access starts (VGATHERB: bytes, one block each); the bounds of `mem` stay where they
are. VSTUR stores behind what it stored before: its `dst` counts. VCADD, VCMAX, VCMIN leave what
they find in the lowest lane, the index behind it; a predicate masks their sources.
"""

from dataclasses import dataclass

from archsim.base.dtypes import DType


@dataclass(frozen=True, slots=True)
class VregMem:
    """The UB side of a load or store of one vector.

    At loop indices i0 (outermost), i1, ... the access starts at byte `addr + sum(steps[k] * ik)`;
    `steps` has one entry per enclosing loop, outermost first. `lanes` elements of `dtype` are
    touched at most. `dist` is the distribution: `norm`, `unpk` (element widened to register
    lanes), `pk` (even lanes packed), `dintlv` (fills two registers with the even and the odd half
    of `lanes` elements), `bits` (predicate image, `lanes` bits), `brc` (one element to all lanes),
    `blk` (one block of 32 bytes, over and over), `e2b` (each element to a block of its own),
    `onept` (stores the lowest lane alone; `lanes` is 1).
    """

    addr: int
    steps: tuple[int, ...]
    dtype: DType
    lanes: int
    dist: str = "norm"

    @property
    def elements(self) -> int:
        """How many elements of memory the lanes come from."""
        size = self.dtype.itemsize
        spread = {"brc": 1, "blk": 32 // size, "e2b": self.lanes * size // 32}
        return spread.get(self.dist, self.lanes)


@dataclass(frozen=True, slots=True)
class Tail:
    """A predicate from a remaining count: lane l of iteration i is on when i * lanes + l < total.

    i is the innermost loop index (0 outside loops); `offset` shifts it in lanes (second half of a
    pair).
    """

    total: int
    lanes: int
    offset: int = 0
    stride: int = 0  # lanes consumed per iteration; 0 means `lanes`
    steady: bool = False  # nothing is consumed: the loop runs over something else

    @property
    def step(self) -> int:
        """Lanes consumed per iteration."""
        return 0 if self.steady else self.stride or self.lanes


@dataclass(frozen=True, slots=True)
class VregUop:
    """One vector instruction.

    `op` names its row (`VADD`, `VLDS`, ...), `form` the type form of the timing tables (`fp32`,
    `fp16`, `int32`, `f32_to_f16`, ...). Registers are names (`v0`); predicates are `p0`, cost
    nothing and are not renamed. `mem` is set for loads and stores only. `dtype` is the element
    type that the operation computes in (source type of a conversion), `to` a conversion's result
    type. `effect` refines the meaning in words: a comparison (`gt`), a rounding mode (`rint`,
    `odd`), `sat` or `wrap` where the instruction sets CTRL[59] around itself, and `part_even` or
    `part_odd` where a narrowing conversion fills every other lane (without: one lane each, as an
    `unpk` load gives and a `pk` store takes them). `pred` masks the result lanes: they become 0,
    or those of the first source with the word `merge`.
    VSEL reads its predicate by name: src = (mask, on_true, on_false).
    """

    op: str
    form: str
    dst: tuple[str, ...]
    src: tuple[str, ...]
    dtype: DType
    mem: VregMem | None = None
    scalar: int | float | None = None
    to: DType | None = None
    effect: str = ""
    pred: Tail | str | None = None


@dataclass(frozen=True, slots=True)
class VregLoop:
    """`iters` times the body. `post_update`: addresses are advanced by the loads themselves."""

    iters: int
    body: tuple["VregUop | VregLoop", ...]
    post_update: bool = False


VregNode = VregUop | VregLoop


@dataclass(frozen=True, slots=True)
class VectorFunction:
    """One `__VEC_SCOPE__`: pays start-up and drain once."""

    nodes: tuple[VregNode, ...]
