"""Normalizations of rows fused with what comes before or after them: residual sums, gates, quantization, rotation."""

from __future__ import annotations

from typing import Literal

from baracuda.core.elements import ElementKind
from baracuda.formula import functions as f
from baracuda.formula.conversions import cast_to, saturate_to
from baracuda.formula.expr import Expr, cast, select
from baracuda.ops.declaration.op import op
from baracuda.ops.declaration.traced import NonNegative, Own, Result, Stored
from baracuda.ops.normalization.layer_norms import (
    affine,
    root_mean_square,
    scaled,
    statistics,
    through_root_mean_square,
    through_standardization,
)

#: The elements that `rms_norm_quant` writes.
_QUANTIZED = {k.label: k for k in (ElementKind.S8, ElementKind.F8E4M3, ElementKind.F8E5M2)}


# --- a residual sum first ---------------------------------------------------------------------------------------------


@op(rows=True, results=("y", "s", "rms"), saves=("s", "rms"), extra=("rms",))
def fused_add_rms_norm(
    x: Expr, residual: Expr, weight: Own | None = None, *, eps: NonNegative = 1e-6, element: ElementKind
) -> dict[str, Expr]:
    """s = x + residual, and y = s / sqrt(mean(s**2) + eps) * weight over the row.

    The sum is rounded to its element before it is normalised: both results have the bits of `add` and `rms_norm`.
    """
    s = cast_to(x + residual, element)
    rms = root_mean_square(s, eps)
    return {"y": scaled(s * (1.0 / rms), weight), "s": s, "rms": rms}


@fused_add_rms_norm.backward
def _fused_add_rms_norm_backward(
    dy: Expr | None,
    ds: Expr | None,
    s: Expr,
    rms: Expr,
    weight: Own | None = None,
    *,
    eps: NonNegative = 1e-6,
    element: ElementKind,
) -> dict[str, Expr]:
    if dy is None:
        assert ds is not None
        return {"dx": ds, "dresidual": ds, "dweight": s * 0.0}
    inverse = 1.0 / rms
    n = s * inverse
    dx = through_root_mean_square(scaled(dy, weight), n, inverse)
    dx = dx if ds is None else dx + ds
    return {"dx": dx, "dresidual": dx, "dweight": dy * n}


@op(rows=True, results=("y", "s", "mean", "rstd"), saves=("s", "mean", "rstd"), extra=("mean", "rstd"))
def fused_add_layer_norm(
    x: Expr,
    residual: Expr,
    weight: Own | None = None,
    bias: Own | None = None,
    *,
    eps: NonNegative = 1e-5,
    element: ElementKind,
) -> dict[str, Expr]:
    """s = x + residual, and y = (s - mean) / sqrt(var + eps) * weight + bias over the row.

    The sum is rounded to its element before it is normalised: both results have the bits of `add` and `layer_norm`.
    """
    s = cast_to(x + residual, element)
    mean, rstd = statistics(s, eps)
    return {"y": affine((s - mean) * rstd, weight, bias), "s": s, "mean": mean, "rstd": rstd}


@fused_add_layer_norm.backward
def _fused_add_layer_norm_backward(
    dy: Expr | None,
    ds: Expr | None,
    s: Expr,
    mean: Expr,
    rstd: Expr,
    weight: Own | None = None,
    *,
    eps: NonNegative = 1e-5,
    element: ElementKind,
) -> dict[str, Expr]:
    if dy is None:
        assert ds is not None
        return {"dx": ds, "dresidual": ds, "dweight": s * 0.0, "dbias": s * 0.0}
    n = (s - mean) * rstd
    dx = through_standardization(scaled(dy, weight), n, rstd)
    dx = dx if ds is None else dx + ds
    return {"dx": dx, "dresidual": dx, "dweight": dy * n, "dbias": dy}


# --- a gate, a quantization, a rotation after it ----------------------------------------------------------------------


@op(rows=True, results=("y", "rms"), saves=("rms",), extra=("rms",))
def gated_rms_norm(
    x: Expr, z: Expr, weight: Own | None = None, *, eps: NonNegative = 1e-6, norm_before_gate: bool = True
) -> dict[str, Expr]:
    """rms_norm(x) * weight * silu(z) over the row (Qwen3-Next), or with norm_before_gate=False
    rms_norm(x * silu(z)) * weight (Mamba-2)."""
    gate = z * f.sigmoid(z)
    u = x if norm_before_gate else x * gate
    rms = root_mean_square(u, eps)
    y = scaled(u * (1.0 / rms), weight)
    return {"y": y * gate if norm_before_gate else y, "rms": rms}


@gated_rms_norm.backward
def _gated_rms_norm_backward(
    dy: Expr, x: Expr, z: Expr, rms: Expr, weight: Own | None = None, *, eps: NonNegative = 1e-6, norm_before_gate: bool = True
) -> dict[str, Expr]:
    sigmoid = f.sigmoid(z)
    gate, inverse = z * sigmoid, 1.0 / rms
    slope = sigmoid * (1.0 + z * (1.0 - sigmoid))
    n = (x if norm_before_gate else x * gate) * inverse
    if norm_before_gate:
        g = dy * gate
        dgate = dy * scaled(n, weight)
        return {"dx": through_root_mean_square(scaled(g, weight), n, inverse), "dz": dgate * slope, "dweight": g * n}
    du = through_root_mean_square(scaled(dy, weight), n, inverse)
    return {"dx": du * gate, "dz": du * x * slope, "dweight": dy * n}


@op(rows=True, results=("y", "row_scale"))
def rms_norm_quant(
    x: Expr,
    weight: Own | None = None,
    scale: Own | None = None,
    *,
    eps: NonNegative = 1e-6,
    dtype: Literal["s8", "f8e4m3", "f8e5m2"] = "s8",
) -> dict[str, Result]:
    """x / sqrt(mean(x**2) + eps) * weight / scale over the row, rounded to nearest even and saturated to dtype: "s8",
    "f8e4m3" or "f8e5m2".

    Without a scale each row has its own: its largest magnitude over the largest number of dtype (127 for s8), or 1 for a row
    of zeros; these are a second result, in the kind that x computes in. NaN becomes 0 in s8.
    """
    kind = _QUANTIZED[dtype]
    y = scaled(x * (1.0 / root_mean_square(x, eps)), weight)
    if scale is not None:
        return {"y": Stored(_quantized(y / cast(scale, y.kind), kind), kind)}
    largest = f.max_(abs(y))
    row_scale = select(f.equal(largest, 0.0), 1.0, largest / _LARGEST[kind])
    return {"y": Stored(_quantized(y / row_scale, kind), kind), "row_scale": Stored(row_scale, row_scale.kind)}


_LARGEST = {ElementKind.S8: 127.0, ElementKind.F8E4M3: 448.0, ElementKind.F8E5M2: 57344.0}


def _quantized(y: Expr, kind: ElementKind) -> Expr:
    return saturate_to(f.rint(y) if kind is ElementKind.S8 else y, kind)


@op(rows=True, results=("y_first", "y_second", "rms"), saves=("rms",), extra=("rms",))
def qk_norm(
    first: Expr,
    second: Expr,
    first_weight: Own | None = None,
    second_weight: Own | None = None,
    cos: Own | None = None,
    sin: Own | None = None,
    *,
    eps: NonNegative = 1e-6,
) -> dict[str, Expr]:
    """RMS norm of each head of a query or key, then its rotary embedding.

    Rows are heads, given as their two halves, `first` and `second`: views of one tensor (q[..., :d] and q[..., d:], or
    q[..., ::2] and q[..., 1::2] for interleaved pairs), as are those of the weight. With a and b the halves divided by
    sqrt(mean of all squares + eps) and multiplied by their weights, the results are a cos - b sin and b cos + a sin; without
    cos and sin a and b. Call it once for q and once for k; `out` may be the two halves of one tensor.
    """
    rms = f.sqrt((f.sum_(first * first) + f.sum_(second * second)) / (f.row_length(first.kind) * 2.0) + eps)
    a, b = scaled(first * (1.0 / rms), first_weight), scaled(second * (1.0 / rms), second_weight)
    if cos is not None and sin is not None:
        c, s = cast(cos, a.kind), cast(sin, a.kind)
        a, b = a * c - b * s, b * c + a * s
    return {"y_first": a, "y_second": b, "rms": rms}


@qk_norm.backward
def _qk_norm_backward(
    dy_first: Expr,
    dy_second: Expr,
    first: Expr,
    second: Expr,
    rms: Expr,
    first_weight: Own | None = None,
    second_weight: Own | None = None,
    cos: Own | None = None,
    sin: Own | None = None,
    *,
    eps: NonNegative = 1e-6,
) -> dict[str, Expr]:
    inverse = 1.0 / rms
    n, m = first * inverse, second * inverse
    da, db = dy_first, dy_second
    gradients = {}
    if cos is not None and sin is not None:
        c, s = cast(cos, n.kind), cast(sin, n.kind)
        a, b = scaled(n, first_weight), scaled(m, second_weight)
        gradients = {"dcos": da * a + db * b, "dsin": db * a - da * b}
        da, db = da * c + db * s, db * c - da * s
    g, h = scaled(da, first_weight), scaled(db, second_weight)
    along = (f.sum_(g * n) + f.sum_(h * m)) / (f.row_length(n.kind) * 2.0)
    dfirst, dsecond = inverse * (g - n * along), inverse * (h - m * along)
    return {**gradients, "dfirst": dfirst, "dsecond": dsecond, "dfirst_weight": da * n, "dsecond_weight": db * m}
