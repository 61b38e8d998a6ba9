"""The gradients of a product of quantized matrices: by its scales, its bias, and its factors as real numbers."""

from __future__ import annotations

from math import prod
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.sku import PlanPreference
from baracuda.frontends.call import describe
from baracuda.frontends.declared import declared
from baracuda.frontends.families import function
from baracuda.frontends.linear import scaled_mm
from baracuda.frontends.products import mm
from baracuda.frontends.views import filled
from baracuda.ops.declaration.composition import chosen, one_or_all
from baracuda.ops.declaration.words import Wrt

_F32 = ElementKind.F32


@declared(a="m k", b="k n", dy="m n : float", scale_a="... : f32", scale_b="... : f32", bias="n")
def scaled_mm_backward(
    dy: Any,
    a: Any,
    b: Any,
    scale_a: Any,
    scale_b: Any,
    bias: Any = None,
    *,
    wrt: Wrt = None,
    preference: PlanPreference | None = None,
) -> Any:
    """The gradients of `scaled_mm`'s tensors, those named in `wrt` or of all that are given.

    Those of a and b are of their values as real numbers, in the element of dy: s @ b.T and a.T @ s for
    s = dy * scale_a * scale_b, with the products in f32. A scale's is the sum, over the results that it is a factor of, of
    dy * (a @ b) by the other scale.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, a, b, half = np.float32([[1, 2]]), np.int8([[3]]), np.int8([[4, 5]]), np.float32([0.5])
    >>> [g.tolist() for g in baracuda.scaled_mm_backward(dy, a, b, half, half)]
    [[[3.5]], [[0.75, 1.5]], [21.0], [21.0]]
    """
    tensors = {"a": a, "b": b, "scale_a": scale_a, "scale_b": scale_b, "bias": bias}
    names = chosen(wrt, [n for n, t in tensors.items() if t is not None])
    cotangent = describe(dy, "dy")
    request = scaled_mm.request(scaled_mm.binding(tuple(tensors.values()), {"dtype": cotangent.kind}))
    if cotangent.shape != request.result_shape:
        raise InvalidProblemError(f"dy: shape is {cotangent.shape}; expected {request.result_shape}")
    times, total, cast = function("mul"), function("sum"), function("cast")
    gradients: dict[str, Any] = {}
    if {"a", "b"} & {*names}:
        scaled = times(times(cast(dy, dtype=_F32), scale_a), scale_b)
        if "a" in names:
            gradients["a"] = cast(mm(scaled, cast(b, dtype=_F32).swapaxes(0, 1), preference=preference), dtype=cotangent.kind)
        if "b" in names:
            gradients["b"] = cast(mm(cast(a, dtype=_F32).swapaxes(0, 1), scaled, preference=preference), dtype=cotangent.kind)
    if {"scale_a", "scale_b"} & {*names}:
        one = filled(dy, (), _F32, 1.0)
        products = times(cast(dy, dtype=_F32), scaled_mm(a, b, one, one, dtype=_F32, preference=preference))
        for name, other, axis in (("scale_a", scale_b, 1), ("scale_b", scale_a, 0)):
            shape = describe(tensors[name], name).shape
            axes = (0, 1) if prod(shape) == 1 else (axis,)
            gradients[name] = total(times(products, other), axis=axes).reshape(shape)
    if "bias" in names:
        gradients["bias"] = total(dy, axis=0, keepdims=False, dtype=cotangent.kind)
    return one_or_all([gradients[n] for n in names])
