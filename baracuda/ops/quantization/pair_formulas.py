"""Quantized rows whose codes are packed, two neighbours to a byte: the formulas of `row_formulas` on pairs of elements.

A pair is two tensors, of the elements of even and of odd number, or where memory allows it one word, which has both: the first in
its lower half.
"""

from __future__ import annotations

from typing import Any, Literal

from baracuda.core.elements import ElementKind
from baracuda.formula.expr import Expr, bitcast, cast
from baracuda.formula.small_floats import narrow, widen
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Result, Scalar, Stored
from baracuda.ops.quantization.row_formulas import INTERNAL, THREE, TWO, code_by, codes_of_rows

_F32, _S32, _U8, _U32, _U64 = ElementKind.F32, ElementKind.S32, ElementKind.U8, ElementKind.U32, ElementKind.U64
#: The elements of which a word holds two.
Floats = Literal["f16", "bf16", "f32"]
WORDS = {ElementKind.F16: _U32, ElementKind.BF16: _U32, _F32: _U64}
_KINDS = {kind.label: kind for kind in WORDS}
_ROWS: dict[str, Any] = {**INTERNAL, "rows": True, "keepdims": True}


def _pair(word: Expr, floats: str) -> tuple[Expr, Expr]:
    """The two elements of a word, in f32."""
    kind = _KINDS[floats]
    if kind is _F32:
        return bitcast(cast(word, _U32), _F32), bitcast(cast(word >> 32, _U32), _F32)
    if kind is ElementKind.BF16:
        return bitcast(word << 16, _F32), bitcast(word & 0xFFFF0000, _F32)
    return widen(bitcast(word & 0xFFFF, _S32), kind), widen(bitcast(word >> 16, _S32), kind)


def _word(values: tuple[Expr, Expr], floats: str) -> Stored:
    """Two values of f32 as a word of the elements they are stored in."""
    kind = _KINDS[floats]
    if kind is _F32:
        low, high = (cast(bitcast(v, _U32), _U64) for v in values)
        return Stored(low | high << 32, _U64)
    low, high = (narrow(v, kind) for v in values)
    return Stored(bitcast((low & 0xFFFF) | high << 16, _U32), _U32)


def _byte(codes: list[Expr]) -> Stored:
    first, second = codes
    return Stored((first & 15) | (second & 15) << 4, _U8)


def _symmetric_pairs(x: Expr, other: Expr, *, low: int, high: int, eps: Scalar = 0.0) -> dict[str, Result]:
    return codes_of_rows((x, other), low, high, eps, True, _byte)


def _affine_pairs(x: Expr, other: Expr, *, low: int, high: int, eps: Scalar = 0.0) -> dict[str, Result]:
    return codes_of_rows((x, other), low, high, eps, False, _byte)


def symmetric_words(x: Own, *, low: int, high: int, floats: Floats, eps: Scalar = 0.0) -> dict[str, Result]:
    return codes_of_rows(_pair(x, floats), low, high, eps, True, _byte)


def affine_words(x: Own, *, low: int, high: int, floats: Floats, eps: Scalar = 0.0) -> dict[str, Result]:
    return codes_of_rows(_pair(x, floats), low, high, eps, False, _byte)


#: Packed codes and scales of rows, by whether the scheme is symmetric and whether pairs are words.
PAIRS = {
    (True, False): Op(_symmetric_pairs, Rule.COMMON, name="symmetric_pairs", takes="float", results=TWO, **_ROWS),
    (False, False): Op(_affine_pairs, Rule.COMMON, name="affine_pairs", takes="float", results=THREE, **_ROWS),
    (True, True): Op(symmetric_words, Rule.EACH, name="symmetric_words", takes="int", results=TWO, **_ROWS),
    (False, True): Op(affine_words, Rule.EACH, name="affine_words", takes="int", results=THREE, **_ROWS),
}


# --- scales that are given --------------------------------------------------------------------------------------------


def _by_scale(values: tuple[Expr, Expr], scale: Expr, zero_point: Expr | None, low: int, high: int) -> Stored:
    return _byte([code_by(v, scale, zero_point, low, high) for v in values])


def _given_pairs(x: Expr, other: Expr, scale: Own, zero_point: Own | None = None, *, low: int, high: int) -> Stored:
    return _by_scale((x, other), scale, zero_point, low, high)


def _given_words(x: Expr, scale: Own, zero_point: Own | None = None, *, low: int, high: int, floats: Floats) -> Stored:
    return _by_scale(_pair(x, floats), scale, zero_point, low, high)


#: Packed codes by scales, by whether pairs are words.
PAIRS_BY_SCALE = {
    False: Op(_given_pairs, Rule.EACH, name="codes_of_pairs", takes="float", **INTERNAL),
    True: Op(_given_words, Rule.EACH, name="codes_of_words", takes="int", **INTERNAL),
}


def _values(q: Expr, scale: Expr, zero_point: Expr | None, signed: bool, kind: ElementKind) -> tuple[Expr, Expr]:
    """The values of a byte's two codes."""
    codes = (q << 28 >> 28, q << 24 >> 28) if signed else (q & 15, q >> 4)
    step, zero = cast(scale, kind), None if zero_point is None else cast(zero_point, kind)
    first, second = ((c if zero is None else c - zero) * step for c in (cast(c, kind) for c in codes))
    return first, second


def _values_of_pairs(
    q: Expr, scale: Own, zero_point: Own | None = None, *, signed: bool = True, element: ElementKind | None
) -> dict[str, Stored]:
    kind = element or _F32
    values = _values(q, scale, zero_point, signed, kind.compute)
    return {name: Stored(v, kind) for name, v in zip(("y", "other"), values, strict=True)}


def _values_of_words(q: Expr, scale: Own, zero_point: Own | None = None, *, signed: bool = True, floats: Floats) -> Stored:
    return _word(_values(q, scale, zero_point, signed, _F32), floats)


#: The values of packed codes: in two tensors, and as words.
VALUES_OF_PAIRS = Op(
    _values_of_pairs, Rule.EACH, name="values_of_pairs", results=("y", "other"), takes="int", element_option=True, **INTERNAL
)
VALUES_OF_WORDS = Op(_values_of_words, Rule.EACH, name="values_of_words", takes="int", **INTERNAL)
