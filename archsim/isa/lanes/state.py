"""The numeric control state of a core, and how one micro-op computes under it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import NDArray

from archsim.arch import ArchConfig
from archsim.base.dtypes import DType
from archsim.base.rounding import ROUNDINGS, Rounding, nearest_even

Lanes = NDArray[Any]


@dataclass(frozen=True, slots=True)
class NumericState:
    """The control bits that change results, and a named switch for every open choice.

    `fp_infnan` is CTRL[48]: 0 turns an overflow to half or bfloat16 into the greatest value and
    NaN into 0 (profile `reset`), 1 keeps both (`infnan`, what a host launch sets). `int_alu_sat`
    is CTRL[53]: integer arithmetic clamps. `cvt_trunc` is CTRL[59]: a narrowing to integers keeps
    the low bits. `cvt_global` is CTRL[60]: clear, vreg conversions obey their own flag, which is
    always "no saturation" (RS_DISABLE). `max_nan: other` lets max and min drop a NaN operand.
    `vmod_sign`: whose sign an integer VMOD gives.
    """

    fp_infnan: bool = False
    int_alu_sat: bool = False
    cvt_trunc: bool = False
    cvt_global: bool = True
    max_nan: Literal["propagate", "other"] = "propagate"
    vmod_sign: Literal["dividend", "divisor"] = "dividend"
    prelu_zero_keeps: bool = False  # vprelu keeps x for x >= 0
    exp_ftz: bool = False  # vexp flushes subnormal results to +0
    a2a3_addreluconv_wide_add: bool = False  # the fused half add is not rounded to half
    a2a3_addreluconv_s16_wide: bool = False  # the fused int16 add keeps 17 bits
    fp8_nan_keep: bool = False  # CTRL[50]: clamping to an 8-bit float keeps a NaN
    a5_f32_f16_uses_ctrl59: bool = False  # saturation to half follows CTRL[59], not CTRL[48]

    @staticmethod
    def of(arch: ArchConfig) -> "NumericState":
        """The profile and switches of a chip; the other bits as a reset leaves them."""
        chosen = arch.numerics
        return NumericState(
            fp_infnan=chosen.profile == "infnan",
            max_nan=chosen.max_nan,
            vmod_sign=chosen.vmod_sign,
            prelu_zero_keeps=chosen.prelu_zero_keeps,
            exp_ftz=chosen.exp_ftz,
            a2a3_addreluconv_wide_add=chosen.a2a3_addreluconv_wide_add,
            a2a3_addreluconv_s16_wide=chosen.a2a3_addreluconv_s16_wide,
            fp8_nan_keep=chosen.fp8_nan_keep,
            a5_f32_f16_uses_ctrl59=chosen.a5_f32_f16_uses_ctrl59,
        )


@dataclass(frozen=True, slots=True)
class How:
    """How one micro-op computes: element types, scalar, refining words, control state.

    `dtype` is the type of the sources, `to` the type of the result (the same unless it converts).
    `scalar` is a numpy scalar of the source type. `words` are a rounding mode, `sat` or `wrap`.
    A function that mixes lanes needs two more: `lanes` of a whole repeat or register, of which a
    source of a simd micro-op holds the first few, and `on`, the predicate of a vreg one (None:
    all lanes are on).
    """

    dtype: DType
    to: DType
    state: NumericState
    scalar: Any = None
    words: tuple[str, ...] = ()
    lanes: int = 0
    on: Lanes | None = None

    @property
    def rounding(self) -> Rounding:
        """The rounding mode that the words name; nearest even where they name none."""
        return next((ROUNDINGS[w] for w in self.words if w in ROUNDINGS), nearest_even)


LaneFunction = Callable[..., Lanes]  # (how, *source lanes) -> result lanes


@dataclass(frozen=True, slots=True)
class LaneOp:
    """A lane function and the words that the micro-op's name implies.

    `mixes`: result lanes come from other lanes than their own, so that a predicate masks sources
    (the function sees it as `how.on`) and not results.
    """

    function: LaneFunction
    words: tuple[str, ...] = ()
    mixes: bool = False
