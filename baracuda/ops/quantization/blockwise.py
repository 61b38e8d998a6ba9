"""Quantization by blocks: rectangles with a scale each, as DeepSeek has them, and runs with bitsandbytes' map of 256."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.parameters import OneOf
from baracuda.core.tensor import TensorRef
from baracuda.core.views import reshaped
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, bitcast, cast, const, fma, lookup, select
from baracuda.formula.quotients import divided_by
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Result, Stored
from baracuda.ops.declaration.words import Eps, FloatElement, Positive
from baracuda.ops.quantization.codebooks import EXPONENTS, dynamic_map, midpoints
from baracuda.ops.quantization.groups import GroupSizes, check_groups, groups_of, new_like, parts
from baracuda.ops.quantization.ranges import codes_of
from baracuda.ops.quantization.row_formulas import FLOAT_ROWS, ROWS, normal
from baracuda.ops.quantization.two_rows import run_rows

_F32, _S32, _U8 = ElementKind.F32, ElementKind.S32, ElementKind.U8
_BlockElement = Annotated[Any, OneOf((ElementKind.F8E4M3, ElementKind.F8E5M2, ElementKind.S8))]


@composed(x="... : float", numbers={"eps": ()})
def quantize_blockwise(
    do: Steps,
    x: TensorRef,
    *,
    block: GroupSizes = 128,
    dtype: _BlockElement = ElementKind.F8E4M3,
    power_of_two: bool = False,
    eps: Eps = 0.0,
) -> Any:
    """(q, scale): x in blocks of the last axes, each divided by its scale and rounded to f8e4m3, f8e5m2 or s8.

    `block` is the extent of a block along the last axis, as of the activations of DeepSeek-V3 (128), or a tuple of those along
    as many last axes, as of its weights ((128, 128)); the last one along an axis may be smaller, and -1 is all of an axis.
    scale has an element for each block, in f32 (of an 8-bit float) or the kind that x computes in: max |x| / 448, of f8e5m2 /
    57344, of s8 / 127; at least eps, 1 where it is 0, and with `power_of_two` (8-bit floats only) rounded up to a power of two,
    so that E8M0 holds it. Rounding is to nearest even. A NaN or an infinity makes the scale of its block that, and all 8-bit
    floats of it NaN.

    `dequantize_per_group(q, scale, group_size=block, axis=...)` takes s8 back.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> q, scale = baracuda.quantize_blockwise(np.float32([[1, -448, 7, 224]]), block=(1, 2))
    >>> q.astype(np.float32).tolist(), scale.tolist()
    ([[1.0, -448.0, 14.0, 448.0]], [[1.0, 0.5]])
    """
    sizes = (block,) if isinstance(block, int) else block
    groups = groups_of(x.shape, sizes, tuple(range(-len(sizes), 0)), "block")
    q = new_like(do, x, dtype, groups)
    if dtype.is_integer:
        if power_of_two:
            raise InvalidProblemError("power_of_two: True of s8; expected an 8-bit float as dtype")
        codes = codes_of(dtype, None, None)
        scale, op = do.rows(groups.counts, x.kind.compute), ROWS[True]
        words: dict[str, Any] = {"low": codes.low, "high": codes.high, "eps": eps}
    else:
        scale, op, words = do.rows(groups.counts, _F32), FLOAT_ROWS, {"power_of_two": power_of_two, "eps": eps}
    for (xs, qs), into, _ in parts(do, groups, (x, q), (scale,)):
        run_rows(do, op, {"x": xs}, (qs, *into), axis=groups.inner, dtype=dtype, **words)
    return q, scale


# --- a map of 256 -----------------------------------------------------------------------------------------------------


def _bits(table: np.ndarray[Any, np.dtype[np.float32]]) -> tuple[int, ...]:
    return tuple(table.view(np.uint32).tolist())


def nearest_code(value: Expr, signed: bool) -> Expr:
    """The code, as s32, of the dynamic map's element that is nearest to an f32 of -1 to 1, the lower one of two.

    Among the midpoints of a power of ten, which lie at equal distances but for rounding, a product says how many are below
    |value|, or one more; the next one, which is looked up, decides.
    """
    size, bits = abs(value), bitcast(value, _S32)
    if not signed:
        size = f.maximum(value, 0.0)
    factor, offset = (const(v, _F32) for v in _line(0, signed))
    for power in range(1, EXPONENTS):
        reached = size >= 10.0 ** (power - EXPONENTS)
        own = _line(power, signed)
        factor, offset = select(reached, own[0], factor), select(reached, own[1], offset)
    middles = midpoints(signed)[127:] if signed else np.append(midpoints(signed), np.float32(2))
    below = f.nearest_integer(fma(size, factor, offset)) & (len(middles) - 1)  # of a NaN any number, which is an entry too
    sign = bits >> 31  # of a negative number -1: what lies at a midpoint is beyond it then
    key = bitcast(size, _S32) - sign if signed else bitcast(size, _S32)
    beyond = key > bitcast(lookup(below, _bits(middles), _F32), _S32)
    count = select(beyond, below + 1, below)
    if not signed:
        return count
    return f.maximum((count ^ sign) - sign + 127, 0)


def _line(power: int, signed: bool) -> tuple[float, float]:
    """Factor and offset of |value| whose sum, rounded, is the number of midpoints below in a power of ten, or one less.

    In parts of a power of ten, n of [0.1, 1], midpoints lie at 0.2, 1, 2, ..., n - 1; n more are below, and then as many as the
    place less 0.21 rounded up.
    """
    parts = 2**power if signed else 2 ** (power + 1)
    before = 2**power - 1 if signed else 2 ** (power + 1) - 2
    return 10.0 ** (EXPONENTS - 1 - power) * parts / 0.9, before + 1 - parts / 9 - 0.21 - 0.5


def _coded_rows(x: Expr, *, signed: bool = True) -> dict[str, Result]:
    value = cast(x, _F32)
    largest = f.max_(abs(value))
    divisor = normal(largest)
    code = nearest_code(divided_by(value, divisor), signed)
    zero = const(int(np.argmin(np.abs(dynamic_map(signed)))), _S32)
    absmax = select(f.equal(largest, 0.0), largest, divisor)
    return {"q": Stored(select(divisor < float("inf"), code, zero), _U8), "absmax": Stored(absmax, _F32)}


def _decoded(q: Expr, absmax: Own, *, signed: bool = True, element: ElementKind | None) -> Stored:
    return Stored(lookup(q, _bits(dynamic_map(signed)), _F32) * cast(absmax, _F32), element or _F32)


_CODES_OF_ROWS = Op(
    _coded_rows, Rule.EACH, name="mapped_codes", family="quantization", takes="float", rows=True, keepdims=True,
    results=("q", "absmax"), differentiable=False,
)  # fmt: skip
_VALUES = Op(
    _decoded, Rule.EACH, name="mapped_values", family="quantization", takes="int", element_option=True, differentiable=False
)


@composed(x="... : f16 bf16 f32")
def quantize_int8_blockwise(do: Steps, x: TensorRef, *, block_size: Positive = 256, signed: bool = True) -> Any:
    """(q, absmax): x in blocks of `block_size` elements in logical order, each divided by its largest magnitude and coded by the
    nearest of the 256 values of bitsandbytes' dynamic map (`baracuda.ops.quantization.codebooks`).

    q is u8 of x's shape, absmax f32 with one element for each block, the last of which may be shorter. The signed map is that
    of weights and first moments, the unsigned one that of second moments, in which what is below 0 is 0. x / absmax is rounded
    to f32; of two values that are equally near, which the rounded middle between them decides, the lower one is taken. A block
    of zeros has absmax 0 and the code of 0; a NaN makes absmax NaN and all codes of its block those of 0, and so does an
    infinity, which is absmax.

    bitsandbytes multiplies by the rounded 1 / absmax, and so may choose the other neighbour close to a middle.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> q, absmax = baracuda.quantize_int8_blockwise(np.float32([0, -2, 1, 0.1]), block_size=2)
    >>> q.tolist(), absmax.tolist()
    ([127, 0, 255, 190], [2.0, 1.0])
    """
    flat = do.reshaped(x, (-1,))
    q = do.rows(x.shape, _U8)
    codes = do.reshaped(q, (-1,))
    groups = groups_of(flat.shape, block_size, 0)
    absmax = do.rows(groups.counts, _F32)
    for (xs, qs), into, _ in parts(do, groups, (flat, codes), (absmax,)):
        do.run(_CODES_OF_ROWS, {"x": xs}, (qs, *into), axis=groups.inner, signed=signed)
    return q, absmax


@composed(q="... : u8", absmax="? : f32", out=True)
def dequantize_int8_blockwise(
    do: Steps,
    q: TensorRef,
    absmax: TensorRef,
    *,
    block_size: Positive = 256,
    signed: bool = True,
    dtype: FloatElement = ElementKind.F32,
) -> Any:
    """The values of `quantize_int8_blockwise`'s codes times the absmax of their block, a product in f32, as `dtype`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.dequantize_int8_blockwise(np.uint8([127, 0, 255]), np.float32([2, 4]), block_size=2).tolist()
    [0.0, -1.985937476158142, 4.0]
    """
    flat = do.reshaped(q, (-1,))
    groups = groups_of(flat.shape, block_size, 0)
    check_groups(groups, absmax, "absmax")
    y = do.result(q.shape, dtype)
    values = reshaped(y, (-1,))
    target = do.rows(flat.shape, dtype) if values is None else values
    for (qs, ys), (largest,), _ in parts(do, groups, (flat, target), (absmax,)):
        do.run(_VALUES, {"q": qs, "absmax": largest}, ys, signed=signed, dtype=dtype)
    if values is None:
        do.copy(do.reshaped(target, y.shape), y)
    return y
