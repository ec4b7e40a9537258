"""UB banks of the simd style: what the addresses of one micro-op add to its slots.

UB is `bank_groups` groups of `banks_per_group` banks; byte address a lies in group
(a / 32) mod groups and in bank a / (UB size / banks per group). A group serves one read and one
write a cycle, in different banks. Source: bank table of the vendor's bank-conflict sample (board).
"""

from dataclasses import dataclass
from functools import lru_cache

from archsim.isa.simd import Access, SimdUop

BLOCK_BYTES = 32


@dataclass(frozen=True, slots=True)
class BankMap:
    """The shape of UB: number of groups, and bytes of one bank across all its groups."""

    groups: int
    bank_bytes: int


@dataclass(frozen=True, slots=True)
class Conflicts:
    """Per micro-op: repeats whose two reads meet in a group, repeats whose write meets a read in
    one bank, and whole extra cycles because blocks of one operand share a group."""

    reads: int
    writes: int
    extra_cycles: int


@dataclass(frozen=True, slots=True)
class _Operand:
    """An operand reduced to what banks see: its block numbers, and the bank it starts in."""

    block: int
    bank: int
    block_stride: int
    repeat_stride: int
    blocks: int

    def groups(self, repeat: int, groups: int) -> frozenset[int]:
        first = self.block + repeat * self.repeat_stride
        return frozenset((first + k * self.block_stride) % groups for k in range(self.blocks))

    def serial(self, repeat: int, groups: int) -> int:
        """Cycles that one repeat of this operand needs alone: the fullest group."""
        if self.block_stride == 0:
            return 1
        return -(-self.blocks // len(self.groups(repeat, groups)))


def conflicts(uop: SimdUop, row: int, banks: BankMap) -> Conflicts:
    """Count the conflicts of `uop` in row `row` of its row loop.

    1. Two reads of one repeat that touch one group conflict, in whatever bank, also when they are
       the same address. 2. The write of a repeat comes one repeat late; it meets a read in the
       same bank only where the two are not aligned to each other modulo 256 bytes (aligned ones
       the hardware shifts apart), which is known for equal strides only. 3. Blocks of one operand
       in one group are served one a cycle.
    """
    if uop.name.startswith("scatter_vnchwconv"):  # 16 addresses a side: no rule is known
        return Conflicts(0, 0, 0)
    reads = tuple(_reduce(a, uop, row, banks) for a in uop.srcs if not a.bits)
    write = None if uop.dst.bits else _reduce(uop.dst, uop, row, banks)
    return _count(reads, write, uop.repeat, banks)


def _reduce(access: Access, uop: SimdUop, row: int, banks: BankMap) -> _Operand:
    addr = access.addr + row * access.row_stride
    lanes = access.lanes or (uop.mask.lanes if uop.mask.mode == "partial" else uop.lanes)
    blocks = -(-lanes * access.dtype.itemsize // BLOCK_BYTES)
    return _Operand(
        addr // BLOCK_BYTES % banks.groups,
        addr // banks.bank_bytes,
        access.block_stride // BLOCK_BYTES % banks.groups,
        access.repeat_stride // BLOCK_BYTES % banks.groups,
        1 if access.block_stride == 0 else blocks,
    )


@lru_cache(maxsize=65536)
def _count(
    reads: tuple[_Operand, ...], write: _Operand | None, repeat: int, banks: BankMap
) -> Conflicts:
    # Strides are whole blocks, so the pattern of groups repeats after at most `groups` repeats.
    period = min(repeat, banks.groups)
    met, hit, extra = [], [], []
    for r in range(period):
        sets = [operand.groups(r, banks.groups) for operand in reads]
        met.append(any(a & b for i, a in enumerate(sets) for b in sets[i + 1 :]))
        hit.append(write is not None and any(_write_meets(write, a, r, banks) for a in reads))
        alone = [operand.serial(r, banks.groups) for operand in (*reads, *filter(None, [write]))]
        extra.append(max(alone, default=1) - 1)
    return Conflicts(_spread(met, repeat), _spread(hit, repeat), _spread(extra, repeat))


def _write_meets(write: _Operand, read: _Operand, repeat: int, banks: BankMap) -> bool:
    if write.bank != read.bank or write.repeat_stride != read.repeat_stride:
        return False
    if (write.block - read.block) % 8 == 0 and write.blocks == read.blocks:
        return False
    late = write.groups(repeat, banks.groups)
    return bool(late & read.groups(repeat + 1, banks.groups))


def _spread(pattern: list[bool] | list[int], repeat: int) -> int:
    """Sum of a periodic pattern over `repeat` repeats."""
    if not pattern:
        return 0
    whole, rest = divmod(repeat, len(pattern))
    return whole * sum(pattern) + sum(pattern[:rest])
