"""Affine quantization: code = round(x / scale) + zero_point, for a tensor, its channels or its rows; and its simulation in
training, with the gradient straight through the rounding.

scale is a float tensor and zero_point (or None, for 0) an integer tensor, or numbers where x is a float; both broadcast to x, or
have one element for each point of `axis` where an op takes one. A NaN has the code 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast, const, select
from baracuda.ops.declaration.op import op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import NonNegative, Own, Positive, Scalar, Shape, Stored

_CODES = (ElementKind.S8, ElementKind.U8, ElementKind.S16, ElementKind.U16)


def _along(rank: int, axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(axes))


_PER_AXIS: dict[str, Any] = {"rows": True, "places": {"scale": _along, "zero_point": _along}}


def _code(x: Expr, scale: Expr, zero_point: Expr | None) -> Expr:
    """The code before it is limited, in the kind of x."""
    code = f.rint(x / cast(scale, x.kind))
    return code if zero_point is None else code + cast(zero_point, x.kind)


def _value(code: Expr, scale: Expr, zero_point: Expr | None) -> Expr:
    whole = code if zero_point is None else code - cast(zero_point, code.kind)
    return whole * cast(scale, code.kind)


def _quantized(x: Expr, scale: Expr, zero_point: Expr | None, element: ElementKind | None) -> Stored:
    kind = element or ElementKind.S8
    if kind not in _CODES:
        raise UnsupportedError(f"dtype: {kind}; expected one of {', '.join(map(str, _CODES))}")
    limits = np.iinfo(kind.numpy)
    code = f.clamp(_code(x, scale, zero_point), float(limits.min), float(limits.max))
    return Stored(cast(code, kind.compute), kind)


def _dequantized(q: Expr, scale: Expr, zero_point: Expr | None, element: ElementKind | None) -> Stored:
    kind = element or ElementKind.F32
    if not kind.is_float or kind.bits < 16:
        raise UnsupportedError(f"dtype: {kind}; expected a float of 16 bits or more")
    return Stored(_value(cast(q, kind.compute), scale, zero_point), kind)


@op(Rule.EACH, takes="float", element_option=True)
def quantize_per_tensor(x: Expr, scale: Own, zero_point: Own | None = None, *, element: ElementKind | None) -> Stored:
    """round(x / scale) + zero_point, halves to even, limited to the range of `dtype` (s8, the default, u8, s16 or u16).

    scale and zero_point broadcast to x.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.quantize_per_tensor(np.float32([0.25, 1.0, 99.0]), 0.5, 3).tolist()
    [3, 5, 127]
    """
    return _quantized(x, scale, zero_point, element)


@op(Rule.EACH, takes="float", element_option=True, **_PER_AXIS)
def quantize_per_channel(x: Expr, scale: Own, zero_point: Own | None = None, *, element: ElementKind | None) -> Stored:
    """`quantize_per_tensor` with one scale and zero_point for each point of `axis`."""
    return _quantized(x, scale, zero_point, element)


@op(Rule.EACH, takes="int", element_option=True)
def dequantize(q: Expr, scale: Own, zero_point: Own | None = None, *, element: ElementKind | None) -> Stored:
    """(q - zero_point) * scale in the element `dtype` (f32 by default); scale and zero_point broadcast to q.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.dequantize(np.int8([3, 5]), np.array(0.5, np.float32), np.array(3)).tolist()
    [0.0, 1.0]
    """
    return _dequantized(q, scale, zero_point, element)


@op(Rule.EACH, takes="int", element_option=True, **_PER_AXIS)
def dequantize_per_channel(q: Expr, scale: Own, zero_point: Own | None = None, *, element: ElementKind | None) -> Stored:
    """`dequantize` with one scale and zero_point for each point of `axis`."""
    return _dequantized(q, scale, zero_point, element)


# --- a scale for each token --------------------------------------------------------------------------------------------

#: The elements of codes of tokens.
CODES = (ElementKind.S8, ElementKind.U8)


def _checked(tensors: Mapping[str, tuple[Shape, ElementKind]], axes: tuple[int, ...], told: Mapping[str, Any]) -> None:
    (what, (shape, _)), *others = tensors.items()
    if len(shape) != 2:
        raise InvalidProblemError(f"{what}: shape is {shape}; expected (tokens, features)")
    for name, (own, kind) in others:
        if own != shape[:1]:
            raise InvalidProblemError(f"{name}: shape is {own}; expected {shape[:1]}, one for each token")
        if name == "zero_point" and not kind.is_integer:
            raise UnsupportedError(f"zero_point: element is {kind}; expected an integer")


def _along_tokens(rank: int, axes: tuple[int, ...]) -> tuple[int, ...]:
    return (0,)


_PER_TOKEN: dict[str, Any] = {
    "element_option": True,
    "differentiable": True,
    "constants": ("scale", "zero_point"),
    "places": {"scale": _along_tokens, "zero_point": _along_tokens},
    "check": _checked,
}


def _code_kind(element: ElementKind | None) -> ElementKind:
    kind = element or ElementKind.S8
    if kind not in CODES:
        raise UnsupportedError(f"dtype: {kind}; expected one of {', '.join(map(str, CODES))}")
    return kind


@op(Rule.EACH, takes="float", results=("q",), straight=("q",), **_PER_TOKEN)
def quantize_per_token(x: Expr, scale: Own, zero_point: Own | None = None, *, element: ElementKind | None) -> dict[str, Stored]:
    """round(x / scale[n]) + zero_point[n], halves to even, limited to the range of `dtype` (s8, the default, or u8).

    x is (tokens, features), scale (tokens), zero_point (tokens) of integers, at most 2**20 in magnitude, or None for
    0. A NaN has the code 0. The gradient goes straight through the rounding: dq / scale[n], of real values, where nothing was
    limited, else 0.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, scale = np.float32([[0.5, 1.5, 999]]), np.float32([1])
    >>> baracuda.quantize_per_token(x, scale).tolist()
    [[0, 2, 127]]
    >>> baracuda.quantize_per_token_backward(np.ones((1, 3), np.float32), x, scale).tolist()
    [[1.0, 1.0, 0.0]]
    """
    kind = _code_kind(element)
    low, high = (float(limit) for limit in (np.iinfo(kind.numpy).min, np.iinfo(kind.numpy).max))
    scaled = x / cast(scale, x.kind)
    if zero_point is None:
        limited = f.clamp(scaled, low, high)
    else:  # limiting before rounding gives the code that limiting after it would, since the limits are integers
        zero = cast(zero_point, x.kind)
        limited = f.clamp(scaled, low - zero, high - zero)
    code = f.nearest_integer(limited)
    code = code if zero_point is None else code + cast(zero_point, code.kind)
    return {"q": Stored(f.where(f.equal(limited, limited), code, const(0, code.kind)), kind)}


@quantize_per_token.backward
def _quantize_per_token_backward(
    dq: Expr, x: Expr, scale: Own, zero_point: Own | None, *, element: ElementKind | None
) -> dict[str, Expr]:
    """The factor 1 / scale is the derivative of x / scale, so that with `dequantize_per_token` the chain is the identity inside
    the limits."""
    limits = np.iinfo(_code_kind(element).numpy)
    code = _code(x, scale, zero_point)
    inside = (code >= float(limits.min)) & (code <= float(limits.max))
    return {"dx": f.where(inside, dq / cast(scale, x.kind), const(0.0, dq.kind))}


@op(Rule.EACH, takes="int", straight=("q",), unread={"q": ElementKind.S8}, **_PER_TOKEN)
def dequantize_per_token(q: Expr, scale: Own, zero_point: Own | None = None, *, element: ElementKind | None) -> Stored:
    """(q - zero_point[n]) * scale[n] in the element `dtype` (f32 by default).

    q is (tokens, features) of integers, scale and zero_point as in `quantize_per_token`. The gradient goes straight through the
    rounding: the backward, which takes dy, scale and zero_point, gives dq = dy * scale[n], of real values.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.dequantize_per_token(np.int8([[1, -2]]), np.float32([0.5])).tolist()
    [[0.5, -1.0]]
    >>> baracuda.dequantize_per_token_backward(np.ones((1, 2), np.float32), np.float32([0.5])).tolist()
    [[0.5, 0.5]]
    """
    kind = element or ElementKind.F32
    if not kind.is_float or kind.bits < 16:
        raise UnsupportedError(f"dtype: {kind}; expected a float of 16 bits or more")
    real = cast(scale, kind.compute)
    return Stored(cast(q if zero_point is None else q - cast(zero_point, q.kind), real.kind) * real, kind)


@dequantize_per_token.backward
def _dequantize_per_token_backward(dy: Expr, scale: Own, *, element: ElementKind | None) -> dict[str, Expr]:
    return {"dq": dy * cast(scale, dy.kind)}


# --- simulated --------------------------------------------------------------------------------------------------------


def _simulated(x: Expr, scale: Expr, zero_point: Expr | None, low: Scalar, high: Scalar) -> Expr:
    return _value(f.clamp(_code(x, scale, zero_point), low, high), scale, zero_point)


def _inside(x: Expr, scale: Expr, zero_point: Expr | None, low: Scalar, high: Scalar) -> Expr:
    code = _code(x, scale, zero_point)
    return (code >= low) & (code <= high)


def straight_through(
    dy: Expr, x: Expr, scale: Own, zero_point: Own | None = None, *, quant_min: Scalar, quant_max: Scalar
) -> dict[str, Expr]:
    """dy where the code is in the range, else 0."""
    return {"dx": select(_inside(x, scale, zero_point, quant_min, quant_max), dy, 0.0)}


_RANGE = (("quant_min", "quant_max"),)
_SIMULATED: dict[str, Any] = {"constants": ("scale", "zero_point"), "once": True, "ordered": _RANGE}


@op(**_SIMULATED)
def fake_quantize_per_tensor(
    x: Expr, scale: Own, zero_point: Own | None = None, *, quant_min: Scalar = -128.0, quant_max: Scalar = 127.0
) -> Expr:
    """(clamp(round(x / scale) + zero_point, quant_min, quant_max) - zero_point) * scale; dx is dy where nothing was limited.

    scale and zero_point broadcast to x.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.fake_quantize_per_tensor(np.float32([0.3, 99.0]), 0.5, quant_max=7).tolist()
    [0.5, 3.5]
    """
    return _simulated(x, scale, zero_point, quant_min, quant_max)


@op(**_SIMULATED, **_PER_AXIS)
def fake_quantize_per_channel(
    x: Expr, scale: Own, zero_point: Own | None = None, *, quant_min: Scalar = -128.0, quant_max: Scalar = 127.0
) -> Expr:
    """`fake_quantize_per_tensor` with one scale and zero_point for each point of `axis`."""
    return _simulated(x, scale, zero_point, quant_min, quant_max)


@op(rows=True, once=True)
def fake_quantize_per_token(x: Expr, *, quant_max: Positive = 127.0, eps: NonNegative = 1e-12) -> Expr:
    """Each row rounded to a grid of its own: round(x / scale) * scale with scale = max(max |x|, eps) / quant_max. dx is dy."""
    scale = f.maximum(f.max_(abs(x)), eps) / quant_max
    return f.rint(x / scale) * scale


fake_quantize_per_tensor.backward(straight_through)
fake_quantize_per_channel.backward(straight_through)


@fake_quantize_per_token.backward
def _(dy: Expr, *, quant_max: Scalar, eps: Scalar) -> dict[str, Expr]:
    return {"dx": dy}


@op(once=True, ordered=_RANGE)
def fake_quantize_learnable(
    x: Expr,
    scale: Own,
    zero_point: Own,
    *,
    quant_min: Scalar = -128.0,
    quant_max: Scalar = 127.0,
    grad_factor: Scalar = 1.0,
) -> Expr:
    """`fake_quantize_per_tensor` whose scale and zero_point (a float, which is rounded and limited) are learnt (Esser et al.
    2020, LSQ; Bhalgat et al. 2020, LSQ+): inside the range dscale is dy * (y - x) / scale, beyond it dy times the limit less the
    zero point, and dzero_point is -dy * scale there; both times grad_factor."""
    return _simulated(x, scale, _learnt(zero_point, quant_min, quant_max), quant_min, quant_max)


def _learnt(zero_point: Expr, low: Scalar, high: Scalar) -> Expr:
    return f.clamp(f.rint(zero_point), low, high)


@fake_quantize_learnable.backward
def _(
    dy: Expr, x: Expr, scale: Expr, zero_point: Expr, *, quant_min: Scalar, quant_max: Scalar, grad_factor: Scalar
) -> dict[str, Expr]:
    zero = cast(_learnt(zero_point, quant_min, quant_max), x.kind)
    code = _code(x, scale, zero)
    inside = (code >= quant_min) & (code <= quant_max)
    step = cast(scale, x.kind)
    limit = select(code < quant_min, quant_min - zero, quant_max - zero)
    by_scale = select(inside, (_value(code, scale, zero) - x) / step, limit)
    nothing = const(0.0, x.kind)
    return {
        "dx": select(inside, dy, nothing),
        "dscale": dy * by_scale * grad_factor,
        "dzero_point": select(inside, nothing, -(dy * step)) * grad_factor,
    }
