"""Transposed convolutions of one to three spatial axes, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.ops.convolution.forward import KINDS
from baracuda.ops.convolution.options import (
    Each,
    batched,
    check_vector,
    common,
    each,
    grouped_input,
    grouped_transposed,
    grouped_vector,
    span,
    unbatched,
)
from baracuda.ops.convolution.relation import Relation
from baracuda.ops.convolution.steps import convolve, gradient_by_bias, gradient_by_input, gradient_by_weight
from baracuda.ops.declaration.composition import Given, Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.words import Positive, Wrt

#: A number for every spatial axis, one for each, or a pair for each.
Crop = int | tuple[int | tuple[int, int], ...]


def _relations(
    x: TensorRef, weight: TensorRef, stride: Each, padding: Crop, output_padding: Each, groups: int, dilation: Each
) -> list[Relation]:
    rank = len(weight.shape) - 2
    inputs, channels = x.shape[len(x.shape) - rank :], x.shape[len(x.shape) - rank - 1]
    if channels != weight.shape[0]:
        raise InvalidProblemError(f"x: {channels} channels; expected the weight's {weight.shape[0]}")
    if channels % groups:
        raise InvalidProblemError(f"groups: {groups}; expected a divisor of x's {channels} channels")
    steps, spread = each("stride", stride, rank), each("dilation", dilation, rank)
    more = each("output_padding", output_padding, rank, 0)
    given = (padding,) * rank if isinstance(padding, int) else padding * rank if len(padding) == 1 else padding
    if len(given) != rank:
        raise InvalidProblemError(f"padding: {padding}; expected a number, {rank} numbers or {rank} pairs")
    found = []
    for a in range(rank):
        crop = given[a]
        before, after = crop if isinstance(crop, tuple) else (crop, crop)
        if weight.shape[2 + a] < 1:
            raise InvalidProblemError(f"weight: shape is {weight.shape}; expected one tap or more along every axis")
        whole = (inputs[a] - 1) * steps[a] + span(weight.shape[2 + a], spread[a]) if inputs[a] else 0
        outputs = whole - before - after + more[a]
        if outputs < 0:
            raise InvalidProblemError(f"padding: {padding} leaves {outputs} results along spatial axis {a}; expected 0 or more")
        found.append(Relation(inputs[a], outputs, weight.shape[2 + a], 1, -spread[a], -before, steps[a]))
    return found


def transposed(
    do: Steps, x: TensorRef, weight: TensorRef, bias: Given, stride: Each, padding: Crop, output_padding: Each, groups: int,
    dilation: Each,
) -> TensorRef:  # fmt: skip
    """The result of any of these."""
    relations = _relations(x, weight, stride, padding, output_padding, groups, dilation)
    rank, columns = len(relations), weight.shape[1] * groups
    check_vector("bias", bias, columns)
    many, axes = batched(x, rank), common(rank)
    y = do.result(unbatched((many.shape[0], columns, *(r.outputs for r in relations)), x, rank), x.kind, x)
    convolve(
        do, grouped_input(many, axes, groups), grouped_transposed(weight, groups),
        grouped_input(batched(y, rank), axes, groups), relations, bias=grouped_vector(bias, groups),
    )  # fmt: skip
    return y


def transposed_backward(
    do: Steps, dy: TensorRef, x: TensorRef, weight: TensorRef, bias: Given, stride: Each, padding: Crop, output_padding: Each,
    groups: int, dilation: Each, wrt: Sequence[str] | None,
) -> Any:  # fmt: skip
    """The gradients of any of these."""
    names = chosen(wrt, ("x", "weight", "bias") if bias is not None else ("x", "weight"))
    relations = _relations(x, weight, stride, padding, output_padding, groups, dilation)
    rank, many = len(relations), batched(x, len(relations))
    axes = common(rank)
    shape = unbatched((many.shape[0], weight.shape[1] * groups, *(r.outputs for r in relations)), x, rank)
    if dy.shape != shape:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {shape}")
    by = grouped_input(batched(dy, rank), axes, groups)

    def gradient(name: str) -> TensorRef:
        if name == "bias":
            return gradient_by_bias(do, dy, len(dy.shape) - rank - 1)
        if name == "x":
            dx = do.new_like(x)
            into = grouped_input(batched(dx, rank), axes, groups)
            gradient_by_input(do, by, grouped_transposed(weight, groups), into, relations)
            return dx
        dw = do.new_like(weight)
        gradient_by_weight(do, by, grouped_input(many, axes, groups), grouped_transposed(dw, groups), relations)
        return dw

    return one_or_all([gradient(name) for name in names])


_PATTERNS: dict[int, dict[str, Any]] = {
    rank: {"x": f"n channels {axes} or channels {axes} : {KINDS}", "weight": f"channels out {taps} : T", "bias": "? : T"}
    for rank, axes, taps in ((1, "l", "k"), (2, "h w", "kh kw"), (3, "d h w", "kd kh kw"))
}
_BACKWARD = {rank: {"dy": "? : T"} | patterns for rank, patterns in _PATTERNS.items()}


@composed(out=True, **_PATTERNS[1])
def conv_transpose1d(
    do: Steps,
    x: TensorRef,
    weight: TensorRef,
    bias: Given = None,
    stride: Each = 1,
    padding: Crop = 0,
    output_padding: Each = 0,
    groups: Positive = 1,
    dilation: Each = 1,
) -> TensorRef:
    """The transpose of a convolution over one spatial axis, as `conv_transpose2d` over two.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.conv_transpose1d(np.float32([[[1, 2]]]), np.float32([[[1, 10, 100]]]), stride=2).tolist()
    [[[1.0, 10.0, 102.0, 20.0, 200.0]]]
    """
    return transposed(do, x, weight, bias, stride, padding, output_padding, groups, dilation)


@composed(out=True, **_PATTERNS[2])
def conv_transpose2d(
    do: Steps,
    x: TensorRef,
    weight: TensorRef,
    bias: Given = None,
    stride: Each = 1,
    padding: Crop = 0,
    output_padding: Each = 0,
    groups: Positive = 1,
    dilation: Each = 1,
) -> TensorRef:
    """The gradient of `conv2d` by its input, as an op: x of shape (n, channels, h, w) or (channels, h, w), weight (channels,
    out / groups, kh, kw), bias (out,).

    x[n, c, i, j] * weight[c, o, p, q] is added to y[n, o, i * stride + p * dilation - padding, ...]; what an element of y meets
    is summed over (tap, channel), taps in rising order. y has (h - 1) * stride - 2 * padding + dilation * (kh - 1) + 1 +
    output_padding rows. padding may be a pair (before, after) for each axis, and negative.

    Raises
    ------
    InvalidProblemError
        Channels do not fit, padding leaves nothing, or an option is not what it may be.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, weight = np.float32([[[[1, 2]]]]), np.ones((1, 1, 2, 2), np.float32)
    >>> baracuda.conv_transpose2d(x, weight).tolist()
    [[[[1.0, 3.0, 2.0], [1.0, 3.0, 2.0]]]]
    """
    return transposed(do, x, weight, bias, stride, padding, output_padding, groups, dilation)


@composed(out=True, **_PATTERNS[3])
def conv_transpose3d(
    do: Steps,
    x: TensorRef,
    weight: TensorRef,
    bias: Given = None,
    stride: Each = 1,
    padding: Crop = 0,
    output_padding: Each = 0,
    groups: Positive = 1,
    dilation: Each = 1,
) -> TensorRef:
    """The transpose of a convolution over three spatial axes, as `conv_transpose2d` over two.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.conv_transpose3d(np.ones((1, 1, 1, 1, 2), np.float32), np.ones((1, 1, 1, 1, 2), np.float32)).tolist()
    [[[[[1.0, 2.0, 1.0]]]]]
    """
    return transposed(do, x, weight, bias, stride, padding, output_padding, groups, dilation)


@composed(**_BACKWARD[1])
def conv_transpose1d_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    weight: TensorRef,
    bias: Given = None,
    stride: Each = 1,
    padding: Crop = 0,
    output_padding: Each = 0,
    groups: Positive = 1,
    dilation: Each = 1,
    *,
    wrt: Wrt = None,
) -> Any:
    """The gradients of `conv_transpose1d`'s x, weight and bias, those named in `wrt` or of all tensors that are given.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, x, weight = np.float32([[[1, 2, 4]]]), np.float32([[[1, 2]]]), np.float32([[[1, 10]]])
    >>> [g.tolist() for g in baracuda.conv_transpose1d_backward(dy, x, weight)]
    [[[[21.0, 42.0]]], [[[5.0, 10.0]]]]
    """
    return transposed_backward(do, dy, x, weight, bias, stride, padding, output_padding, groups, dilation, wrt)


@composed(**_BACKWARD[2])
def conv_transpose2d_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    weight: TensorRef,
    bias: Given = None,
    stride: Each = 1,
    padding: Crop = 0,
    output_padding: Each = 0,
    groups: Positive = 1,
    dilation: Each = 1,
    *,
    wrt: Wrt = None,
) -> Any:
    """The gradients of `conv_transpose2d`'s x, weight and bias, those named in `wrt` or of all tensors that are given.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, weight = np.float32([[[[2]]]]), np.float32([[[[1, 10]]]])
    >>> baracuda.conv_transpose2d_backward(np.float32([[[[1, 1]]]]), x, weight, wrt=("x",)).tolist()
    [[[[11.0]]]]
    """
    return transposed_backward(do, dy, x, weight, bias, stride, padding, output_padding, groups, dilation, wrt)


@composed(**_BACKWARD[3])
def conv_transpose3d_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    weight: TensorRef,
    bias: Given = None,
    stride: Each = 1,
    padding: Crop = 0,
    output_padding: Each = 0,
    groups: Positive = 1,
    dilation: Each = 1,
    *,
    wrt: Wrt = None,
) -> Any:
    """The gradients of `conv_transpose3d`'s x, weight and bias, those named in `wrt` or of all tensors that are given.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> one = np.ones((1, 1, 1, 1, 1), np.float32)
    >>> baracuda.conv_transpose3d_backward(one, one, one * 3, wrt=("x",)).tolist()
    [[[[[3.0]]]]]
    """
    return transposed_backward(do, dy, x, weight, bias, stride, padding, output_padding, groups, dilation, wrt)
