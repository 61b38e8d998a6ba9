"""Draws of which: permutations, classes by their weights, elements of a tensor."""

from __future__ import annotations

from math import prod
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import axis_of, reshaped, shape_of, slab
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, bitcast, const
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.traced import Own
from baracuda.ops.declaration.words import Count, Dtype, Extents
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.indexing.indexing import index_select
from baracuda.ops.random.draws import KEY, S64, U64, Bits, Draw, distribution, draw_into, drawn
from baracuda.ops.random.keys import bits_op
from baracuda.ops.random.uniforms import whole_op
from baracuda.ops.scans.scans import cumsum
from baracuda.ops.sorting.orders import argsort, topk
from baracuda.ops.sorting.searches import search

_F64 = ElementKind.F64


def _race(draw: Draw, p: Own) -> Expr:
    """When a class comes in, a draw of the exponential distribution of rate p: the first is of class i with probability p_i."""
    return draw.exponential() / draw.of(p)


def _mark(draw: Draw, total: Own) -> Expr:
    """A uniform draw of the numbers from 0 to below a total."""
    u, end = draw.uniform(), draw.of(total)
    below = bitcast(bitcast(end, U64) - const(1, U64), draw.kind)
    return f.minimum(u * end, below)


_race_op, _mark_op = distribution(_race), distribution(_mark)


def _permutation(do: Steps, key: TensorRef, n: int, bits: Bits) -> TensorRef:
    words = drawn(do, bits_op, key, (n,), U64, bits)
    order: TensorRef = argsort(do, words)
    return order


@composed(key=KEY)
def randperm(do: Steps, key: TensorRef, n: Count, dtype: Dtype = None, *, bits: Bits = "philox") -> Any:
    """The numbers 0 ... n - 1 in random order: that of as many words of 64 bits. The element is `dtype`, by default s64.

    Examples
    --------
    >>> import baracuda
    >>> sorted(baracuda.randperm(baracuda.rng_key(7), 4).tolist())
    [0, 1, 2, 3]
    """
    return in_element(do, _permutation(do, key, n, bits), dtype or S64)


def _classes(do: Steps, key: TensorRef, p: TensorRef, count: int, replacement: bool, bits: Bits) -> TensorRef:
    """Classes of rows by their weights along the last axis, in s64."""
    classes = p.shape[-1]
    if not replacement:
        if count > classes:
            raise InvalidProblemError(f"num_samples: {count} without replacement; expected at most {classes}, as many as classes")
        times = draw_into(do, _race_op, key, do.rows(p.shape, _F64), {"p": p}, bits)
        first: TensorRef = topk(do, times, count, largest=False)[1]
        return first
    if not classes and count:
        raise InvalidProblemError(f"p: shape {p.shape}; expected classes to draw from")
    rows = (*p.shape[:-1], count)
    if not prod(rows):
        return do.rows(rows, S64)
    ends: TensorRef = do.run(cumsum, {"x": p}, axis=-1, dtype=_F64)
    total = slab(ends, len(rows) - 1, classes - 1, classes)
    marks = draw_into(do, _mark_op, key, do.rows(rows, _F64), {"total": total}, bits)
    return search(do, ends, marks, right=True)  # type: ignore[no-any-return]


@composed(key=KEY, p="... classes : float")
def multinomial(
    do: Steps, key: TensorRef, p: TensorRef, num_samples: Count, replacement: bool = False, *, bits: Bits = "philox"
) -> Any:
    """Classes drawn by their weights p along the last axis, which need not add up to 1: `num_samples` of each row, in s64.

    Without replacement they are the first of a race, class i by the exponential distribution of rate p_i, so that one of weight 0
    comes behind all others; with replacement, where a uniform draw lies among the sums of weights, taken in f64.

    Source: torch.multinomial.

    Raises
    ------
    InvalidProblemError
        Where more are drawn without replacement than there are classes.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.multinomial(baracuda.rng_key(7), np.float32([0, 1, 0]), 2, replacement=True).tolist()
    [1, 1]
    """
    return _classes(do, key, p, num_samples, replacement, bits)


@composed(key=KEY, x="...", p="classes or none : float")
def choice(
    do: Steps, key: TensorRef, x: TensorRef, shape: Extents = (), replace: bool = True, p: Given = None, *, axis: int = 0,
    bits: Bits = "philox",
) -> Any:  # fmt: skip
    """Slices of x along an axis, drawn with or without replacement, each as likely as the others or by weights p; `shape` is how
    many there are, which takes the axis's place.

    Source: jax.random.choice and numpy.random.Generator.choice.

    Raises
    ------
    InvalidProblemError
        Where more are drawn without replacement than there are.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> sorted(baracuda.choice(baracuda.rng_key(7), np.arange(3), 3, replace=False).tolist())
    [0, 1, 2]
    """
    if not x.shape:
        raise InvalidProblemError("x: it is a scalar; expected one axis or more")
    at, extents = axis_of(axis, len(x.shape)), shape_of(shape)
    n, count = x.shape[at], prod(extents)
    if count and not n:
        raise InvalidProblemError(f"x: shape {x.shape} has nothing along axis {at}; expected something to choose from")
    if not replace and count > n:
        raise InvalidProblemError(f"shape: {count} without replacement; expected at most {n}, as many as there are")
    if p is not None and p.shape != (n,):
        raise InvalidProblemError(f"p: shape {p.shape}; expected ({n},), a weight for each slice")
    if p is not None:
        index = _classes(do, key, p, count, replace, bits)
    elif replace:
        index = drawn(do, whole_op, key, (count,), S64, bits, low=0, count=n)
    else:
        index = slab(_permutation(do, key, n, bits), 0, 0, count)
    taken: TensorRef = do.run(index_select, {"x": x, "index": index}, axis=at)
    return reshaped(taken, (*x.shape[:at], *extents, *x.shape[at + 1 :]))
