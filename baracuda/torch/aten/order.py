"""Elements in order: ranks, medians, counts of values, places in sorted rows."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.aten.elements import converted
from baracuda.torch.registry import serves

aten = torch.ops.aten


def _of_rows(function: Any) -> Any:
    """A function of rows that gives values and where they are, for scalars too, which are rows of one."""

    def of_rows(x: Any, *args: Any) -> Any:
        if x.ndim:
            return function(x, *args)
        value, index = function(x[None], *args)
        return value.reshape(()), index.reshape(())

    return of_rows


serves(aten.cummax.default)(_of_rows(lambda x, dim: tuple(baracuda.cummax(x, dim))))
serves(aten.cummin.default)(_of_rows(lambda x, dim: tuple(baracuda.cummin(x, dim))))
serves(aten.kthvalue.default)(_of_rows(lambda x, k, dim=-1, keepdim=False: tuple(baracuda.kthvalue(x, k, dim, keepdims=keepdim))))
serves(aten.mode.default)(_of_rows(lambda x, dim=-1, keepdim=False: tuple(baracuda.mode(x, dim, keepdims=keepdim))))


def _median(name: str) -> None:
    compute = getattr(baracuda, name)

    def of_rows(x: Any, dim: int, keepdim: bool = False) -> Any:
        return tuple(compute(x, dim, interpolation="lower", keepdims=keepdim, return_indices=True))

    serves(getattr(aten, name).default)(lambda x: compute(x, interpolation="lower"))
    serves(getattr(aten, name).dim)(_of_rows(of_rows))


_median("median")
_median("nanmedian")


@serves(aten._unique2.default)
def unique(x: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False) -> Any:
    return _unique(baracuda.unique, x, return_inverse, return_counts, equal_nan=False)


@serves(aten.unique_dim.default)
def unique_dim(x: Any, dim: int, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False) -> Any:
    return _unique(baracuda.unique, x, return_inverse, return_counts, axis=dim, equal_nan=False)


@serves(aten.unique_consecutive.default)
def unique_consecutive(x: Any, return_inverse: bool = False, return_counts: bool = False, dim: Any = None) -> Any:
    return _unique(baracuda.unique_consecutive, x, return_inverse, return_counts, axis=dim)


@serves(aten._unique.default)
def unique_of_old(x: Any, sorted: bool = True, return_inverse: bool = False) -> Any:
    return unique(x, sorted, return_inverse)[:2]


def _unique(function: Any, x: Any, return_inverse: bool, return_counts: bool, **options: Any) -> Any:
    """Values, inverse and counts; empty tensors where these are not asked for."""
    found = function(x, return_inverse=return_inverse, return_counts=return_counts, **options)
    found = list(found) if isinstance(found, tuple) else [found]
    values = found.pop(0)
    nothing = x.new_empty(0, dtype=torch.int64)
    return values, found.pop(0) if return_inverse else nothing, found.pop(0) if return_counts else nothing


@serves(aten.searchsorted.Scalar)
def searchsorted(
    sequence: Any, value: Any, *, out_int32: bool = False, right: bool = False, side: Any = None, sorter: Any = None
) -> Any:
    values = baracuda.full((1,), value, sequence.dtype, like=sequence)
    side = "right" if right else side or "left"
    return baracuda.searchsorted(sequence, values, side, sorter, out_int32=out_int32).reshape(())


@serves(aten.bucketize.Tensor)
def bucketize(x: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    return baracuda.bucketize(x, boundaries, right=right, out_int32=out_int32)


@serves(aten.histc.default)
def histc(x: Any, bins: int = 100, min: Any = 0, max: Any = 0) -> Any:
    return converted(baracuda.histc(x, bins, float(min), float(max)), x.dtype)


@serves(aten.histogram.bin_ct, aten.histogram.bins_tensor)
def histogram(x: Any, bins: Any = 100, *, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    counts, edges = baracuda.histogram(x, bins, None if range is None else tuple(range), weight, density=density)
    return converted(counts, x.dtype), converted(edges, x.dtype)


def _histogramdd(x: Any, bins: Any, range: Any, weight: Any, density: bool) -> Any:
    ranges = None if range is None else tuple(zip(range[::2], range[1::2], strict=True))
    weight = None if weight is None else weight.reshape(-1)
    return baracuda.histogramdd(x.reshape(-1, x.shape[-1]), list(bins), ranges, weight, density=density)


@serves(aten._histogramdd_bin_edges.default)
def histogramdd_edges(x: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    return [converted(edges, x.dtype) for edges in _histogramdd(x, bins, range, weight, density)[1:]]


@serves(aten._histogramdd_from_bin_cts.default)
def histogramdd(x: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    return converted(_histogramdd(x, bins, range, weight, density)[0], x.dtype)


@serves(aten._histogramdd_from_bin_tensors.default)
def histogramdd_between(x: Any, bins: Any, *, weight: Any = None, density: bool = False) -> Any:
    return histogramdd(x, bins, weight=weight, density=density)
