"""How blocks of bytes are made of values: the formulas of what `block_formats.py` describes, the other way round.

A formula is given a block as runs of equal width, the number of an element in its run, and returns bytes by their place in the
block: (at, False) is byte `at`, (at, True) byte at + i for element i. Bytes are those of llama.cpp's Python package `gguf`
(quants.py, MIT), whose steps these are: the scale from a block's largest element, in f32, each operation rounded once; codes by
the inverse of that scale before it is rounded to f16; Q4_0 and Q5_0 by one fused multiply-add, as its C reference does it; Q8_1,
which the package does not write, as ggml-quants.c does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce as fold
from itertools import pairwise

from baracuda.core.elements import ElementKind
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, bitcast, cast, const, fma, reduce, select
from baracuda.formula.small_floats import narrow
from baracuda.ops.quantization.block_formats import TWICE_E2M1, half_power, real

_F32, _S32 = ElementKind.F32, ElementKind.S32
Fields = dict[tuple[int, bool], Expr]
Encode = Callable[[Sequence[Expr], Expr], Fields]
_NOWHERE = 1 << 20


@dataclass(frozen=True)
class BlockCode:
    """The formula of a format's bytes, of a block in runs of `width` elements.

    A block whose runs have different widths is made of sections, (start, runs, width, formula), which are given a number of the
    block: the f32 that `encode` returns under (-1, False).
    """

    width: int
    encode: Encode
    sections: tuple[tuple[int, int, int, Callable[[Sequence[Expr], Expr], Fields]], ...] = ()


# --- what formulas share ----------------------------------------------------------------------------------------------


def _most(values: Sequence[Expr]) -> Expr:
    return f.max_(fold(f.maximum, values))


def _least(values: Sequence[Expr]) -> Expr:
    return f.min_(fold(f.minimum, values))


def _largest(x: Sequence[Expr]) -> Expr:
    return _most([abs(v) for v in x])


def _extreme(x: Sequence[Expr], i: Expr, width: int) -> Expr:
    """The first element of the largest magnitude."""
    largest = _largest(x)

    def first(negative: bool) -> Expr:
        """The place of the first that is the largest, or its negative, bit by bit: zeros have a sign."""
        bits = bitcast(-largest if negative else largest, _S32)
        places = [select(f.equal(bitcast(v, _S32), bits), i + p * width, const(_NOWHERE, _S32)) for p, v in enumerate(x)]
        return f.min_(fold(f.minimum, places))

    return select(first(False) <= first(True), largest, -largest)


def _inverse(scale: Expr) -> Expr:
    return select(f.equal(scale, 0.0), const(0.0, _F32), 1.0 / scale)


def _half(x: Expr, at: int) -> Fields:
    bits = select(f.equal(x, x), narrow(x, ElementKind.F16), const(0x7E00, _S32))  # the sign of a NaN is not known
    return {(at, False): bits & 255, (at + 1, False): bits >> 8}


def _whole(x: Expr, most: int) -> Expr:
    """x without its fraction, from 0 to `most`."""
    return f.clamp(cast(x, _S32), 0, most)


def _rounded(x: Expr) -> Expr:
    """The nearest integer, halves away from 0."""
    size = abs(x)
    down = f.floor(size)
    up = select(size - down >= 0.5, down + 1.0, down)
    code = f.minimum(cast(up, _S32), 127)
    return select(x < 0.0, -code, code)


def _nibbles(codes: Sequence[Expr], at: int) -> Fields:
    low, high = codes
    return {(at, True): low & 15 | (high & 15) << 4}


def _fifths(codes: Sequence[Expr], i: Expr, at: int) -> Fields:
    """The fifth bits of 32 codes in four bytes."""
    words = [reduce("or", (code >> 4 & 1) << i) for code in codes]
    return {(at + 2 * p + b, False): word >> 8 * b & 255 for p, word in enumerate(words) for b in range(2)}


# --- formats ----------------------------------------------------------------------------------------------------------


def _symmetric(x: Sequence[Expr], i: Expr, middle: int) -> tuple[Expr, list[Expr]]:
    scale = _extreme(x, i, 16) / float(-middle)
    inverse = _inverse(scale)
    return scale, [_whole(fma(v, inverse, const(middle + 0.5, _F32)), 2 * middle - 1) for v in x]


def _from_least(x: Sequence[Expr], most: int) -> tuple[Expr, Expr, list[Expr]]:
    least = _least(x)
    scale = (_most(x) - least) / float(most)
    inverse = _inverse(scale)
    return scale, least, [_whole((v - least) * inverse + 0.5, most) for v in x]


def _q4_0(x: Sequence[Expr], i: Expr) -> Fields:
    scale, codes = _symmetric(x, i, 8)
    return _half(scale, 0) | _nibbles(codes, 2)


def _q4_1(x: Sequence[Expr], i: Expr) -> Fields:
    scale, least, codes = _from_least(x, 15)
    return _half(scale, 0) | _half(least, 2) | _nibbles(codes, 4)


def _q5_0(x: Sequence[Expr], i: Expr) -> Fields:
    scale, codes = _symmetric(x, i, 16)
    return _half(scale, 0) | _fifths(codes, i, 2) | _nibbles(codes, 6)


def _q5_1(x: Sequence[Expr], i: Expr) -> Fields:
    scale, least, codes = _from_least(x, 31)
    return _half(scale, 0) | _half(least, 2) | _fifths(codes, i, 4) | _nibbles(codes, 8)


def _q8_0(x: Sequence[Expr], i: Expr) -> Fields:
    scale = _largest(x) / 127.0
    return _half(scale, 0) | {(2, True): _rounded(x[0] * _inverse(scale)) & 255}


def _q8_1(x: Sequence[Expr], i: Expr) -> Fields:
    scale = _largest(x) / 127.0
    code = _rounded(x[0] * _inverse(scale))
    return _half(scale, 0) | _half(real(f.sum_(code)) * scale, 2) | {(4, True): code & 255}


def _tq2_0(x: Sequence[Expr], i: Expr) -> Fields:
    scale = _largest(x)
    inverse = _inverse(scale)
    digits = [_rounded(v * inverse) + 1 for v in x]
    halves = {(32 * h, True): fold(Expr.__or__, (digits[4 * h + k] << 2 * k for k in range(4))) for h in range(2)}
    return _half(scale, 64) | halves


def _tq1_0(x: Sequence[Expr], i: Expr) -> Fields:
    scale = _largest(x)
    return _half(scale, 52) | {(-1, False): _inverse(scale)}


def _ternary(at: int) -> Encode:
    """Digits of base 3 as the upper bits of a fraction of 243, rounded up: the first one in front."""

    def encode(x: Sequence[Expr], inverse: Expr) -> Fields:
        digits = [(_rounded(v * inverse) + 1) * 3 ** (4 - p) for p, v in enumerate(x)]
        total = fold(Expr.__add__, digits) * 256 + 242
        return {(at, True): (total * 8631 >> 21) & 255}  # a quotient by 243, right below 2**16

    return encode


def _mxfp4(x: Sequence[Expr], i: Expr) -> Fields:
    largest = _largest(x)
    power = cast(f.floor(f.log2(largest)), _S32) + 125
    byte = select(largest > 0.0, power & 255, const(0, _S32))
    scale = half_power(byte)
    return {(0, False): byte} | _nibbles([_nearest(v, scale) for v in x], 1)


def _nearest(x: Expr, scale: Expr) -> Expr:
    """The code of the nearest level, of two the smaller one."""
    size = abs(x)
    away = [abs(scale * float(level) - size) for level in TWICE_E2M1[:8]]
    code = fold(Expr.__add__, (select(b < a, const(1, _S32), 0) for a, b in pairwise(away)))
    return code | select((x < 0.0) & (code > 0), const(8, _S32), 0)


CODES = {
    "Q4_0": BlockCode(16, _q4_0),
    "Q4_1": BlockCode(16, _q4_1),
    "Q5_0": BlockCode(16, _q5_0),
    "Q5_1": BlockCode(16, _q5_1),
    "Q8_0": BlockCode(32, _q8_0),
    "Q8_1": BlockCode(32, _q8_1),
    "TQ1_0": BlockCode(256, _tq1_0, ((0, 5, 32, _ternary(0)), (160, 5, 16, _ternary(32)), (240, 4, 4, _ternary(48)))),
    "TQ2_0": BlockCode(32, _tq2_0),
    "MXFP4": BlockCode(16, _mxfp4),
}
