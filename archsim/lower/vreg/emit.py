"""The pieces that vreg lowering is made of: loop nests over tiles, loads, stores, predicates.

A *body* makes the instructions of one iteration at a `Spot`; the nest functions put bodies into
loops. Terms: VL bytes of a register, lanes elements an iteration, R and C valid rows and columns.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from archsim.base.dtypes import U8, DType
from archsim.isa.operands import BoundInstr, TileView
from archsim.isa.vreg import Tail, VectorFunction, VregLoop, VregMem, VregNode, VregUop

_FORMS = {"f": "fp", "i": "int", "u": "uint"}


def form(dtype: DType) -> str:
    """An element type as the timing tables spell it: fp32, int16, bf16."""
    first = dtype.name[0]
    return _FORMS[first] + dtype.name[1:] if first in _FORMS else dtype.name


def conversion_form(source: DType, to: DType) -> str:
    """A conversion as the timing tables spell it: f32_to_s16."""
    return "_to_".join(dtype.name.replace("i", "s") for dtype in (source, to))


@dataclass(frozen=True, slots=True)
class Spot:
    """Where one iteration works.

    `lanes` elements from lane `first` of the innermost loop's start; `nested` inside a loop over
    rows. `pred` covers the iteration's lanes; None: all are on.
    """

    lanes: int
    first: int
    nested: bool
    pred: Tail | None

    def mem(
        self,
        tile: TileView,
        dtype: DType | None = None,
        *,
        dist: str = "norm",
        lanes: int = 0,
        ahead: int = 0,
    ) -> VregMem:
        """`lanes` elements (default: all of the iteration), `ahead` lanes behind its first."""
        own = dtype or tile.dtype
        rows = (tile.row_bytes,) if self.nested else ()
        return VregMem(
            tile.addr + (self.first + ahead) * own.itemsize,
            (*rows, self.lanes * own.itemsize),
            own,
            lanes or self.lanes,
            dist,
        )

    def load(
        self, register: str, tile: TileView, *, dist: str = "norm", lanes: int = 0, ahead: int = 0
    ) -> VregUop:
        """VLDS of one register."""
        mem = self.mem(tile, dist=dist, lanes=lanes, ahead=ahead)
        return VregUop("VLDS", form(tile.dtype), (register,), (), tile.dtype, mem)

    def store(self, tile: TileView, register: str, *, dist: str = "norm") -> VregUop:
        """VSTS of one register, where the iteration's lanes are on."""
        mem = self.mem(tile, dist=dist)
        return VregUop("VSTS", form(tile.dtype), (), (register,), tile.dtype, mem, pred=self.pred)

    def op(
        self,
        name: str,
        dst: str,
        *src: str,
        dtype: DType,
        scalar: int | float | None = None,
        effect: str = "",
    ) -> VregUop:
        """A computing instruction on the iteration's lanes."""
        return VregUop(
            name, form(dtype), (dst,), src, dtype, scalar=scalar, effect=effect, pred=self.pred
        )

    def cvt(self, dst: str, src: str, source: DType, to: DType, effect: str = "") -> VregUop:
        """A conversion on the iteration's lanes."""
        kind = conversion_form(source, to)
        return VregUop("VCVT", kind, (dst,), (src,), source, to=to, effect=effect, pred=self.pred)


# What stays in a register over all iterations: the indices of every fourth byte. Of the 256, which
# come round every 64 lanes, 64 count.
FOURTH_BYTES = (
    VregUop("VCI", form(U8), ("vc",), (), U8, scalar=0, effect="inc 256"),
    VregUop("VMULS", form(U8), ("vi",), ("vc",), U8, scalar=4),
)


def fourth_bytes(to: str, of: str) -> tuple[VregUop, ...]:
    """Every fourth byte of a register, and the barrier in front of its store."""
    return (
        VregUop("VSELR", form(U8), (to,), (of, "vi"), U8, effect="every_fourth"),
        VregUop("MEM_BAR", form(U8), (), (), U8, effect="vst_vst"),
    )


Body = Callable[[Spot], tuple[VregUop, ...]]


class Path(Enum):
    """How a vector function walks its tiles."""

    FLAT = "1D_NO_POST_UPDATE"
    FLAT_POST = "1D_POST_UPDATE"
    NEST = "2D_NO_POST_UPDATE"
    NEST_POST = "2D_POST_UPDATE"


def path_of(instr: BoundInstr, tiles: list[TileView]) -> Path:
    """The walk that the library picks.

    1. All tiles of one row: flat, whatever `vf_impl` says.
    2. Every tile's static valid columns fill its rows: flat with post-update, or what `vf_impl`
       names.
    3. Otherwise nested without post-update, or nested in the flavour that `vf_impl` names.
    """
    asked = instr.attrs.get("vf_impl", "DEFAULT")
    post = asked.endswith("D_POST_UPDATE")
    if all(tile.rows == 1 for tile in tiles):
        return Path.FLAT_POST if post or asked == "DEFAULT" else Path.FLAT  # 1
    full = all(t.static_cols and t.valid_cols == t.cols == t.row_stride for t in tiles)
    if full:
        return Path.FLAT_POST if asked == "DEFAULT" else Path(asked)  # 2
    return Path.NEST_POST if post else Path.NEST  # 3


def walk(path: Path, rows: int, cols: int, lanes: int, body: Body) -> VectorFunction:
    """The vector function that runs `body` over `rows` x `cols` lanes along a path."""
    if path in (Path.FLAT, Path.FLAT_POST):
        return flat(rows * cols, lanes, body, post_update=path is Path.FLAT_POST)
    if path is Path.NEST_POST:
        return VectorFunction((nest_split(rows, cols, lanes, body),))
    return VectorFunction((nest(rows, cols, lanes, body),))


def flat(total: int, lanes: int, body: Body, *, post_update: bool) -> VectorFunction:
    """One loop over contiguous lanes."""
    spot = Spot(lanes, 0, nested=False, pred=Tail(total, lanes))
    return VectorFunction((VregLoop(-(-total // lanes), body(spot), post_update),))


def nest(rows: int, cols: int, lanes: int, body: Body, *, post_update: bool = False) -> VregLoop:
    """A loop over rows around one over the row's lanes; the predicate starts anew in each row."""
    spot = Spot(lanes, 0, nested=True, pred=Tail(cols, lanes))
    inner = VregLoop(-(-cols // lanes), body(spot), post_update)
    return VregLoop(rows, (inner,))


def nest_split(rows: int, cols: int, lanes: int, body: Body) -> VregLoop:
    """Rows with post-update: whole vectors with all lanes on in a loop, then one with its mask."""
    whole, rest = divmod(cols, lanes)
    inner: list[VregNode] = []
    if whole:
        spot = Spot(lanes, 0, nested=True, pred=None)
        inner.append(VregLoop(whole, body(spot), post_update=True))
    if rest:
        # A loop of one: the predicate counts from its index, not from the row's.
        spot = Spot(lanes, whole * lanes, nested=True, pred=Tail(rest, lanes))
        inner.append(VregLoop(1, body(spot), post_update=True))
    return VregLoop(rows, tuple(inner))
