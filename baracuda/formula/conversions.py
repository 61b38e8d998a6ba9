"""Words that convert to a storage kind: a value that a tensor of the kind can hold, in the kind's compute kind."""

from __future__ import annotations

import numpy as np

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.formula.expr import Expr, cast, const, node
from baracuda.formula.functions import clamp, maximum, minimum, not_equal, where
from baracuda.formula.small_floats import FORMATS

_F32, _F64, _S32 = ElementKind.F32, ElementKind.F64, ElementKind.S32


def cast_to(x: Expr, kind: ElementKind) -> Expr:
    """What reading back `x`, stored as `kind`, would give, in the compute kind of `kind`.

    - To a float: rounded once, to nearest even. What is too large becomes infinity, or NaN in f8e4m3.
    - Float to integer: truncated, saturated to the range of `kind`; NaN gives 0.
    - Integer to integer: the low bits.
    - To bool: whether x is not 0; true for NaN.

    Its gradient is that of x itself. Raises `UnsupportedError` for a packed or complex kind.
    """
    _check(kind)
    if kind.is_float:
        return _rounded(x, kind)
    if kind.bits >= 32 or kind is ElementKind.BOOL:
        return cast(x, kind)
    if x.kind.is_float:
        return cast(clamp(x, *_range(kind)), _S32)
    low = cast(x, _S32)
    if kind.category is Category.UNSIGNED:
        return low & (1 << kind.bits) - 1
    return low << (32 - kind.bits) >> (32 - kind.bits)


def saturate_to(x: Expr, kind: ElementKind) -> Expr:
    """`cast_to(x, kind)` with values beyond the range of `kind`, infinities too, replaced by its nearest finite value.

    NaN stays NaN in a float and gives 0 in an integer.
    """
    _check(kind)
    if kind is ElementKind.BOOL or x.kind is ElementKind.BOOL:
        return cast_to(x, kind)
    low, high = _range(kind)
    if x.kind.is_float:
        if kind.is_float:
            x = clamp(cast(x, _F64) if kind is _F64 else x, low, high)
        return cast_to(x, kind)
    least, most = _range(x.kind)
    if low > least:
        x = maximum(x, int(low))
    if high < most:
        x = minimum(x, int(high))
    return cast_to(x, kind)


def code_of(x: Expr, kind: ElementKind) -> Expr:
    """The bit pattern, as s32, of `saturate_to(x, kind)` for an f32 x and an 8-bit float; of a NaN any one that is a NaN."""
    return node(f"code_{kind.label}", (x,), _S32)


def _check(kind: ElementKind) -> None:
    if kind.bits < 8 or kind.category is Category.COMPLEX:
        raise UnsupportedError(f"no conversion to {kind} in a formula; expected a real kind of 8 bits or more")


def _range(kind: ElementKind) -> tuple[float, float]:
    """The least and the greatest finite value."""
    if kind.is_float:
        most = FORMATS[kind].maximum if kind in FORMATS else float(np.finfo(kind.numpy).max)
        return -most, most
    if kind.category is Category.SIGNED:
        return -(1 << kind.bits - 1), (1 << kind.bits - 1) - 1
    return 0, (1 << kind.bits) - 1


def _rounded(x: Expr, kind: ElementKind) -> Expr:
    if kind not in FORMATS:
        return cast(x, kind)
    if x.kind is ElementKind.BOOL:
        x = cast(x, _F32)
    elif not x.kind.is_float:
        x = cast(_in_53_bits(x) if x.kind.bits == 64 else x, _F64)
    return node(f"round_to_{kind.label}", (x,), _F32)


def _in_53_bits(x: Expr) -> Expr:
    """An integer of 64 bits as one that f64 has and that rounds to fewer bits as x does: where bits are lost, the last one
    kept says so (rounding to odd)."""
    upper = x >> 53
    large = not_equal(upper, 0)
    if x.kind.category is Category.SIGNED:
        large = large & not_equal(upper, -1)
    lost = where(not_equal(x & 0x7FF, 0), const(0x800, x.kind), 0)
    return where(large, x & -0x800 | lost, x)
