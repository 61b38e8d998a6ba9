"""Convolutions of complex elements as ones of real elements, in the same order: a channel is two, its real and imaginary part.

For each term re = fma(x.re, w.re, re), re = fma(x.im, -w.im, re), im = fma(x.re, w.im, im), im = fma(x.im, w.re, im).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import as_parts, axis_at, view
from baracuda.ops.declaration.composition import Steps
from baracuda.ops.declaration.promotion import part as part_of
from baracuda.ops.elementwise.unary import neg


def _place(tensor: Any, *last: tuple[int, int]) -> Any:
    """An element of each axis of parts: pairs of the axis, counted from 0, and the element."""
    for axis, n in sorted(last, reverse=True):
        tensor = axis_at(tensor, axis, n)
    return tensor


def _doubled(do: Steps, x: TensorRef, *, conjugate: bool = False) -> Any:
    """(..., c) as (..., 2 c) of real elements."""
    made, axis = do.rows((*x.shape, 2), part_of(x.kind)), len(x.shape)
    re, im = as_parts(x)
    do.copy(re, _place(made, (axis, 0)))
    if conjugate:
        do.run(neg, {"x": im}, _place(made, (axis, 1)))
    else:
        do.copy(im, _place(made, (axis, 1)))
    return view(made, 0, (*x.shape[:-1], 2 * x.shape[-1]), (*made.strides[: axis - 1], 1))


def _weights(do: Steps, w: TensorRef, *, conjugate: bool) -> Any:
    """(..., c, n) as (..., 2 c, 2 n) of real elements."""
    rank = len(w.shape)
    made = do.rows((*w.shape[:-1], 2, w.shape[-1], 2), part_of(w.kind))
    re, im = as_parts(w)
    for part, source, negative in (
        ((0, 0), re, False),
        ((1, 1), re, False),
        ((0, 1), im, conjugate),
        ((1, 0), im, not conjugate),
    ):
        target = _place(made, (rank - 1, part[0]), (rank + 1, part[1]))
        if negative:
            do.run(neg, {"x": source}, target)
        else:
            do.copy(source, target)
    shape = (*w.shape[:-2], 2 * w.shape[-2], 2 * w.shape[-1])
    return view(made, 0, shape, (*made.strides[: rank - 2], made.strides[rank - 1], 1))


def as_real(
    do: Steps,
    convolve: Callable[..., None],
    x: TensorRef,
    w: TensorRef,
    y: TensorMut,
    relations: Sequence[Any],
    *,
    conjugate: str = "",
    bias: TensorRef | None = None,
    residual: TensorRef | None = None,
    **options: Any,
) -> None:
    """Write a convolution of complex views by one of real ones; `conjugate` says which factor is conjugated, x or w."""
    if 0 in y.shape:
        return
    made, axis = do.rows((*y.shape, 2), part_of(y.kind)), len(y.shape)
    into = view(made, 0, (*y.shape[:-1], 2 * y.shape[-1]), (*made.strides[: axis - 1], 1))
    convolve(
        do,
        _doubled(do, x, conjugate=conjugate == "x"),
        _weights(do, w, conjugate=conjugate == "w"),
        into,
        relations,
        bias=None if bias is None else _doubled(do, bias),
        residual=None if residual is None else _doubled(do, residual),
        **options,
    )
    for n, part in enumerate(as_parts(y)):
        do.copy(_place(made, (axis, n)), part)
