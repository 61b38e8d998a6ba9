"""The formulas of quantized rows: a scale from the row's own elements, and codes, in one pass; and codes by given scales.

A row is what shares a scale: a group, a token, a block, a tensor. Of its elements x, all in the kind that x computes in:

symmetric   scale = max |x| / (high - middle), zero_point = middle = (low + high + 1) // 2
affine      least = min(x, 0), most = max(x, 0), scale = (most - least) / (high - low),
            zero_point = clamp(rint(low - least / scale))

Then scale = max(scale, eps), and 1 where it is 0. A code is clamp(rint(x / scale) + zero_point), that of a NaN the one of 0
limited to the range. A NaN in a row makes its scale NaN, so that all its codes are that; an infinity an infinite scale.
"""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.formula import functions as f
from baracuda.formula.conversions import saturate_to
from baracuda.formula.expr import Axes, Expr, as_expr, bitcast, cast, const, select
from baracuda.formula.small_floats import FORMATS
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Result, Scalar, Stored, stored_like
from baracuda.ops.quantization.affine import straight_through

S8, S32, U8, F32, U32 = ElementKind.S8, ElementKind.S32, ElementKind.U8, ElementKind.F32, ElementKind.U32
_INTERNAL: dict[str, Any] = {"family": "quantization", "differentiable": False}
_ROWS: dict[str, Any] = {**_INTERNAL, "takes": "float", "rows": True, "keepdims": True, "wide": ("scale",)}


def _not_zero(scale: Expr, eps: Expr | float) -> Expr:
    held = f.maximum(scale, as_expr(eps, scale.kind))
    return select(f.equal(held, 0.0), 1.0, held)


def _symmetric(largest: Expr, low: int, high: int, eps: Expr | float) -> tuple[Expr, Expr | None]:
    middle = (low + high + 1) // 2
    return _not_zero(largest / float(high - middle), eps), const(middle, largest.kind) if middle else None


def affine_scale(least: Expr, most: Expr, low: int, high: int, eps: Expr | float) -> tuple[Expr, Expr]:
    """Scale and zero point, both as floats, of a row between two numbers."""
    bottom, top = f.minimum(least, 0.0), f.maximum(most, 0.0)
    scale = _not_zero((top - bottom) / float(high - low), eps)
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


def _whole(limited: Expr, found: Expr, low: int, high: int) -> Expr:
    """A code; that of a NaN is 0, limited to the range."""
    return select(f.equal(limited, limited), found, const(max(low, min(high, 0)), found.kind))


def code(x: Expr, scale: Expr, zero: Expr | None, low: int, high: int) -> Expr:
    """The code of an element, as s32; scale and zero point are of its kind, the zero point a whole number of the range. Limiting
    before rounding gives what limiting after it would, since the limits are whole."""
    if zero is None:
        limited = f.clamp(x / scale, float(low), float(high))
        return _whole(limited, f.nearest_integer(limited), low, high)
    limited = f.clamp(x / scale, float(low) - zero, float(high) - zero)
    return _whole(limited, f.nearest_integer(limited) + cast(zero, S32), low, high)


def _nibbles(first: Expr, second: Expr | None) -> Stored:
    low = first & 15
    return Stored(low if second is None else low | (second & 15) << 4, U8)


def _codes_of_rows(
    x: Expr, other: Expr | None, low: int, high: int, eps: Expr | float, symmetric: bool, element: ElementKind | None
) -> dict[str, Result]:
    values = (x,) if other is None else (x, other)
    scale, zero = _chosen(values, low, high, eps, symmetric)
    codes = [code(v, scale, zero, low, high) for v in values]
    results: dict[str, Result] = {"q": Stored(codes[0], element or S8) if other is None else _nibbles(codes[0], codes[1])}
    results["scale"] = scale
    if not symmetric:
        assert zero is not None
        results["zero_point"] = Stored(cast(zero, S32), S32)
    return results


def _symmetric_rows(x: Expr, *, low: int, high: int, eps: Scalar = 0.0, element: ElementKind | None) -> dict[str, Result]:
    return _codes_of_rows(x, None, low, high, eps, True, element)


def _affine_rows(x: Expr, *, low: int, high: int, eps: Scalar = 0.0, element: ElementKind | None) -> dict[str, Result]:
    return _codes_of_rows(x, None, low, high, eps, False, element)


def _symmetric_pairs(x: Expr, other: Expr, *, low: int, high: int, eps: Scalar = 0.0) -> dict[str, Result]:
    return _codes_of_rows(x, other, low, high, eps, True, None)


def _affine_pairs(x: Expr, other: Expr, *, low: int, high: int, eps: Scalar = 0.0) -> dict[str, Result]:
    return _codes_of_rows(x, other, low, high, eps, False, None)


_TWO, _THREE = ("q", "scale"), ("q", "scale", "zero_point")
#: Codes and scales of rows: by whether the scheme is symmetric, and whether two neighbours are a byte.
ROWS = {
    (True, False): Op(_symmetric_rows, Rule.EACH, name="symmetric_rows", results=_TWO, element_option=True, **_ROWS),
    (False, False): Op(_affine_rows, Rule.EACH, name="affine_rows", results=_THREE, element_option=True, **_ROWS),
    (True, True): Op(_symmetric_pairs, Rule.COMMON, name="symmetric_pairs", results=_TWO, **_ROWS),
    (False, True): Op(_affine_pairs, Rule.COMMON, name="affine_pairs", results=_THREE, **_ROWS),
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
    """The code by a scale and any zero point, each in its own element; a zero point of floats is added before rounding."""
    scaled, zero = x / cast(scale, x.kind), _zero(zero_point, x.kind)
    if zero_point is None or zero is None:
        return code(x, cast(scale, x.kind), None, low, high)
    rounded = f.rint(scaled + zero) if zero_point.kind.is_float else f.rint(scaled) + zero
    limited = f.clamp(rounded, float(low), float(high))
    return _whole(limited, f.nearest_integer(limited), low, high)


def _given(x: Expr, scale: Own, zero_point: Own | None = None, *, low: int, high: int, element: ElementKind | None) -> Stored:
    return Stored(code_by(x, scale, zero_point, low, high), element or S8)


def _given_pairs(x: Expr, other: Expr, scale: Own, zero_point: Own | None = None, *, low: int, high: int) -> Stored:
    return _nibbles(code_by(x, scale, zero_point, low, high), code_by(other, scale, zero_point, low, high))


BY_SCALE = Op(_given, Rule.EACH, name="codes_by_scale", takes="float", element_option=True, **_INTERNAL)
PAIRS_BY_SCALE = Op(_given_pairs, Rule.EACH, name="packed_codes_by_scale", takes="float", **_INTERNAL)


def nibble(byte: Expr, upper: bool, signed: bool) -> Expr:
    """One of the two codes of a byte, as s32."""
    if not signed:
        return byte >> 4 if upper else byte & 15
    return (byte << 24 >> 28) if upper else (byte << 28 >> 28)


def _values(q: Expr, scale: Expr, zero_point: Expr | None, upper: bool, signed: bool, kind: ElementKind) -> Stored:
    whole = cast(nibble(q, upper, signed), kind.compute)
    zero = _zero(zero_point, kind.compute)
    return Stored((whole if zero is None else whole - zero) * cast(scale, kind.compute), kind)


def _unpacked(
    q: Expr, scale: Own, zero_point: Own | None = None, *, signed: bool = True, element: ElementKind | None
) -> dict[str, Stored]:
    kind = element or F32
    return {name: _values(q, scale, zero_point, upper, signed, kind) for name, upper in (("y", False), ("other", True))}


#: The values of packed codes: those of the lower and of the upper halves of bytes.
VALUES_OF_PAIRS = Op(
    _unpacked, Rule.EACH, name="values_of_pairs", results=("y", "other"), takes="int", element_option=True, **_INTERNAL
)


# --- rounded to the grid ----------------------------------------------------------------------------------------------


def _symmetric_grid(x: Expr, *, low: int, high: int, eps: Scalar = 0.0) -> Expr:
    return _on_grid(x, low, high, eps, True)


def _affine_grid(x: Expr, *, low: int, high: int, eps: Scalar = 0.0) -> Expr:
    return _on_grid(x, low, high, eps, False)


def _on_grid(x: Expr, low: int, high: int, eps: Expr | float, symmetric: bool) -> Expr:
    scale, zero = _chosen((x,), low, high, eps, symmetric)
    rounded = f.rint(x / scale)
    code_ = f.clamp(rounded if zero is None else rounded + zero, float(low), float(high))
    return (code_ if zero is None else code_ - zero) * scale


#: x rounded to the grid of its row, by whether the scheme is symmetric.
GRIDS = {
    True: Op(_symmetric_grid, Rule.COMMON, name="symmetric_grid", takes="float", rows=True, **_INTERNAL),
    False: Op(_affine_grid, Rule.COMMON, name="affine_grid", takes="float", rows=True, **_INTERNAL),
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
    False: Op(_observed_only, Rule.COMMON, name="observed_range", results=_STATE, rows=True, takes="float", **_INTERNAL),
    True: Op(
        _observed_and_rounded, Rule.COMMON, name="observed_and_rounded", results=("y", *_STATE), rows=True, takes="float",
        **_INTERNAL,
    ),
}  # fmt: skip


#: The gradient of x rounded to a grid that is given.
STRAIGHT_THROUGH = Op(straight_through, Rule.COMMON, name="straight_through_grid", takes="float", **_INTERNAL)


# --- 8-bit floats -----------------------------------------------------------------------------------------------------


def _float_rows(x: Expr, *, power_of_two: bool = False, eps: Scalar = 0.0, element: ElementKind | None) -> dict[str, Result]:
    kind = element or ElementKind.F8E4M3
    values = cast(x, F32)
    scale = _not_zero(f.max_(abs(values)) / FORMATS[kind].maximum, eps)
    if power_of_two:
        up = bitcast(bitcast(scale, U32) + 0x7FFFFF & 0xFF800000, F32)
        scale = select(scale < float("inf"), up, scale)
    return {"q": Stored(saturate_to(values / scale, kind), kind), "scale": Stored(scale, F32)}


FLOAT_ROWS = Op(_float_rows, Rule.EACH, name="float_rows", results=_TWO, element_option=True, **_ROWS)
