"""Products of block formats, MXFP8, MXFP4 and NVFP4: their values, which are exact in bf16, multiplied as bf16 factors are.

A value of MXFP4 or NVFP4 has at most six significant bits, one of MXFP8 four, and a scale of MX is a power of two: bf16, of f32's
range, holds each without an error. So the product is that of `linear` on the dequantized factors, in whatever arithmetic the
caller prefers: integers of 23 bits on every device, a chain of tensor cores, or a library's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.sku import PlanPreference
from baracuda.core.tensor import TensorRef
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.words import FloatElement
from baracuda.ops.matmul.descriptor import labelled
from baracuda.ops.matmul.plan import MatmulPlan
from baracuda.ops.matmul.scales import check_bias, free_labels, of_rows
from baracuda.ops.quantization.microscaling import MX_BLOCK, NV_BLOCK, dequantize_mxfp4, dequantize_mxfp8, dequantize_nvfp4

_BF16 = ElementKind.BF16
#: Makes values in bf16 of codes and scales.
Values = Callable[[Steps, TensorRef, TensorRef], Any]


def _mx8(do: Steps, q: TensorRef, scale: TensorRef) -> Any:
    return dequantize_mxfp8(do, q, scale, dtype=_BF16)


def _mx4(do: Steps, q: TensorRef, scale: TensorRef) -> Any:
    return dequantize_mxfp4(do, q, scale, dtype=_BF16)


def _nv4(do: Steps, q: TensorRef, scale: TensorRef) -> Any:
    return dequantize_nvfp4(do, q, scale, 1.0, dtype=_BF16)


def _check_scale(name: str, scale: TensorRef, codes: TensorRef, size: int, per_byte: int) -> None:
    expected = (*codes.shape[:-1], -(-codes.shape[-1] * per_byte // size))
    if scale.shape != expected:
        raise InvalidProblemError(f"{name}: shape is {scale.shape}; expected {expected}, one for each {size} elements of k")


def _product(
    do: Steps, values: Values, size: int, per_byte: int, x: TensorRef, weight: TensorRef, x_scale: TensorRef,
    w_scale: TensorRef, bias: Given, dtype: ElementKind | None, preference: PlanPreference | None,
    scales: Mapping[str, Any] | None = None,
) -> TensorRef:  # fmt: skip
    element = dtype or _BF16
    check_bias(bias, element)
    free = free_labels(len(x.shape))
    _check_scale("x_scale", x_scale, x, size, per_byte)
    _check_scale("w_scale", w_scale, weight, size, per_byte)
    left, right = values(do, x, x_scale), values(do, weight, w_scale)
    given = {name: of_rows(v, 0) for name, v in (scales or {}).items() if v is not None}
    shapes: dict[str, Any] = {name: v.shape for name, v in given.items()}
    d = labelled(left, right, f"{free}k", "nk", f"{free}n", element=element, bias_axis=None if bias is None else -1, **shapes)
    y: TensorRef = do.plan(MatmulPlan, d, {"a": left, "b": right, "bias": bias, **given}, do.out, preference)
    return y


@composed(
    out=True, x="*rows k : f8e4m3 f8e5m2", weight="n k : f8e4m3 f8e5m2", x_scale="? : u8", w_scale="? : u8", bias="n : float"
)
def mxfp8_gemm(
    do: Steps,
    x: TensorRef,
    weight: TensorRef,
    x_scale: TensorRef,
    w_scale: TensorRef,
    bias: Given = None,
    *,
    dtype: FloatElement = None,
    preference: PlanPreference | None = None,
) -> TensorRef:
    """x @ weight.T + bias of MXFP8 factors: x (..., k) and weight (n, k) of 8-bit floats, f8e4m3 or f8e5m2 each.

    A scale for each 32 elements along k, a byte of E8M0, 2**(s - 127), 255 for NaN: x_scale (..., ceil(k / 32)), w_scale
    (n, ceil(k / 32)). The values, exact in bf16 (beyond its range infinite), are multiplied as `linear` multiplies bf16 factors:
    by default in integers of 23 bits, with `preference` as it says. The result is stored as `dtype`, bf16 unless it says
    otherwise; bias is (n) of that.

    Raises `InvalidProblemError` for shapes and elements that do not fit.

    Source: OCP Microscaling Formats (MX) v1.0.

    Examples
    --------
    >>> import ml_dtypes
    >>> import numpy as np, baracuda
    >>> x, weight = (np.array(v, ml_dtypes.float8_e4m3fn) for v in ([[1, 2]], [[3, 4]]))
    >>> baracuda.mxfp8_gemm(x, weight, np.uint8([[128]]), np.uint8([[126]]), dtype="f32").tolist()
    [[11.0]]
    """
    return _product(do, _mx8, MX_BLOCK, 1, x, weight, x_scale, w_scale, bias, dtype, preference)


@composed(out=True, x="*rows k : u8", weight="n k : u8", x_scale="? : u8", w_scale="? : u8", bias="n : float")
def mxfp4_gemm(
    do: Steps,
    x: TensorRef,
    weight: TensorRef,
    x_scale: TensorRef,
    w_scale: TensorRef,
    bias: Given = None,
    *,
    dtype: FloatElement = None,
    preference: PlanPreference | None = None,
) -> TensorRef:
    """x @ weight.T + bias of MXFP4 factors: x (..., k / 2) and weight (n, k / 2) of u8, two codes of E2M1 a byte.

    Element 2i is in the lower four bits. A code's lower three bits stand for 0, 0.5, 1, 1.5, 2, 3, 4 or 6, its highest for the
    sign. Scales, products, `dtype` and bias are as for `mxfp8_gemm`.

    Source: OCP Microscaling Formats (MX) v1.0.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, weight, one = np.uint8([[0x42]]), np.uint8([[0x97]]), np.uint8([[127]])  # (1, 2) and (6, -0.5)
    >>> baracuda.mxfp4_gemm(x, weight, one, one + 1, dtype="f32").tolist()
    [[10.0]]
    """
    return _product(do, _mx4, MX_BLOCK, 2, x, weight, x_scale, w_scale, bias, dtype, preference)


@composed(
    out=True, x="*rows k : u8", weight="n k : u8", x_scale="? : f8e4m3", w_scale="? : f8e4m3", x_global_scale="() or 1 : f32",
    w_global_scale="() or 1 : f32", bias="n : float",
)  # fmt: skip
def nvfp4_gemm(
    do: Steps,
    x: TensorRef,
    weight: TensorRef,
    x_scale: TensorRef,
    w_scale: TensorRef,
    x_global_scale: Given = None,
    w_global_scale: Given = None,
    bias: Given = None,
    *,
    dtype: FloatElement = None,
    preference: PlanPreference | None = None,
) -> TensorRef:
    """x @ weight.T * x_global_scale * w_global_scale + bias of NVFP4 factors: codes of E2M1 as for `mxfp4_gemm`, two a byte.

    A scale, f8e4m3, for each 16 elements along k: x_scale (..., ceil(k / 16)), w_scale (n, ceil(k / 16)). Code times scale is
    exact in bf16; these values are multiplied as `linear` multiplies bf16 factors, and the sum is multiplied by the global
    scales, f32, one number each, None for 1, each step rounded to f32, before the bias is added. `dtype` and bias are as for
    `mxfp8_gemm`.

    Source: NVIDIA, NVFP4 (2025); cuBLASLt's block scaling of 16 elements by UE4M3.

    Examples
    --------
    >>> import ml_dtypes
    >>> import numpy as np, baracuda
    >>> x, weight = np.uint8([[0x42]]), np.uint8([[0x97]])  # (1, 2) and (6, -0.5)
    >>> one, half = np.array([[1]], ml_dtypes.float8_e4m3fn), np.float32([0.5])
    >>> baracuda.nvfp4_gemm(x, weight, one, one, half, dtype="f32").tolist()
    [[2.5]]
    """
    scales = {"a_scale": x_global_scale, "b_scale": w_global_scale}
    return _product(do, _nv4, NV_BLOCK, 2, x, weight, x_scale, w_scale, bias, dtype, preference, scales)
