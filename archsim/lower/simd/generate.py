"""TCI and TTRI on the simd cores. Only that TCI is the scalar unit's is published."""

from collections.abc import Iterator

from archsim.arch import SimdArch
from archsim.base.dtypes import DTYPES
from archsim.isa.operands import BoundInstr
from archsim.isa.simd import RowLoop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.operands import number, output
from archsim.lower.simd.emit import BARRIER, COUNT, NORM, SET_MASK, Item, Plane, Stream, pack
from archsim.lower.triangle import left_lanes


def arange(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst = start + k, or start - k, for the k-th valid element, row by row: a scalar loop."""
    dst, start = output(instr), int(number(instr, "start"))
    step = -1 if instr.attrs.get("descending") == "true" else 1
    size = dst.dtype.itemsize

    def row(index: int) -> RowLoop:
        first = start + step * index * dst.valid_cols
        plane = Plane(dst.addr + index * dst.row_bytes, dst.dtype, size)
        stream = Stream("scalar_store", dst.dtype, 1, plane, scalar=first, scalar_step=step)
        return RowLoop(dst.valid_cols, (stream.uop(1, looped=True),))

    loops = tuple(row(index) for index in range(dst.valid_rows))
    return Lowered(loops, writes=(dst.valid_region(),))


def triangle(instr: BoundInstr, arch: SimdArch) -> Lowered:
    """dst[r, c] = 1 where c <= r + diagonal (upper: c >= r + diagonal), else 0.

    The value of the right-hand side in every row, a barrier, the other one in the lanes before it;
    all in count mode. The sequence is assumed.
    """
    dst, diagonal = output(instr), int(number(instr, "diagonal"))
    upper = instr.attrs.get("upper") == "true"
    one = int.from_bytes(dst.dtype.np.type(1).tobytes(), "little")
    left, right = (0, one) if upper else (one, 0)
    bits = DTYPES[f"u{dst.dtype.bits}"]
    lanes = arch.vector.width_bytes // bits.itemsize

    def duplication(value: int) -> Stream:
        return Stream("vector_dup", bits, lanes, Plane.of(dst, bits), scalar=value)

    def items() -> Iterator[Item]:
        yield from COUNT
        body = (duplication(right).counted(dst.valid_cols, looped=True),)
        yield RowLoop(dst.valid_rows, body)
        yield BARRIER
        for row in range(dst.valid_rows):
            count = left_lanes(row, diagonal, dst.valid_cols, upper=upper)
            if count:
                yield SET_MASK
                yield _counted_in(duplication(left), row, count)
        yield from NORM

    return Lowered(pack(items()), writes=(dst.valid_region(),))


def _counted_in(stream: Stream, row: int, count: int) -> Item:
    plane = stream.dst
    at = Plane(plane.addr + row * plane.pitch, plane.dtype, plane.pitch)
    return Stream(stream.name, stream.dtype, stream.lanes, at, scalar=stream.scalar).counted(count)


FAMILIES: Families[SimdArch] = {
    "arange": arange,
    "triangle": triangle,
}
