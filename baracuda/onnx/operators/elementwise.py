"""Arithmetic, comparisons and logic, an element at a time."""

from __future__ import annotations

from functools import reduce
from typing import Any, Literal

import numpy as np

import baracuda
from baracuda.onnx.operators import registry
from baracuda.onnx.operators.registry import operator
from baracuda.onnx.operators.values import Tensor, near

for _name, _function in {
    "Abs": baracuda.abs, "Acos": baracuda.acos, "Acosh": baracuda.acosh, "Asin": baracuda.asin, "Asinh": baracuda.asinh,
    "Atan": baracuda.atan, "Atanh": baracuda.atanh, "BitwiseNot": baracuda.bitwise_not, "Ceil": baracuda.ceil,
    "Cos": baracuda.cos, "Cosh": baracuda.cosh, "Erf": baracuda.erf, "Exp": baracuda.exp, "Floor": baracuda.floor,
    "IsNaN": baracuda.isnan, "Log": baracuda.log, "Neg": baracuda.neg, "Not": baracuda.logical_not,
    "Reciprocal": baracuda.reciprocal, "Relu": baracuda.relu, "Round": baracuda.round, "Sigmoid": baracuda.sigmoid,
    "Sign": baracuda.sign, "Sin": baracuda.sin, "Sinh": baracuda.sinh, "Softsign": baracuda.softsign, "Sqrt": baracuda.sqrt,
    "Tan": baracuda.tan, "Tanh": baracuda.tanh, "Mish": baracuda.mish,
}.items():  # fmt: skip
    registry.add(_name, _function, inputs=1)

for _name, _function in {
    "Add": baracuda.add, "Sub": baracuda.sub, "Mul": baracuda.mul, "And": baracuda.logical_and, "Or": baracuda.logical_or,
    "Xor": baracuda.logical_xor, "Equal": baracuda.eq, "Less": baracuda.lt, "Greater": baracuda.gt, "LessOrEqual": baracuda.le,
    "GreaterOrEqual": baracuda.ge, "BitwiseAnd": baracuda.bitwise_and, "BitwiseOr": baracuda.bitwise_or,
    "BitwiseXor": baracuda.bitwise_xor, "PRelu": baracuda.prelu,
}.items():  # fmt: skip
    registry.add(_name, _function, since=7, inputs=2)

registry.add("Where", baracuda.where, since=9, inputs=3)


@operator("Div", since=7)
def div(a: Tensor, b: Tensor) -> Tensor:
    """a / b; of integers towards zero."""
    return baracuda.div(a, b, rounding_mode="trunc") if np.dtype(a.dtype).kind in "iu" else baracuda.div(a, b)


@operator("Pow", since=7)
def power(a: Tensor, b: Tensor) -> Tensor:
    """a ** b in a's element."""
    if a.dtype == b.dtype:
        return baracuda.pow(a, b)
    if np.dtype(b.dtype).kind == "f" and np.dtype(a.dtype).kind in "iu":
        wide = np.dtype(np.float64)
        return baracuda.cast(baracuda.pow(baracuda.cast(a, dtype=wide), baracuda.cast(b, dtype=wide)), dtype=a.dtype)
    return baracuda.pow(a, baracuda.cast(b, dtype=a.dtype))


@operator("Mod", since=10)
def mod(a: Tensor, b: Tensor, *, fmod: bool = False) -> Tensor:
    """The remainder with the sign of b, or with fmod that of a."""
    return baracuda.fmod(a, b) if fmod else baracuda.remainder(a, b)


@operator("BitShift", since=11)
def bit_shift(a: Tensor, b: Tensor, *, direction: Literal["LEFT", "RIGHT"]) -> Tensor:
    """Bits moved; from the left come zeros, or copies of the sign."""
    return (baracuda.bitwise_left_shift if direction == "LEFT" else baracuda.bitwise_right_shift)(a, b)


@operator("Max")
def maximum(*x: Tensor) -> Tensor:
    """The largest of each."""
    return reduce(baracuda.maximum, x)


@operator("Min")
def minimum(*x: Tensor) -> Tensor:
    """The least of each."""
    return reduce(baracuda.minimum, x)


@operator("Sum")
def total(*x: Tensor) -> Tensor:
    """The sum, from the left."""
    return reduce(baracuda.add, x)


@operator("Mean")
def mean(*x: Tensor) -> Tensor:
    """The sum, from the left, over the number of tensors."""
    return baracuda.div(reduce(baracuda.add, x), near(len(x), x[0]))


@operator("IsInf", since=10)
def isinf(x: Tensor, *, detect_negative: bool = True, detect_positive: bool = True) -> Tensor:
    """Whether x is an infinity of a sign that is asked for."""
    if detect_negative and detect_positive:
        return baracuda.isinf(x)
    if detect_negative:
        return baracuda.isneginf(x)
    if detect_positive:
        return baracuda.isposinf(x)
    return baracuda.zeros_like(x, np.dtype(bool))


@operator("Clip")
def clip_by_attributes(
    x: Tensor, *, min: float = float(np.finfo(np.float32).min), max: float = float(np.finfo(np.float32).max)
) -> Tensor:
    """x within bounds that are attributes."""
    return baracuda.clamp(x, near(min, x), near(max, x))


@operator("Clip", since=11)
def clip(x: Tensor, min: Tensor = None, max: Tensor = None) -> Tensor:
    """x within bounds; the upper one holds where they cross."""
    if min is not None:
        x = baracuda.maximum(x, min)
    return x if max is None else baracuda.minimum(x, max)


@operator("Identity")
def identity(x: Any) -> Any:
    """x itself."""
    return x
