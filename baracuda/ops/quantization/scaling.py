"""Scales that follow from statistics: SmoothQuant's of channels, and the delayed ones of 8-bit floats."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np

from baracuda.core.bounds import AtLeast, AtMost
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.parameters import OneOf
from baracuda.core.tensor import TensorRef
from baracuda.core.views import axis_at, expanded_dims, slab
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast, select
from baracuda.formula.small_floats import FORMATS
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Scalar, Stored

_INTERNAL: dict[str, Any] = {"family": "quantization", "takes": "float", "differentiable": False}
_F32 = ElementKind.F32
_ByteFloat = Annotated[Any, OneOf((ElementKind.F8E4M3, ElementKind.F8E5M2))]


def _migrated(amax_x: Expr, amax_w: Expr, *, alpha: Scalar = 0.5, eps: Scalar = 1e-5) -> Expr:
    largest = f.maximum(amax_w, eps)
    return f.maximum(f.pow_(f.maximum(amax_x, eps), alpha) / f.pow_(largest, 1.0 - alpha), eps)


_MIGRATED = Op(_migrated, Rule.COMMON, name="migrated_scale", **_INTERNAL)


@composed(
    amax_x="channels : float", amax_w="channels : float", x="... channels : float", weight="outputs channels : float",
    numbers={"alpha": (), "eps": ()},
)  # fmt: skip
def smooth_quant_scale(
    do: Steps,
    amax_x: TensorRef,
    amax_w: TensorRef,
    *,
    alpha: Annotated[float, AtLeast(0), AtMost(1)] = 0.5,
    eps: Annotated[float, AtLeast(0)] = 1e-5,
    x: Given = None,
    weight: Given = None,
) -> Any:
    """s = max(amax_x, eps)**alpha / max(amax_w, eps)**(1 - alpha) for each input channel, at least eps: what activations are
    divided and weights multiplied by, so that both are easier to quantize and their product stays (Xiao et al. 2023,
    SmoothQuant).

    With `x` (..., channels) or `weight` (outputs, channels) the result is a tuple: s, then x / s, then weight * s, those given.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.smooth_quant_scale(np.float32([4, 100]), np.float32([1, 4])).tolist()
    [2.0, 5.0]
    >>> s, x = baracuda.smooth_quant_scale(np.float32([4, 100]), np.float32([1, 4]), x=np.float32([[4, 100]]))
    >>> x.tolist()
    [[2.0, 20.0]]
    """
    s = do.run(_MIGRATED, {"amax_x": amax_x, "amax_w": amax_w}, alpha=alpha, eps=eps)
    results = [s]
    if x is not None:
        into = do.new(x.shape, x.kind, x)
        results.append(do.run(_DIVIDED, {"x": x, "s": s}, into))
    if weight is not None:
        into = do.new(weight.shape, weight.kind, weight)
        results.append(do.run(_MULTIPLIED, {"x": weight, "s": s}, into))
    return tuple(results) if len(results) > 1 else s


def _divided(x: Expr, s: Own) -> Expr:
    return x / cast(s, x.kind)


def _multiplied(x: Expr, s: Own) -> Expr:
    return x * cast(s, x.kind)


_DIVIDED = Op(_divided, Rule.COMMON, name="divided_by_scale", **_INTERNAL)
_MULTIPLIED = Op(_multiplied, Rule.COMMON, name="multiplied_by_scale", **_INTERNAL)


# --- delayed scaling of 8-bit floats ----------------------------------------------------------------------------------


def _limited(amax: Expr, scale: Expr, margin: int, element: ElementKind | None) -> Stored:
    """The scale that brings amax to the format's largest number; the old one where amax is 0 or not finite."""
    fits = (amax > 0.0) & (amax < float("inf"))
    found = f.minimum((FORMATS[element or ElementKind.F8E4M3].maximum / amax) * 2.0**-margin, _MOST)
    return Stored(select(fits, found, scale), _F32)


def _by_largest(earlier: Expr, amax: Expr, scale: Expr, *, margin: int = 0, element: ElementKind | None) -> Stored:
    return _limited(f.maximum(amax, f.max_(earlier)), scale, margin, element)


def _by_latest(amax: Expr, scale: Expr, *, margin: int = 0, element: ElementKind | None) -> Stored:
    return _limited(amax, scale, margin, element)


_MOST = float(np.finfo(np.float32).max)
_BY_LARGEST = Op(
    _by_largest, Rule.EACH, name="scale_of_history", rows=True, axis=0, keepdims=True, element_option=True, **_INTERNAL
)
_BY_LATEST = Op(_by_latest, Rule.EACH, name="scale_of_amax", element_option=True, **_INTERNAL)


@composed(history="n *shape : f32", scale="*shape : f32", amax="*shape : f32")
def amax_history_update(
    do: Steps,
    history: TensorRef,
    scale: TensorRef,
    amax: Given = None,
    *,
    algorithm: Literal["max", "most_recent"] = "max",
    margin: Annotated[int, AtLeast(-64), AtMost(64)] = 0,
    dtype: _ByteFloat = ElementKind.F8E4M3,
) -> Any:
    """(history, scale): the state of delayed scaling after a step, as TransformerEngine keeps it.

    history (n, ...) has the largest magnitudes of the last n steps, for any number of tensors, and `scale` (...) what each is
    multiplied by before it is rounded to `dtype`. Element 0 is that of this step: `amax`, or what is there already. The new
    scale is (largest finite number of dtype / a) * 2**-margin, at most the largest f32, with a the largest of the history or,
    with "most_recent", element 0; where a is 0, infinite or NaN the old one. The new history is the old one moved by one, so
    that element 1 is dropped, 2 is 1, and this step's is the last, with 0 at its place 0.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> history, scale = np.float32([0, 4, 2, 1]), np.array(1, np.float32)
    >>> history, scale = baracuda.amax_history_update(history, scale, np.array(7, np.float32))
    >>> history.tolist(), float(scale)
    ([0.0, 2.0, 1.0, 7.0], 64.0)
    """
    n = history.shape[0]
    if not n:
        raise InvalidProblemError(f"history: shape is {history.shape}; expected one step or more")
    now = axis_at(history, 0, 0) if amax is None else amax
    moved, found = do.rows(history.shape, _F32), do.rows(scale.shape, _F32)
    if 0 in history.shape:
        return moved, found
    words: dict[str, Any] = {"margin": margin, "dtype": dtype}
    if algorithm == "most_recent" or n == 1:
        do.run(_BY_LATEST, {"amax": now, "scale": scale}, found, **words)
    else:
        rank = len(history.shape)
        tensors = {"amax": expanded_dims(now, range(1, rank), rank), "scale": expanded_dims(scale, range(1, rank), rank)}
        into = expanded_dims(found, range(1, rank), rank)
        do.run(_BY_LARGEST, {"earlier": slab(history, 0, 1, n), **tensors}, into, axis=0, **words)
    pieces = [(slab(history, 0, 2, n), slab(moved, 0, 1, n - 1))] if n > 2 else []
    do.move([*pieces, *([(now, axis_at(moved, 0, n - 1))] if n > 1 else [])])
    do.zero(axis_at(moved, 0, 0))
    return moved, found
