"""Products of 8-bit integers with scales and zero points: exact sums, and what makes real numbers or codes of them."""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.sku import PlanPreference
from baracuda.core.tensor import TensorRef
from baracuda.core.views import expanded_dims, view
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.words import FloatElement
from baracuda.ops.elementwise.binary_ops import mul, sub
from baracuda.ops.matmul.descriptor import MatmulDescriptor, labelled
from baracuda.ops.matmul.plan import MatmulPlan
from baracuda.ops.matmul.scales import COLUMNS, ROWS, check_bias, free_labels, of_columns, of_rows, whole
from baracuda.ops.reductions.reductions import sum_

_BYTES = "s8 u8"


@composed(
    out=True,
    x=f"*rows k : {_BYTES}", weight=f"n k : {_BYTES}", x_scale=f"{ROWS} : f32", w_scale=f"{COLUMNS} : f32", bias="n : float",
    x_zero_point=f"{ROWS} : int", w_sum="n : s32",
)  # fmt: skip
def w8a8_gemm(
    do: Steps,
    x: TensorRef,
    weight: TensorRef,
    x_scale: TensorRef,
    w_scale: TensorRef,
    bias: Given = None,
    x_zero_point: Given = None,
    w_sum: Given = None,
    *,
    dtype: FloatElement = None,
    preference: PlanPreference | None = None,
) -> TensorRef:
    """(x - x_zero_point) @ weight.T * x_scale * w_scale + bias of 8-bit integers: x (..., k), weight (n, k).

    The sum over k is an exact integer (s32, which wraps), less x_zero_point times the sum of the weight's row; then it is rounded
    to f32, multiplied by x_scale, by w_scale, and the bias added, each rounded, and stored as `dtype`, bf16 unless it says f16
    or f32. So the bits are the same on every device, in every tier.

    x and weight are s8 or u8. x_scale, f32, is one number or one for each row of x, (...) or (..., 1); w_scale one or one for
    each row of the weight, (n) or (n, 1). x_zero_point (None: 0) is an integer like x_scale. w_sum, s32 (n), are the weight's
    sums over k where they are known; else they are computed where there is a zero point. bias is (n) of the result's element.

    Raises `InvalidProblemError` for shapes and elements that do not fit.

    Source: vLLM's cutlass_scaled_mm and cutlass_scaled_mm_azp.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, weight, scale = np.int8([[1, 2], [3, -4]]), np.int8([[5, 6]]), np.float32([0.5, 0.25])
    >>> baracuda.w8a8_gemm(x, weight, scale, np.float32([1]), dtype="f32").tolist()
    [[8.5], [-2.25]]
    """
    element = dtype or ElementKind.BF16
    check_bias(bias, element)
    rows = len(x.shape) - 1
    free = free_labels(len(x.shape))
    tensors: dict[str, Any] = {
        "a": x,
        "b": weight,
        "a_scale": of_rows(x_scale, rows),
        "b_scale": of_columns(w_scale),
        "bias": bias,
    }
    if x_zero_point is not None:
        tensors["a_zero"] = of_rows(whole(do, x_zero_point), rows)
        tensors["b_sum"] = do.run(sum_, {"x": weight}, axis=-1, dtype=ElementKind.S32) if w_sum is None else w_sum
    shapes = {name: v.shape for name, v in tensors.items() if name not in ("a", "b", "bias")}
    axis = None if bias is None else -1
    d = labelled(x, weight, f"{free}k", "nk", f"{free}n", element=element, bias_axis=axis, **shapes)
    y: TensorRef = do.plan(MatmulPlan, d, tensors, do.out, preference)
    return y


def _beside(v: TensorRef, last: bool) -> Any:
    """A number, one for each row (m), or one for each column (n) where `last`, as it broadcasts to (..., m, n)."""
    if not v.shape or v.shape == (1,):
        return view(v, 0, (), ())
    return v if len(v.shape) > 1 or last else expanded_dims(v, (0,), 2)


@composed(
    out=True,
    a=f"k or *left m k : {_BYTES}", a_scale="() or 1 or m or ... m 1 : f32", a_zero_point="() or 1 or m or ... m 1 : s8 u8 s32",
    b=f"k or *right k n : {_BYTES}", b_scale="() or 1 or n or ... 1 n : f32", b_zero_point="() or 1 or n or ... 1 n : s8 u8 s32",
    y_scale="() or 1 or m or ... m 1 : f32", y_zero_point=f"() or 1 or m or ... m 1 : {_BYTES}",
)  # fmt: skip
def qlinear_matmul(
    do: Steps,
    a: TensorRef,
    a_scale: TensorRef,
    a_zero_point: TensorRef,
    b: TensorRef,
    b_scale: TensorRef,
    b_zero_point: TensorRef,
    y_scale: TensorRef,
    y_zero_point: TensorRef,
    *,
    preference: PlanPreference | None = None,
) -> TensorRef:
    """The product of two quantized tensors into a quantized one: ONNX's QLinearMatMul.

    a (..., m, k) and b (..., k, n), s8 or u8, as in `matmul`. The sum of (a - a_zero_point) * (b - b_zero_point) over k is an
    exact integer (s32, which wraps), then, each step rounded to f32: * a_scale, * b_scale, / y_scale, rounded to nearest even,
    + y_zero_point, limited to the range of y_zero_point's element, which is the result's. A NaN has the code 0.

    Scales, f32, and zero points of a and of y are one number or one for each row, (m) or (..., m, 1); those of b one number or
    one for each column, (n) or (..., 1, n).

    Raises `InvalidProblemError` for shapes and elements that do not fit.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> one, zero = np.float32([1]), np.uint8([0])
    >>> a, b = np.uint8([[3, 4]]), np.uint8([[10], [20]])
    >>> baracuda.qlinear_matmul(a, one / 2, zero + 1, b, one, zero, one * 4, zero + 100).tolist()
    [[110]]
    """
    k, element = a.shape[-1], y_zero_point.kind
    rows, columns = a.shape[-2:-1], b.shape[-1:] if len(b.shape) > 1 else ()
    left = a if rows else expanded_dims(a, (1,), 2)
    right = b if len(b.shape) > 1 else expanded_dims(b, (0,), 2)
    zeros = {"a": _beside(whole(do, a_zero_point), False), "b": _beside(whole(do, b_zero_point), True)}
    sums = do.run(sum_, {"x": right}, axis=-2, dtype=ElementKind.S32, keepdims=True)
    lacking = do.run(mul, {"a": zeros["b"], "b": k})
    tensors: dict[str, Any] = {
        "a": left, "b": right, "a_scale": _beside(a_scale, False), "b_scale": _beside(b_scale, True),
        "a_zero": zeros["a"], "b_sum": do.run(sub, {"a": sums, "b": lacking}),
        "b_zero": zeros["b"], "a_sum": do.run(sum_, {"x": left}, axis=-1, dtype=ElementKind.S32, keepdims=True),
        "y_scale": _beside(y_scale, False), "y_zero": _beside(whole(do, y_zero_point), False),
    }  # fmt: skip
    shapes: dict[str, Any] = {name: v.shape for name, v in tensors.items() if name not in "ab"}
    d = MatmulDescriptor.matmul(left.shape, right.shape, element, a_element=a.kind, b_element=b.kind, **shapes)
    y: TensorRef = do.result((*d.y_shape[:-2], *rows, *columns), element)
    step = (
        *y.strides[: len(d.y_shape) - 2],
        *(y.strides[-1 - len(columns) :][:1] if rows else (0,)),
        *(y.strides[-1:] if columns else (0,)),
    )
    do.plan(MatmulPlan, d, tensors, view(y, 0, d.y_shape, step), preference)
    return y
