"""The formulas of quantized rows: a scale from the row's own elements, and codes, in one pass; and codes by given scales.

A row is what shares a scale: a group, a token, a block, a tensor. Of its elements x, all in the kind that x computes in:

symmetric   scale = max |x| / (high - middle), zero_point = middle = (low + high + 1) // 2
affine      least = min(x, 0), most = max(x, 0), scale = (most - least) / (high - low),
            zero_point = clamp(rint(low - least / scale))

Then scale = max(scale, eps), 1 where it is 0, and at least the smallest normal number. A code is
clamp(rint(x / scale) + zero_point), with x / scale as in `formula/quotients.py`. In a row with a NaN or an infinity, whose scale
is that, all codes are 0, limited to the range. By a scale that is given each x is divided, and the code of a NaN is that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from baracuda.core.elements import ElementKind
from baracuda.formula import functions as f
from baracuda.formula.expr import Axes, Expr, as_expr, bitcast, cast, const, select
from baracuda.formula.quotients import divided_by
from baracuda.formula.small_floats import FORMATS
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Result, Scalar, Stored, stored_like
from baracuda.ops.quantization.affine import straight_through

S8, S32, F32, U32 = ElementKind.S8, ElementKind.S32, ElementKind.F32, ElementKind.U32
INTERNAL: dict[str, Any] = {"family": "quantization", "differentiable": False}
_ROWS: dict[str, Any] = {**INTERNAL, "takes": "float", "rows": True, "keepdims": True}


def normal(scale: Expr) -> Expr:
    """A scale that is not below the smallest normal number; 1 for 0."""
    return select(f.equal(scale, 0.0), 1.0, f.maximum(scale, float(np.finfo(scale.kind.numpy).tiny)))


def held(scale: Expr, eps: Expr | float) -> Expr:
    """A scale that is at least eps."""
    return normal(f.maximum(scale, cast(as_expr(eps, scale.kind), scale.kind)))


def _symmetric(largest: Expr, low: int, high: int, eps: Expr | float) -> tuple[Expr, Expr | None]:
    middle = (low + high + 1) // 2
    return held(largest / float(high - middle), eps), const(middle, largest.kind) if middle else None


def affine_scale(least: Expr, most: Expr, low: int, high: int, eps: Expr | float) -> tuple[Expr, Expr]:
    """Scale and zero point, both as floats, of a row between two numbers."""
    bottom, top = f.minimum(least, 0.0), f.maximum(most, 0.0)
    scale = held((top - bottom) / float(high - low), eps)
    return scale, f.clamp(f.rint(float(low) - bottom / scale), float(low), float(high))


def _chosen(values: tuple[Expr, ...], low: int, high: int, eps: Expr | float, symmetric: bool) -> tuple[Expr, Expr | None]:
    """The scale and the zero point of a row whose elements are these at each place."""
    if symmetric:
        largest = abs(values[0])
        for v in values[1:]:
            largest = f.maximum(largest, abs(v))
        return _symmetric(f.max_(largest), low, high, eps)
    least = most = values[0]
    for v in values[1:]:
        least, most = f.minimum(least, v), f.maximum(most, v)
    return affine_scale(f.min_(least), f.max_(most), low, high, eps)


def _nothing(low: int, high: int) -> int:
    """The code of what is no number."""
    return max(low, min(high, 0))


def _codes_in_row(values: tuple[Expr, ...], scale: Expr, zero: Expr | None, low: int, high: int, symmetric: bool) -> list[Expr]:
    """The codes, as s32, of elements of a row whose own scale it is; it is not finite where one of them is not.

    Limiting before rounding gives what limiting after it would, since the limits are whole. A symmetric scheme whose range
    reaches as far down as up needs no limits: max |x| / scale is high - middle, rounded at most once more.
    """
    finite = scale < float("inf")
    found = []
    for x in values:
        scaled = divided_by(x, scale)
        start, end = (const(v, x.kind) if zero is None else float(v) - zero for v in (low, high))
        if not (symmetric and 2 * ((low + high + 1) // 2) - high >= low):
            scaled = f.clamp(scaled, start, end)
        code = f.nearest_integer(scaled)
        code = code if zero is None else code + cast(zero, S32)
        found.append(select(finite, code, const(_nothing(low, high), S32)))
    return found


def codes_of_rows(
    values: tuple[Expr, ...], low: int, high: int, eps: Expr | float, symmetric: bool, stored: Callable[[list[Expr]], Stored]
) -> dict[str, Result]:
    """Codes and scales of a row whose elements are these at each place."""
    scale, zero = _chosen(values, low, high, eps, symmetric)
    results: dict[str, Result] = {"q": stored(_codes_in_row(values, scale, zero, low, high, symmetric))}
    results["scale"] = Stored(scale, scale.kind)
    if not symmetric:
        assert zero is not None
        results["zero_point"] = Stored(cast(zero, S32), S32)
    return results


def symmetric_rows(x: Expr, *, low: int, high: int, eps: Scalar = 0.0, element: ElementKind | None) -> dict[str, Result]:
    return codes_of_rows((x,), low, high, eps, True, lambda codes: Stored(codes[0], element or S8))


def affine_rows(x: Expr, *, low: int, high: int, eps: Scalar = 0.0, element: ElementKind | None) -> dict[str, Result]:
    return codes_of_rows((x,), low, high, eps, False, lambda codes: Stored(codes[0], element or S8))


TWO, THREE = ("q", "scale"), ("q", "scale", "zero_point")
#: Codes and scales of rows, by whether the scheme is symmetric.
ROWS = {
    True: Op(symmetric_rows, Rule.EACH, name="symmetric_rows", results=TWO, element_option=True, **_ROWS),
    False: Op(affine_rows, Rule.EACH, name="affine_rows", results=THREE, element_option=True, **_ROWS),
}


def _symmetric_scale(x: Expr, *, low: int, high: int, eps: Scalar = 0.0) -> dict[str, Result]:
    scale, _ = _chosen((x,), low, high, eps, True)
    return {"scale": Stored(scale, scale.kind)}


def _affine_scale(x: Expr, *, low: int, high: int, eps: Scalar = 0.0) -> dict[str, Result]:
    scale, zero = _chosen((x,), low, high, eps, False)
    assert zero is not None
    return {"scale": Stored(scale, scale.kind), "zero_point": Stored(cast(zero, S32), S32)}


#: Scales of rows without their codes, by whether the scheme is symmetric.
SCALES = {
    True: Op(_symmetric_scale, Rule.EACH, name="symmetric_scale", results=("scale",), **_ROWS),
    False: Op(_affine_scale, Rule.EACH, name="affine_scale", results=("scale", "zero_point"), **_ROWS),
}


# --- scales that are given --------------------------------------------------------------------------------------------


def _zero(zero_point: Expr | None, kind: ElementKind) -> Expr | None:
    return None if zero_point is None else cast(zero_point, kind)


def code_by(x: Expr, scale: Expr, zero_point: Expr | None, low: int, high: int) -> Expr:
    """The code, as s32, by a scale and any zero point, in their own elements; a zero point of floats is added before rounding."""
    code, zero = x / cast(scale, x.kind), _zero(zero_point, x.kind)
    if zero_point is not None and zero is not None:
        code = f.rint(code + zero) if zero_point.kind.is_float else f.rint(code) + zero
    limited = f.clamp(code, float(low), float(high))
    found = f.nearest_integer(limited)
    return select(f.equal(limited, limited), found, const(_nothing(low, high), S32))


def _given(x: Expr, scale: Own, zero_point: Own | None = None, *, low: int, high: int, element: ElementKind | None) -> Stored:
    return Stored(code_by(x, scale, zero_point, low, high), element or S8)


BY_SCALE = Op(_given, Rule.EACH, name="codes_by_scale", takes="float", element_option=True, **INTERNAL)


# --- rounded to the grid ----------------------------------------------------------------------------------------------


def _symmetric_grid(x: Expr, *, low: int, high: int, eps: Scalar = 0.0) -> Expr:
    return _on_grid(x, low, high, eps, True)


def _affine_grid(x: Expr, *, low: int, high: int, eps: Scalar = 0.0) -> Expr:
    return _on_grid(x, low, high, eps, False)


def _on_grid(x: Expr, low: int, high: int, eps: Expr | float, symmetric: bool) -> Expr:
    scale, zero = _chosen((x,), low, high, eps, symmetric)
    rounded = f.rint(divided_by(x, scale))
    code = f.clamp(rounded if zero is None else rounded + zero, float(low), float(high))
    return (code if zero is None else code - zero) * scale


#: x rounded to the grid of its row, by whether the scheme is symmetric.
GRIDS = {
    True: Op(_symmetric_grid, Rule.COMMON, name="symmetric_grid", takes="float", rows=True, **INTERNAL),
    False: Op(_affine_grid, Rule.COMMON, name="affine_grid", takes="float", rows=True, **INTERNAL),
}


def _observed(
    x: Expr, running_min: Expr, running_max: Expr, low: int, high: int, symmetric: bool, observe: bool, share: Expr | float,
    eps: Expr | float,
) -> tuple[Expr, Expr, dict[str, Result]]:  # fmt: skip
    """Scale and zero point as floats, and both with the new state as results."""
    least, most = cast(running_min, x.kind), cast(running_max, x.kind)
    if observe:
        part = as_expr(share, x.kind)
        least, most = (
            select(abs(old) < float("inf"), old + part * (new - old), select(f.equal(old, old), new, old))
            for old, new in ((least, f.min_(x)), (most, f.max_(x)))
        )
    if symmetric:
        scale, middle = _symmetric(f.maximum(abs(least), abs(most)), low, high, eps)
        zero = const(0.0, x.kind) if middle is None else middle
    else:
        scale, zero = affine_scale(least, most, low, high, eps)
    return scale, zero, {
        "scale": Stored(scale, scale.kind, Axes.OUTER),
        "zero_point": Stored(cast(zero, S32), S32, Axes.OUTER),
        "new_running_min": _like(least, running_min),
        "new_running_max": _like(most, running_max),
    }  # fmt: skip


def _like(value: Expr, tensor: Expr) -> Stored:
    stored = stored_like(value, tensor)
    return Stored(stored.value, stored.element, Axes.OUTER)


def _observed_only(
    x: Expr, running_min: Own, running_max: Own, *, low: int, high: int, symmetric: bool, observe: bool,
    averaging_const: Scalar = 0.01, eps: Scalar = 0.0,
) -> dict[str, Result]:  # fmt: skip
    return _observed(x, running_min, running_max, low, high, symmetric, observe, averaging_const, eps)[2]


def _observed_and_rounded(
    x: Expr, running_min: Own, running_max: Own, *, low: int, high: int, symmetric: bool, observe: bool,
    averaging_const: Scalar = 0.01, eps: Scalar = 0.0,
) -> dict[str, Result]:  # fmt: skip
    scale, zero, results = _observed(x, running_min, running_max, low, high, symmetric, observe, averaging_const, eps)
    return {"y": (f.clamp(f.rint(x / scale) + zero, float(low), float(high)) - zero) * scale, **results}


_STATE = ("scale", "zero_point", "new_running_min", "new_running_max")
#: What follows from moving averages of x's extremes, with x rounded to their grid or without.
OBSERVED = {
    False: Op(_observed_only, Rule.COMMON, name="observed_range", results=_STATE, rows=True, takes="float", **INTERNAL),
    True: Op(
        _observed_and_rounded, Rule.COMMON, name="observed_and_rounded", results=("y", *_STATE), rows=True, takes="float",
        **INTERNAL,
    ),
}  # fmt: skip


#: The gradient of x rounded to a grid that is given.
STRAIGHT_THROUGH = Op(straight_through, Rule.COMMON, name="straight_through_grid", takes="float", **INTERNAL)


# --- 8-bit floats -----------------------------------------------------------------------------------------------------


def float_rows(x: Expr, *, power_of_two: bool = False, eps: Scalar = 0.0, element: ElementKind | None) -> dict[str, Result]:
    kind = element or ElementKind.F8E4M3
    values = cast(x, F32)
    scale = held(f.max_(abs(values)) / FORMATS[kind].maximum, eps)
    if power_of_two:
        up = bitcast(bitcast(scale, U32) + 0x7FFFFF & 0xFF800000, F32)
        scale = select(scale < float("inf"), up, scale)
    return {"q": Stored(divided_by(values, scale), kind), "scale": Stored(scale, F32)}


FLOAT_ROWS = Op(float_rows, Rule.EACH, name="float_rows", results=TWO, element_option=True, **_ROWS)
