"""The daily surface: one function an op.

Each infers the descriptor from its tensors (NumPy, PyTorch, CuPy, JAX, any DLPack producer), takes the plan from a cache,
allocates the result with the caller's own library unless `out` is given, and runs on that library's current stream.
Errors are those of the plan: named, raised before anything is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.spec import check_axis, counted
from baracuda.frontends.arrays import broadcast
from baracuda.frontends.call import apply, describe, one
from baracuda.ops.alibi import AlibiArgs, AlibiBackwardArgs, AlibiBackwardPlan, AlibiDescriptor, AlibiPlan
from baracuda.ops.binary import (
    BinaryKind,
    BinaryParamArgs,
    BinaryParamBackwardArgs,
    BinaryParamBackwardPlan,
    BinaryParamDescriptor,
    BinaryParamPlan,
)
from baracuda.ops.normalization import (
    RMSNormArgs,
    RMSNormBackwardArgs,
    RMSNormBackwardDescriptor,
    RMSNormBackwardPlan,
    RMSNormDescriptor,
    RMSNormPlan,
)
from baracuda.ops.quantization import (
    DequantizePerTokenArgs,
    DequantizePerTokenBackwardArgs,
    DequantizePerTokenBackwardDescriptor,
    DequantizePerTokenBackwardPlan,
    DequantizePerTokenDescriptor,
    DequantizePerTokenPlan,
    QuantizePerTokenArgs,
    QuantizePerTokenBackwardArgs,
    QuantizePerTokenBackwardDescriptor,
    QuantizePerTokenBackwardPlan,
    QuantizePerTokenDescriptor,
    QuantizePerTokenPlan,
)
from baracuda.ops.softmax import (
    SoftmaxArgs,
    SoftmaxBackwardArgs,
    SoftmaxBackwardPlan,
    SoftmaxDescriptor,
    SoftmaxKind,
    SoftmaxPlan,
)


def _softmax(kind: SoftmaxKind, x: Any, axis: int, out: Any) -> Any:
    ref = describe(x, "x")
    descriptor = SoftmaxDescriptor(kind, ref.shape, axis, ref.kind)
    return one(apply(SoftmaxPlan, SoftmaxArgs, descriptor, x, (x,), [(ref.shape, ref.kind)], [out]))


def softmax(x: Any, axis: int = -1, *, out: Any = None) -> Any:
    """exp(x - max x) / sum exp(x - max x) along an axis.

    Parameters
    ----------
    x : tensor of rank 0 to 8 in f16, bf16, f32 or f64, any strides.
    axis : the axis that sums to 1.
    out : where to write the result; may be `x` itself.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.softmax(np.zeros((1, 4), np.float32)).tolist()
    [[0.25, 0.25, 0.25, 0.25]]
    """
    return _softmax(SoftmaxKind.SOFTMAX, x, axis, out)


def log_softmax(x: Any, axis: int = -1, *, out: Any = None) -> Any:
    """x - max x - log(sum exp(x - max x)) along an axis; parameters as for `softmax`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> bool(abs(baracuda.log_softmax(np.zeros(2, np.float64))[0] + np.log(2)) < 1e-15)
    True
    """
    return _softmax(SoftmaxKind.LOG_SOFTMAX, x, axis, out)


def _softmax_backward(kind: SoftmaxKind, dy: Any, y: Any, axis: int, out: Any) -> Any:
    ref = describe(y, "y")
    descriptor = SoftmaxDescriptor(kind, ref.shape, axis, ref.kind)
    return one(apply(SoftmaxBackwardPlan, SoftmaxBackwardArgs, descriptor, y, (dy, y), [(ref.shape, ref.kind)], [out]))


def softmax_backward(dy: Any, y: Any, axis: int = -1, *, out: Any = None) -> Any:
    """y * (dy - sum(y * dy)): the gradient of x, from the gradient and the saved result of `softmax`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> y = np.array([0.5, 0.5], np.float32)
    >>> baracuda.softmax_backward(np.array([1, 0], np.float32), y).tolist()
    [0.25, -0.25]
    """
    return _softmax_backward(SoftmaxKind.SOFTMAX, dy, y, axis, out)


def log_softmax_backward(dy: Any, y: Any, axis: int = -1, *, out: Any = None) -> Any:
    """dy - exp(y) * sum(dy): the gradient of x, from the gradient and the saved result of `log_softmax`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> y = np.log(np.array([0.5, 0.5]))
    >>> baracuda.log_softmax_backward(np.array([1.0, 0.0]), y).round(12).tolist()
    [0.5, -0.5]
    """
    return _softmax_backward(SoftmaxKind.LOG_SOFTMAX, dy, y, axis, out)


def _norm_mask(axis: int | Sequence[int], rank: int) -> int:
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    for a in axes:
        check_axis("axis", a, rank)
    return sum(1 << a for a in set(counted(axes, rank)))


def rms_norm(x: Any, gamma: Any = None, *, axis: int | Sequence[int] = -1, eps: float = 1e-6, return_rms: bool = False) -> Any:
    """x / sqrt(mean(x^2) + eps) * gamma over trailing axes.

    Parameters
    ----------
    x : tensor of rank 0 to 8 in f16, bf16, f32 or f64.
    gamma : weight with the shape of the normalised axes, or None.
    axis : the normalised axes, a suffix of all axes.
    eps : added to the mean square.
    return_rms : whether to return (y, rms), which the backward pass needs.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.rms_norm(np.array([[3.0, 4.0]]), eps=0.0).round(4).tolist()
    [[0.8485, 1.1314]]
    """
    ref = describe(x, "x")
    descriptor = RMSNormDescriptor(ref.shape, _norm_mask(axis, len(ref.shape)), gamma is not None, ref.kind, eps)
    outputs = [(ref.shape, ref.kind), (descriptor.rms_shape, ref.kind.compute)]
    y, rms = apply(RMSNormPlan, RMSNormArgs, descriptor, x, (x, gamma), outputs)
    return (y, rms) if return_rms else y


def rms_norm_backward(dy: Any, x: Any, rms: Any, gamma: Any = None, *, axis: int | Sequence[int] = -1) -> tuple[Any, Any]:
    """(dx, dgamma) of `rms_norm`, from the saved rms; dgamma is None without gamma.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = np.array([[3.0, 4.0]])
    >>> y, rms = baracuda.rms_norm(x, eps=0.0, return_rms=True)
    >>> dx, dgamma = baracuda.rms_norm_backward(x, x, rms)
    >>> np.abs(dx).max() < 1e-15, dgamma
    (np.True_, None)
    """
    ref = describe(x, "x")
    has_gamma = gamma is not None
    descriptor = RMSNormBackwardDescriptor(ref.shape, _norm_mask(axis, len(ref.shape)), has_gamma, ref.kind)
    outputs = [(ref.shape, ref.kind), (descriptor.gamma_shape, ref.kind) if has_gamma else None]
    dx, dgamma = apply(RMSNormBackwardPlan, RMSNormBackwardArgs, descriptor, x, (dy, x, gamma, rms), outputs)
    return dx, dgamma


def _alibi_descriptor(ref: Any, name: str) -> AlibiDescriptor:
    if len(ref.shape) != 4:
        raise InvalidProblemError(f"{name}: shape is {ref.shape}; expected [batch, heads, queries, keys]")
    batch, heads, queries, keys = ref.shape
    return AlibiDescriptor(batch, heads, queries, keys, ref.kind)


def alibi(scores: Any, slopes: Any, *, out: Any = None) -> Any:
    """scores[b,h,i,j] + slopes[h] * (j - i).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.alibi(np.zeros((1, 1, 2, 2), np.float32), np.ones(1, np.float32))[0, 0].tolist()
    [[0.0, 1.0], [-1.0, 0.0]]
    """
    ref = describe(scores, "scores")
    descriptor = _alibi_descriptor(ref, "scores")
    return one(apply(AlibiPlan, AlibiArgs, descriptor, scores, (scores, slopes), [(ref.shape, ref.kind)], [out]))


def alibi_backward(dy: Any, *, dscores: bool = True, dslopes: bool = True) -> tuple[Any, Any]:
    """(dscores, dslopes) of `alibi`; the flags say which to compute, None stands for the other.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy = np.array([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> baracuda.alibi_backward(dy, dscores=False)[1].tolist()
    [-1.0]
    """
    ref = describe(dy, "dy")
    descriptor = _alibi_descriptor(ref, "dy")
    outputs = [(ref.shape, ref.kind) if dscores else None, (descriptor.heads, ref.kind) if dslopes else None]
    first, second = apply(AlibiBackwardPlan, AlibiBackwardArgs, descriptor, dy, (dy,), outputs)
    return first, second


def lerp(a: Any, b: Any, weight: float, *, out: Any = None) -> Any:
    """a + weight * (b - a), elementwise, broadcasting.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.lerp(np.zeros(2, np.float32), np.float32([1, 2]), 0.5).tolist()
    [0.5, 1.0]
    """
    first, second = describe(a, "a"), describe(b, "b")
    shape = _broadcast_shape(first.shape, second.shape)
    like = a if prod(first.shape) == prod(shape) else b
    descriptor = BinaryParamDescriptor(BinaryKind.LERP, shape, first.kind, weight)
    inputs = (broadcast(a, shape), broadcast(b, shape))
    return one(apply(BinaryParamPlan, BinaryParamArgs, descriptor, like, inputs, [(shape, first.kind)], [out]))


def lerp_backward(dy: Any, weight: float) -> tuple[Any, Any]:
    """(da, db) = ((1 - weight) * dy, weight * dy).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [g.tolist() for g in baracuda.lerp_backward(np.ones(1, np.float32), 0.25)]
    [[0.75], [0.25]]
    """
    ref = describe(dy, "dy")
    descriptor = BinaryParamDescriptor(BinaryKind.LERP, ref.shape, ref.kind, weight)
    da, db = apply(BinaryParamBackwardPlan, BinaryParamBackwardArgs, descriptor, dy, (dy,), [(ref.shape, ref.kind)] * 2)
    return da, db


def _broadcast_shape(a: Sequence[int], b: Sequence[int]) -> tuple[int, ...]:
    rank = max(len(a), len(b))
    left, right = (1,) * (rank - len(a)) + tuple(a), (1,) * (rank - len(b)) + tuple(b)
    if any(m != n and 1 not in (m, n) for m, n in zip(left, right, strict=True)):
        raise InvalidProblemError(f"shapes {tuple(a)} and {tuple(b)} do not broadcast")
    return tuple(n if m == 1 else m for m, n in zip(left, right, strict=True))


def _tokens(ref: Any, name: str) -> tuple[int, int]:
    if len(ref.shape) != 2:
        raise InvalidProblemError(f"{name}: shape is {ref.shape}; expected [tokens, features]")
    return ref.shape[0], ref.shape[1]


_QUANTIZED = {"s8": ElementKind.S8, "int8": ElementKind.S8, "u8": ElementKind.U8, "uint8": ElementKind.U8}


def _quantized(kind: ElementKind | str) -> ElementKind:
    if isinstance(kind, ElementKind):
        return kind
    if kind not in _QUANTIZED:
        raise UnsupportedError(f"quantized: {kind!r}; expected one of {', '.join(_QUANTIZED)}")
    return _QUANTIZED[kind]


def quantize_per_token(
    x: Any, scale: Any, zero_point: Any = None, *, quantized: ElementKind | str = "s8", out: Any = None
) -> Any:
    """clamp(round_half_even(x / scale[n]) + zero_point[n]) to the range of `quantized` (s8 or u8).

    x is [tokens, features]; scale [tokens] in f32 (f64 where x is); zero_point [tokens] in s32, or None for 0.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.quantize_per_token(np.float32([[0.5, 1.5, 999]]), np.float32([1])).tolist()
    [[0, 2, 127]]
    """
    ref, q = describe(x, "x"), _quantized(quantized)
    descriptor = QuantizePerTokenDescriptor(*_tokens(ref, "x"), ref.kind, q, zero_point is not None)
    inputs = (x, scale, zero_point)
    return one(apply(QuantizePerTokenPlan, QuantizePerTokenArgs, descriptor, x, inputs, [(ref.shape, q)], [out]))


def quantize_per_token_backward(
    dq: Any, x: Any, scale: Any, zero_point: Any = None, *, quantized: ElementKind | str = "s8", out: Any = None
) -> Any:
    """dq / scale[n] where the code was inside the clamp, 0 elsewhere.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, scale = np.float32([[0.5, 999]]), np.float32([2])
    >>> baracuda.quantize_per_token_backward(np.ones((1, 2), np.float32), x, scale).tolist()
    [[0.5, 0.0]]
    """
    ref, q = describe(x, "x"), _quantized(quantized)
    descriptor = QuantizePerTokenBackwardDescriptor(*_tokens(ref, "x"), ref.kind, q, zero_point is not None)
    inputs = (dq, x, scale, zero_point)
    outputs = [(ref.shape, ref.kind)]
    return one(apply(QuantizePerTokenBackwardPlan, QuantizePerTokenBackwardArgs, descriptor, x, inputs, outputs, [out]))


def dequantize_per_token(
    q: Any, scale: Any, zero_point: Any = None, *, element: ElementKind = ElementKind.F32, out: Any = None
) -> Any:
    """(q - zero_point[n]) * scale[n], in `element`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.dequantize_per_token(np.int8([[1, -2]]), np.float32([0.5])).tolist()
    [[0.5, -1.0]]
    """
    ref = describe(q, "q")
    descriptor = DequantizePerTokenDescriptor(*_tokens(ref, "q"), element, ref.kind, zero_point is not None)
    inputs = (q, scale, zero_point)
    return one(apply(DequantizePerTokenPlan, DequantizePerTokenArgs, descriptor, q, inputs, [(ref.shape, element)], [out]))


def dequantize_per_token_backward(dy: Any, scale: Any, *, quantized: ElementKind | str = "s8", out: Any = None) -> Any:
    """dy * scale[n]: the gradient with respect to the code as a real value.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.dequantize_per_token_backward(np.ones((1, 2), np.float32), np.float32([0.5])).tolist()
    [[0.5, 0.5]]
    """
    ref = describe(dy, "dy")
    descriptor = DequantizePerTokenBackwardDescriptor(*_tokens(ref, "dy"), ref.kind, _quantized(quantized), False)
    outputs = [(ref.shape, ref.kind)]
    return one(apply(DequantizePerTokenBackwardPlan, DequantizePerTokenBackwardArgs, descriptor, dy, (dy, scale), outputs, [out]))
