"""Convolutions of one to three spatial axes, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import view
from baracuda.ops.convolution.options import (
    Activation,
    Each,
    Padding,
    PaddingMode,
    batched,
    check_groups,
    check_vector,
    common,
    each,
    grouped_input,
    grouped_vector,
    grouped_weight,
    pairs,
    relations_of,
    unbatched,
)
from baracuda.ops.convolution.relation import Relation
from baracuda.ops.convolution.steps import convolve, gradient_by_bias, gradient_by_input, gradient_by_weight
from baracuda.ops.declaration.composition import Given, Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.words import Positive, Wrt
from baracuda.ops.elementwise import activations
from baracuda.ops.shapes.pads import pad, pad_backward

KINDS = "f16 bf16 f32 f64 s8 u8 s16 u16 s32 s64 complex64 complex128 T"


class _Call(NamedTuple):
    """What a call's options come to: the padding that is made beforehand, and how windows lie in what it gives."""

    rank: int
    groups: int
    before: tuple[tuple[int, int], ...] | None
    relations: list[Relation]
    columns: int


def _call(
    x: TensorRef, weight: TensorRef, stride: Each, padding: Padding, dilation: Each, groups: int, padding_mode: str
) -> _Call:
    rank = len(weight.shape) - 2
    inputs, taps = x.shape[len(x.shape) - rank :], weight.shape[2:]
    check_groups(x.shape[len(x.shape) - rank - 1], weight.shape[0], weight.shape[1], groups)
    steps, spread = each("stride", stride, rank), each("dilation", dilation, rank)
    widths = pairs(padding, inputs, taps, steps, spread)
    before = None
    if padding_mode != "zeros" and any(any(p) for p in widths):
        before, inputs = widths, tuple(n + sum(p) for n, p in zip(inputs, widths, strict=True))
        widths = ((0, 0),) * rank
    return _Call(rank, groups, before, relations_of(inputs, taps, steps, spread, widths), weight.shape[0])


_MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def _padded(do: Steps, x: TensorRef, call: _Call, mode: str) -> Any:
    """x with what another mode than zeros adds."""
    if call.before is None:
        return x
    for n, p in zip(x.shape[2:], call.before, strict=True):
        most = n - 1 if mode == "reflect" else n if mode == "circular" else None
        if most is not None and max(p) > most:
            raise InvalidProblemError(f"padding: {p} of {n} elements in mode {mode!r}; expected at most {most}")
    lead = len(x.shape) - call.rank
    axes = tuple(range(lead, lead + call.rank))
    inner, out = do, do.out
    inner.out = None
    try:
        return pad(inner, x, call.before, _MODES[mode], axes=axes)
    finally:
        inner.out = out


def convolution(
    do: Steps,
    x: TensorRef,
    weight: TensorRef,
    bias: Given,
    stride: Each,
    padding: Padding,
    dilation: Each,
    groups: int,
    padding_mode: str,
    scale: Given = None,
    residual: Given = None,
    activation: str = "none",
) -> TensorRef:
    """The result of any of these."""
    call = _call(x, weight, stride, padding, dilation, groups, padding_mode)
    check_vector("bias", bias, call.columns)
    check_vector("scale", scale, call.columns)
    many = batched(x, call.rank)
    full = (many.shape[0], call.columns, *(r.outputs for r in call.relations))
    shape = unbatched(full, x, call.rank)
    if residual is not None and residual.shape != shape:
        raise InvalidProblemError(f"residual: shape is {residual.shape}; expected {shape}")
    source = _padded(do, many, call, padding_mode)
    y = do.result(shape, x.kind, x)
    axes = common(call.rank)
    convolve(
        do,
        grouped_input(source, axes, groups),
        grouped_weight(weight, axes, groups),
        grouped_input(batched(y, call.rank), axes, groups),
        call.relations,
        scale=grouped_vector(scale, groups),
        bias=grouped_vector(bias, groups),
        residual=None if residual is None else grouped_input(batched(residual, call.rank), axes, groups),
        activation=activation,
    )
    return y


def convolution_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    weight: TensorRef,
    bias: Given,
    stride: Each,
    padding: Padding,
    dilation: Each,
    groups: int,
    padding_mode: str,
    activation: str,
    wrt: Sequence[str] | None,
) -> Any:
    """The gradients of any of these."""
    names = chosen(wrt, ("x", "weight", "bias") if bias is not None else ("x", "weight"))
    call = _call(x, weight, stride, padding, dilation, groups, padding_mode)
    many = batched(x, call.rank)
    shape = unbatched((many.shape[0], call.columns, *(r.outputs for r in call.relations)), x, call.rank)
    if dy.shape != shape:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {shape}")
    if activation != "none":
        z = convolution(do, x, weight, bias, stride, padding, dilation, groups, padding_mode)
        gelu = activation.startswith("gelu")
        op = activations.gelu if gelu else getattr(activations, activation)
        options: dict[str, Any] = {"approximate": "tanh" if activation == "gelu_tanh" else "none"} if gelu else {}
        dy = do.gradients(op, {"x": z}, dy, ["x"], **options)["x"]
    return one_or_all([_gradient(do, name, dy, many, x, weight, bias, call, padding_mode) for name in names])


def _gradient(
    do: Steps, name: str, dy: TensorRef, many: TensorRef, x: TensorRef, weight: TensorRef, bias: Given, call: _Call, mode: str
) -> TensorRef:
    rank, groups, axes = call.rank, call.groups, common(call.rank)
    full = batched(dy, rank)
    if name == "bias":
        return gradient_by_bias(do, dy, len(dy.shape) - rank - 1)
    by = grouped_input(full, axes, groups)
    if name == "x":
        padded_shape = (*many.shape[:2], *(r.inputs for r in call.relations))
        dx = do.new_like(x) if call.before is None else do.new(padded_shape, x.kind)
        into = grouped_input(batched(dx, rank), axes, groups)
        gradient_by_input(do, by, grouped_weight(weight, axes, groups), into, call.relations)
        if call.before is None:
            return dx
        lead = len(many.shape) - rank
        found: TensorRef = pad_backward(do, dx, many, call.before, _MODES[mode], axes=tuple(range(lead, lead + rank)))
        single: TensorRef = view(found, 0, x.shape, found.strides[-len(x.shape) :])
        return found if len(x.shape) == len(many.shape) else single
    source = _padded(do, many, call, mode)
    dw = do.new_like(weight)
    gradient_by_weight(do, by, grouped_input(source, axes, groups), grouped_weight(dw, axes, groups), call.relations)
    return dw


_PATTERNS: dict[int, dict[str, Any]] = {
    rank: {
        "x": f"n channels {axes} or channels {axes} : {KINDS}",
        "weight": f"out inner {taps} : T",
        "bias": "out : T",
        "scale": "out : T",
        "residual": "? : T",
    }
    for rank, axes, taps in ((1, "l", "k"), (2, "h w", "kh kw"), (3, "d h w", "kd kh kw"))
}
_BACKWARD = {rank: {"dy": "? : T"} | {n: p[n] for n in ("x", "weight", "bias")} for rank, p in _PATTERNS.items()}


@composed(out=True, **_PATTERNS[1])
def conv1d(
    do: Steps,
    x: TensorRef,
    weight: TensorRef,
    bias: Given = None,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    groups: Positive = 1,
    *,
    padding_mode: PaddingMode = "zeros",
    scale: Given = None,
    residual: Given = None,
    activation: Activation = "none",
) -> TensorRef:
    """activation(scale * conv(x, weight) + bias + residual) over one spatial axis, as `conv2d` over two.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.conv1d(np.float32([[[1, 2, 4, 8]]]), np.float32([[[1, 10]]])).tolist()
    [[[21.0, 42.0, 84.0]]]
    """
    return convolution(do, x, weight, bias, stride, padding, dilation, groups, padding_mode, scale, residual, activation)


@composed(out=True, **_PATTERNS[2])
def conv2d(
    do: Steps,
    x: TensorRef,
    weight: TensorRef,
    bias: Given = None,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    groups: Positive = 1,
    *,
    padding_mode: PaddingMode = "zeros",
    scale: Given = None,
    residual: Given = None,
    activation: Activation = "none",
) -> TensorRef:
    """activation(scale * conv(x, weight) + bias + residual): x of shape (n, channels, h, w) or (channels, h, w) and any strides,
    weight (out, channels / groups, kh, kw), scale and bias (out,), residual as the result.

    y[n, o, i, j] is the sum over taps p, q and the channels c of o's group of x[n, c, i * stride + p * dilation - padding, ...] *
    weight[o, c, p, q]. stride and dilation are a number or one for each axis; padding too, or a pair (before, after) for each,
    "valid" for none, "same" for ceil(h / stride) outputs ("same_lower" with the larger half before), and may be negative.
    padding_mode "reflect", "replicate" and "circular" say what is there instead of zeros. Padding is never multiplied: a weight
    that is not finite does not meet it. The result lies in memory as x does, so that channels may be the last ones there.

    Sums are taken as in `ConvolutionPlan`; what follows them is computed before the result is rounded.

    Raises
    ------
    InvalidProblemError
        Channels do not fit the groups, or an option is not what it may be.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, weight = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3), np.ones((1, 1, 2, 2), np.float32)
    >>> baracuda.conv2d(x, weight).tolist()
    [[[[8.0, 12.0], [20.0, 24.0]]]]
    """
    return convolution(do, x, weight, bias, stride, padding, dilation, groups, padding_mode, scale, residual, activation)


@composed(out=True, **_PATTERNS[3])
def conv3d(
    do: Steps,
    x: TensorRef,
    weight: TensorRef,
    bias: Given = None,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    groups: Positive = 1,
    *,
    padding_mode: PaddingMode = "zeros",
    scale: Given = None,
    residual: Given = None,
    activation: Activation = "none",
) -> TensorRef:
    """activation(scale * conv(x, weight) + bias + residual) over three spatial axes, as `conv2d` over two.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.conv3d(np.ones((1, 1, 2, 2, 2), np.float32), np.ones((1, 1, 2, 2, 2), np.float32)).tolist()
    [[[[[8.0]]]]]
    """
    return convolution(do, x, weight, bias, stride, padding, dilation, groups, padding_mode, scale, residual, activation)


@composed(**_BACKWARD[1])
def conv1d_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    weight: TensorRef,
    bias: Given = None,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    groups: Positive = 1,
    *,
    padding_mode: PaddingMode = "zeros",
    activation: Activation = "none",
    wrt: Wrt = None,
) -> Any:
    """The gradients of `conv1d`'s x, weight and bias, those named in `wrt` or of all tensors that are given, in this order.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, weight = np.float32([[[1, 2, 4]]]), np.float32([[[1, 10]]])
    >>> [g.tolist() for g in baracuda.conv1d_backward(np.float32([[[1, 1]]]), x, weight)]
    [[[[1.0, 11.0, 10.0]]], [[[3.0, 6.0]]]]
    """
    return convolution_backward(do, dy, x, weight, bias, stride, padding, dilation, groups, padding_mode, activation, wrt)


@composed(**_BACKWARD[2])
def conv2d_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    weight: TensorRef,
    bias: Given = None,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    groups: Positive = 1,
    *,
    padding_mode: PaddingMode = "zeros",
    activation: Activation = "none",
    wrt: Wrt = None,
) -> Any:
    """The gradients of `conv2d`'s x, weight and bias, those named in `wrt` or of all tensors that are given, in this order.

    The gradient by x sums over (tap, output channel), that by the weight over (output position, batch), in chains that begin anew
    after 2,048 terms or more; what the activation is applied to is computed again.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, weight = np.ones((1, 1, 2, 2), np.float32), np.ones((1, 1, 1, 1), np.float32)
    >>> baracuda.conv2d_backward(np.ones((1, 1, 2, 2), np.float32), x, weight, wrt=("weight",)).tolist()
    [[[[4.0]]]]
    """
    return convolution_backward(do, dy, x, weight, bias, stride, padding, dilation, groups, padding_mode, activation, wrt)


@composed(**_BACKWARD[3])
def conv3d_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    weight: TensorRef,
    bias: Given = None,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    groups: Positive = 1,
    *,
    padding_mode: PaddingMode = "zeros",
    activation: Activation = "none",
    wrt: Wrt = None,
) -> Any:
    """The gradients of `conv3d`'s x, weight and bias, those named in `wrt` or of all tensors that are given, in this order.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = np.ones((1, 1, 1, 1, 2), np.float32)
    >>> baracuda.conv3d_backward(x, x, np.ones((1, 1, 1, 1, 1), np.float32), wrt=("weight",)).tolist()
    [[[[[2.0]]]]]
    """
    return convolution_backward(do, dy, x, weight, bias, stride, padding, dilation, groups, padding_mode, activation, wrt)
