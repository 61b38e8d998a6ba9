"""NF4 (Dettmers et al. 2023, "QLoRA"): sixteen levels of equal share under a normal distribution, as bitsandbytes lays them out.

Two codes are one byte, element 2i in its UPPER four bits; a block has its largest magnitude, in f32.
"""

from __future__ import annotations

from typing import Annotated, Any

from baracuda.core.bounds import AtLeast
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import view
from baracuda.formula import functions as f
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Stored
from baracuda.ops.elementwise.binary_ops import add, sub
from baracuda.ops.quantization.blocks import blocks_of, over_blocks, packed, scales_of, values_over_blocks
from baracuda.ops.quantization.blockwise import dequantize_int8_blockwise, quantize_int8_blockwise
from baracuda.ops.quantization.element_codes import (
    Label,
    PairElement,
    nf4_code,
    nf4_value,
    of_label,
    pair_of,
    stored_pair,
)
from baracuda.ops.quantization.fp8 import INTERNAL
from baracuda.ops.reductions.reductions import mean

_F32, _U8 = ElementKind.F32, ElementKind.U8
BlockSize = Annotated[int, AtLeast(2)]


def _nf4(words: Own, *, kind: Label = "f32") -> dict[str, Stored]:
    first, second = pair_of(words, of_label(kind))
    absmax = f.max_(f.maximum(abs(first), abs(second)))
    inverse = 1.0 / absmax
    byte = nf4_code(first * inverse) << 4 | nf4_code(second * inverse)
    return {"q": Stored(byte, _U8), "absmax": Stored(absmax, _F32)}


def _nf4_values(q: Own, scale: Own, *, kind: Label = "f32") -> Stored:
    return stored_pair(nf4_value(q >> 4) * scale, nf4_value(q & 15) * scale, kind)


_PLAIN: dict[str, Any] = {**INTERNAL, "element_option": False}
_nf4_op = Op(_nf4, Rule.EACH, name="nf4_blocks", rows=True, results=("q", "absmax"), **_PLAIN)
_nf4_values_op = Op(_nf4_values, Rule.EACH, name="nf4_values", **_PLAIN)


def _even(block_size: int) -> None:
    if block_size % 2:
        raise InvalidProblemError(f"block_size: {block_size}; expected an even number")


def _scales(k: int, batch: tuple[int, ...], block_size: int) -> tuple[int, ...]:
    return (*batch, blocks_of(2 * k, block_size))


def _centred(do: Steps, x: TensorRef) -> tuple[TensorRef, TensorRef]:
    """A tensor less its mean, and the mean."""
    offset: TensorRef = do.run(mean, {"x": x}, do.rows((), _F32), axis=None)
    return do.run(sub, {"a": x, "b": offset}), offset


@composed(x="*batch k : f16 bf16 f32")
def quantize_nf4(do: Steps, x: TensorRef, *, block_size: BlockSize = 64, double: bool = False) -> Any:
    """NF4: four-bit codes, two a byte, and the largest magnitude of each `block_size` elements along the last axis.

    q is u8, (..., k / 2), element 2i in the upper four bits; k is even. absmax is f32, (..., ceil(k / block_size)). A code is
    the number of the edges between levels that x * (1 / absmax) lies above, the edges of bitsandbytes; so a NaN has the code 0,
    and so have the elements of a block of zeros, whose values are all 0.

    With `double` absmax is quantized again: (q, absmax, scale, offset), where offset is the mean of absmax, with shape (), and
    absmax, of codes (u8), and scale are what `quantize_int8_blockwise` makes of absmax - offset in blocks of 256.

    bitsandbytes' blocks run on through the whole tensor: give x.reshape(-1) where k is no multiple of the block size.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> q, absmax = baracuda.quantize_nf4(np.float32([1, -2, 0, 0.5]))
    >>> q.tolist(), absmax.tolist()
    ([192, 122], [2.0])
    """
    _even(block_size)
    q, absmax = packed(do, x), scales_of(do, x, block_size, _F32)
    over_blocks(do, _nf4_op, block_size, 2, x, q, absmax, {}, kind=x.kind.label)
    if not double:
        return q, absmax
    if 0 in absmax.shape:
        raise InvalidProblemError(f"x: shape {x.shape}; expected one element or more, whose absmax has a mean")
    centred, offset = _centred(do, absmax)
    codes, scale = quantize_int8_blockwise(do, centred)
    return q, codes, scale, offset


@composed(q="*batch k : u8", absmax=(_scales, "f32 u8"), scale="n : f32", offset="() or 1 : f32")
def dequantize_nf4(
    do: Steps,
    q: TensorRef,
    absmax: TensorRef,
    scale: TensorRef | None = None,
    offset: TensorRef | None = None,
    *,
    block_size: BlockSize = 64,
    dtype: PairElement = _F32,
) -> Any:
    """The levels of NF4's codes, two a byte, times the absmax of their block, rounded to f32 and then to `dtype`.

    Where absmax is of codes (u8), it is their values by `scale`, `dequantize_int8_blockwise`, plus `offset`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.dequantize_nf4(np.array([208, 122], np.uint8), np.float32([2])).tolist()
    [1.1252340078353882, -2.0, 0.0, 0.4922246038913727]
    """
    _even(block_size)
    if (absmax.kind is _U8) != (scale is not None) or (scale is None) != (offset is None):
        given = ", ".join(n for n, t in (("scale", scale), ("offset", offset)) if t is not None) or "neither scale nor offset"
        raise InvalidProblemError(f"absmax: {absmax.kind} with {given}; expected f32 alone, or u8 with scale and offset")
    y = do.rows((*q.shape[:-1], 2 * q.shape[-1]), dtype)
    if scale is not None and offset is not None and 0 not in y.shape:
        values = dequantize_int8_blockwise(do, absmax, scale)
        absmax = do.run(add, {"a": values, "b": view(offset, 0, (), ())})
    values_over_blocks(do, _nf4_values_op, block_size, 2, q, absmax, y, {}, kind=dtype.label)
    return y
