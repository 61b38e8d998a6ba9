"""Blocks of 32 elements with a power of two (OCP Microscaling Formats, MX v1.0), and NVIDIA's blocks of 16 with a scale in
f8e4m3. Two elements of four bits are one byte, the first in its lower half."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from baracuda.core.bounds import AtLeast, AtMost
from baracuda.core.elements import ElementKind
from baracuda.core.tensor import TensorRef
from baracuda.core.views import as_bits
from baracuda.formula import functions as f
from baracuda.formula.conversions import cast_to, code_of
from baracuda.formula.expr import Expr, cast
from baracuda.formula.quotients import divided_by
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Scalar, Stored
from baracuda.ops.declaration.words import FloatElement
from baracuda.ops.quantization.blocks import blocks_of, over_blocks, packed, scales_of, single, values_over_blocks
from baracuda.ops.quantization.element_codes import (
    E2M1,
    E4M3,
    LARGEST,
    Label,
    PairElement,
    Rounding,
    e2m1_code,
    e2m1_value,
    inverse_power,
    of_label,
    pair_of,
    power,
    power_of_block,
    stored_pair,
)
from baracuda.ops.quantization.fp8 import INTERNAL, Fp8Element

_F32, _U8 = ElementKind.F32, ElementKind.U8
#: Elements of a block.
MX_BLOCK, NV_BLOCK = 32, 16
#: The share of the largest magnitude of a tensor that is NVFP4's scale of it.
_NV_MOST = LARGEST[E4M3] * LARGEST[E2M1]
#: The smallest scale of a tensor: with f8e4m3's smallest normal number a divisor whose quotients are exact.
_NV_LEAST = 2.0**-74

# --- formulas ---------------------------------------------------------------------------------------------------------


def _mxfp8(x: Expr, *, rounding: Rounding = "floor", element: ElementKind | None = None) -> dict[str, Stored]:
    kind = element or E4M3
    code = power_of_block(f.max_(abs(x)), kind, rounding)
    return {"q": Stored(code_of(cast(x, _F32) * inverse_power(code), kind), _U8), "scale": Stored(code, _U8)}


def _mxfp4(words: Own, *, kind: Label = "f32", rounding: Rounding = "floor") -> dict[str, Stored]:
    low, high = pair_of(words, of_label(kind))
    code = power_of_block(f.max_(f.maximum(abs(low), abs(high))), E2M1, rounding)
    factor = inverse_power(code)
    return {"q": _two(low, high, lambda x: x * factor), "scale": Stored(code, _U8)}


def _two(low: Expr, high: Expr, scaled: Callable[[Expr], Expr]) -> Stored:
    return Stored(e2m1_code(scaled(low), low) | e2m1_code(scaled(high), high) << 4, _U8)


def _nvfp4(words: Own, whole: Own, *, kind: Label = "f32", least_scale: Scalar = 2.0**-6) -> dict[str, Stored]:
    low, high = pair_of(words, of_label(kind))
    block = f.max_(f.maximum(abs(low), abs(high))) / 6.0
    scale = cast_to(f.clamp(block / whole, least_scale, LARGEST[E4M3]), E4M3)
    total = whole * scale
    return {"q": _two(low, high, lambda x: divided_by(x, total)), "scale": Stored(scale, E4M3)}


def _mxfp8_values(q: Own, scale: Own, *, element: ElementKind | None = None) -> Stored:
    kind = element or _F32
    return Stored(cast_to(cast(q, _F32) * power(scale), kind), kind)


def _both(q: Expr, factor: Expr, kind: Label, *, exact: bool = False) -> Stored:
    return stored_pair(e2m1_value(q & 15) * factor, e2m1_value(q >> 4) * factor, kind, exact=exact)


def _mxfp4_values(q: Own, scale: Own, *, kind: Label = "f32") -> Stored:
    return _both(q, power(scale), kind, exact=True)


def _nvfp4_values(q: Own, scale: Own, whole: Own, *, kind: Label = "f32") -> Stored:
    return _both(q, whole * scale, kind)


def _share(x: Expr) -> Stored:
    return Stored(f.maximum(cast(f.max_(abs(x)), _F32) / _NV_MOST, _NV_LEAST), _F32)


_PLAIN: dict[str, Any] = {**INTERNAL, "element_option": False}
_BLOCKS: dict[str, Any] = {"rows": True, "results": ("q", "scale")}
_mxfp8_op = Op(_mxfp8, Rule.EACH, name="mxfp8_blocks", **_BLOCKS, **INTERNAL)
_mxfp4_op = Op(_mxfp4, Rule.EACH, name="mxfp4_blocks", **_BLOCKS, **_PLAIN)
_nvfp4_op = Op(_nvfp4, Rule.EACH, name="nvfp4_blocks", **_BLOCKS, **_PLAIN)
_mxfp8_values_op = Op(_mxfp8_values, Rule.EACH, name="mxfp8_values", byte_floats=True, **INTERNAL)
_mxfp4_values_op = Op(_mxfp4_values, Rule.EACH, name="mxfp4_values", byte_floats=True, **_PLAIN)
_nvfp4_values_op = Op(_nvfp4_values, Rule.EACH, name="nvfp4_values", byte_floats=True, **_PLAIN)
_share_op = Op(_share, Rule.EACH, name="share_of_largest", rows=True, keepdims=False, **_PLAIN)


# --- functions --------------------------------------------------------------------------------------------------------


def _mx_scales(k: int, batch: tuple[int, ...]) -> tuple[int, ...]:
    return (*batch, blocks_of(k, MX_BLOCK))


def _mx_scales_of_bytes(k: int, batch: tuple[int, ...]) -> tuple[int, ...]:
    return (*batch, blocks_of(2 * k, MX_BLOCK))


def _nv_scales_of_bytes(k: int, batch: tuple[int, ...]) -> tuple[int, ...]:
    return (*batch, blocks_of(2 * k, NV_BLOCK))


_X = "*batch k : f16 bf16 f32"


@composed(x=_X)
def quantize_mxfp8(do: Steps, x: TensorRef, *, dtype: Fp8Element = E4M3, rounding: Rounding = "floor") -> Any:
    """MXFP8: 8-bit floats and, for each 32 of them along the last axis, the power of two that they are multiplied by.

    q is f8e4m3 or f8e5m2, of x's shape; scale is u8, (..., ceil(k / 32)), in E8M0: 2**(scale - 127), 255 is NaN. By MX v1.0,
    6.3, the power of two is that of the largest magnitude, rounded down ("floor"), over the largest power of two of the element,
    2**8 or 2**15; q is x / 2**(scale - 127) limited to the largest value and rounded to nearest even. `rounding` says how else
    the power follows from the largest magnitude: rounded up ("ceil"), rounded as the element's significand is ("even"), or
    amax / 448 rounded up ("rceil"), as in torchao. A block with an infinity or NaN has the scale NaN.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> q, scale = baracuda.quantize_mxfp8(np.float32([[1, -2, 0.5, 1024]]))
    >>> q.astype(np.float32).tolist(), scale.tolist()
    ([[0.25, -0.5, 0.125, 256.0]], [[129]])
    """
    q, scale = do.rows(x.shape, dtype), scales_of(do, x, MX_BLOCK, _U8)
    over_blocks(do, _mxfp8_op, MX_BLOCK, 1, x, as_bits(q), scale, {}, dtype=dtype, rounding=rounding)
    return q, scale


@composed(q="*batch k : f8e4m3 f8e5m2", scale=(_mx_scales, "u8"))
def dequantize_mxfp8(do: Steps, q: TensorRef, scale: TensorRef, *, dtype: FloatElement = _F32) -> Any:
    """q * 2**(scale - 127), NaN where scale is 255, rounded to `dtype`; as `quantize_mxfp8` gives them.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> q = baracuda.cast(np.float32([[0.25, -0.5, 0.125, 256]]), dtype="f8e4m3")
    >>> baracuda.dequantize_mxfp8(q, np.array([[129]], np.uint8)).tolist()
    [[1.0, -2.0, 0.5, 1024.0]]
    """
    y = do.rows(q.shape, dtype)
    values_over_blocks(do, _mxfp8_values_op, MX_BLOCK, 1, q, scale, y, {}, dtype=dtype)
    return y


@composed(x=_X)
def quantize_mxfp4(do: Steps, x: TensorRef, *, rounding: Rounding = "floor") -> Any:
    """MXFP4: `quantize_mxfp8` with elements of four bits, f4e2m1 (0, 0.5, 1, 1.5, 2, 3, 4 and 6 with a sign).

    q is u8, (..., k / 2), element 2i in the lower four bits; k is even. The largest power of two of the element is 2**2, its
    largest value 6. A NaN has the code of 6, in a block whose scale is NaN.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> q, scale = baracuda.quantize_mxfp4(np.float32([[1, -2, 0.5, 12]]))
    >>> q.tolist(), scale.tolist()
    ([[161, 112]], [[128]])
    """
    q, scale = packed(do, x), scales_of(do, x, MX_BLOCK, _U8)
    over_blocks(do, _mxfp4_op, MX_BLOCK, 2, x, q, scale, {}, kind=x.kind.label, rounding=rounding)
    return q, scale


@composed(q="*batch k : u8", scale=(_mx_scales_of_bytes, "u8"))
def dequantize_mxfp4(do: Steps, q: TensorRef, scale: TensorRef, *, dtype: PairElement = _F32) -> Any:
    """The values of MXFP4's codes, two a byte, times 2**(scale - 127); NaN where scale is 255.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.dequantize_mxfp4(np.array([[177, 112]], np.uint8), np.array([[128]], np.uint8)).tolist()
    [[1.0, -3.0, 0.0, 12.0]]
    """
    y = do.rows((*q.shape[:-1], 2 * q.shape[-1]), dtype)
    values_over_blocks(do, _mxfp4_values_op, MX_BLOCK, 2, q, scale, y, {}, kind=dtype.label)
    return y


@composed(x=_X, global_scale="() or 1 or number : f32", numbers={"least_scale": (), "global_scale": ()})
def quantize_nvfp4(
    do: Steps,
    x: TensorRef,
    global_scale: TensorRef | float | None = None,
    *,
    least_scale: Annotated[float, AtLeast(0), AtMost(448)] = 2.0**-6,
) -> Any:
    """NVFP4: elements f4e2m1, two a byte, for each 16 of them along the last axis a scale in f8e4m3, and one for the tensor.

    value = code * scale * global_scale. q is u8, (..., k / 2), element 2i in the lower four bits; k is even. scale is
    (..., ceil(k / 16)): (amax / 6) / global_scale, brought between `least_scale` and 448 and rounded; 2**-6 is f8e4m3's smallest
    normal number, as torchao has it, with 2**-9 small blocks keep more digits. A code is that nearest to x / (global_scale *
    scale), ties to even, 6 beyond it; the quotient is correctly rounded where that product is 2**-80 or more. global_scale is a
    tensor or number; where it is None it is amax / (448 * 6) of all of x, 2**-74 at least, and returned too, with shape (). A NaN
    in a block makes its scale NaN.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> q, scale = baracuda.quantize_nvfp4(np.float32([[1, -2, 0.5, 12]]), 1.0)
    >>> q.tolist(), scale.astype(np.float32).tolist()
    ([[161, 112]], [[2.0]])
    """
    q, scale = packed(do, x), scales_of(do, x, NV_BLOCK, E4M3)
    if global_scale is None:
        whole: Any = do.rows((), _F32)
        if 0 in x.shape:
            do.fill(whole, _NV_LEAST)
        else:
            do.run(_share_op, {"x": x}, whole, axis=None)
    else:
        whole = single(do, global_scale, "global_scale")
    more = {"whole": whole}
    over_blocks(do, _nvfp4_op, NV_BLOCK, 2, x, q, scale, more, kind=x.kind.label, least_scale=least_scale)
    return (q, scale, whole) if global_scale is None else (q, scale)


@composed(
    q="*batch k : u8", scale=(_nv_scales_of_bytes, "f8e4m3"), global_scale="() or 1 or number : f32", numbers={"global_scale": ()}
)
def dequantize_nvfp4(
    do: Steps, q: TensorRef, scale: TensorRef, global_scale: TensorRef | float = 1.0, *, dtype: PairElement = _F32
) -> Any:
    """The values of NVFP4's codes, two a byte, times (global_scale * scale), which is rounded to f32 first.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> scale = baracuda.cast(np.float32([[2]]), dtype="f8e4m3")
    >>> baracuda.dequantize_nvfp4(np.array([[177, 112]], np.uint8), scale).tolist()
    [[1.0, -3.0, 0.0, 12.0]]
    """
    y = do.rows((*q.shape[:-1], 2 * q.shape[-1]), dtype)
    more = {"whole": single(do, global_scale, "global_scale")}
    values_over_blocks(do, _nvfp4_values_op, NV_BLOCK, 2, q, scale, y, more, kind=dtype.label)
    return y
