"""Conversions of lanes between element types, single and fused with an addition."""

from collections.abc import Callable

import numpy as np

from archsim.base import float4
from archsim.base.dtypes import BF16, F4E1M2, F4E2M1, F8E4M3, F8E5M2, F16, F32, HIF8, I16, I64
from archsim.base.hif8 import GREATEST, decode, encode
from archsim.base.rounding import greatest, nearest_even, to_float
from archsim.isa.lanes.arith import add, maximum, sub
from archsim.isa.lanes.narrow import integer_range, settle, to_integer, to_odd, within
from archsim.isa.lanes.state import How, LaneFunction, Lanes

_FOUR_BITS = (F4E2M1, F4E1M2)


def convert(how: How, x: Lanes) -> Lanes:
    """A conversion of the simd cores: R(x) in the target type, in the mode the words name.

    Float to the same float rounds to an integer value. Float to integer and integer to narrower
    integer clamp, or wrap by word or by CTRL[59]. Half results follow CTRL[48]; f32 is IEEE.
    """
    return _converted(how, x, _wraps(how, how.state.cvt_trunc), how.state.fp_infnan)


def vreg_convert(how: How, x: Lanes) -> Lanes:
    """A conversion of the vreg cores: as `convert`, under CTRL[60].

    With CTRL[60] clear, a conversion whose instruction sets no control bit obeys its own flag,
    which asks for no saturation. `a5_f32_f16_uses_ctrl59` makes f32 to half keep infinities
    exactly where integers would wrap.
    """
    state = how.state
    set_by_instruction = "sat" in how.words or "wrap" in how.words
    own_flag = not state.cvt_global and not set_by_instruction
    wraps = _wraps(how, own_flag or state.cvt_trunc)
    keeps_infnan = own_flag or state.fp_infnan
    if state.a5_f32_f16_uses_ctrl59 and how.dtype is F32 and how.to in (F16, BF16):
        keeps_infnan = wraps
    return _converted(how, x, wraps, keeps_infnan)


def _wraps(how: How, ambient: bool) -> bool:
    return "wrap" in how.words or (ambient and "sat" not in how.words)


def _converted(how: How, x: Lanes, wraps: bool, keeps_infnan: bool) -> Lanes:
    source, target = how.dtype, how.to
    if source is target:
        return how.rounding(x.astype(np.float64)).astype(target.np)
    if target in _FOUR_BITS:
        return float4.pack(float4.encode(x, target, how.rounding))
    if source in _FOUR_BITS:
        return float4.decode(float4.unpack(x), source).astype(target.np)
    if target is HIF8:
        return encode(_eight_bits(how, x, GREATEST, keeps_infnan))
    if target in (F8E4M3, F8E5M2):
        held = _eight_bits(how, x, greatest(target), keeps_infnan)
        return to_float(held, target, how.rounding)
    if source is HIF8:
        return decode(x)
    if target.is_float:
        if source is I64:
            x = to_odd(x)
        is_exact = source.bits < target.bits and (source.is_float or target is F32)
        rounding = nearest_even if is_exact else how.rounding
        return settle(to_float(x, target, rounding), target, keeps_infnan)
    if source.is_float:
        return to_integer(x, target, how.rounding, wraps)
    return x.astype(target.np) if wraps else _clamped(how, x)


def _eight_bits(how: How, x: Lanes, most: float, keeps_infnan: bool) -> Lanes:
    """Within the range of an 8-bit float; CTRL[50] keeps the NaN that clamping turns into 0."""
    held = within(x, most, keeps_infnan)
    return np.where(np.isnan(x), x, held) if how.state.fp8_nan_keep else held


def _clamped(how: How, x: Lanes) -> Lanes:
    return np.clip(x.astype(np.int64), *integer_range(how.to)).astype(how.to.np)


def lanes_at(how: How, data: Lanes, indices: Lanes) -> Lanes:
    """data[index] for the index in each lane of the second source, unsigned.

    `every_fourth` takes each fourth lane, as indices 0, 4, 8, ... do where bytes hold them all.
    """
    if "every_fourth" in how.words:
        return np.asarray(data[..., ::4])
    return np.asarray(data[..., indices.astype(np.intp).reshape(-1)])


def deq(how: How, x: Lanes) -> Lanes:
    """R(x * scale) in half, nearest even, one rounding; the scale (1 without) is a half number."""
    scale = np.float64(1.0 if how.scalar is None else how.scalar)
    return settle(to_float(x.astype(np.float64) * scale, F16), F16, how.state.fp_infnan)


def add_relu_conv(how: How, a: Lanes, b: Lanes) -> Lanes:
    """convert(max(R(a + b), 0)), saturating; the sum is rounded in the source type first."""
    return _fused(np.add, add, how, a, b)


def sub_relu_conv(how: How, a: Lanes, b: Lanes) -> Lanes:
    """convert(max(R(a - b), 0)), saturating; the difference is rounded in the source type first."""
    return _fused(np.subtract, sub, how, a, b)


def _fused(
    wide: Callable[[Lanes, Lanes], Lanes], own: LaneFunction, how: How, a: Lanes, b: Lanes
) -> Lanes:
    state, source = how.state, how.dtype
    if source is F16 and state.a2a3_addreluconv_wide_add:
        total = wide(a.astype(np.float32), b.astype(np.float32))
    elif source is I16 and state.a2a3_addreluconv_s16_wide:
        total = wide(a.astype(np.int32), b.astype(np.int32))
    else:
        total = own(how, a, b)
    if source is F32:
        clamped = maximum(how, total, np.zeros((), total.dtype))
        return settle(to_float(clamped, F16), F16, state.fp_infnan)
    # NaN gives 0 and negative sums are below the range: the clamp is the relu.
    return np.maximum(to_integer(total, how.to, nearest_even, wraps=False), how.to.np.type(0))
