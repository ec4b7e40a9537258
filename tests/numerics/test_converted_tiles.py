"""TCVT on tiles against exact rounding: integer arithmetic on the bits, written here.

Every finite source is mantissa * 2^exponent in integers; results are chosen between the two
neighbours by the definition of each mode. Sources: the conversion tables of the vendor's libraries
and of the PTO ISA; formats by IEEE 754, OCP 8-bit floats and arXiv 2409.16626.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from bench import Bench
from numpy.typing import NDArray

from archsim.numerics.memory import Memory

FIVE = ["rint", "round", "floor", "ceil", "trunc"]
SOURCES = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23)}
WIDTHS = {"i8": 8, "u8": 8, "i16": 16, "u16": 16, "i32": 32, "u32": 32, "i64": 64}
Array = NDArray[Any]


@pytest.fixture(autouse=True)
def ieee() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def limits(to: str) -> tuple[int, int]:
    bits = WIDTHS[to]
    return (0, 2**bits - 1) if to[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def split(bits: Array, source: str) -> tuple[Array, Array, Array]:
    """Sign, mantissa and exponent of x = (-1)^sign * mantissa * 2^exponent, as integers."""
    exponent_bits, fraction_bits = SOURCES[source]
    wide = bits.astype(np.int64)
    field = wide >> fraction_bits & (1 << exponent_bits) - 1
    fraction = wide & (1 << fraction_bits) - 1
    mantissa = np.where(field > 0, fraction | 1 << fraction_bits, fraction)
    bias = (1 << exponent_bits - 1) - 1 + fraction_bits
    return wide >> exponent_bits + fraction_bits & 1, mantissa, np.maximum(field, 1) - bias


def divided(mantissa: Array, drop: Array, sign: Array, mode: str) -> Array:
    """mantissa / 2^drop, a magnitude, rounded to an integer; drop >= 0."""
    shift = np.minimum(drop, 60)
    low = mantissa >> shift
    rest, half = mantissa - (low << shift), 1 << np.maximum(shift, 1) - 1
    inexact = rest > 0
    nearer = (rest > half) | (rest == half)
    up = {
        "rint": (rest > half) | ((rest == half) & (low & 1 == 1) & (shift > 0)),
        "round": nearer & (shift > 0),
        "floor": inexact & (sign == 1),
        "ceil": inexact & (sign == 0),
        "trunc": np.zeros_like(inexact),
        "odd": inexact & (low & 1 == 0),
    }[mode]
    return low + up


def integers(bits: Array, source: str, to: str, mode: str, wraps: bool) -> list[int]:
    """The integers that finite, infinite and NaN sources give, one by one in Python integers."""
    least, most = limits(to)
    exponent_bits, fraction_bits = SOURCES[source]
    sign, mantissa, exponent = split(bits, source)
    small = divided(mantissa, np.maximum(-exponent, 0), sign, mode)
    top = (1 << exponent_bits) - 1
    out = []
    for raw, s, m, e in zip(bits, sign, small, exponent, strict=True):
        field, fraction = int(raw) >> fraction_bits & top, int(raw) & (1 << fraction_bits) - 1
        number = int(m) << max(int(e), 0)
        number = -number if s else number
        if field == top:
            out.append(0 if fraction else least if s else most)
        elif wraps:
            low = number % (1 << WIDTHS[to])
            out.append(low - (1 << WIDTHS[to]) if low > most else low)
        else:
            out.append(min(max(number, least), most))
    return out


def run(
    arch: str, source: str, to: str, data: Array, *, nested: bool = False, **attrs: Any
) -> Array:
    """All lanes of `data` through one TCVT: flat, or in two rows or more with gaps behind them."""
    bench = Bench(arch, **{k: v for k, v in attrs.items() if k == "profile"})
    bench.memory = Memory({"UB": 1 << 20}, 0)
    words = {k: v for k, v in attrs.items() if k != "profile"}
    cols = 1024 if data.size >= 8192 else data.size
    lines = np.tile(data, 2).reshape(-1, cols) if nested else data.reshape(-1, cols)
    declared = (lines.shape[0], cols + 64 * nested)
    src = bench.put(bench.tile(source, lines.shape), lines)
    dst = bench.tile(to, declared, lines.shape)
    bench.run("tcvt", dst, src, **words)
    found = bench.get(dst, *lines.shape).ravel()
    assert found.tobytes() == found[: data.size].tobytes() * (2 if nested else 1)
    return found[: data.size]


ALL_16 = np.arange(65536, dtype=np.uint16)
TO_INTEGER = [
    ("f16", "i32", "sat"),
    ("f16", "i16", "wrap"),
    ("f16", "i8", "wrap"),
    ("f16", "u8", "wrap"),
    ("bf16", "i32", "sat"),
]


@pytest.mark.parametrize("arch", ["a2a3", "a5"])
@pytest.mark.parametrize("mode", FIVE)
@pytest.mark.parametrize(("source", "to", "default"), TO_INTEGER)
def test_all_16_bit_floats_to_integers(
    arch: str, mode: str, source: str, to: str, default: str
) -> None:
    data = ALL_16.view(np.float16 if source == "f16" else ml_dtypes.bfloat16)
    want = {wraps: integers(ALL_16, source, to, mode, wraps) for wraps in (False, True)}
    for sat in ("", "on", "off"):
        words = {"sat": sat} if sat else {}
        got = run(arch, source, to, data, nested=True, rmode=mode, **words)
        wraps = default == "wrap" if not sat else sat == "off"
        if arch == "a2a3" and default == "sat":
            wraps = False  # the core does not hear `off` here
        assert got.tolist() == want[wraps], sat


def floats(bits: Array, source: str, to: str, mode: str, infnan: bool) -> Array:
    """Bits of narrower float results; NaN as 1 << 32."""
    exponent_bits, fraction_bits = SOURCES[to]
    sign, mantissa, exponent = split(bits, source)
    width = np.frexp(mantissa.astype(np.float64))[1]  # bits of the mantissa
    least = 2 - (1 << exponent_bits - 1) - fraction_bits
    unit = np.maximum(exponent + width - 1 - fraction_bits, least)
    drop = unit - exponent
    whole = divided(mantissa, np.maximum(drop, 0), sign, mode) << np.clip(-drop, 0, 40)
    # The integer `whole` counts units; a carry into the next binade is one in the exponent field.
    code = (unit - least << fraction_bits) + whole
    limit = (1 << exponent_bits) - 1 << fraction_bits
    source_top = (1 << SOURCES[source][0]) - 1 << SOURCES[source][1]
    wide = bits.astype(np.int64) & (1 << sum(SOURCES[source])) - 1
    towards_zero = {"trunc": 0 * sign, "odd": 0 * sign, "floor": sign, "ceil": 1 - sign}
    over = towards_zero.get(mode, 1 + 0 * sign)
    finite = np.where(code >= limit, np.where(over & infnan, limit, limit - 1), code)
    special = np.where(wide == source_top, limit if infnan else limit - 1, finite)
    signed = special | sign << exponent_bits + fraction_bits
    return np.where(wide > source_top, 1 << 32 if infnan else 0, signed)


def as_codes(got: Array) -> Array:
    codes = got.view(f"u{got.dtype.itemsize}").astype(np.int64)
    return np.where(np.isnan(got), 1 << 32, codes)


@pytest.mark.parametrize("profile", ["reset", "infnan"])
@pytest.mark.parametrize("mode", FIVE)
def test_all_bfloats_to_half(mode: str, profile: str) -> None:
    got = run("a5", "bf16", "f16", ALL_16.view(ml_dtypes.bfloat16), rmode=mode, profile=profile)
    want = floats(ALL_16, "bf16", "f16", mode, profile == "infnan")
    assert np.array_equal(as_codes(got), want)


def boundary_floats(to: str) -> Array:
    """f32 bits around every half (or bfloat) and around the middle of each and the next."""
    numpy_type = np.float16 if to == "f16" else ml_dtypes.bfloat16
    near = np.arange(0, 65536, 13, dtype=np.uint16).view(numpy_type)
    exact = near.astype(np.float32).view(np.uint32)
    half_unit = 1 << (23 - SOURCES[to][1] - 1)
    return np.concatenate([exact + np.uint32(d) for d in (0, 1, half_unit - 1, half_unit,
                                                          half_unit + 1)])  # fmt: skip


@pytest.mark.parametrize("arch", ["a2a3", "a5"])
@pytest.mark.parametrize("to", ["f16", "bf16"])
@pytest.mark.parametrize("profile", ["reset", "infnan"])
def test_floats_to_narrower_floats(arch: str, to: str, profile: str) -> None:
    bits = boundary_floats(to)
    bits = bits[: bits.size // 1024 * 1024]
    for mode in (*FIVE, "odd") if to == "f16" else FIVE:
        got = run(arch, "f32", to, bits.view(np.float32), rmode=mode, profile=profile)
        want = floats(bits, "f32", to, mode, profile == "infnan")
        assert np.array_equal(as_codes(got), want), mode


@pytest.mark.parametrize("arch", ["a2a3", "a5"])
@pytest.mark.parametrize("source", ["f16", "bf16"])
def test_widening_keeps_every_value(arch: str, source: str) -> None:
    data = ALL_16.view(np.float16 if source == "f16" else ml_dtypes.bfloat16)
    got = run(arch, source, "f32", data)
    sign, mantissa, exponent = split(ALL_16, source)
    want = np.where(sign == 1, -1.0, 1.0) * mantissa * 2.0**exponent
    finite = np.isfinite(data)
    assert np.array_equal(got[finite], want[finite].astype(np.float32))
    assert np.array_equal(np.isnan(got), np.isnan(data))
    assert (np.signbit(got) == (sign == 1))[~np.isnan(data)].all()


EDGES = np.array(
    [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 1e-40, -1e-40, 127.5, 128.0, 255.5, 256.0, -129.0,
     32767.0, 32767.5, 32768.0, -32768.5, -32769.0, 65535.5, 65536.0, 2147483520.0, 2147483648.0,
     -2147483648.0, -2147483904.0, 2.0**33 + 2048, 9.223371e18, 2.0**63, 2.0**64 + 2.0**42,
     -(2.0**63), -9.223373e18, 2.0**63 + 2.0**41, -(2.0**64 + 2.0**43), 3e38, -3e38, np.inf,
     -np.inf, np.nan, 8388607.5, -8388607.5, 16777217.0, 0.99999994, 1.0000001, 2.5000002,
     2.4999998, 3.5, -3.5],
    np.float32,
)  # fmt: skip


@pytest.mark.parametrize("arch", ["a2a3", "a5"])
@pytest.mark.parametrize("mode", FIVE)
@pytest.mark.parametrize("to", ["i32", "i16", "i64"])
def test_floats_to_integers(arch: str, mode: str, to: str) -> None:
    for sat in ("on", "off"):
        got = run(arch, "f32", to, EDGES, nested=True, rmode=mode, sat=sat)
        wraps = sat == "off" and not (arch == "a2a3" and to != "i16")
        bits = EDGES.view(np.uint32)
        assert got.tolist() == integers(bits, "f32", to, mode, wraps), sat


WIDE = [0, 1, -1, 2**24, 2**24 + 1, 2**24 + 3, 2**31 - 1, 2**31, 2**32 + 5, -(2**31), -(2**31) - 1,
        2**53 + 1, 2**54 + 2**30 + 1, 2**54 + 2**30, 2**54 + 2**31 + 2**30, -(2**54 + 2**30 + 1),
        2**63 - 1, -(2**63), 2**62 + 2**38 + 1, 2**62 + 2**38, 2**62 + 2**38 - 1]  # fmt: skip


def nearest_f32(value: int, mode: str) -> float:
    """One of the two f32 around an integer, by exact fractions."""
    if value == 0:
        return 0.0
    unit = 1 << max(abs(value).bit_length() - 24, 0)
    low, rest = divmod(Fraction(value), unit)
    up = {
        "floor": False,
        "ceil": rest > 0,
        "trunc": rest > 0 and value < 0,
        "rint": rest * 2 > unit or (rest * 2 == unit and low % 2 == 1),
        "round": rest * 2 > unit or (rest * 2 == unit and value > 0),
    }[mode]
    return float((low + up) * unit)


@pytest.mark.parametrize("arch", ["a2a3", "a5"])
@pytest.mark.parametrize("mode", FIVE)
def test_64_and_32_bit_integers_to_floats(arch: str, mode: str) -> None:
    got = run(arch, "i64", "f32", np.array(WIDE, np.int64), rmode=mode)
    assert got.tolist() == [nearest_f32(value, mode) for value in WIDE]
    narrow = [value for value in WIDE if -(2**31) <= value < 2**31]
    got = run(arch, "i32", "f32", np.array(narrow, np.int32), rmode=mode)
    assert got.tolist() == [nearest_f32(value, mode) for value in narrow]


PAIRS = [
    ("i64", "i32", "wrap", "a2a3 a5"),
    ("i32", "i16", "wrap", "a2a3 a5"),
    ("i32", "i64", "sat", "a2a3 a5"),
    ("i32", "u16", "sat", "a5"),
    ("i32", "u8", "sat", "a5"),
    ("u32", "u8", "sat", "a5"),
    ("u32", "u16", "sat", "a5"),
    ("u32", "i16", "sat", "a5"),
    ("i16", "u8", "sat", "a5"),
    ("i16", "i32", "sat", "a5"),
    ("i16", "u32", "sat", "a5"),
    ("u8", "u16", "sat", "a5"),
    ("i8", "i16", "sat", "a5"),
    ("i8", "i32", "sat", "a5"),
]


@pytest.mark.parametrize(("source", "to", "default", "archs"), PAIRS)
@pytest.mark.parametrize("nested", [False, True])
def test_integers_to_integers(source: str, to: str, default: str, archs: str, nested: bool) -> None:
    least, most = limits(source)
    edges = {0, 1, 127, 128, 255, 256, 32767, 32768, 65535, 65536, least, most, least // 2, -1,
             -129, -32769, 2**31, 2**32 + 7}  # fmt: skip
    values = [value for value in sorted(edges) if least <= value <= most] * 15
    data = np.array(values, source.replace("i", "int").replace("u", "uint"))
    low, high = limits(to)
    for arch in archs.split():
        for sat in ("", "on", "off") if arch == "a5" or default == "wrap" else ("",):
            got = run(arch, source, to, data, nested=nested, **({"sat": sat} if sat else {}))
            if sat == "off" or (not sat and default == "wrap"):
                want = [(v - low) % (1 << WIDTHS[to]) + low for v in values]
            else:
                want = [min(max(v, low), high) for v in values]
            assert got.tolist() == want, (arch, sat)


def exact_values(name: str) -> dict[int, float]:
    """Finite positive values of an 8-bit float by code, from the definition of its fields."""
    if name == "hif8":
        return {code: hif8_value(f"{code:07b}") for code in range(0x6F)} | {
            code: hif8_value(f"{code:07b}") for code in range(0x70, 0x80)
        }
    bits, bias, count = (3, 7, 0x7F) if name == "f8e4m3" else (2, 15, 0x7C)
    return {
        code: (code & (1 << bits) - 1) * 2.0 ** (1 - bias - bits)
        if code >> bits == 0
        else (1 + (code & (1 << bits) - 1) / (1 << bits)) * 2.0 ** ((code >> bits) - bias)
        for code in range(count)
    }


def hif8_value(bits: str) -> float:
    if bits.startswith("0000"):
        return 2.0 ** (int(bits[4:], 2) - 23) if "1" in bits else 0.0
    dot = next(p for p in ("11", "10", "01", "001", "0001") if bits.startswith(p))
    size = {"11": 4, "10": 3, "01": 2, "001": 1, "0001": 0}[dot]
    exponent, mantissa = bits[len(dot) :][:size], bits[len(dot) + size :]
    power = int("1" + exponent[1:], 2) * (-1 if exponent[0] == "1" else 1) if size else 0
    return (1 + int(mantissa, 2) / 2 ** len(mantissa)) * 2.0**power


def eight_bits(x: Array, name: str, infnan: bool) -> list[int | None]:
    """Codes by distance to every value of the format; None for NaN where several codes mean it."""
    infinity = {"hif8": 0x6F, "f8e5m2": 0x7C, "f8e4m3": None}[name]
    steps: list[tuple[float, int | None]] = [(v, c) for c, v in exact_values(name).items()]
    greatest = max(steps)
    # Behind the greatest value comes the infinity, or what stands for it.
    above = {"hif8": 1.5 * 2.0**15, "f8e5m2": 2.0**16, "f8e4m3": 480.0}[name]
    steps = [*sorted(steps), (above, infinity)]
    ladder = np.array([value for value, _ in steps])
    out: list[int | None] = []
    for value in x.astype(np.float64):
        if np.isnan(value):
            out.append((0x80 if name == "hif8" else None) if infnan else 0)
            continue
        magnitude = min(abs(value), above if infnan else greatest[0])
        distance = np.abs(ladder - magnitude)  # exact next to the value, where it decides
        best = np.flatnonzero(distance == distance.min())
        even = [k for k in best if (steps[k][1] or 0) % 2 == 0]
        code = steps[best[-1] if name == "hif8" or not even else even[0]][1]
        signless = code is None or (name == "hif8" and code == 0)
        out.append(code if signless else code | (0x80 if np.signbit(value) else 0))
    return out


def around(name: str) -> Array:
    values = sorted(exact_values(name).values())
    values += [1.25 * 2.0**15, 1.5 * 2.0**15, 464.0, 480.0, 61440.0, 65536.0, 1e30, 1e-30]
    middles = [(a + b) / 2 for a, b in pairwise(values)]
    exact = np.array(values + middles, np.float32)
    near = np.concatenate([exact, np.nextafter(exact, np.float32(np.inf)),
                           np.nextafter(exact, np.float32(0))])  # fmt: skip
    return np.concatenate([near, -near, [np.inf, -np.inf, np.nan]]).astype(np.float32)


@pytest.mark.parametrize("name", ["f8e4m3", "f8e5m2", "hif8"])
@pytest.mark.parametrize("profile", ["reset", "infnan"])
@pytest.mark.parametrize("nested", [False, True])
def test_floats_to_eight_bits(name: str, profile: str, nested: bool) -> None:
    data = around(name)
    got = run("a5", "f32", name, data, nested=nested, rmode="floor", profile=profile)
    codes = got.view(np.uint8).tolist()
    want = eight_bits(data, name, profile == "infnan")
    nan = {"f8e4m3": (0x7F, 0xFF), "f8e5m2": (0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF)}.get(name, ())
    wrong = [(float(v), g, w) for v, g, w in zip(data, codes, want, strict=True)
             if (g not in nan if w is None else g != w)]  # fmt: skip
    assert wrong == []


def test_all_halves_to_hif8() -> None:
    data = ALL_16.view(np.float16)
    got = run("a5", "f16", "hif8", data, nested=True, profile="infnan")
    assert got.tolist() == eight_bits(data, "hif8", True)
    assert run("a5", "f16", "hif8", data, profile="infnan").tolist() == got.tolist()


@pytest.mark.parametrize("name", ["f8e4m3", "f8e5m2", "hif8"])
@pytest.mark.parametrize("nested", [False, True])
def test_every_eight_bit_float_widens(name: str, nested: bool) -> None:
    codes = np.arange(256, dtype=np.uint8)
    held = {"f8e4m3": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2}.get(name, np.uint8)
    got = run("a5", name, "f32", codes.view(held), nested=nested)
    for code, value in exact_values(name).items():
        assert got[code] == value
        assert got[code | 0x80] == -value or (name, code) == ("hif8", 0)
    if name == "hif8":
        assert np.isnan(got[0x80])
        assert (got[0x6F], got[0xEF]) == (np.inf, -np.inf)


@pytest.mark.parametrize(("source", "to"), [("f32", "i16"), ("f16", "i16"), ("f16", "i8")])
@pytest.mark.parametrize("mode", FIVE)
def test_flat_rows_of_a5_cut_through_a_wider_integer(source: str, to: str, mode: str) -> None:
    bits = EDGES.view(np.uint32) if source == "f32" else ALL_16
    data = bits.view(np.float32 if source == "f32" else np.float16)
    got = run("a5", source, to, data, rmode=mode, sat="off")
    if to == "i8":  # f16 -> i16 keeps low bits, infinities its limits; then the lowest eight
        middle = integers(bits, source, "i16", mode, True)
    else:
        middle = integers(bits, source, "i32", mode, False)
    low = limits(to)[0]
    assert got.tolist() == [(v - low) % (1 << WIDTHS[to]) + low for v in middle]


@pytest.mark.parametrize(("source", "to"), [("f32", "i16"), ("f16", "i16"), ("f16", "i8")])
@pytest.mark.parametrize("mode", FIVE)
def test_scratch_of_a2a3_cuts_through_i32(source: str, to: str, mode: str) -> None:
    bits = EDGES.view(np.uint32) if source == "f32" else ALL_16[::7][:8192]
    data = bits.view(np.float32) if source == "f32" else bits.view(np.float16)
    bench = Bench("a2a3")
    shape = (1, data.size) if source == "f32" else (16, 512)
    src = bench.put(bench.tile(source, shape), data.reshape(shape))
    dst, tmp = bench.tile(to, shape), bench.tile("i32", (16, 64))
    bench.run("tcvt", dst, src, tmp=tmp, rmode=mode, sat="off")
    low, middle = limits(to)[0], integers(bits, source, "i32", mode, False)
    want = [(v - low) % (1 << WIDTHS[to]) + low for v in middle]
    assert bench.get(dst, *shape).ravel().tolist() == want
