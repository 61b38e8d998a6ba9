"""Formats of blocks of bytes: how long a block is, and the formula of its elements. GGML's tensors are made of such blocks.

A block of `size` bytes holds `length` elements. It is described in sections of neighbouring elements, each as `runs` runs of
`width` elements whose codes lie in as many neighbouring bytes. The formula of element i of run p is given `read`:

- `read(at)` is byte `at` of the block, and `read(at, i)` byte at + i, both as s32 from 0 to 255;
- `i` is an s32 expression below `width`;
- `p` is a Python number, so that what depends on it alone is known when code is made.

All arithmetic is in f32, each operation rounded once; 16-bit floats are two bytes, the low one first.

The layouts are those of ggml (github.com/ggml-org/ggml, ggml-common.h and the dequantization in ggml-quants.c, MIT), restated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from baracuda.core.elements import ElementKind
from baracuda.formula.expr import Expr, bitcast, cast, const, lookup, select
from baracuda.formula.small_floats import widen

_F32, _S32 = ElementKind.F32, ElementKind.S32


class Read(Protocol):
    """The bytes of a block."""

    def __call__(self, at: int, i: Expr | None = None) -> Expr: ...


Decode = Callable[[Read, int, Expr], Expr]


@dataclass(frozen=True)
class Section:
    """Elements `start` to before start + runs * width of a block, and their formula."""

    start: int
    runs: int
    width: int
    decode: Decode


@dataclass(frozen=True)
class BlockFormat:
    """A format: `length` elements in `size` bytes."""

    name: str
    length: int
    size: int
    sections: tuple[Section, ...]


def _format(name: str, length: int, size: int, width: int, decode: Decode) -> BlockFormat:
    return BlockFormat(name, length, size, (Section(0, length // width, width, decode),))


# --- what fields are made of ------------------------------------------------------------------------------------------


def half(read: Read, at: int) -> Expr:
    """The f16 in two bytes."""
    return widen(read(at) | read(at + 1) << 8, ElementKind.F16)


def single(read: Read, at: int) -> Expr:
    """The f32 in four bytes."""
    low, high = read(at) | read(at + 1) << 8, read(at + 2) | read(at + 3) << 8
    return bitcast(low | high << 16, _F32)


def signed(byte: Expr) -> Expr:
    """A byte as a number from -128 to 127."""
    return byte << 24 >> 24


def real(code: Expr) -> Expr:
    return cast(code, _F32)


#: The values of the 4-bit codes of IQ4_NL and IQ4_XS.
NONLINEAR = (-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)
#: Twice the values of the codes of f4e2m1.
TWICE_E2M1 = (0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12)


def _entry(code: Expr, values: tuple[int, ...]) -> Expr:
    return lookup(code, tuple(const(v, _F32).attr for v in values), _F32)


# --- blocks of 32 -----------------------------------------------------------------------------------------------------


def _q4_0(read: Read, p: int, i: Expr) -> Expr:
    return half(read, 0) * real((read(2, i) >> 4 * p & 15) - 8)


def _q4_1(read: Read, p: int, i: Expr) -> Expr:
    return half(read, 0) * real(read(4, i) >> 4 * p & 15) + half(read, 2)


def _fifth(read: Read, at: int, p: int, i: Expr) -> Expr:
    """The fifth bit of a code, of 32 in four bytes."""
    return (read(at + 2 * p) | read(at + 2 * p + 1) << 8) >> i << 4 & 16


def _q5_0(read: Read, p: int, i: Expr) -> Expr:
    return half(read, 0) * real((read(6, i) >> 4 * p & 15 | _fifth(read, 2, p, i)) - 16)


def _q5_1(read: Read, p: int, i: Expr) -> Expr:
    return half(read, 0) * real(read(8, i) >> 4 * p & 15 | _fifth(read, 4, p, i)) + half(read, 2)


def _q8_0(read: Read, p: int, i: Expr) -> Expr:
    return real(signed(read(2, i))) * half(read, 0)


def _q8_1(read: Read, p: int, i: Expr) -> Expr:
    return real(signed(read(4, i))) * half(read, 0)


def _iq4_nl(read: Read, p: int, i: Expr) -> Expr:
    return half(read, 0) * _entry(read(2, i) >> 4 * p & 15, NONLINEAR)


def half_power(exponent: Expr) -> Expr:
    """2**(exponent - 128) of a byte, 0 to 255."""
    return bitcast(select(exponent < 2, const(1 << 21, _S32) << exponent, exponent - 1 << 23), _F32)


def _mxfp4(read: Read, p: int, i: Expr) -> Expr:
    return half_power(read(0)) * _entry(read(1, i) >> 4 * p & 15, TWICE_E2M1)


# --- blocks of 256 ----------------------------------------------------------------------------------------------------


def _q2_k(read: Read, p: int, i: Expr) -> Expr:
    code = read(16 + 32 * (p >> 3) + 16 * (p & 1), i) >> 2 * (p >> 1 & 3) & 3
    scale = half(read, 80) * real(read(p) & 15)
    return scale * real(code) - half(read, 82) * real(read(p) >> 4)


def _q3_k(read: Read, p: int, i: Expr) -> Expr:
    low = read(32 + 32 * (p >> 3) + 16 * (p & 1), i) >> 2 * (p >> 1 & 3) & 3
    bit = read(16 * (p & 1), i) >> (p >> 1) & 1
    scale = read(96 + p % 8) >> 4 * (p >> 3) & 15 | (read(104 + p % 4) >> 2 * (p >> 2) & 3) << 4
    return (half(read, 108) * real(scale - 32)) * real((low | bit << 2) - 4)


def _six_bits(read: Read, p: int) -> tuple[Expr, Expr]:
    """Scale and minimum number p of 8, of 6 bits each, in the 12 bytes from the fourth on."""
    if p < 4:
        return read(4 + p) & 63, read(8 + p) & 63
    both = read(8 + p)
    return both & 15 | read(p) >> 6 << 4, both >> 4 | read(4 + p) >> 6 << 4


def _q4_k(read: Read, p: int, i: Expr) -> Expr:
    scale, least = _six_bits(read, p)
    code = read(16 + 32 * (p >> 1), i) >> 4 * (p & 1) & 15
    return (half(read, 0) * real(scale)) * real(code) - half(read, 2) * real(least)


def _q5_k(read: Read, p: int, i: Expr) -> Expr:
    scale, least = _six_bits(read, p)
    code = read(48 + 32 * (p >> 1), i) >> 4 * (p & 1) & 15 | (read(16, i) >> p & 1) << 4
    return (half(read, 0) * real(scale)) * real(code) - half(read, 2) * real(least)


def _q6_k(read: Read, p: int, i: Expr) -> Expr:
    of_two, of_32, part = p >> 3, p >> 1 & 3, 16 * (p & 1)
    low = read(64 * of_two + 32 * (of_32 & 1) + part, i) >> 4 * (of_32 >> 1) & 15
    high = read(128 + 32 * of_two + part, i) >> 2 * of_32 & 3
    return (half(read, 208) * real(signed(read(192 + p)))) * real((low | high << 4) - 32)


def _q8_k(read: Read, p: int, i: Expr) -> Expr:
    return single(read, 0) * real(signed(read(4, i)))


def _iq4_xs(read: Read, p: int, i: Expr) -> Expr:
    of_32 = p >> 1
    low = read(4 + (of_32 >> 1)) >> 4 * (of_32 & 1) & 15
    high = read(2 + (of_32 >> 2)) >> 2 * (of_32 & 3) & 3
    scale = half(read, 0) * real((low | high << 4) - 32)
    return scale * _entry(read(8 + 16 * of_32, i) >> 4 * (p & 1) & 15, NONLINEAR)


def _ternary(at: int) -> Decode:
    """Five digits of base 3 in a byte, as the upper bits of a fraction: the one of run p first after 3**p times it."""

    def decode(read: Read, p: int, i: Expr) -> Expr:
        digit = (read(at, i) * 3**p & 255) * 3 >> 8
        return half(read, 52) * real(digit - 1)

    return decode


def _tq2_0(read: Read, p: int, i: Expr) -> Expr:
    return half(read, 64) * real((read(32 * (p >> 2), i) >> 2 * (p & 3) & 3) - 1)


FORMATS = {
    f.name: f
    for f in (
        _format("Q4_0", 32, 18, 16, _q4_0),
        _format("Q4_1", 32, 20, 16, _q4_1),
        _format("Q5_0", 32, 22, 16, _q5_0),
        _format("Q5_1", 32, 24, 16, _q5_1),
        _format("Q8_0", 32, 34, 32, _q8_0),
        _format("Q8_1", 32, 36, 32, _q8_1),
        _format("Q2_K", 256, 84, 16, _q2_k),
        _format("Q3_K", 256, 110, 16, _q3_k),
        _format("Q4_K", 256, 144, 32, _q4_k),
        _format("Q5_K", 256, 176, 32, _q5_k),
        _format("Q6_K", 256, 210, 16, _q6_k),
        _format("Q8_K", 256, 292, 256, _q8_k),
        _format("IQ4_NL", 32, 18, 16, _iq4_nl),
        _format("IQ4_XS", 256, 136, 16, _iq4_xs),
        BlockFormat(
            "TQ1_0",
            256,
            54,
            (Section(0, 5, 32, _ternary(0)), Section(160, 5, 16, _ternary(32)), Section(240, 4, 4, _ternary(48))),
        ),
        _format("TQ2_0", 256, 66, 32, _tq2_0),
        _format("MXFP4", 32, 17, 16, _mxfp4),
    )
}
