"""8-bit floats with scales: for a tensor, its rows or columns, or blocks of it. value = code * scale."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.parameters import OneOf
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import as_bits, permuted, view
from baracuda.formula import functions as f
from baracuda.formula.conversions import cast_to, code_of
from baracuda.formula.expr import Expr, bitcast, cast, select
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Stored
from baracuda.ops.declaration.words import FloatElement
from baracuda.ops.quantization.blocks import single
from baracuda.ops.quantization.element_codes import LARGEST
from baracuda.ops.quantization.groups import GroupAxes, Groups, GroupSizes, groups_of, parts

_F32, _S32 = ElementKind.F32, ElementKind.S32
Fp8Element = Annotated[Any, OneOf((ElementKind.F8E4M3, ElementKind.F8E5M2))]
#: What shares a scale.
Scaling = Literal["tensor", "row", "column", "1x128", "128x128"]
#: What shares a scale: how many elements along which axes, -1 for all of an axis.
_SHARED: dict[str, tuple[GroupSizes, GroupAxes]] = {
    "row": (-1, -1), "column": (-1, -2), "1x128": (128, -1), "128x128": (128, (-2, -1)),
}  # fmt: skip
#: The smallest scale that is computed, of zeros and of what is nearly that: its inverse is finite.
LEAST_SCALE = 2.0**-126


def scale_of(largest: Expr, most: float, power_of_two: bool) -> Expr:
    """The scale that brings the largest magnitude to the largest value of an element; the next power of two above that."""
    scale = f.maximum(largest / most, LEAST_SCALE)
    if not power_of_two:
        return scale
    bits = bitcast(scale, _S32)
    above = bits + ((1 << 23) - 1) & -(1 << 23)
    return bitcast(select(bits < 0x7F80_0000, above, bits), _F32)


def _codes(x: Expr, scale: Expr, kind: ElementKind) -> Stored:
    return Stored(code_of(cast(x, _F32) * (1.0 / scale), kind), ElementKind.U8)


def _scaled(x: Expr, *, power_of_two: bool = False, element: ElementKind | None = None) -> dict[str, Stored]:
    kind = element or ElementKind.F8E4M3
    scale = scale_of(f.max_(abs(x)), LARGEST[kind], power_of_two)
    return {"q": _codes(x, scale, kind), "scale": Stored(scale, _F32)}


def _divided(x: Expr, scale: Expr, *, element: ElementKind | None = None) -> Stored:
    return _codes(x, scale, element or ElementKind.F8E4M3)


def _watched(x: Expr, scale: Expr, *, element: ElementKind | None = None) -> dict[str, Stored]:
    return {"q": _codes(x, scale, element or ElementKind.F8E4M3), "amax": Stored(cast(f.max_(abs(x)), _F32), _F32)}


def _multiplied(q: Expr, scale: Expr, *, element: ElementKind | None = None) -> Stored:
    kind = element or _F32
    return Stored(cast_to(cast(q, _F32) * scale, kind), kind)


INTERNAL: dict[str, Any] = {"family": "quantization", "takes": "any", "element_option": True, "differentiable": False}
_scaled_op = Op(_scaled, Rule.EACH, name="fp8_scaled", rows=True, results=("q", "scale"), **INTERNAL)
_divided_op = Op(_divided, Rule.EACH, name="fp8_divided", **INTERNAL)
_watched_op = Op(_watched, Rule.EACH, name="fp8_watched", rows=True, results=("q", "amax"), **INTERNAL)
_multiplied_op = Op(_multiplied, Rule.EACH, name="fp8_multiplied", byte_floats=True, **INTERNAL)


def _groups(shape: tuple[int, ...], scaling: str) -> Groups:
    size, axes = _SHARED[scaling]
    if len(shape) < 2 and axes != -1:
        raise InvalidProblemError(f"x: shape {shape}; expected rows and columns for scaling {scaling!r}")
    return groups_of(shape, size, axes)


def _each(
    do: Steps, op: Op, names: tuple[str, str], x: TensorRef, scale: TensorRef | float, y: TensorMut, kind: ElementKind
) -> None:
    """A pointwise op of a tensor and scales."""
    if not isinstance(scale, TensorRef) or all(n == 1 for n in scale.shape):
        do.run(op, {names[0]: x, names[1]: single(do, scale, "scale")}, y, dtype=kind)
        return
    known = [_groups(x.shape, scaling) for scaling, (_, axes) in _SHARED.items() if axes == -1 or len(x.shape) > 1]
    groups = next((g for g in known if g.counts == scale.shape), None)
    if groups is None:
        expected = " or ".join(str(g.counts) for g in known)
        raise InvalidProblemError(f"scale: shape {scale.shape} for a tensor of shape {x.shape}; expected () or {expected}")
    for (piece, into), (own,), _ in parts(do, groups, (x, y), (scale,)):
        do.run(op, {names[0]: piece, names[1]: own}, into, dtype=kind)


@composed(x="... k : f16 bf16 f32", scale="... or number : f32", numbers={"scale": ()})
def quantize_fp8(
    do: Steps,
    x: TensorRef,
    scale: TensorRef | float | None = None,
    *,
    dtype: Fp8Element = ElementKind.F8E4M3,
    scaling: Scaling = "tensor",
    power_of_two: bool = False,
    transposed: bool = False,
    amax: bool = False,
) -> Any:
    """x / scale in 8-bit floats, f8e4m3 or f8e5m2: q where a scale is given, else q and the scale that brings the largest
    magnitude to the largest value, 448 or 57344.

    scale = max(amax / largest, 2**-126), or the next power of two above that, and q = x * (1 / scale), every operation rounded in
    f32, then limited to the largest value and rounded to nearest even. A NaN stays one; where scales are computed it makes all
    NaN that share its scale, and an infinity makes them 0 and itself NaN.

    `scaling` says what shares a computed scale: all of x, of shape (..., m, k), with a scale of shape (); a row, (..., m, 1); a
    column, (..., 1, k); a block of 128 in a row, (..., m, ceil(k / 128)); a block of 128 x 128. A scale that is given is a number
    or has one of these shapes. With `transposed` the last two axes of q are exchanged; scale has those of x.

    With `amax` and one scale that is given, (q, amax) in one pass: the largest magnitude, of shape (), is what the scales of
    later tensors come from (`amax_history_update`).

    Differs from torchao: scales are divisors of x, as `torch._scaled_mm` takes them.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> q, scale = baracuda.quantize_fp8(np.float32([[1, -2], [0.5, 4]]), scaling="row")
    >>> q.astype(np.float32).tolist(), (scale * 448).tolist()
    ([[224.0, -448.0], [56.0, 448.0]], [[2.0], [4.0]])
    """
    if transposed and len(x.shape) < 2:
        raise InvalidProblemError(f"x: shape {x.shape}; expected rows and columns, which transposed exchanges")
    if amax and (scale is None or (isinstance(scale, TensorRef) and any(n != 1 for n in scale.shape))):
        raise InvalidProblemError(
            "amax: True without one scale for all of x; expected scale as a number or a tensor of one element"
        )
    groups = None if scale is not None or scaling == "tensor" else _groups(x.shape, scaling)
    last = [*range(len(x.shape))]
    last[-2:] = last[:-3:-1] if transposed else last[-2:]
    whole = do.rows(tuple(x.shape[a] for a in last), dtype)
    q = as_bits(permuted(whole, last))
    if amax and scale is not None:
        largest = do.rows((), _F32)
        if 0 in x.shape:
            do.zero(largest)
            return whole, largest
        of_all = view(largest, 0, (1,) * len(x.shape), (0,) * len(x.shape))
        do.run(_watched_op, {"x": x, "scale": single(do, scale, "scale")}, (q, of_all), axis=None, dtype=dtype)
        return whole, largest
    if scale is not None:
        if 0 not in x.shape:
            _each(do, _divided_op, ("x", "scale"), x, scale, q, dtype)
        return whole
    scales = do.rows(() if groups is None else groups.counts, _F32)
    options = {"dtype": dtype, "power_of_two": power_of_two}
    if 0 in x.shape:
        do.fill(scales, LEAST_SCALE)
    elif groups is None:
        into = (q, view(scales, 0, (1,) * len(x.shape), (0,) * len(x.shape)))
        do.run(_scaled_op, {"x": x}, into, axis=None, **options)
    else:
        for (piece, codes), (own,), _ in parts(do, groups, (x, q), (scales,)):
            do.run(_scaled_op, {"x": piece}, (codes, own), axis=groups.inner, **options)
    return whole, scales


@composed(q="... k : f8e4m3 f8e5m2", scale="... or number : f32", numbers={"scale": ()})
def dequantize_fp8(do: Steps, q: TensorRef, scale: TensorRef | float, *, dtype: FloatElement = _F32) -> Any:
    """q * scale, rounded to f32 and then to `dtype`; scale has one of the shapes that `quantize_fp8` gives.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> q = baracuda.cast(np.float32([[1, -2], [0.5, 4]]), dtype="f8e4m3")
    >>> baracuda.dequantize_fp8(q, np.float32([[2], [4]])).tolist()
    [[2.0, -4.0], [2.0, 16.0]]
    """
    y = do.rows(q.shape, dtype)
    if 0 not in q.shape:
        _each(do, _multiplied_op, ("q", "scale"), q, scale, y, dtype)
    return y
