"""Products of block formats, MXFP8, MXFP4 and NVFP4: their values, which are exact in bf16, multiplied as bf16 factors are.

A value of MXFP4 or NVFP4 has at most six significant bits, one of MXFP8 four, and a scale of MX is a power of two: bf16, of f32's
range, holds each without an error. So the product is that of `linear` on the dequantized factors, in whatever arithmetic the
caller prefers: integers of 23 bits on every device, a chain of tensor cores, or a library's.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.sku import PlanPreference
from baracuda.core.tensor import TensorRef
from baracuda.core.views import view
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, bitcast, cast, constant_bits, coord, lookup, select
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Shape, Space, Stored
from baracuda.ops.declaration.words import FloatElement
from baracuda.ops.matmul.descriptor import labelled
from baracuda.ops.matmul.plan import MatmulPlan
from baracuda.ops.matmul.scales import check_bias, free_labels, of_rows

_F32, _S32, _BF16 = ElementKind.F32, ElementKind.S32, ElementKind.BF16
#: Elements to a scale.
MX, NV = 32, 16
_E2M1 = [int(np.float32(sign * v).view(np.uint32)) for sign in (1, -1) for v in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)]


def _power(scale: Expr) -> Expr:
    """2**(scale - 127) of a byte, NaN of 255."""
    exponent = cast(scale, _S32)
    bits = select(f.equal(exponent, 0), 0x00400000, exponent << 23)
    return select(f.equal(exponent, 255), constant_bits(0x7FC00000, _F32), bitcast(bits, _F32))


def _nibble(code: Expr, axis: int) -> Expr:
    """The value of the first or second element of a byte, as an axis of two counts."""
    return lookup((cast(code, _S32) >> (cast(coord(axis), _S32) * 4)) & 15, _E2M1, _F32)


def _mx8(x: Own, scale: Own) -> Stored:
    return Stored(cast(x, _F32) * _power(scale), _BF16)


def _mx4(x: Own, scale: Own) -> Stored:
    return Stored(_nibble(x, 3) * _power(scale), _BF16)


def _nv4(x: Own, scale: Own) -> Stored:
    return Stored(_nibble(x, 3) * cast(scale, _F32), _BF16)


def _whole(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    return Space({"x": (0, 1, 2), "scale": (0, 1)})


def _packed(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    return Space({"x": (0, 1, 2), "scale": (0, 1)}, {3: 2})


_OPTIONS: dict[str, Any] = {"family": "gemm", "takes": "any", "byte_floats": True, "differentiable": False}
_MX8 = Op(_mx8, Rule.EACH, name="values_of_mxfp8", space=_whole, **_OPTIONS)
_MX4 = Op(_mx4, Rule.EACH, name="values_of_mxfp4", space=_packed, **_OPTIONS)
_NV4 = Op(_nv4, Rule.EACH, name="values_of_nvfp4", space=_packed, **_OPTIONS)


def values(do: Steps, op: Op, x: TensorRef, scale: TensorRef, size: int, name: str) -> TensorRef:
    """The values in bf16 of codes (..., k), a byte each or packed, and a scale for each `size` elements."""
    each = 1 if op is _MX8 else 2
    lead, bytes_ = x.shape[:-1], x.shape[-1]
    wide = size // each
    blocks = -(-bytes_ // wide)
    if scale.shape != (*lead, blocks):
        raise InvalidProblemError(
            f"{name}: shape is {scale.shape}; expected {(*lead, blocks)}, one for each {size} elements of k"
        )
    rows = prod(lead)
    found = do.rows((rows, bytes_ * each), _BF16)
    if 0 not in found.shape:
        codes, scales = do.reshaped(x, (rows, bytes_)), do.reshaped(scale, (rows, blocks))
        for at, count, width in ((0, bytes_ // wide, wide), (bytes_ // wide, 1, bytes_ % wide)):
            if count and width:
                (down, right), (low, along) = codes.strides, scales.strides
                block = view(codes, at * wide * right, (rows, count, width), (down, wide * right, right))
                own = view(scales, at * along, (rows, count), (low, along))
                last = ((2,), (1,)) if each == 2 else ((), ())
                strides = (bytes_ * each, size, each, *last[1])
                do.run(op, {"x": block, "scale": own}, view(found, at * size, (rows, count, width, *last[0]), strides))
    shaped: TensorRef = do.reshaped(found, (*lead, bytes_ * each))
    return shaped


def _product(
    do: Steps, op: Op, size: int, x: TensorRef, weight: TensorRef, x_scale: TensorRef, w_scale: TensorRef, bias: Given,
    dtype: ElementKind | None, preference: PlanPreference | None, scales: Mapping[str, Any] | None = None,
) -> TensorRef:  # fmt: skip
    element = dtype or _BF16
    check_bias(bias, element)
    free = free_labels(len(x.shape))
    left, right = values(do, op, x, x_scale, size, "x_scale"), values(do, op, weight, w_scale, size, "w_scale")
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
    return _product(do, _MX8, MX, x, weight, x_scale, w_scale, bias, dtype, preference)


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
    return _product(do, _MX4, MX, x, weight, x_scale, w_scale, bias, dtype, preference)


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
    return _product(do, _NV4, NV, x, weight, x_scale, w_scale, bias, dtype, preference, scales)
