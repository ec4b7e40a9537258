"""TRANDOM on the vreg cores: Philox4x32, a counter in every lane. The sequence is assumed.

The generator: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011). That this is
what the instruction computes is read from its operands (two key words, four counter words) and
its round counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count, cycle

from archsim.arch import VregArch
from archsim.base.dtypes import U32
from archsim.isa.operands import BoundInstr, TileView
from archsim.isa.vreg import Tail, VectorFunction, VregLoop, VregMem, VregUop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import number, output
from archsim.lower.vreg.emit import form

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)  # what a key word grows by from round to round
_WORDS = 4  # a counter makes four words
_KIND = form(U32)
# Registers of a turn, one after the other: no value lives longer than two rounds, 22 results.
_FIRST, _IN_TURN = 24, 32


@dataclass(slots=True)
class _Code:
    """Instructions on registers of 32-bit words, each result in a register of its own."""

    names: Iterator[int]
    uops: list[VregUop] = field(default_factory=list)

    def op(
        self,
        name: str,
        *src: str,
        scalar: int | None = None,
        effect: str = "",
        pred: str | None = None,
        to: str = "",
    ) -> str:
        """Emit one and name its result."""
        dst = to or f"{'p' if name.startswith('VCMP') else 'v'}{next(self.names)}"
        self.uops.append(
            VregUop(name, _KIND, (dst,), src, U32, scalar=scalar, effect=effect, pred=pred)
        )
        return dst

    def pair(self, name: str, *src: str) -> tuple[str, str]:
        """Emit one that has two results."""
        dst = (f"v{next(self.names)}", f"v{next(self.names)}")
        self.uops.append(VregUop(name, _KIND, dst, src, U32))
        return dst

    def carry(self, low: str, mask: str, words: tuple[str, ...], to: tuple[str, ...]) -> list[str]:
        """The counter `low`, `words` with one more in `words` where the mask says so."""
        done = [low]
        for word, name in zip(words, to, strict=True):
            more = self.op("VADDS", word, scalar=1)
            done.append(self.op("VSEL", mask, more, word, to=name))
            mask = self.op("VCMPS", done[-1], scalar=0, effect="eq", pred=mask)
        self.uops.pop()  # nothing is carried out of the last word
        return done

    def plus(
        self, words: list[str], amount: int, to: tuple[str, ...] = ("", "", "", "")
    ) -> list[str]:
        """A counter further on by less than 2^32."""
        low = self.op("VADDS", words[0], scalar=amount, to=to[0])
        mask = self.op("VCMPS", low, scalar=amount, effect="lt")
        return self.carry(low, mask, tuple(words[1:]), to[1:])

    def philox(self, x: list[str], keys: list[str], multipliers: list[str], rounds: int) -> None:
        """Rounds over a counter, in place."""
        k0, k1 = keys
        for turn in range(rounds):
            if turn:
                k0, k1 = (
                    self.op("VADDS", k, scalar=w) for k, w in zip((k0, k1), WEYL, strict=True)
                )
            low0, high0 = self.pair("VMULL", x[0], multipliers[0])
            low1, high1 = self.pair("VMULL", x[2], multipliers[1])
            first = self.op("VXOR", self.op("VXOR", high1, x[1]), k0)
            third = self.op("VXOR", self.op("VXOR", high0, x[3]), k1)
            x[:] = [first, low1, third, low0]


def random(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst[r, c] = word c % 4 of Philox4x32(key, counter + r * ceil(C / 4) + c // 4).

    1. Valid elements that follow each other, rows of whole fours: one loop over all of them.
    2. Otherwise a loop over the rows.
    Counters are 128-bit numbers, low word first; `rounds` is 10 or 7.
    """
    dst = output(instr)
    lanes = arch.vector.width_bytes // U32.itemsize
    rows, cols = dst.valid_rows, dst.valid_cols
    is_run = rows == 1 or (cols == dst.row_stride and cols % _WORDS == 0)
    start, counter, keys, multipliers = _start(instr, lanes)
    names = cycle(range(_FIRST, _FIRST + _IN_TURN))
    body, rounds = _Code(names), int(instr.attrs.get("rounds", "10"))
    counters = lanes if is_run else -(-cols // _WORDS)
    vectors = 1 if is_run else -(-cols // (_WORDS * lanes))
    for vector in range(vectors):
        words = body.plus(counter, vector * lanes) if vector else list(counter)
        body.philox(words, keys, multipliers, rounds)
        body.uops += _stores(body, dst, words, vector * _WORDS * lanes, lanes, is_run)
    advance = _Code(names)
    advance.plus(counter, counters, tuple(counter))
    if is_run:
        turns = -(-rows * cols // (_WORDS * lanes))
        loop = VregLoop(turns, (*body.uops, *advance.uops))  # 1
    else:
        loop = VregLoop(rows, (VregLoop(1, tuple(body.uops)), *advance.uops))  # 2
    function = VectorFunction((*start.uops, loop))
    return Lowered((function,), writes=(dst.valid_region(),))


def _start(instr: BoundInstr, lanes: int) -> tuple[_Code, list[str], list[str], list[str]]:
    """The registers in front of the loop: counters of the first lanes, keys, multipliers."""
    code = _Code(count(4))  # the first four hold the counter of the next turn
    words = [
        code.op("VDUP", scalar=int(number(instr, f"counter{k}")) % (1 << 32)) for k in range(4)
    ]
    keys = [code.op("VDUP", scalar=int(number(instr, f"key{k}")) % (1 << 32)) for k in range(2)]
    multipliers = [code.op("VDUP", scalar=value) for value in MULTIPLIERS]
    lane = code.op("VCI", scalar=0, effect=f"inc {lanes}")
    low = code.op("VADD", words[0], lane, to="v0")
    mask = code.op("VCMP", low, lane, effect="lt")
    counter = code.carry(low, mask, tuple(words[1:]), ("v1", "v2", "v3"))
    return code, counter, keys, multipliers


def _stores(
    code: _Code, dst: TileView, words: list[str], first: int, lanes: int, is_run: bool
) -> list[VregUop]:
    """Four vectors of words, interleaved so that those of one counter are neighbours."""
    evens, odds = code.pair("VINTLV", words[0], words[2]), code.pair("VINTLV", words[1], words[3])
    ordered = [*code.pair("VINTLV", evens[0], odds[0]), *code.pair("VINTLV", evens[1], odds[1])]
    stores = []
    for part, register in enumerate(ordered):
        at = first + part * lanes
        addr = dst.addr + at * U32.itemsize
        if is_run:
            total, stride = dst.valid_rows * dst.valid_cols, _WORDS * lanes
            mem = VregMem(addr, (stride * U32.itemsize,), U32, lanes)
            on = Tail(total, lanes, offset=at, stride=stride)
        elif at < dst.valid_cols:
            mem = VregMem(addr, (dst.row_bytes, 0), U32, lanes)
            on = Tail(dst.valid_cols - at, lanes)
        else:
            continue
        stores.append(VregUop("VSTS", _KIND, (), (register,), U32, mem, pred=on))
    return stores


FAMILIES: Families[VregArch] = {
    "random": random,
}
