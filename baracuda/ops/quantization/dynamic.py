"""Scales and zero points found in the data: dynamic quantization, and the observer of training."""

from __future__ import annotations

from typing import Annotated, Any

from baracuda.core.bounds import AtLeast, AtMost
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import axes_of, axis_of, view
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.words import AxesOrAll, Eps
from baracuda.ops.quantization.ranges import Codes, Quantized8, check_range, codes_of
from baracuda.ops.quantization.row_formulas import OBSERVED, ROWS, STRAIGHT_THROUGH


def _kept(shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool) -> tuple[int, ...]:
    return tuple(1 if a in axes else n for a, n in enumerate(shape) if keepdims or a not in axes)


@composed(x="... : float", numbers={"eps": ()})
def quantize_dynamic(
    do: Steps,
    x: TensorRef,
    *,
    axis: AxesOrAll = None,
    dtype: Quantized8 = ElementKind.S8,
    symmetric: bool = True,
    quant_min: int | None = None,
    quant_max: int | None = None,
    eps: Eps = 0.0,
    keepdims: bool = False,
) -> Any:
    """Codes of x by a scale and a zero point that are chosen in the same pass: (q, scale, zero_point).

    Elements along `axis` share a scale: None is all of the tensor, -1 gives each row (token) one, all axes but one give each
    channel one. q is an s8 or u8 tensor of the codes quant_min to quant_max (default: all of `dtype`), scale in the kind that x
    computes in, zero_point s32; with `keepdims` both have extents of 1 along `axis`, so that `dequantize(q, scale, zero_point)`
    takes them.

    symmetric: scale = max |x| / (quant_max - middle), where the zero point is middle = (quant_min + quant_max + 1) // 2; where
    that is 0, zero_point is None. Else, as ONNX's DynamicQuantizeLinear has it: with least = min(x, 0) and most = max(x, 0),
    scale = (most - least) / (quant_max - quant_min), zero_point = clamp(rint(quant_min - least / scale)). Then scale =
    max(scale, eps), and 1 where it is 0 or there are no elements, and q = clamp(rint(x / scale) + zero_point), halves to even.
    A NaN or an infinity in x makes its scale that, and all codes of the scale 0.

    Differs from PyTorch: quantize_per_tensor_dynamic computes the scale in f64 and x * (1 / scale), which may differ in the
    last code; choose_qparams_optimized narrows the range step by step for a smaller squared error, where here it is that of x.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> q, scale, zero_point = baracuda.quantize_dynamic(np.float32([[-1, 2], [0, 127]]), axis=-1)
    >>> q.tolist(), zero_point
    ([[-64, 127], [0, 127]], None)
    >>> q, scale, zero_point = baracuda.quantize_dynamic(np.float32([-1, 0, 254]), dtype="u8", symmetric=False)
    >>> q.tolist(), float(scale), int(zero_point)
    ([0, 1, 255], 1.0, 1)
    """
    axes = axes_of(axis, len(x.shape))
    codes = codes_of(dtype, quant_min, quant_max, symmetric=symmetric)
    q = do.new(x.shape, codes.stored, x)
    scale, zero_point = _outputs(do, x, codes, _kept(x.shape, axes, keepdims), symmetric)
    if 0 in x.shape:
        do.fill(scale, 1.0)
        if not symmetric:
            do.fill(zero_point, codes.low)
    else:
        ones = _kept(x.shape, axes, True)
        found = [_with_ones(t, ones) for t in (scale, *(() if symmetric else (zero_point,)))]
        words = {"axis": axes} if x.shape else {}
        do.run(
            ROWS[symmetric], {"x": x}, (q, *found), dtype=codes.stored, low=codes.low, high=codes.high, eps=eps, **words
        )  # fmt: skip
    return q, scale, zero_point


def _outputs(do: Steps, x: TensorRef, codes: Codes, shape: tuple[int, ...], symmetric: bool) -> tuple[Any, Any]:
    """New tensors for scales and zero points; of a symmetric scheme the latter hold their number, None for 0."""
    scale = do.rows(shape, x.kind.compute)
    if not symmetric:
        return scale, do.rows(shape, ElementKind.S32)
    return scale, do.filled(shape, ElementKind.S32, codes.middle) if codes.middle else None


def _with_ones(t: TensorRef, shape: tuple[int, ...]) -> Any:
    """A contiguous tensor with axes of extent 1 among its own."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return view(t, 0, shape, strides[::-1])


# --- the observer of training -----------------------------------------------------------------------------------------


def _state(t: TensorRef, name: str, x: TensorRef, axis: int | None) -> Any:
    """A running statistic as a tensor that broadcasts to x."""
    rank = len(x.shape)
    if axis is None:
        if t.shape not in ((), (1,)):
            raise InvalidProblemError(f"{name}: shape is {t.shape}; expected () or (1,)")
        return view(t, 0, (1,) * rank, (0,) * rank)
    at = axis_of(axis, rank)
    if t.shape != (x.shape[at],):
        raise InvalidProblemError(f"{name}: shape is {t.shape}; expected ({x.shape[at]},), one for each point of axis {axis}")
    shape, strides = [1] * rank, [0] * rank
    shape[at], strides[at] = t.shape[0], t.strides[0]
    return view(t, 0, shape, strides)


@composed(
    x="... : float", running_min="? : float", running_max="? : float", numbers={"averaging_const": (), "eps": ()}, views=True
)
def moving_avg_observer(
    do: Steps,
    x: TensorRef,
    running_min: TensorRef,
    running_max: TensorRef,
    *,
    averaging_const: Annotated[float, AtLeast(0), AtMost(1)] = 0.01,
    axis: int | None = None,
    quant_min: int = -128,
    quant_max: int = 127,
    symmetric: bool = False,
    observe: bool = True,
    fake_quantize: bool = True,
    eps: Eps = 0.0,
) -> Any:
    """x rounded to a grid that follows moving averages of its smallest and largest elements: (y, scale, zero_point,
    new_running_min, new_running_max).

    Differs from PyTorch: fused_moving_avg_obs_fake_quant writes over running_min, running_max, scale and zero_point, which are
    results here.

    running_min and running_max are of shape () or (1,), or with `axis`, that of the channels, (channels,). Where x is observed, a
    new one is running + averaging_const * (of x - running), and x's own where running is infinite, as at the start. From them
    follow scale and zero_point (s32) as in `quantize_dynamic`, with max(|min|, |max|) where it says max |x|. y is
    (clamp(rint(x / scale) + zero_point, quant_min, quant_max) - zero_point) * scale, or x itself where `fake_quantize` is off.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> low, high = np.array(np.inf, np.float32), np.array(-np.inf, np.float32)
    >>> y, scale, zero_point, low, high = baracuda.moving_avg_observer(np.float32([0, 1.2, 255]), low, high)
    >>> y.tolist(), float(scale), int(zero_point), float(high)
    ([0.0, 1.0, 255.0], 1.0, -128, 255.0)
    """
    check_range(quant_min, quant_max, symmetric)
    low, high = _state(running_min, "running_min", x, axis), _state(running_max, "running_max", x, axis)
    scale, zero_point = do.rows(running_min.shape, x.kind.compute), do.rows(running_min.shape, ElementKind.S32)
    new_min, new_max = do.rows(running_min.shape, running_min.kind), do.rows(running_max.shape, running_max.kind)
    y = do.new(x.shape, x.kind, x) if fake_quantize else x
    if 0 in x.shape:
        do.copy(running_min, new_min)
        do.copy(running_max, new_max)
        do.fill(scale, 1.0)
        do.fill(zero_point, quant_min)
        return y, scale, zero_point, new_min, new_max
    kept = tuple(_state(t, "a result", x, axis) for t in (scale, zero_point, new_min, new_max))
    axes = tuple(a for a in range(len(x.shape)) if axis is None or a != axis % len(x.shape))
    do.run(
        OBSERVED[fake_quantize], {"x": x, "running_min": low, "running_max": high}, ((y, *kept) if fake_quantize else kept),
        axis=axes, low=quant_min, high=quant_max, symmetric=symmetric, observe=observe, averaging_const=averaging_const, eps=eps,
    )  # fmt: skip
    return y, scale, zero_point, new_min, new_max


@composed(dy="*shape : float", x="*shape : float", scale="? : float", zero_point="? : int")
def moving_avg_observer_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    scale: TensorRef,
    zero_point: TensorRef,
    *,
    axis: int | None = None,
    quant_min: int = -128,
    quant_max: int = 127,
) -> Any:
    """The gradient of `moving_avg_observer`'s x, by the scale and the zero point that it gave: straight through the rounding, dy
    where the code was in the range, else 0.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, x = np.ones(3, np.float32), np.float32([1, 200, -3])
    >>> baracuda.moving_avg_observer_backward(dy, x, np.array(1, np.float32), np.array(3)).tolist()
    [1.0, 0.0, 1.0]
    """
    by = {"scale": _state(scale, "scale", x, axis), "zero_point": _state(zero_point, "zero_point", x, axis)}
    check_range(quant_min, quant_max, False)
    words = {"quant_min": float(quant_min), "quant_max": float(quant_max)}
    dx = do.new(x.shape, x.kind, x)
    if 0 not in x.shape:
        do.run(STRAIGHT_THROUGH, {"dy": dy, "x": x, **by}, dx, **words)
    return dx
