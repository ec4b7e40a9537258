"""A second model of simd micro-ops, lane by lane and byte by byte: slow, and plainly right."""

import struct
from collections.abc import Sequence

from archsim.base.dtypes import F32, I16, I32, U8, U16, U32, DType
from archsim.isa.simd import Access, RowLoop, SimdUop

_CODES = {I16: "<h", I32: "<i", U8: "<B", U16: "<H", U32: "<I", F32: "<f"}


def _wrapped(value: int, dtype: DType) -> int:
    low = value & ((1 << dtype.bits) - 1)
    signed = dtype in (I16, I32) and low >> (dtype.bits - 1)
    return low - (1 << dtype.bits) if signed else low


class NaiveCore:
    """UB as a byte array; every micro-op one lane after the other."""

    def __init__(self, ub: bytes) -> None:
        self.ub = bytearray(ub)
        self.written: set[int] = set()

    def run(self, work: Sequence[RowLoop]) -> None:
        for loop in work:
            for row in range(loop.rows):
                for uop in loop.body:
                    if isinstance(uop, SimdUop):
                        self._uop(uop, row)

    def _uop(self, uop: SimdUop, row: int) -> None:
        done = 0
        for repeat in range(uop.repeat):
            on = uop.lanes
            if uop.mask.mode == "partial":
                on = uop.mask.lanes
            elif uop.mask.mode == "count":
                on = min(uop.lanes, uop.mask.lanes - done)
            done += on
            results = self._repeat(uop, row, repeat, on)
            for lane, value in enumerate(results):
                self._write(uop.dst, row, repeat, lane, value)

    def _repeat(self, uop: SimdUop, row: int, repeat: int, on: int) -> list[int]:
        if uop.name in ("vcadd", "vcgadd", "vcpadd", "vbrcb"):
            source = uop.srcs[0]
            values = [self._read(source, row, repeat, k) for k in range(source.lanes or on)]
            return self._mixed(uop, [*values, *[0] * (uop.lanes - len(values))])
        return [
            self._lane(uop, row, [self._read(s, row, repeat, lane) for s in uop.srcs])
            for lane in range(on)
        ]

    @staticmethod
    def _mixed(uop: SimdUop, lanes: list[int]) -> list[int]:
        dtype = uop.dst.dtype
        per_block = 32 // dtype.itemsize
        if uop.name == "vbrcb":
            return [lanes[block] for block in range(8) for _ in range(per_block)]
        size = {"vcadd": len(lanes), "vcgadd": per_block, "vcpadd": 2}[uop.name]
        groups = [lanes[k : k + size] for k in range(0, len(lanes), size)]
        return [_wrapped(sum(group), dtype) for group in groups]

    @staticmethod
    def _place(access: Access, row: int, repeat: int, lane: int) -> int:
        base = access.addr + row * access.row_stride + repeat * access.repeat_stride
        if access.bits:
            return base + lane // 8
        size = access.dtype.itemsize
        per_block = 32 // size
        return base + (lane // per_block) * access.block_stride + (lane % per_block) * size

    def _read(self, access: Access, row: int, repeat: int, lane: int) -> int:
        at = self._place(access, row, repeat, lane)
        if access.bits:
            return self.ub[at] >> (lane % 8) & 1
        return struct.unpack_from(_CODES[access.dtype], self.ub, at)[0]

    def _write(self, access: Access, row: int, repeat: int, lane: int, value: int) -> None:
        at = self._place(access, row, repeat, lane)
        if access.bits:
            self.ub[at] = self.ub[at] & ~(1 << lane % 8) | value << lane % 8
            self.written.add(at)
        else:
            struct.pack_into(_CODES[access.dtype], self.ub, at, value)
            self.written.update(range(at, at + access.dtype.itemsize))

    @staticmethod
    def _lane(uop: SimdUop, row: int, sources: list[int]) -> int:
        if uop.name == "vadd":
            return _wrapped(sources[0] + sources[1], uop.dst.dtype)
        if uop.name == "vmax":
            return max(sources)
        if uop.name == "vadds":
            return _wrapped(sources[0] + int(uop.scalar or 0), uop.dst.dtype)
        if uop.name == "vector_dup":
            return _wrapped(int(uop.scalar or 0) + row * uop.scalar_step, uop.dst.dtype)
        if uop.name == "vsel":
            return sources[1] if sources[0] else sources[2]
        if uop.name == "vcmpvs_eq":
            return int(sources[0] == uop.scalar)
        if uop.name == "vconv_s322s16":
            return min(max(sources[0], -32768), 32767)
        if uop.name == "vconv_s162f32":
            return sources[0]
        assert uop.name == "copy_ubuf_to_ubuf"
        return sources[0]
