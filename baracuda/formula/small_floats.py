"""Floats of 16 bits or fewer as formulas over f32 and integers: rounding to them, and their bit patterns.

No backend knows the 8-bit floats: `stored_as_integers` turns a tensor of them into one of bytes and puts the conversions
into the graph, so that every schedule of every device converts by the very same operations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from baracuda.core.elements import ElementKind
from baracuda.formula.expr import (
    READS,
    Expr,
    bitcast,
    cast,
    compare,
    const,
    constant_bits,
    input_,
    node,
    rebuild,
    select,
    topological,
)
from baracuda.formula.graph import Graph, Port

_F32, _S32 = ElementKind.F32, ElementKind.S32
#: Stored significand bits, exponent bias, sign bit and infinity of f32.
_MANTISSA, _BIAS, _SIGN, _INFINITY = 23, 127, 1 << 31, 0x7F80_0000


@dataclass(frozen=True)
class SmallFloat:
    """A binary format that f32 contains.

    Attributes
    ----------
    mantissa, bias : int
        The number of stored significand bits, and the bias of the exponent.
    largest : int
        The pattern of the largest finite value. The one after it is what an overflow becomes: infinity, or NaN in a format
        without infinity.
    nan : int
        The pattern of the NaN that is stored.
    """

    kind: ElementKind
    mantissa: int
    bias: int
    largest: int
    nan: int

    @property
    def has_specials(self) -> bool:
        """Whether a pattern above the largest finite value is left."""
        return self.largest < self.nan

    @property
    def shift(self) -> int:
        """How many significand bits f32 has more."""
        return _MANTISSA - self.mantissa

    @property
    def rebias(self) -> int:
        """What the exponents of a pattern and of the f32 of the same value differ by, in place in the pattern."""
        return (_BIAS - self.bias) << self.mantissa

    @property
    def smallest(self) -> float:
        """The smallest positive value."""
        return 2.0 ** (1 - self.bias - self.mantissa)

    @property
    def smallest_normal(self) -> float:
        return 2.0 ** (1 - self.bias)

    @property
    def shifter(self) -> float:
        """A power of two whose neighbours in f32 are `smallest` apart: adding it rounds to a multiple of that."""
        return self.smallest * 2.0**_MANTISSA

    @property
    def maximum(self) -> float:
        """The largest finite value."""
        return float(constant_bits((self.largest + self.rebias) << self.shift, _F32).value)

    @property
    def overflow(self) -> float:
        """What a value that rounds beyond the largest becomes."""
        return float("inf") if self.nan != self.largest + 1 else float("nan")


FORMATS = {
    f.kind: f
    for f in (
        SmallFloat(ElementKind.F16, 10, 15, 0x7BFF, 0x7E00),
        SmallFloat(ElementKind.BF16, 7, 127, 0x7F7F, 0x7FC0),
        SmallFloat(ElementKind.F8E4M3, 3, 7, 0x7E, 0x7F),
        SmallFloat(ElementKind.F8E5M2, 2, 15, 0x7B, 0x7E),
    )
}
#: Four bits, of which none are an infinity or NaN, to be widened.
E2M1 = SmallFloat(ElementKind.F4E2M1, 1, 1, 0x7, 0x7)
#: The formats that are stored by formulas, in bytes.
IN_BYTES = frozenset([ElementKind.F8E4M3, ElementKind.F8E5M2])


def _taken_apart(x: Expr) -> tuple[Expr, Expr, Expr]:
    """The bits of x, those of |x|, and |x|: by a mask, since the absolute value of a NaN may have any sign."""
    bits = bitcast(x, _S32)
    magnitude = bits & _SIGN - 1
    return bits, magnitude, bitcast(magnitude, _F32)


def _rounded_bits(magnitude: Expr, f: SmallFloat) -> Expr:
    """The bits of |x| with what the format does not keep rounded into what it keeps, and left over."""
    odd = magnitude >> f.shift & 1
    return magnitude + odd + ((1 << (f.shift - 1)) - 1)


def round_to(x: Expr, kind: ElementKind) -> Expr:
    """The f32 `x` rounded to a value of the format, to nearest even; what is too large becomes infinity, or NaN where the
    format has no infinity."""
    f = FORMATS[kind]
    bits, magnitude, size = _taken_apart(x)
    result = bitcast(_rounded_bits(magnitude, f) & -(1 << f.shift), _F32)
    if f.bias != _BIAS:
        result = select(size < f.smallest_normal, (size + f.shifter) - f.shifter, result)
        result = select(result > f.maximum, f.overflow, result)
    result = select(compare("eq", x, x), result, size)
    return bitcast(bitcast(result, _S32) | bits & _SIGN, _F32)


def narrow(x: Expr, kind: ElementKind) -> Expr:
    """The pattern, as s32, of the f32 `x` rounded as by `round_to`."""
    f = FORMATS[kind]
    bits, magnitude, size = _taken_apart(x)
    code = (_rounded_bits(magnitude, f) >> f.shift) - f.rebias
    if f.bias != _BIAS:
        tiny = bitcast(size + f.shifter, _S32) - bitcast(const(f.shifter, _F32), _S32)
        code = select(size < f.smallest_normal, tiny, code)
    code = select(code > f.largest, f.largest + 1, code)
    code = select(magnitude > _INFINITY, f.nan, code)
    sign = kind.bits - 1
    return code | bits >> (31 - sign) & 1 << sign


def narrow_saturated(x: Expr, kind: ElementKind) -> Expr:
    """`narrow` of x brought between the format's largest values first; NaN stays one."""
    f = FORMATS[kind]
    bits, magnitude, size = _taken_apart(x)
    code = _rounded_bits(magnitude, f) - (f.rebias << f.shift) >> f.shift
    tiny = bitcast(size + f.shifter, _S32) - bitcast(const(f.shifter, _F32), _S32)
    code = select(size < f.smallest_normal, tiny, code)
    code = select(magnitude > _INFINITY, f.nan, node("min", (code, const(f.largest, _S32)), _S32))
    sign = kind.bits - 1
    return code | bits >> (31 - sign) & 1 << sign


def widen(code: Expr, kind: ElementKind) -> Expr:
    """The f32 that a pattern, in the low bits of an s32 without others, stands for."""
    f = E2M1 if kind is E2M1.kind else FORMATS[kind]
    sign = kind.bits - 1
    magnitude = code & (1 << sign) - 1
    result = bitcast(magnitude + f.rebias << f.shift, _F32)
    if f.bias != _BIAS:
        result = select(magnitude < 1 << f.mantissa, cast(magnitude, _F32) * f.smallest, result)
    if f.bias != _BIAS and f.has_specials:
        special = bitcast(magnitude << f.shift | _INFINITY, _F32)  # infinity where no significand bit is set, else NaN
        result = select(magnitude > f.largest, special, result)
    return bitcast(bitcast(result, _S32) | (code & 1 << sign) << (31 - sign), _F32)


def _from_bytes(n: Expr) -> bool:
    """Whether the indices of a read are made of 8-bit floats."""
    return any(m.op in READS and m.attr[1] in IN_BYTES for m in topological(n.args))


def stored_as_integers(graph: Graph) -> Graph:
    """The graph with its 8-bit floats read and written as patterns in u8."""
    ports = (*graph.inputs, *(p for p, _ in graph.outputs))
    if not any(p.kind in IN_BYTES for p in ports):
        return graph

    def pattern(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n.op == "gather":
            return node("gather", args, ElementKind.U8.compute, n.attr._replace(storage=ElementKind.U8))
        name, _, axes = n.attr
        return input_(name, ElementKind.U8, axes)

    def rewrite(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n.op in READS and n.attr[1] in IN_BYTES:
            return widen(pattern(n, args), n.attr[1])
        return rebuild(n, args)

    def port(p: Port) -> Port:
        return replace(p, kind=ElementKind.U8) if p.kind in IN_BYTES else p

    def stored(p: Port, original: Expr, value: Expr) -> Expr:
        if p.kind not in IN_BYTES:
            return value
        if original.op in READS and original.attr[1] is p.kind and not _from_bytes(original):
            return pattern(original, original.args)  # a copy: no need to look at the value
        return narrow(value, p.kind)

    mapped = graph.map(rewrite)
    outputs = tuple(
        (port(p), stored(p, original, value)) for (p, original), (_, value) in zip(graph.outputs, mapped.outputs, strict=True)
    )
    return Graph(tuple(map(port, graph.inputs)), outputs, graph.inner_axes)
