"""Remainders and powers on the vreg cores.

Their sequences are assumed; the steps are those that the device's results show. With
`precision=high` one stand-in micro-op for a software sequence, VMOD_SOFT, finds a remainder.
"""

from dataclasses import replace
from math import inf

from archsim.arch import VregArch
from archsim.base.dtypes import F16, F32, DType, Kind
from archsim.isa.operands import BoundInstr, TileView
from archsim.isa.vreg import VregUop
from archsim.lower.lowered import Families, Lowered
from archsim.lower.notes import Notes, departs
from archsim.lower.operands import data_tiles, number
from archsim.lower.vreg.divide import (
    behind,
    is_precise,
    over,
    spread,
    typed,
    zero_notes,
    zero_watch,
)
from archsim.lower.vreg.emit import Spot, form, path_of, walk


def remainder(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = the remainder with the sign of src1; a scratch operand is neither read nor written."""
    return _remainder(instr, arch, "floor")


def modulo(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = the remainder with the sign of src0."""
    return _remainder(instr, arch, "trunc")


def _remainder(instr: BoundInstr, arch: VregArch, rounding: str) -> Lowered:
    """r = a - round(a / b) * b, step by step in f32; floor then fixes the sign in the own type.

    Integers take one VMOD, whose sign for operands of mixed signs is not known; software does the
    whole where precision is high.
    """
    dst, src, *rest = data_tiles(instr)
    wide = F32 if dst.dtype is F16 else dst.dtype
    before: tuple[VregUop, ...] = ()
    if not rest:
        before = (spread("VBR", "v1", number(instr, "scalar"), dst.dtype),)

    def body(spot: Spot) -> tuple[VregUop, ...]:
        dist = "unpk" if wide is not dst.dtype else "norm"
        loads = [spot.load("v0", src, dist=dist)]
        loads += [spot.load("v1", tile, dist=dist) for tile in rest]
        if dst.dtype.is_integer or is_precise(instr):
            name = "VMOD" if dst.dtype.is_integer else "VMOD_SOFT"
            own = spot.op(name, "v7", "v0", "v1", dtype=dst.dtype)
            return *loads, own, _stored(spot, dst, "v7", dist)
        return (
            *loads,
            *_steps(spot, dst.dtype, rounding),
            *(_sign_fix(spot, dst.dtype) if rounding == "floor" else ()),
            _stored(spot, dst, "v11" if rounding == "floor" else "v7", dist),
        )

    lanes = arch.vector.width_bytes // wide.itemsize
    path = path_of(instr, data_tiles(instr))
    function = walk(path, dst.valid_rows, dst.valid_cols, lanes, body)
    divisor = rest[0] if rest else number(instr, "scalar")
    notes = zero_notes(instr, divisor, arch) + _remainder_notes(instr, dst.dtype, arch)
    lowered = Lowered.over_tiles((behind(before, function),), dst, [src, *rest], notes)
    return replace(lowered, watched=zero_watch(divisor))


def _stored(spot: Spot, dst: TileView, register: str, dist: str) -> VregUop:
    return spot.store(dst, register, dist="pk" if dist == "unpk" else "norm")


def _steps(spot: Spot, dtype: DType, rounding: str) -> tuple[VregUop, ...]:
    """v7 = v0 - round(v0 / v1) * v1 in f32, back in the own type."""
    is_half = dtype is F16
    a, b = ("v12", "v13") if is_half else ("v0", "v1")
    widened = (spot.cvt(a, "v0", F16, F32), spot.cvt(b, "v1", F16, F32)) if is_half else ()
    back = "trunc" if rounding == "floor" else "rint"
    found = "v6" if is_half else "v7"
    return (
        *widened,
        spot.op("VDIV", "v3", a, b, dtype=F32),
        VregUop("VTRC", form(F32), ("v4",), ("v3",), F32, to=F32, effect=rounding, pred=spot.pred),
        spot.op("VMUL", "v5", "v4", b, dtype=F32),
        spot.op("VSUB", found, a, "v5", dtype=F32),
        *((spot.cvt("v7", "v6", F32, F16, back),) if is_half else ()),
    )


def _sign_fix(spot: Spot, dtype: DType) -> tuple[VregUop, ...]:
    """v11 = v7 + v1 where v7 * v1 is negative, else v7."""
    return (
        spot.op("VMUL", "v8", "v7", "v1", dtype=dtype),
        spot.op("VCMPS", "p0", "v8", dtype=dtype, scalar=0, effect="lt"),
        spot.op("VADD", "v9", "v7", "v1", dtype=dtype),
        spot.op("VSEL", "v11", "p0", "v9", "v7", dtype=dtype),
    )


def _remainder_notes(instr: BoundInstr, dtype: DType, arch: VregArch) -> Notes:
    if dtype.kind is Kind.UNSIGNED:
        return ()
    if dtype.is_integer:
        return departs(
            instr,
            f"{instr.op.mnemonic} of integers of mixed signs: whose sign the result has on"
            f" {arch.isa} is not known; numerics.vmod_sign chooses",
        )
    if is_precise(instr):
        return ()
    return departs(
        instr,
        f"{instr.op.mnemonic} rounds the quotient on {arch.isa}: where it is beyond 2^24 the"
        " result is wrong, as on the device",
    )


def power(instr: BoundInstr, arch: VregArch) -> Lowered:
    """dst = src0 ** src1; a scratch operand is neither read nor written.

    1. Floats: exp(ln|a| * b) and the special cases of `_float_power`.
    2. Integers: by squaring, a bit of the exponent at a time; `_whole_power`.
    """
    dst, src, *rest = data_tiles(instr)
    before: tuple[VregUop, ...] = ()
    if not rest:
        before = (spread("VBR", "v1", number(instr, "scalar"), dst.dtype),)
    make = _float_power if dst.dtype.is_float else _whole_power

    def body(spot: Spot) -> tuple[VregUop, ...]:
        loads = [spot.load("v0", src), *(spot.load("v1", tile) for tile in rest)]
        return *loads, *make(spot, dst.dtype), spot.store(dst, "v9")

    return over(instr, arch, body, before)


def _float_power(spot: Spot, dtype: DType) -> tuple[VregUop, ...]:
    """v9 = exp(ln|v0| * v1), and then, the later the stronger:

    1. a < 0 and b odd: negated.
    2. a == 0: 0 for b > 0, else infinity.
    3. a == -1 and b infinite: 1.
    4. b == 0: 1.
    """
    op = typed(spot, dtype)
    cut = VregUop("VTRC", form(dtype), ("v3",), ("v1",), dtype, to=dtype, effect="trunc")
    half_cut = VregUop("VTRC", form(dtype), ("v5",), ("v4",), dtype, to=dtype, effect="trunc")
    return (
        op("VABS", "v2", "v0"),
        op("VLN", "v2", "v2"),
        op("VMUL", "v2", "v2", "v1"),
        op("VEXP", "v9", "v2"),
        cut,
        op("VMULS", "v4", "v1", scalar=0.5),
        half_cut,
        op("VMULS", "v6", "v9", scalar=-1.0),
        op("VCMP", "p0", "v4", "v5", effect="ne"),
        op("VSEL", "v6", "p0", "v6", "v9"),
        op("VCMP", "p0", "v3", "v1", effect="eq"),
        op("VSEL", "v6", "p0", "v6", "v9"),
        op("VCMPS", "p0", "v0", scalar=0.0, effect="lt"),
        op("VSEL", "v9", "p0", "v6", "v9"),  # 1
        op("VDUP", "v7", scalar=0.0),
        op("VDUP", "v8", scalar=inf),
        op("VCMPS", "p0", "v1", scalar=0.0, effect="gt"),
        op("VSEL", "v7", "p0", "v7", "v8"),
        op("VCMPS", "p0", "v0", scalar=0.0, effect="eq"),
        op("VSEL", "v9", "p0", "v7", "v9"),  # 2
        op("VDUP", "v7", scalar=1.0),
        op("VABS", "v8", "v1"),
        op("VCMPS", "p0", "v8", scalar=inf, effect="eq"),
        op("VSEL", "v8", "p0", "v7", "v9"),
        op("VCMPS", "p0", "v0", scalar=-1.0, effect="eq"),
        op("VSEL", "v9", "p0", "v8", "v9"),  # 3
        op("VCMPS", "p0", "v1", scalar=0.0, effect="eq"),
        op("VSEL", "v9", "p0", "v7", "v9"),  # 4
    )


def _whole_power(spot: Spot, dtype: DType) -> tuple[VregUop, ...]:
    """v9 = v0 ** v1 modulo 2**bits by squaring; a negative exponent gives 0 unless a is 1 or -1.

    The lowest bit tells an even from an odd power of -1, whose squares are 1 ever after.
    """
    op = typed(spot, dtype)
    steps: list[VregUop] = []
    for bit in range(dtype.bits):
        steps += [
            op("VAND", "v4", "v3", "v8"),
            op("VCMPS", "p0", "v4", scalar=0, effect="ne"),
            op("VMUL", "v5", "v9", "v2"),
            op("VSEL", "v9", "p0", "v5", "v9"),
        ]
        if bit < dtype.bits - 1:
            steps += [op("VMUL", "v2", "v2", "v2"), op("VSHRS", "v3", "v3", scalar=1)]
    return (
        op("VDUP", "v8", scalar=1),
        op("VDUP", "v9", scalar=1),
        op("VMULS", "v2", "v0", scalar=1),
        op("VMULS", "v3", "v1", scalar=1),
        *steps,
        op("VABS", "v6", "v0"),
        op("VDUP", "v7", scalar=0),
        op("VCMPS", "p0", "v6", scalar=1, effect="eq"),
        op("VSEL", "v7", "p0", "v9", "v7"),
        op("VCMPS", "p0", "v1", scalar=0, effect="lt"),
        op("VSEL", "v9", "p0", "v7", "v9"),
    )


FAMILIES: Families[VregArch] = {
    "modulo": modulo,
    "modulo_scalar": modulo,
    "power": power,
    "power_scalar": power,
    "remainder": remainder,
    "remainder_scalar": remainder,
}
