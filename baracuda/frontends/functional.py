"""The daily surface: one function an op.

Each infers the descriptor from its tensors (NumPy, PyTorch, CuPy, JAX, any DLPack producer), takes the plan from a cache,
allocates the result with the caller's own library unless `out` is given, and runs on that library's current stream.
Errors are those of the plan: named, raised before anything is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.spec import check_axes, counted
from baracuda.frontends.call import apply, describe, one
from baracuda.frontends.declared import at_run_time, declared
from baracuda.frontends.words import Eps, FloatElement, Quantized
from baracuda.ops.attention.alibi import (
    AlibiArgs,
    AlibiBackwardArgs,
    AlibiBackwardDescriptor,
    AlibiBackwardPlan,
    AlibiDescriptor,
    AlibiPlan,
)
from baracuda.ops.normalization.rms_norm import (
    RMSNormArgs,
    RMSNormBackwardArgs,
    RMSNormBackwardDescriptor,
    RMSNormBackwardPlan,
    RMSNormDescriptor,
    RMSNormPlan,
)
from baracuda.ops.quantization.per_token import (
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
from baracuda.ops.softmax.softmax import (
    SoftmaxArgs,
    SoftmaxBackwardArgs,
    SoftmaxBackwardDescriptor,
    SoftmaxBackwardPlan,
    SoftmaxDescriptor,
    SoftmaxKind,
    SoftmaxPlan,
)


def _softmax(kind: SoftmaxKind, x: Any, axis: int, out: Any) -> Any:
    ref = describe(x, "x")
    descriptor = SoftmaxDescriptor(kind, ref.shape, axis, ref.kind)
    return one(apply(SoftmaxPlan, SoftmaxArgs, descriptor, x, (x,), [(ref.shape, ref.kind)], [out]))


@declared(x="... : float")
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


@declared(x="... : float")
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
    descriptor = SoftmaxBackwardDescriptor(kind, ref.shape, axis, ref.kind)
    return one(apply(SoftmaxBackwardPlan, SoftmaxBackwardArgs, descriptor, y, (dy, y), [(ref.shape, ref.kind)], [out]))


@declared(y="*shape : T float", dy="*shape : T")
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


@declared(y="*shape : T float", dy="*shape : T")
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
    axes = tuple(axis) if isinstance(axis, Sequence) else (axis,)
    check_axes("axis", axes, rank)
    return sum(1 << a for a in counted(axes, rank))


def _in_element(value: Any, name: str, element: ElementKind) -> ElementKind | None:
    """What a plan reads a tensor in that may be stored in the element or in its compute kind; None for the latter."""
    return element if describe(value, name).kind is element else None


def _is_flat(gamma: Any, mask: int) -> bool:
    """Whether a weight is a vector over several axes."""
    return gamma is not None and mask.bit_count() > 1 and len(describe(gamma, "gamma").shape) == 1


@at_run_time(eps=())
@declared(x="... : T float", gamma="... : T")
def rms_norm(
    x: Any,
    gamma: Any = None,
    *,
    axis: int | Sequence[int] = -1,
    eps: Eps = 1e-6,
    return_rms: bool = False,
    rms_element: ElementKind | None = None,
) -> Any:
    """x / sqrt(mean(x^2) + eps) * gamma over trailing axes.

    Parameters
    ----------
    x : tensor of rank 0 to 8 in f16, bf16, f32 or f64.
    gamma : weight with the shape of the normalised axes, or a vector of as many elements, or None.
    axis : the normalised axes, a suffix of all axes.
    eps : added to the mean square; a finite number, 0 or above.
    return_rms : whether to return (y, rms), which the backward pass needs.
    rms_element : what rms is stored in: the element of x, or the kind it is computed in (f32 for 16-bit floats), the default.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.rms_norm(np.array([[3.0, 4.0]]), eps=0.0).round(4).tolist()
    [[0.8485, 1.1314]]
    """
    ref = describe(x, "x")
    mask = _norm_mask(axis, len(ref.shape))
    how: dict[str, Any] = {"rms_element": rms_element, "flat_gamma": _is_flat(gamma, mask)}
    descriptor = RMSNormDescriptor(ref.shape, mask, gamma is not None, ref.kind, eps, **how)
    outputs = [(ref.shape, ref.kind), (descriptor.rms_shape(), descriptor.rms_kind)]
    y, rms = apply(RMSNormPlan, RMSNormArgs, descriptor, x, (x, gamma), outputs)
    return (y, rms) if return_rms else y


@declared(x="*shape : T float", dy="*shape : T", rms="... : float", gamma="... : T")
def rms_norm_backward(dy: Any, x: Any, rms: Any, gamma: Any = None, *, axis: int | Sequence[int] = -1) -> tuple[Any, Any]:
    """(dx, dgamma) of `rms_norm`, from the saved rms, in the element of x or in f32 (f64); dgamma has the shape of gamma and is
    None without it.

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
    mask, has_gamma = _norm_mask(axis, len(ref.shape)), gamma is not None
    how: dict[str, Any] = {"rms_element": _in_element(rms, "rms", ref.kind), "flat_gamma": _is_flat(gamma, mask)}
    descriptor = RMSNormBackwardDescriptor(ref.shape, mask, has_gamma, ref.kind, **how)
    outputs = [(ref.shape, ref.kind), (descriptor.gamma_shape, ref.kind) if has_gamma else None]
    dx, dgamma = apply(RMSNormBackwardPlan, RMSNormBackwardArgs, descriptor, x, (dy, x, gamma, rms), outputs)
    return dx, dgamma


@declared(scores="batch heads queries keys : T float", slopes="heads : T")
def alibi(scores: Any, slopes: Any, *, out: Any = None) -> Any:
    """scores[b,h,i,j] + slopes[h] * (j - i).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.alibi(np.zeros((1, 1, 2, 2), np.float32), np.ones(1, np.float32))[0, 0].tolist()
    [[0.0, 1.0], [-1.0, 0.0]]
    """
    ref = describe(scores, "scores")
    batch, heads, queries, keys = ref.shape
    descriptor = AlibiDescriptor(batch, heads, queries, keys, ref.kind)
    return one(apply(AlibiPlan, AlibiArgs, descriptor, scores, (scores, slopes), [(ref.shape, ref.kind)], [out]))


@declared(dy="batch heads queries keys : float")
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
    batch, heads, queries, keys = ref.shape
    descriptor = AlibiBackwardDescriptor(batch, heads, queries, keys, ref.kind)
    outputs = [(ref.shape, ref.kind) if dscores else None, (descriptor.heads, ref.kind) if dslopes else None]
    first, second = apply(AlibiBackwardPlan, AlibiBackwardArgs, descriptor, dy, (dy,), outputs)
    return first, second


@declared(x="tokens features : float", scale="tokens : float", zero_point="tokens : s32")
def quantize_per_token(
    x: Any, scale: Any, zero_point: Any = None, *, quantized: Quantized = ElementKind.S8, out: Any = None
) -> Any:
    """clamp(round_half_even(x / scale[n]) + zero_point[n]) to the range of `quantized` (s8 or u8).

    x is [tokens, features]; scale [tokens] in the element of x or in f32 (f64 where x is); zero_point [tokens] in s32, or None
    for 0.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.quantize_per_token(np.float32([[0.5, 1.5, 999]]), np.float32([1])).tolist()
    [[0, 2, 127]]
    """
    ref = describe(x, "x")
    stored = _in_element(scale, "scale", ref.kind)
    tokens, features = ref.shape
    descriptor = QuantizePerTokenDescriptor(tokens, features, ref.kind, quantized, zero_point is not None, scale_element=stored)
    inputs = (x, scale, zero_point)
    return one(apply(QuantizePerTokenPlan, QuantizePerTokenArgs, descriptor, x, inputs, [(ref.shape, quantized)], [out]))


@declared(x="tokens features : T float", dq="tokens features : T", scale="tokens : float", zero_point="tokens : s32")
def quantize_per_token_backward(
    dq: Any, x: Any, scale: Any, zero_point: Any = None, *, quantized: Quantized = ElementKind.S8, out: Any = None
) -> Any:
    """dq / scale[n] where the code was inside the clamp, 0 elsewhere.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, scale = np.float32([[0.5, 999]]), np.float32([2])
    >>> baracuda.quantize_per_token_backward(np.ones((1, 2), np.float32), x, scale).tolist()
    [[0.5, 0.0]]
    """
    ref = describe(x, "x")
    stored = _in_element(scale, "scale", ref.kind)
    tokens, features = ref.shape
    descriptor = QuantizePerTokenBackwardDescriptor(
        tokens, features, ref.kind, quantized, zero_point is not None, scale_element=stored
    )
    inputs = (dq, x, scale, zero_point)
    outputs = [(ref.shape, ref.kind)]
    return one(apply(QuantizePerTokenBackwardPlan, QuantizePerTokenBackwardArgs, descriptor, x, inputs, outputs, [out]))


@declared(q="tokens features : s8 u8", scale="tokens : float", zero_point="tokens : s32")
def dequantize_per_token(
    q: Any, scale: Any, zero_point: Any = None, *, element: FloatElement = ElementKind.F32, out: Any = None
) -> Any:
    """(q - zero_point[n]) * scale[n], in `element`; scale is in that or in f32 (f64 for f64).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.dequantize_per_token(np.int8([[1, -2]]), np.float32([0.5])).tolist()
    [[0.5, -1.0]]
    """
    ref = describe(q, "q")
    stored = _in_element(scale, "scale", element)
    tokens, features = ref.shape
    descriptor = DequantizePerTokenDescriptor(tokens, features, element, ref.kind, zero_point is not None, scale_element=stored)
    inputs = (q, scale, zero_point)
    return one(apply(DequantizePerTokenPlan, DequantizePerTokenArgs, descriptor, q, inputs, [(ref.shape, element)], [out]))


@declared(d_output="tokens features : float", scale="tokens : float")
def dequantize_per_token_backward(d_output: Any, scale: Any, *, quantized: Quantized = ElementKind.S8, out: Any = None) -> Any:
    """d_output * scale[n]: the gradient with respect to the code as a real value; scale is in the element of d_output or in f32
    (f64 for f64).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.dequantize_per_token_backward(np.ones((1, 2), np.float32), np.float32([0.5])).tolist()
    [[0.5, 0.5]]
    """
    ref = describe(d_output, "d_output")
    stored = _in_element(scale, "scale", ref.kind)
    tokens, features = ref.shape
    descriptor = DequantizePerTokenBackwardDescriptor(tokens, features, ref.kind, quantized, scale_element=stored)
    plan, args, outputs = DequantizePerTokenBackwardPlan, DequantizePerTokenBackwardArgs, [(ref.shape, ref.kind)]
    return one(apply(plan, args, descriptor, d_output, (d_output, scale), outputs, [out]))
