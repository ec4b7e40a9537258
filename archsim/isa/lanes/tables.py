"""The lane function of every micro-op that has one, by name."""

from collections.abc import Mapping
from types import MappingProxyType

from archsim.isa.lanes import (
    accumulate,
    arith,
    compare,
    convert,
    divide,
    gather,
    generate,
    logic,
    reduce,
    sort,
)
from archsim.isa.lanes.arith import flushing, with_scalar
from archsim.isa.lanes.state import LaneOp

_MODES = {
    "": (),
    "r": ("rint",),
    "a": ("round",),
    "f": ("floor",),
    "c": ("ceil",),
    "z": ("trunc",),
    "o": ("odd",),
}
_CONVERSIONS = (
    "f322f32 f322f16 f322s32 f322s16 f162f32 f162s32 f162s16 f162s8 f162u8"
    " s162f16 s162f32 s322f32 s322s16 u82f16 s82f16 f322bf16 bf162f32 bf162s32"
    " f322s64 s642f32 s322s64 s642s32"
)
_SIMD: dict[str, LaneOp] = {
    "vadd": LaneOp(arith.add),
    "vsub": LaneOp(arith.sub),
    "vmul": LaneOp(arith.mul),
    "vdiv": LaneOp(arith.div),
    "vmax": LaneOp(arith.maximum),
    "vmin": LaneOp(arith.minimum),
    "vand": LaneOp(arith.bit_and),
    "vor": LaneOp(arith.bit_or),
    "vadds": LaneOp(with_scalar(arith.add)),
    "vmuls": LaneOp(with_scalar(arith.mul)),
    "vmaxs": LaneOp(with_scalar(arith.maximum)),
    "vmins": LaneOp(with_scalar(arith.minimum)),
    "vlrelu": LaneOp(with_scalar(arith.prelu)),
    "vexp": LaneOp(arith.exp),
    "vln": LaneOp(arith.log),
    "vsqrt": LaneOp(arith.sqrt),
    "vrsqrt": LaneOp(arith.rsqrt),
    "vabs": LaneOp(arith.absolute),
    "vrelu": LaneOp(arith.relu),
    "vnot": LaneOp(arith.bit_not),
    "copy_ubuf_to_ubuf": LaneOp(arith.copy),
    "vsel": LaneOp(compare.select),
    "vconv_deq": LaneOp(convert.deq),
    **{f"vcmpv_{m}": LaneOp(compare.simd_compare(m)) for m in compare.COMPARISONS},
    **{f"vcmpvs_{m}": LaneOp(with_scalar(compare.simd_compare(m))) for m in compare.COMPARISONS},
    **{
        f"vconv_{pair}{letter}": LaneOp(convert.convert, words)
        for pair in _CONVERSIONS.split()
        for letter, words in _MODES.items()
    },
    **{f"vaddreluconv_{p}": LaneOp(convert.add_relu_conv) for p in ("f322f16", "f162s8", "s162s8")},
    **{f"vsubreluconv_{p}": LaneOp(convert.sub_relu_conv) for p in ("f322f16", "f162s8", "s162s8")},
}
_VREG: dict[str, LaneOp] = {
    "VADD": LaneOp(arith.add),
    "VSUB": LaneOp(arith.sub),
    "VMUL": LaneOp(arith.mul),
    "VMAX": LaneOp(arith.maximum),
    "VMIN": LaneOp(arith.minimum),
    "VAND": LaneOp(arith.bit_and),
    "VOR": LaneOp(arith.bit_or),
    "VADDS": LaneOp(with_scalar(arith.add)),
    "VMULS": LaneOp(with_scalar(arith.mul)),
    "VMAXS": LaneOp(with_scalar(arith.maximum)),
    "VMINS": LaneOp(with_scalar(arith.minimum)),
    "VLRELU": LaneOp(with_scalar(arith.prelu)),
    "VPRELU": LaneOp(arith.prelu),
    "VEXP": LaneOp(arith.exp),
    "VLN": LaneOp(flushing(arith.log)),
    "VSQRT": LaneOp(flushing(arith.sqrt)),
    "VABS": LaneOp(arith.absolute),
    "VRELU": LaneOp(arith.relu),
    "VNOT": LaneOp(arith.bit_not),
    "VCMP": LaneOp(compare.compare),
    "VCMPS": LaneOp(with_scalar(compare.compare)),
    "VSEL": LaneOp(compare.select),
    "VCVT": LaneOp(convert.vreg_convert),
    "VTRC": LaneOp(convert.vreg_convert),
    "VSELR": LaneOp(convert.lanes_at, mixes=True),
}
SIMD: Mapping[str, LaneOp] = MappingProxyType(
    {
        **_SIMD,
        **accumulate.SIMD,
        **logic.SIMD,
        **generate.SIMD,
        **reduce.SIMD,
        **gather.SIMD,
        **sort.SIMD,
    }
)
VREG: Mapping[str, LaneOp] = MappingProxyType(
    {
        **_VREG,
        **divide.VREG,
        **accumulate.VREG,
        **logic.VREG,
        **generate.VREG,
        **reduce.VREG,
        **gather.VREG,
        **sort.VREG,
    }
)
