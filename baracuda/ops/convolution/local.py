"""Convolutions with weights of their own at every place."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import permuted, view
from baracuda.ops.convolution.columns import met
from baracuda.ops.convolution.options import Each, Padding, common, each, grouped_input, pairs, relations_of, span
from baracuda.ops.convolution.relation import Relation
from baracuda.ops.convolution.steps import convolve, gradient_by_input, strided
from baracuda.ops.declaration.composition import Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.words import Wrt
from baracuda.ops.matmul.descriptor import labelled
from baracuda.ops.matmul.plan import MatmulPlan

_KINDS = "f16 bf16 f32 f64 T"
#: Labels of spatial axes.
_PLACES = "uvwxyz"


def _relations(
    x: TensorRef, weight: TensorRef, filter_shape: Each, stride: Each, padding: Padding, lhs_dilation: Each, rhs_dilation: Each
) -> list[Relation]:
    rank = len(x.shape) - 2
    taps, steps = each("filter_shape", filter_shape, rank), each("stride", stride, rank)
    base, spread = each("lhs_dilation", lhs_dilation, rank), each("rhs_dilation", rhs_dilation, rank)
    widths = [span(n, d) if n else 0 for n, d in zip(x.shape[2:], base, strict=True)]
    found = relations_of(x.shape[2:], taps, steps, spread, pairs(padding, widths, taps, steps, spread), base)
    expected = (x.shape[1] * prod(taps), *(r.outputs for r in found))
    if weight.shape[1:] != expected:
        raise InvalidProblemError(f"weight: shape is {weight.shape}; expected (out, {', '.join(map(str, expected))})")
    return found


def _weight(w: Any, relations: list[Relation], channels: int) -> Any:
    """(n, c * taps, *o) as (1, *o, *t, c, n)."""
    taps, s = [r.taps for r in relations], w.strides[1]
    steps: list[int] = []
    for n in reversed(taps):
        steps.insert(0, s)
        s *= n
    shape = (1, *w.shape[2:], *taps, channels, w.shape[0])
    return view(w, 0, shape, (0, *w.strides[2:], *steps, s, w.strides[0]))


@composed(out=True, x=f"n c *space : {_KINDS}", weight="out terms *places : T")
def conv_local(
    do: Steps,
    x: TensorRef,
    weight: TensorRef,
    *,
    filter_shape: Each,
    stride: Each = 1,
    padding: Padding = 0,
    lhs_dilation: Each = 1,
    rhs_dilation: Each = 1,
) -> TensorRef:
    """A convolution whose weight is another one at each place, as `jax.lax.conv_general_dilated_local` has it.

    x is (n, channels, spatial axes), weight (out, channels * taps, places), the taps of filter_shape fastest in its second axis.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, weight = np.float32([[[1, 2, 4]]]), np.float32([[[1, 10], [0, 1]]])
    >>> baracuda.conv_local(x, weight, filter_shape=2).tolist()
    [[[1.0, 24.0]]]
    """
    relations = _relations(x, weight, filter_shape, stride, padding, lhs_dilation, rhs_dilation)
    axes = common(len(relations))
    y = do.result((x.shape[0], weight.shape[0], *(r.outputs for r in relations)), x.kind)
    views = grouped_input(x, axes, 1), _weight(weight, relations, x.shape[1]), grouped_input(y, axes, 1)
    convolve(do, *views, relations, w_places="outputs")
    return y


@composed(dy="? : T", x=f"n c *space : {_KINDS}", weight="out terms *places : T")
def conv_local_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    weight: TensorRef,
    *,
    filter_shape: Each,
    stride: Each = 1,
    padding: Padding = 0,
    lhs_dilation: Each = 1,
    rhs_dilation: Each = 1,
    wrt: Wrt = None,
) -> Any:
    """The gradients of `conv_local`'s x and weight, those named in `wrt` or both.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, weight = np.float32([[[1, 2, 4]]]), np.float32([[[1, 10], [0, 1]]])
    >>> baracuda.conv_local_backward(np.ones((1, 1, 2), np.float32), x, weight, filter_shape=2, wrt=("x",)).tolist()
    [[[1.0, 10.0, 1.0]]]
    """
    names = chosen(wrt, ("x", "weight"))
    relations = _relations(x, weight, filter_shape, stride, padding, lhs_dilation, rhs_dilation)
    expected = (x.shape[0], weight.shape[0], *(r.outputs for r in relations))
    if dy.shape != expected:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {expected}")
    axes, channels = common(len(relations)), x.shape[1]

    def gradient(name: str) -> TensorRef:
        if name == "x":
            dx = do.new_like(x)
            by, into = grouped_input(dy, axes, 1), grouped_input(dx, axes, 1)
            gradient_by_input(do, by, _weight(weight, relations, channels), into, relations, w_places="outputs")
            return dx
        dw = do.new_like(weight)
        _by_weight(do, dy, x, _weight(dw, relations, channels), dw, relations)
        return dw

    return one_or_all([gradient(name) for name in names])


def _by_weight(do: Steps, dy: TensorRef, x: TensorRef, into: Any, whole: Any, relations: list[Relation]) -> None:
    """For each tap, the products of x's and dy's elements, summed over the batch."""
    rank, complete = len(relations), True
    if 0 in whole.shape:
        return
    pieces = []
    for tap in product(*(range(r.taps) for r in relations)):
        a, b, y = x, dy, view(into, 0, into.shape[1:], into.strides[1:])  # (*o, *t, c, n)
        for axis in range(rank):
            y = view(
                y,
                tap[axis] * y.strides[rank],
                (*y.shape[:rank], *y.shape[rank + 1 :]),
                (*y.strides[:rank], *y.strides[rank + 1 :]),
            )
        for axis, (r, t) in enumerate(zip(relations, tap, strict=True)):
            first, step, count, element, apart = met(r, t)
            complete &= count == r.outputs
            a, b = strided(a, 2 + axis, element, apart, count), strided(b, 2 + axis, first, step, count)
            y = strided(y, axis, first, step, count)
        if 0 not in y.shape:
            pieces.append((a, b, permuted(y, (rank + 1, rank, *range(rank)))))
    if not complete or not x.shape[0]:
        do.zero(whole)
    places = _PLACES[:rank]
    for a, b, y in pieces if x.shape[0] else ():
        do.plan(MatmulPlan, labelled(b, a, f"bn{places}", f"bc{places}", f"nc{places}"), {"a": b, "b": a}, y)
