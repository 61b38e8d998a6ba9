"""Tensors made of numbers."""

from __future__ import annotations

import math

import numpy as np

import baracuda
from baracuda.core.errors import InvalidProblemError
from baracuda.onnx.coded import Coded, coded
from baracuda.onnx.operators.elements import to_element
from baracuda.onnx.operators.registry import Floats, Ints, Key, Strings, operator
from baracuda.onnx.operators.values import Host, Tensor, element, ints, near, scalar


@operator("Constant")
def constant(
    *,
    value: np.ndarray | None = None,
    sparse_value: np.ndarray | None = None,
    value_float: float | None = None,
    value_floats: Floats | None = None,
    value_int: int | None = None,
    value_ints: Ints | None = None,
    value_string: str | None = None,
    value_strings: Strings | None = None,
) -> Tensor:
    """The attribute as a tensor."""
    for found, kind in (
        (value, None),
        (sparse_value, None),
        (value_float, np.float32),
        (value_floats, np.float32),
        (value_int, np.int64),
        (value_ints, np.int64),
        (value_string, object),
        (value_strings, object),
    ):
        if found is not None:
            return coded(np.asarray(found, kind))
    raise InvalidProblemError("Constant has no value")


@operator("ConstantOfShape", since=9)
def constant_of_shape(shape: Host, *, value: np.ndarray | None = None) -> Tensor:
    """A tensor whose every element is a number."""
    value = np.zeros(1, np.float32) if value is None else value
    extents = ints(shape)
    if any(n < 0 for n in extents):
        raise InvalidProblemError(f"shape: {extents}; expected no negative extents")
    if value.dtype.kind in "biuf" and value.dtype.itemsize:
        return baracuda.full(extents, value.reshape(-1)[0].item(), value.dtype)
    small = coded(value.reshape(-1))
    if isinstance(small, Coded):
        return Coded(baracuda.full(extents, int(small.codes[0]), small.codes.dtype), small.dtype)
    return np.full(extents, value.reshape(-1)[0], value.dtype)


@operator("EyeLike", since=9)
def eye_like(x: Tensor, *, dtype: int | None = None, k: int = 0) -> Tensor:
    """Ones on a diagonal."""
    kind = element(dtype) if dtype is not None else np.dtype(x.dtype)
    return baracuda.eye(x.shape[0], x.shape[1], k, kind)


@operator("Range", since=11)
def range_(start: Host, limit: Host, delta: Host) -> Tensor:
    """Numbers from start on, by delta, before limit."""
    begin, end, step = scalar(start), scalar(limit), scalar(delta)
    if step == 0:
        raise InvalidProblemError("delta: 0; expected another number")
    count = max(math.ceil((end - begin) / step), 0)
    kind = np.dtype(start.dtype)
    wide = np.dtype(np.int64 if kind.kind in "iu" else np.float64)
    numbers = baracuda.arange(0, count, 1, wide)
    made = baracuda.add(baracuda.mul(numbers, np.asarray(step, wide)), np.asarray(begin, wide))
    return to_element(made, kind)


@operator("OneHot", since=9)
def one_hot(indices: Tensor, depth: Host, values: Tensor, *, axis: int = -1) -> Tensor:
    """values[1] where the index says, values[0] elsewhere; an index out of range says nowhere."""
    count = int(scalar(depth))
    at = axis % (len(indices.shape) + 1)
    numbers = baracuda.arange(0, count, 1, np.dtype(np.int64), like=indices)
    index = baracuda.unsqueeze(to_element(indices, np.dtype(np.int64)), (at,))
    index = baracuda.where(baracuda.lt(index, near(0, index)), baracuda.add(index, near(count, index)), index)
    shape = tuple(count if i == at else 1 for i in range(len(indices.shape) + 1))
    hot = baracuda.eq(index, baracuda.reshape(numbers, shape))
    off, on = baracuda.split(values, 1)
    return baracuda.where(hot, on, off)


@operator("RandomUniform", "RandomUniformLike")
def random_uniform(
    x: Tensor = None,
    *,
    dtype: int | None = None,
    high: float = 1.0,
    low: float = 0.0,
    seed: float | None = None,
    shape: Ints | None = None,
    key: Key,
) -> Tensor:
    """`baracuda.rand` with the node's key."""
    kind = element(dtype) if dtype is not None else np.dtype(np.float32 if x is None else x.dtype)
    return baracuda.rand(key, tuple(x.shape) if shape is None else shape, kind, low=low, high=high)


@operator("RandomNormal", "RandomNormalLike")
def random_normal(
    x: Tensor = None,
    *,
    dtype: int | None = None,
    mean: float = 0.0,
    scale: float = 1.0,
    seed: float | None = None,
    shape: Ints | None = None,
    key: Key,
) -> Tensor:
    """`baracuda.normal` with the node's key."""
    kind = element(dtype) if dtype is not None else np.dtype(np.float32 if x is None else x.dtype)
    return baracuda.normal(key, mean, scale, tuple(x.shape) if shape is None else shape, kind)


@operator("Bernoulli", since=15)
def bernoulli(x: Tensor, *, dtype: int | None = None, seed: float | None = None, key: Key) -> Tensor:
    """`baracuda.bernoulli` with the node's key."""
    drawn = baracuda.bernoulli(key, x)
    return to_element(drawn, element(dtype) if dtype is not None else np.dtype(x.dtype))


@operator("Multinomial", since=7)
def multinomial(x: Tensor, *, dtype: int = 6, sample_size: int = 1, seed: float | None = None, key: Key) -> Tensor:
    """`baracuda.multinomial` with replacement, of logarithms of weights."""
    if sample_size < 1:
        raise InvalidProblemError(f"sample_size: {sample_size}; expected 1 or more")
    shares = baracuda.softmax(to_element(x, np.dtype(np.float64)), axis=-1)
    return to_element(baracuda.multinomial(key, shares, sample_size, True), element(dtype))
