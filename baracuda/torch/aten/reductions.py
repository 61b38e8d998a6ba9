"""Reductions, and what follows the elements of a row."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.aten.elements import converted
from baracuda.torch.registry import serves

aten = torch.ops.aten


def axes(dim: Any) -> Any:
    """PyTorch's list of dimensions, of which none are all."""
    if dim is None or isinstance(dim, int):
        return dim
    return tuple(dim) or None


@serves(aten.sum.dim_IntList)
def sum_(x: Any, dim: Any, keepdim: bool = False, *, dtype: Any = None) -> Any:
    if x.dtype == torch.bool or (dtype is None and not x.is_floating_point() and not x.is_complex()):
        dtype = dtype or torch.int64
    return baracuda.sum(x, axes(dim), keepdim) if dtype is None else baracuda.sum(x, axes(dim), keepdim, dtype=dtype)


@serves(aten.sum.default)
def sum_all(x: Any, *, dtype: Any = None) -> Any:
    return sum_(x, None, dtype=dtype)


@serves(aten.mean.dim)
def mean(x: Any, dim: Any, keepdim: bool = False, *, dtype: Any = None) -> Any:
    return baracuda.mean(converted(x, dtype), axes(dim), keepdim)


@serves(aten.mean.default)
def mean_all(x: Any, *, dtype: Any = None) -> Any:
    return mean(x, None, dtype=dtype)


@serves(aten.amax.default)
def amax(x: Any, dim: Any = (), keepdim: bool = False) -> Any:
    return baracuda.max(x, axes(dim), keepdim)


@serves(aten.amin.default)
def amin(x: Any, dim: Any = (), keepdim: bool = False) -> Any:
    return baracuda.min(x, axes(dim), keepdim)


serves(aten.max.default)(lambda x: baracuda.max(x))
serves(aten.min.default)(lambda x: baracuda.min(x))


@serves(aten.prod.default, aten.prod.dim_int)
def prod(x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    if dtype is None and not x.is_floating_point() and not x.is_complex():
        dtype = torch.int64
    return baracuda.prod(converted(x, dtype), axes(dim), keepdim)


def _arg(function: Any) -> Any:
    def arg(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        if dim is None:
            x, dim = x.reshape(-1), 0
            return function(x, 0).reshape([1] * x.ndim) if keepdim else function(x, 0)
        return function(x, dim, keepdim)

    return arg


serves(aten.argmax.default)(_arg(baracuda.argmax))
serves(aten.argmin.default)(_arg(baracuda.argmin))


def _with_index(value: Any, index: Any) -> Any:
    def with_index(x: Any, dim: int, keepdim: bool = False) -> Any:
        return value(x, dim, keepdim), index(x, dim, keepdim)

    return with_index


serves(aten.max.dim)(_with_index(baracuda.max, baracuda.argmax))
serves(aten.min.dim)(_with_index(baracuda.min, baracuda.argmin))


@serves(aten.any.default, aten.any.dim, aten.any.dims)
def any_(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    return baracuda.any(x, axes(dim), keepdim)


@serves(aten.all.default, aten.all.dim, aten.all.dims)
def all_(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    return baracuda.all(x, axes(dim), keepdim)


@serves(aten.var.correction)
def var(x: Any, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Any:
    return baracuda.var(x, axes(dim), keepdims=keepdim, correction=1.0 if correction is None else float(correction))


@serves(aten.var.dim)
def var_dim(x: Any, dim: Any, unbiased: bool = True, keepdim: bool = False) -> Any:
    return baracuda.var(x, axes(dim), keepdims=keepdim, correction=float(unbiased))


@serves(aten.std.correction)
def std(x: Any, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Any:
    return baracuda.std(x, axes(dim), keepdims=keepdim, correction=1.0 if correction is None else float(correction))


@serves(aten.var_mean.correction)
def var_mean(x: Any, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Any:
    return var(x, dim, correction=correction, keepdim=keepdim), baracuda.mean(x, axes(dim), keepdim)


@serves(aten.linalg_vector_norm.default)
def vector_norm(x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    return baracuda.vector_norm(converted(x, dtype), ord, axes(dim), keepdim)


@serves(aten.cumsum.default)
def cumsum(x: Any, dim: int, *, dtype: Any = None) -> Any:
    if dtype is None and not x.is_floating_point() and not x.is_complex():
        dtype = torch.int64
    return baracuda.cumsum(converted(x, dtype), dim)


serves(aten.logcumsumexp.default)(lambda x, dim: baracuda.logcumsumexp(x, dim))


@serves(aten.cumprod.default)
def cumprod(x: Any, dim: int, *, dtype: Any = None) -> Any:
    if dtype is None and not x.is_floating_point() and not x.is_complex():
        dtype = torch.int64
    return baracuda.cumprod(converted(x, dtype), dim)


@serves(aten.sort.default)
def sort(x: Any, dim: int = -1, descending: bool = False) -> Any:
    return baracuda.sort(x, dim, descending=descending, return_indices=True)


@serves(aten.sort.stable)
def sort_stable(x: Any, *, stable: Any = None, dim: int = -1, descending: bool = False) -> Any:
    return sort(x, dim, descending)


@serves(aten.topk.default)
def topk(x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    return baracuda.topk(x, k, dim, largest=largest, sorted=sorted)


@serves(aten.searchsorted.Tensor)
def searchsorted(
    sequence: Any, values: Any, *, out_int32: bool = False, right: bool = False, side: Any = None, sorter: Any = None
) -> Any:
    return baracuda.searchsorted(sequence, values, "right" if right else side or "left", sorter, out_int32=out_int32)


@serves(aten.allclose.default)
def allclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    return bool(baracuda.allclose(a, b, rtol, atol, equal_nan))
