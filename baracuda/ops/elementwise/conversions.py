"""Conversions between elements, and floats taken apart."""

from __future__ import annotations

from typing import Annotated

from baracuda.core.bounds import AtLeast
from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.tensor import TensorRef
from baracuda.formula import functions as f
from baracuda.formula.complex import Complex
from baracuda.formula.conversions import cast_to, saturate_to
from baracuda.formula.elementary.pieces import format_of
from baracuda.formula.expr import Expr, bitcast, const, select
from baracuda.formula.expr import cast as converted
from baracuda.formula.scaling import exponent_of, scale_by_power_of_two
from baracuda.formula.small_floats import FORMATS
from baracuda.ops.declaration.composition import Steps
from baracuda.ops.declaration.op import op
from baracuda.ops.declaration.promotion import Rule, part
from baracuda.ops.declaration.traced import Own, Result, Stored, Value
from baracuda.ops.elementwise.comparisons import truth

_F32, _U32 = ElementKind.F32, ElementKind.U32
_BYTE_FLOATS = (ElementKind.F8E4M3, ElementKind.F8E5M2)


@op(Rule.EACH, element_option=True, byte_floats=True)
def cast(x: Value, *, element: ElementKind | None) -> Result:
    """x converted to the element `dtype`: any to any; without `dtype`, a copy.

    To a float it is rounded once, to nearest even, and what is too large becomes infinity, in f8e4m3 NaN; a float to an integer
    is truncated and saturated, NaN is 0; of integers the low bits stay; to bool it is whether x is not 0. A complex number to
    a real element is its real part.
    """
    if element is None:
        return x
    if element is ElementKind.BOOL:
        return truth(x)
    if element.category is not Category.COMPLEX:
        return Stored(cast_to(x.re if isinstance(x, Complex) else x, element), element)
    half = part(element)
    if isinstance(x, Complex):
        return Stored(Complex(converted(x.re, half), converted(x.im, half)), half)
    return Stored(Complex(converted(x, half), const(0.0, half)), half)


def in_element(do: Steps, x: TensorRef, kind: ElementKind) -> TensorRef:
    """A tensor in an element, as a step of a composition: itself where it has that."""
    found: TensorRef = x if x.kind is kind else do.run(cast, {"x": x}, dtype=kind)
    return found


@op(Rule.EACH, results=("y", "amax"), rows=True, axis=None, keepdims=False, element_option=True, constants=("scale",))
def cast_fp8(x: Expr, scale: Expr | None = None, *, element: ElementKind | None) -> tuple[Result, Result]:
    """x * scale, in f32, rounded to an 8-bit float (`dtype`: f8e4m3, which is the default, or f8e5m2) and limited to its largest
    finite values; and amax, the largest |x| along `axis` (default: of all), in x's element. NaN stays NaN.

    The gradient is that of the limited product, without its rounding.
    """
    kind = element or ElementKind.F8E4M3
    if kind not in _BYTE_FLOATS:
        raise UnsupportedError(f"dtype: {kind}; expected one of {', '.join(map(str, _BYTE_FLOATS))}")
    scaled = converted(x, _F32)
    if scale is not None:
        scaled = scaled * converted(scale, _F32)
    return Stored(saturate_to(scaled, kind), kind), f.max_(abs(x))


@op(Rule.EACH, element_option=True, once=True)
def cast_stochastic_rounding(x: Expr, bits: Own, *, element: ElementKind | None) -> Result:
    """x rounded to the element `dtype` (bf16, which is the default, f16, f8e4m3 or f8e5m2) up or down at random: up with the
    probability of what is cut off, so that the mean is x. `bits` are u32, uniform and independent.

    A finite x becomes at most the largest finite value; infinities and NaN are converted as by `cast`. The gradient is dy.
    """
    kind = element or ElementKind.BF16
    if kind not in FORMATS:
        raise UnsupportedError(f"dtype: {kind}; expected one of {', '.join(map(str, FORMATS))}")
    if x.kind is not _F32:
        raise UnsupportedError(f"x: {x.kind}; expected a float of 32 bits or fewer")
    if bits.kind is not _U32:
        raise InvalidProblemError(f"bits: {bits.kind}; expected u32")
    return Stored(_rounded_at_random(x, bits, kind), kind)


@cast_stochastic_rounding.backward
def _cast_stochastic_rounding_backward(dy: Expr, *, element: ElementKind | None) -> dict[str, Expr]:
    return {"dx": converted(dy, _F32)}


def _rounded_at_random(x: Expr, bits: Expr, kind: ElementKind) -> Expr:
    """The neighbour of x in a format towards zero, or the other where the random bits are below what is cut off."""
    target, size = FORMATS[kind], abs(x)
    cut = target.shift
    pattern = bitcast(size, _U32)
    rounded = bitcast((pattern + (bits >> (32 - cut))) & 2**32 - (1 << cut), _F32)
    if kind is not ElementKind.BF16:  # whose subnormals are cut off from f32's as the normal numbers are
        units = size * (1.0 / target.smallest)
        down = f.floor(units)
        up = (units - down) > converted(bits >> 8, _F32) * 2.0**-24
        tiny = (down + select(up, const(1.0, _F32), 0.0)) * target.smallest
        rounded = select(size < target.smallest_normal, tiny, rounded)
    rounded = f.minimum(rounded, target.maximum)
    limited = select(bitcast(x, ElementKind.S32) < 0, -rounded, rounded)
    return select(size < float("inf"), limited, cast_to(x, kind))


@op(results=("mantissa", "exponent"))
def frexp(x: Expr) -> tuple[Expr, Expr]:
    """mantissa * 2**exponent = x with 0.5 <= |mantissa| < 1; of zeros, infinities and NaN x and 0. The exponent is an s32."""
    e = exponent_of(x)
    return scale_by_power_of_two(x, -e), converted(e, ElementKind.S32)


@op(once=True)
def reduce_precision(
    x: Expr, *, exponent_bits: Annotated[int, AtLeast(1)] = 8, mantissa_bits: Annotated[int, AtLeast(0)] = 7
) -> Expr:
    """x rounded, halves to even, to a float of so many bits of exponent and stored significand. Where these are fewer bits of
    exponent than x has, what is too large becomes infinity and what is below the normal numbers a zero. The gradient is dy
    rounded likewise."""
    return _reduced(x, exponent_bits, mantissa_bits)


@reduce_precision.backward
def _reduce_precision_backward(dy: Expr, *, exponent_bits: int = 8, mantissa_bits: int = 7) -> dict[str, Expr]:
    return {"dx": _reduced(dy, exponent_bits, mantissa_bits)}


def _reduced(x: Expr, exponent_bits: int, mantissa_bits: int) -> Expr:
    form = format_of(x)
    sign = bitcast(x, form.unsigned) & form.sign
    size = bitcast(abs(x), form.unsigned)
    cut = form.mantissa - mantissa_bits
    if cut > 0:
        odd = (size >> cut) & 1
        size = (size + odd + ((1 << (cut - 1)) - 1)) & (1 << form.bits) - (1 << cut)
    rounded = bitcast(size, form.kind)
    bias = (1 << (min(exponent_bits, 16) - 1)) - 1  # more bits than any float has change nothing
    if bias < form.bias:
        rounded = select(rounded >= 2.0 ** (bias + 1), float("inf"), rounded)
        rounded = select(rounded < 2.0 ** (1 - bias), 0.0, rounded)
    rounded = bitcast(bitcast(rounded, form.unsigned) | sign, form.kind)
    return select(f.equal(x, x), rounded, x)
