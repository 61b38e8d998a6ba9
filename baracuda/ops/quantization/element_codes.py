"""Elements of fewer than eight bits, and powers of two as bytes: formulas of their codes, and of two elements in one word.

Codes are s32 expressions without other bits, values f32.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from baracuda.core.elements import ElementKind
from baracuda.core.parameters import OneOf
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, bitcast, cast, const, lookup, select
from baracuda.formula.small_floats import FORMATS, narrow, widen
from baracuda.lowering.packed_product.problem import NF4_LEVELS
from baracuda.ops.declaration.traced import Stored

_F32, _S32, _U32, _U64 = ElementKind.F32, ElementKind.S32, ElementKind.U32, ElementKind.U64
E2M1, E4M3, E5M2 = ElementKind.F4E2M1, ElementKind.F8E4M3, ElementKind.F8E5M2
#: The largest value of an element, and the exponent of the largest power of two.
LARGEST = {E2M1: 6.0, E4M3: 448.0, E5M2: 57344.0}
LARGEST_EXPONENT = {E2M1: 2, E4M3: 8, E5M2: 15}
_SIGNIFICAND = {E2M1: 1, E4M3: 3, E5M2: 2}

#: What an element is called among the options of an op.
Label = Literal["f32", "f16", "bf16"]
#: The same as a parameter of functions.
PairElement = Annotated[Any, OneOf((ElementKind.F16, ElementKind.BF16, ElementKind.F32))]


def of_label(label: str) -> ElementKind:
    return ElementKind[label.upper()]


# --- four bits --------------------------------------------------------------------------------------------------------


def e2m1_code(x: Expr, sign_of: Expr) -> Expr:
    """The code of the f4e2m1 nearest to x, ties to even; 6 beyond it, and for NaN. The sign is that of another value, since
    that of a NaN which was computed is not known.

    Values are half as far apart as the power of two below them, and as those from 1 to 2 where they are smaller. Adding the
    power of two whose neighbours in f32 are that far apart rounds, and leaves the number of such steps in the last bits.
    """
    one, six = bitcast(const(1.0, _F32), _S32), bitcast(const(6.0, _F32), _S32)
    size = f.minimum(bitcast(x, _S32) & 0x7FFF_FFFF, six)
    power = f.maximum(size & 0x7F80_0000, one)
    large = power + (22 << 23)
    steps = bitcast(bitcast(size, _F32) + bitcast(large, _F32), _S32) - large
    return steps + (power - one >> 22) | bitcast(sign_of, _S32) >> 28 & 8


def e2m1_value(code: Expr) -> Expr:
    return widen(code, E2M1)


#: Between levels k and k + 1, where bitsandbytes has it: what lies above it has a code above k.
NF4_EDGES = (
    -0.8480964004993439, -0.6106329262256622, -0.4599952697753906, -0.33967943489551544, -0.23460740596055984,
    -0.13791173323988914, -0.045525018125772476, 0.03979014977812767, 0.1202552504837513, 0.2035212516784668,
    0.2920137718319893, 0.3893125355243683, 0.5016634166240692, 0.6427869200706482, 0.8614784181118011,
)  # fmt: skip


def nf4_code(x: Expr) -> Expr:
    """How many edges x lies above: found in four halvings. 0 for NaN."""
    return _above(x, NF4_EDGES)


def _above(x: Expr, edges: tuple[float, ...]) -> Expr:
    """How many of 2**n - 1 rising numbers are below x."""
    found: list[Expr] = []
    width = (len(edges) + 1) // 2
    while width:
        edge = _chosen([const(e, _F32) for e in edges[width - 1 :: 2 * width]], found)
        found.append(x > edge)
        width //= 2
    code = const(0, _S32)
    for k, above in enumerate(reversed(found)):
        code = code | select(above, const(1 << k, _S32), 0)
    return code


def _chosen(values: list[Expr], bits: list[Expr]) -> Expr:
    """The value whose number the bits are, the highest first."""
    for bit in reversed(bits):
        values = [select(bit, b, a) for a, b in zip(values[::2], values[1::2], strict=True)]
    return values[0]


def nf4_value(code: Expr) -> Expr:
    return lookup(code, tuple(const(v, _F32).attr for v in NF4_LEVELS), _F32)


# --- powers of two ----------------------------------------------------------------------------------------------------

#: How the power of two of a block follows from its largest magnitude.
Rounding = Literal["floor", "ceil", "even", "rceil"]


def power_of_block(largest: Expr, kind: ElementKind, rounding: str) -> Expr:
    """The code of a block's scale in E8M0, 2**(code - 127), from the largest magnitude of its elements; 255, NaN, where that is
    infinite or NaN."""
    bits, most = bitcast(largest, _S32), LARGEST_EXPONENT[kind]
    if rounding == "rceil":
        scaled = bitcast(largest * const(1.0 / LARGEST[kind], _F32), _S32)
        beyond = select(scaled < 1 << 23, const(1 << 22, _S32), 0)
        code = (scaled >> 23) + select((scaled & (1 << 23) - 1) > beyond, const(1, _S32), 0)
    else:
        added = {"floor": 0, "ceil": (1 << 23) - 1, "even": 1 << 22 - _SIGNIFICAND[kind]}[rounding]
        code = f.maximum((bits + added >> 23 if added else bits >> 23) - most, 0)
    return select(bits < 0x7F80_0000, code, const(255, _S32))


def power(code: Expr) -> Expr:
    """2**(code - 127), NaN for 255."""
    value = select(f.equal(code, 0), const(1 << 22, _S32), code << 23)
    return bitcast(select(f.equal(code, 255), const(0x7FC0_0000, _S32), value), _F32)


def inverse_power(code: Expr) -> Expr:
    """2**(127 - code), NaN for 255."""
    return power(select(f.equal(code, 255), code, 254 - code))


# --- two elements in one word -----------------------------------------------------------------------------------------


def pair_of(word: Expr, kind: ElementKind) -> tuple[Expr, Expr]:
    """The two elements of a word, the first in its lower half."""
    if kind is _F32:
        return bitcast(cast(word, _U32), _F32), bitcast(cast(word >> 32, _U32), _F32)
    bits = bitcast(word, _S32)
    if kind is ElementKind.BF16:
        return bitcast(bits << 16, _F32), bitcast(bits & -(1 << 16), _F32)
    return widen(bits & 0xFFFF, kind), widen(bits >> 16 & 0xFFFF, kind)


def word_of(low: Expr, high: Expr, kind: ElementKind, *, exact: bool = False) -> Expr:
    """The word of two elements; `exact` says that a bf16 loses no bit of them."""
    if kind is _F32:
        return cast(bitcast(low, _U32), _U64) | cast(bitcast(high, _U32), _U64) << 32
    if kind is ElementKind.BF16:
        return (_upper_half(low, exact) >> 16) | (_upper_half(high, exact) & 0xFFFF_0000)
    assert kind in FORMATS
    return bitcast(narrow(low, kind) | narrow(high, kind) << 16, _U32)


def _upper_half(x: Expr, exact: bool) -> Expr:
    """A word whose upper half is the bf16 nearest to x."""
    bits = bitcast(x, _U32)
    if exact:
        return bits
    return select(f.equal(x, x), bits + 0x7FFF + (bits >> 16 & 1), const(0x7FC0_0000, _U32))


def stored_pair(low: Expr, high: Expr, label: str, *, exact: bool = False) -> Stored:
    """Two neighbours of the element of this label as one word of a tensor."""
    kind = of_label(label)
    return Stored(word_of(low, high, kind, exact=exact), _U64 if kind is _F32 else _U32)
