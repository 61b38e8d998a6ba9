"""Windows of a tensor as columns, and the sum of columns where their windows overlap."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

from baracuda.core.elements import Category
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import as_parts, view
from baracuda.ops.convolution.options import Each, Padding, each, pairs, relations_of
from baracuda.ops.convolution.relation import Relation
from baracuda.ops.convolution.steps import convolve, strided
from baracuda.ops.declaration.composition import Steps, composed

Extents = tuple[int, ...]


def _rank(kernel_size: Each) -> int:
    return 2 if isinstance(kernel_size, int) else len(kernel_size)


def _relations(
    space: Sequence[int], kernel_size: Each, dilation: Each, padding: Padding, stride: Each
) -> tuple[list[Relation], tuple[int, ...]]:
    rank = len(space)
    taps, steps = each("kernel_size", kernel_size, rank), each("stride", stride, rank)
    spread = each("dilation", dilation, rank)
    return relations_of(space, taps, steps, spread, pairs(padding, space, taps, steps, spread)), taps


def met(r: Relation, tap: int) -> tuple[int, int, int, int, int]:
    """The outputs that meet an element of x at a tap: the first, how far apart and how many they are, and the first element and
    how far apart those are. Where there is a base, every so many outputs."""
    met_outputs = [
        o for o in range(r.outputs)
        if (at := o * r.stride + tap * r.dilation - r.low) % r.base == 0 and 0 <= at // r.base < r.inputs
    ] if r.base != 1 else _range(r, tap)  # fmt: skip
    count = len(met_outputs)
    if not count:
        return 0, 1, 0, 0, 1
    first, step = met_outputs[0], (met_outputs[1] - met_outputs[0]) if count > 1 else 1
    element = (first * r.stride + tap * r.dilation - r.low) // r.base
    return first, step, count, element, step * r.stride // r.base


def _range(r: Relation, tap: int) -> range:
    """The outputs whose element lies in x: those with 0 <= o * stride + at < inputs."""
    at = tap * r.dilation - r.low
    first = max(0, -(at // r.stride))
    last = min(r.outputs, (r.inputs - 1 - at) // r.stride + 1)
    return range(first, max(first, last))


def _cut(y: Any, axis: int, shape: Sequence[int]) -> Any:
    """An axis as several, the last one fastest."""
    steps: list[int] = []
    s = y.strides[axis]
    for n in reversed(shape):
        steps.insert(0, s)
        s *= n
    return view(y, 0, (*y.shape[:axis], *shape, *y.shape[axis + 1 :]), (*y.strides[:axis], *steps, *y.strides[axis + 1 :]))


def _columns(y: Any, taps: Sequence[int], relations: Sequence[Relation], channels: int) -> Any:
    """Columns (n, c * taps, outputs) as (n, c, *t, *o)."""
    return _cut(_cut(y, 2, [r.outputs for r in relations]), 1, (channels, *taps))


def _window(x: Any, y: Any, relations: Sequence[Relation], tap: Sequence[int]) -> tuple[Any, Any] | None:
    """What of x a tap meets, and where it goes in (n, c, *o)."""
    for a, (r, t) in enumerate(zip(relations, tap, strict=True)):
        first, step, count, element, apart = met(r, t)
        if not count:
            return None
        y, x = strided(y, 2 + a, first, step, count), strided(x, 2 + a, element, apart, count)
    return x, y


def _unfolded(do: Steps, x: TensorRef, y: TensorMut, relations: Sequence[Relation], taps: Sequence[int]) -> None:
    """Write the columns of x (n, c, *i) to y (n, c * taps, outputs)."""
    if 0 in y.shape:
        return
    cut, rank, pieces = _columns(y, taps, relations, x.shape[1]), len(taps), []
    for tap in product(*map(range, taps)):
        at = cut
        for t in tap:
            at = view(at, t * at.strides[2], (*at.shape[:2], *at.shape[3:]), (*at.strides[:2], *at.strides[3:]))
        found = _window(x, at, relations, tap)
        if found is not None and 0 not in found[0].shape:
            pieces.append(found)
    assert rank
    if sum(prod(target.shape) for _, target in pieces) < prod(y.shape):
        do.zero(y)
    for source, target in pieces:
        do.copy(source, target)


def _folded(do: Steps, x: TensorRef, y: TensorMut, relations: Sequence[Relation], taps: Sequence[int]) -> None:
    """Write the sum of the columns x (n, c * taps, outputs) to y (n, c, *i)."""
    if 0 in y.shape:
        return
    rank, channels = len(taps), y.shape[1]
    if x.kind.category is Category.COMPLEX:
        for part in range(2):
            _folded(do, as_parts(x)[part], as_parts(y)[part], relations, taps)
        return
    cut = _columns(x, taps, relations, channels)  # (n, c, *t, *o)
    order = (0, 1, *range(2 + rank, 2 + 2 * rank), *range(2, 2 + rank))
    shape, strides = [cut.shape[a] for a in order], [cut.strides[a] for a in order]
    from_ = view(cut, 0, (*shape, 1), (*strides, 0))
    one = do.filled((1,), x.kind, 1)
    ones = view(one, 0, (channels, *taps, 1, 1), (0,) * (3 + rank))
    into = view(y, 0, (*y.shape, 1), (*y.strides, 0))
    convolve(do, from_, ones, into, [r.for_input() for r in relations], x_taps=True)


def _space(x: TensorRef, rank: int) -> tuple[Any, bool]:
    """x with an axis of batches, and whether it had none."""
    if len(x.shape) == rank + 1:
        return view(x, 0, (1, *x.shape), (0, *x.strides)), True
    if len(x.shape) != rank + 2:
        raise InvalidProblemError(f"x: shape is {x.shape}; expected (n, channels, {rank} spatial axes), or without n")
    return x, False


@composed(out=True, x="...")
def im2col(do: Steps, x: TensorRef, kernel_size: Each, dilation: Each = 1, padding: Padding = 0, stride: Each = 1) -> TensorRef:
    """The windows of x (n, channels, h, w) as columns (n, channels * kh * kw, windows): `torch.nn.functional.unfold`.

    kernel_size says how many spatial axes there are; one number means two. Elements of any kind are copied, and those outside x
    are 0. x may have no axis of batches.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.im2col(np.arange(6, dtype=np.float32).reshape(1, 1, 2, 3), (2, 2)).tolist()
    [[[0.0, 1.0], [1.0, 2.0], [3.0, 4.0], [4.0, 5.0]]]
    """
    rank = _rank(kernel_size)
    many, single = _space(x, rank)
    relations, taps = _relations(many.shape[2:], kernel_size, dilation, padding, stride)
    shape = (many.shape[0], many.shape[1] * prod(taps), prod(r.outputs for r in relations))
    y = do.result(shape[1:] if single else shape, x.kind)
    _unfolded(do, many, view(y, 0, shape, (0, *y.strides)) if single else y, relations, taps)
    return y


@composed(dy="...", x="...")
def im2col_backward(
    do: Steps, dy: TensorRef, x: TensorRef, kernel_size: Each, dilation: Each = 1, padding: Padding = 0, stride: Each = 1
) -> TensorRef:
    """The gradient of `im2col`'s x: the sum over the windows that an element is in, in rising order of its place in them.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = np.zeros((1, 1, 2, 3), np.float32)
    >>> baracuda.im2col_backward(np.ones((1, 4, 2), np.float32), x, (2, 2)).tolist()
    [[[[1.0, 2.0, 1.0], [1.0, 2.0, 1.0]]]]
    """
    rank = _rank(kernel_size)
    many, single = _space(x, rank)
    relations, taps = _relations(many.shape[2:], kernel_size, dilation, padding, stride)
    shape = (many.shape[0], many.shape[1] * prod(taps), prod(r.outputs for r in relations))
    if dy.shape != (shape[1:] if single else shape):
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {shape[1:] if single else shape}")
    dx = do.new_like(x)
    _folded(do, view(dy, 0, shape, (0, *dy.strides)) if single else dy, _space(dx, rank)[0], relations, taps)
    return dx


def _fold_shapes(
    x: TensorRef, output_size: Each, kernel_size: Each, dilation: Each, padding: Padding, stride: Each
) -> tuple[Any, bool, list[Relation], tuple[int, ...], tuple[int, ...]]:
    """x with batches, whether it had none, the relations, the taps, and the shape of the result."""
    rank = len(output_size) if not isinstance(output_size, int) else _rank(kernel_size)
    space = each("output_size", output_size, rank, 0)
    single = len(x.shape) == 2
    if len(x.shape) not in (2, 3):
        raise InvalidProblemError(f"x: shape is {x.shape}; expected (n, channels * taps, windows), or without n")
    many = view(x, 0, (1, *x.shape), (0, *x.strides)) if single else x
    relations, taps = _relations(space, kernel_size, dilation, padding, stride)
    windows = prod(r.outputs for r in relations)
    if many.shape[1] % prod(taps) or many.shape[2] != windows:
        raise InvalidProblemError(
            f"x: shape is {x.shape}; expected (n, a multiple of {prod(taps)}, {windows}) for results of {space}, or without n"
        )
    return many, single, relations, taps, (many.shape[0], many.shape[1] // prod(taps), *space)


@composed(out=True, x="... : f16 bf16 f32 f64 s8 u8 s16 u16 s32 s64 complex64 complex128")
def col2im(
    do: Steps,
    x: TensorRef,
    output_size: Each,
    kernel_size: Each,
    dilation: Each = 1,
    padding: Padding = 0,
    stride: Each = 1,
) -> TensorRef:
    """Columns (n, channels * kh * kw, windows) added where their windows lie in (n, channels, h, w): `torch.nn.functional.fold`.

    What windows share is added in rising order of the place in the window. x may have no axis of batches.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.col2im(np.ones((1, 4, 2), np.float32), (2, 3), (2, 2)).tolist()
    [[[[1.0, 2.0, 1.0], [1.0, 2.0, 1.0]]]]
    """
    many, single, relations, taps, shape = _fold_shapes(x, output_size, kernel_size, dilation, padding, stride)
    y = do.result(shape[1:] if single else shape, x.kind)
    _folded(do, many, view(y, 0, shape, (0, *y.strides)) if single else y, relations, taps)
    return y


@composed(dy="...", x="...")
def col2im_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    output_size: Each,
    kernel_size: Each,
    dilation: Each = 1,
    padding: Padding = 0,
    stride: Each = 1,
) -> TensorRef:
    """The gradient of `col2im`'s x: dy's windows as columns.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy = np.arange(6, dtype=np.float32).reshape(1, 1, 2, 3)
    >>> baracuda.col2im_backward(dy, np.zeros((1, 4, 2), np.float32), (2, 3), (2, 2)).tolist()
    [[[0.0, 1.0], [1.0, 2.0], [3.0, 4.0], [4.0, 5.0]]]
    """
    many, single, relations, taps, shape = _fold_shapes(x, output_size, kernel_size, dilation, padding, stride)
    if dy.shape != (shape[1:] if single else shape):
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {shape[1:] if single else shape}")
    dx = do.new(x.shape, x.kind)
    source = view(dy, 0, shape, (0, *dy.strides)) if single else dy
    _unfolded(do, source, view(dx, 0, many.shape, (0, *dx.strides)) if single else dx, relations, taps)
    return dx
