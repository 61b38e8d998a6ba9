"""8-bit floats with scales: for a tensor, its rows or columns, or blocks of it. value = code * scale."""

from __future__ import annotations

from collections.abc import Iterator
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
from baracuda.ops.quantization.blocks import few_axes, runs_of, single, tile, written
from baracuda.ops.quantization.element_codes import LARGEST

_F32, _S32 = ElementKind.F32, ElementKind.S32
Fp8Element = Annotated[Any, OneOf((ElementKind.F8E4M3, ElementKind.F8E5M2))]
#: What shares a scale.
Scaling = Literal["tensor", "row", "column", "1x128", "128x128"]
_BLOCK = 128
#: Of (rows, columns) those that share a scale; None for all of them.
_SHARED: dict[str, tuple[int | None, int | None]] = {
    "row": (1, None), "column": (None, 1), "1x128": (1, _BLOCK), "128x128": (_BLOCK, _BLOCK),
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


def _multiplied(q: Expr, scale: Expr, *, element: ElementKind | None = None) -> Stored:
    kind = element or _F32
    return Stored(cast_to(cast(q, _F32) * scale, kind), kind)


INTERNAL: dict[str, Any] = {"family": "quantization", "takes": "any", "element_option": True, "differentiable": False}
_scaled_op = Op(_scaled, Rule.EACH, name="fp8_scaled", rows=True, results=("q", "scale"), **INTERNAL)
_divided_op = Op(_divided, Rule.EACH, name="fp8_divided", **INTERNAL)
_multiplied_op = Op(_multiplied, Rule.EACH, name="fp8_multiplied", byte_floats=True, **INTERNAL)


def _blocks(extent: int, size: int) -> int:
    return -(-extent // size)


def _shape_of_scale(shape: tuple[int, ...], scaling: Scaling) -> tuple[int, ...]:
    if scaling == "tensor":
        return ()
    if len(shape) < 2:
        raise InvalidProblemError(f"x: shape {shape}; expected rows and columns for scaling {scaling!r}")
    shared = (n if s is None else s for n, s in zip(shape[-2:], _SHARED[scaling], strict=True))
    return (*shape[:-2], *(_blocks(n, s) if s else 1 for n, s in zip(shape[-2:], shared, strict=True)))


def _sizes(shape: tuple[int, ...], scales: tuple[int, ...]) -> tuple[int, int] | None:
    """How many rows and columns share a scale, by the shapes; None for all there are."""
    if all(n == 1 for n in scales):
        return None
    if len(scales) == len(shape) >= 2 and scales[:-2] == shape[:-2]:
        found = []
        for n, s in zip(shape[-2:], scales[-2:], strict=True):
            size = n if s == 1 else 1 if s == n else _BLOCK if s == _blocks(n, _BLOCK) else None
            if size is None:
                break
            found.append(size)
        else:
            return found[0], found[1]
    *lead, m, k = (1, 1, *shape)[-max(len(shape), 2) :]
    blocks = (*lead, _blocks(m, _BLOCK), _blocks(k, _BLOCK))
    raise InvalidProblemError(
        f"scale: shape {scales} for a tensor of shape {shape}; expected one number, {(*lead, m, 1)}, {(*lead, 1, k)}, "
        f"{(*blocks[:-2], m, blocks[-1])} or {blocks}"
    )


def _pieces(sizes: tuple[int, int], x: Any, q: Any, scale: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Views of two tensors and of the scales that are of blocks of one size each."""
    m, k = x.shape[-2:]
    for rows in runs_of(m, sizes[0]):
        for columns in runs_of(k, sizes[1]):
            own = ((at // s, count, 1) for (at, count, _), s in zip((rows, columns), sizes, strict=True))
            yield tile(x, rows, columns), tile(q, rows, columns), tile(scale, *own)


def _each(do: Steps, op: Op, names: tuple[str, str], x: TensorRef, scale: TensorRef | float, y: TensorMut, kind: Any) -> None:
    """A pointwise op of a tensor and scales."""
    sizes = _sizes(x.shape, scale.shape) if isinstance(scale, TensorRef) else None
    if sizes is None or not isinstance(scale, TensorRef):
        do.run(op, {names[0]: x, names[1]: single(do, scale, "scale")}, y, dtype=kind)
        return
    x, scale = few_axes(do, x, 2), few_axes(do, scale, 2)

    def write(y: TensorMut) -> None:
        for piece, into, own in _pieces(sizes, x, y, scale):
            do.run(op, {names[0]: piece, names[1]: own}, into, dtype=kind)

    written(do, [y], write, 2)


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
) -> Any:
    """x / scale in 8-bit floats, f8e4m3 or f8e5m2: q where a scale is given, else q and the scale that brings the largest
    magnitude to the largest value, 448 or 57344.

    scale = max(amax / largest, 2**-126), or the next power of two above that, and q = x * (1 / scale), every operation rounded in
    f32, then limited to the largest value and rounded to nearest even. A NaN stays one; where scales are computed it makes all
    NaN that share its scale, and an infinity makes them 0 and itself NaN.

    `scaling` says what shares a computed scale: all of x, of shape (..., m, k), with a scale of shape (); a row, (..., m, 1); a
    column, (..., 1, k); a block of 128 in a row, (..., m, ceil(k / 128)); a block of 128 x 128. A scale that is given is a number
    or has one of these shapes. With `transposed` the last two axes of q are exchanged; scale has those of x.

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
    last = [*range(len(x.shape))]
    last[-2:] = last[:-3:-1] if transposed else last[-2:]
    whole = do.rows(tuple(x.shape[a] for a in last), dtype) if transposed else do.new(x.shape, dtype, x)
    q = as_bits(permuted(whole, last))
    if scale is not None:
        if 0 not in x.shape:
            _each(do, _divided_op, ("x", "scale"), x, scale, q, dtype)
        return whole
    shape = _shape_of_scale(x.shape, scaling)
    scales = do.rows(shape, _F32)
    if 0 in x.shape:
        do.fill(scales, LEAST_SCALE)
    elif not shape:
        into = (q, view(scales, 0, (1,) * len(x.shape), (0,) * len(x.shape)))
        do.run(_scaled_op, {"x": x}, into, axis=None, dtype=dtype, power_of_two=power_of_two)
    else:
        sizes = tuple(n if s is None else s for n, s in zip(x.shape[-2:], _SHARED[scaling], strict=True))
        x = few_axes(do, x, 2)

        def write(q: TensorMut, scale: TensorMut) -> None:
            for piece, *into in _pieces((sizes[0], sizes[1]), x, q, scale):
                do.run(_scaled_op, {"x": piece}, tuple(into), axis=(-3, -1), dtype=dtype, power_of_two=power_of_two)

        written(do, [q, scales], write, 2)
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
    y = do.new(q.shape, dtype, q)
    if 0 not in q.shape:
        _each(do, _multiplied_op, ("q", "scale"), q, scale, y, dtype)
    return y
