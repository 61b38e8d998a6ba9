"""Draws that take nothing but a key and a shape: uniform and normal numbers, whole numbers, signs."""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.formula.expr import Expr, as_expr, cast, const, fma, select
from baracuda.formula.functions import equal
from baracuda.formula.integer_functions import multiply_high
from baracuda.ops.creation.ranges import signed
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.traced import Scalar, WholeScalar
from baracuda.ops.declaration.words import Dtype, Extents, FiniteFloat, FloatElement
from baracuda.ops.random.draws import F32, KEY, U64, Bits, Draw, distribution, drawn


def _uniform(draw: Draw, *, low: Scalar = 0.0, high: Scalar = 1.0) -> Expr:
    first = as_expr(low, draw.kind)
    return fma(draw.uniform(), as_expr(high, draw.kind) - first, first)


def _normal(draw: Draw) -> Expr:
    return draw.normal()


def _whole(draw: Draw, *, low: WholeScalar = 0, count: WholeScalar = 1) -> Expr:
    """low + the upper half of the product of a word of 64 bits and the count, which 0 stands for 2**64."""
    word, n = draw.long_word(), cast(as_expr(count, ElementKind.S64), U64)
    number = select(equal(n, 0), word, multiply_high(word, n))
    return number + cast(as_expr(low, ElementKind.S64), U64)


def _sign(draw: Draw) -> Expr:
    one = const(1, draw.kind)
    return select(equal(draw.word() & 1, 1), one, -one)


uniform_op, normal_op, whole_op, _sign_op = map(distribution, (_uniform, _normal, _whole, _sign))


@composed(key=KEY, numbers={"low": (), "high": ()})
def rand(
    do: Steps, key: TensorRef, shape: Extents, dtype: FloatElement = None, *, low: FiniteFloat = 0.0, high: FiniteFloat = 1.0,
    bits: Bits = "philox",
) -> Any:  # fmt: skip
    """Uniform draws from low to high: u (high - low) + low by one fused multiply-add, where u is a whole number over 2**p below 1
    and p the bits of the element's significand (24 of f32, 8 of bf16, 11 of f16, 53 of f64).

    From 0 to 1 they are below 1; other bounds are reached where rounding does. The element is `dtype`, by default f32.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.rand(baracuda.rng_key(7), (2, 3)).shape
    (2, 3)
    """
    return drawn(do, uniform_op, key, shape, dtype or F32, bits, low=low, high=high)


@composed(key=KEY)
def randn(do: Steps, key: TensorRef, shape: Extents, dtype: FloatElement = None, *, bits: Bits = "philox") -> Any:
    """Draws of the standard normal distribution, by the inverse of its distribution function: up to 6.3 from 0 in f32 (9.1 in
    f64), computed in f32 for f16 and bf16. The element is `dtype`, by default f32.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.randn(baracuda.rng_key(7), (2, 3)).shape
    (2, 3)
    """
    return drawn(do, normal_op, key, shape, dtype or F32, bits)


def element_like(x: TensorRef, dtype: Any) -> ElementKind:
    kind: ElementKind = dtype or x.kind
    if not kind.is_float or kind.bits < 16:
        raise InvalidProblemError(f"dtype: {kind}; expected f16, bf16, f32 or f64")
    return kind


@composed(key=KEY, x="...")
def rand_like(do: Steps, key: TensorRef, x: TensorRef, dtype: FloatElement = None, *, bits: Bits = "philox") -> Any:
    """`rand` in the shape of x, and in its element unless `dtype` says another.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.rand_like(baracuda.rng_key(7), np.zeros((2, 3))).dtype.name
    'float64'
    """
    return drawn(do, uniform_op, key, x.shape, element_like(x, dtype), bits)


@composed(key=KEY, x="...")
def randn_like(do: Steps, key: TensorRef, x: TensorRef, dtype: FloatElement = None, *, bits: Bits = "philox") -> Any:
    """`randn` in the shape of x, and in its element unless `dtype` says another.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.randn_like(baracuda.rng_key(7), np.zeros((2, 3))).dtype.name
    'float64'
    """
    return drawn(do, normal_op, key, x.shape, element_like(x, dtype), bits)


def _draw_whole(do: Steps, key: TensorRef, low: int, high: int | None, shape: Any, kind: Any, bits: Bits) -> Any:
    first, last = (0, low) if high is None else (low, high)
    if first >= last:
        raise InvalidProblemError(f"low, high: {first}, {last}; expected low below high")
    if not kind.is_integer or kind.bits < 8:
        raise InvalidProblemError(f"dtype: {kind}; expected an integer of 8 to 64 bits")
    span = 1 << kind.bits
    lowest = 0 if str(kind).startswith("u") else -(span >> 1)
    if first < lowest or last > lowest + span:
        raise InvalidProblemError(f"low, high: {first}, {last}; expected numbers that {kind} holds, {lowest} to {lowest + span}")
    return drawn(do, whole_op, key, shape, kind, bits, low=signed(first), count=signed(last - first))


@composed(key=KEY)
def randint(
    do: Steps, key: TensorRef, low: int, high: int | None = None, shape: Extents = (), dtype: Dtype = None, *,
    bits: Bits = "philox",
) -> Any:  # fmt: skip
    """Whole numbers from low to below high, or from 0 to below `low` where there is no `high`: low + (w n) / 2**64 rounded down,
    for a word w of 64 bits and n numbers, so that none is likelier than another by more than n / 2**64.

    The element is `dtype`, an integer, by default s64.

    Raises
    ------
    InvalidProblemError
        Where low is not below high, or the element does not hold them.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.randint(baracuda.rng_key(7), 0, 10, 5).shape
    (5,)
    """
    return _draw_whole(do, key, low, high, shape, dtype or ElementKind.S64, bits)


@composed(key=KEY, x="...")
def randint_like(
    do: Steps, key: TensorRef, x: TensorRef, low: int, high: int | None = None, dtype: Dtype = None, *, bits: Bits = "philox"
) -> Any:
    """`randint` in the shape of x, and in its element unless `dtype` says another.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.randint_like(baracuda.rng_key(7), np.zeros(3, np.int8), 10).dtype.name
    'int8'
    """
    return _draw_whole(do, key, low, high, x.shape, dtype or x.kind, bits)


@composed(key=KEY)
def rademacher_sample(do: Steps, key: TensorRef, shape: Extents, dtype: Dtype = None, *, bits: Bits = "philox") -> Any:
    """-1 or 1, as likely as each other. The element is `dtype`, by default s32.

    Examples
    --------
    >>> import baracuda
    >>> set(baracuda.rademacher_sample(baracuda.rng_key(7), 100).tolist())
    {1, -1}
    """
    return drawn(do, _sign_op, key, shape, dtype or ElementKind.S32, bits)
