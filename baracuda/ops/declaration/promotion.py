"""Which element a result has, given those of the tensors: the array API's promotion, completed for the 16-bit floats.

Two floats of 16 bits promote to f32, as in PyTorch; an integer with a float takes the float; u64 with a signed integer has
no common element and is an error. A Python number takes the tensors' element where it is of their kind, and f32 where it is
a float among integers.

A tensor without axes promotes as any other, as in the array API and NumPy 2: an element follows from elements, never from
shapes. f16 of any shape times an f32 without axes is f32.

Differs from PyTorch: there a tensor without axes counts only where it is of a higher category (bool, integers, floats, complex
numbers) than all that have axes: the product above is f16. A model that relies on it passes a Python number instead, or casts the
tensor.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from functools import cache

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError

K = ElementKind
_SIGNED = (K.S8, K.S16, K.S32, K.S64)
_UNSIGNED = (K.U8, K.U16, K.U32, K.U64)
_LADDER = {Category.BOOL: 0, Category.UNSIGNED: 1, Category.SIGNED: 1, Category.FLOAT: 2, Category.COMPLEX: 3}
_PARTS = {K.C64: K.F32, K.C128: K.F64}
_WHOLE = {K.F32: K.C64, K.F64: K.C128}
#: What a Python number of each category becomes where no tensor is of that category or above.
_DEFAULT = {Category.BOOL: K.BOOL, Category.SIGNED: K.S64, Category.FLOAT: K.F32, Category.COMPLEX: K.C64}


class Rule(enum.Enum):
    """How an op's inputs find their common element, in which the formula computes and the result is stored."""

    #: The promotion of the inputs.
    COMMON = "common"
    #: That, and f32 where it is an integer or bool.
    FLOATING = "floating"
    #: That, and s64 or u64 where it is an integer or bool: sums and products of many.
    ACCUMULATING = "accumulating"
    #: Each input computes in its own kind; a result is stored like the first input of its kind.
    EACH = "each"


@cache
def part(kind: ElementKind) -> ElementKind:
    """The element of the real and the imaginary part of a complex element."""
    return _PARTS[kind]


@cache
def whole(kind: ElementKind) -> ElementKind:
    """The complex element whose parts compute in `kind`."""
    return _WHOLE[kind.compute]


@cache
def promote(a: ElementKind, b: ElementKind) -> ElementKind:
    """The common element of two."""
    if a is b:
        return a
    low, high = sorted((a, b), key=lambda k: _LADDER[k.category])
    if _LADDER[low.category] != _LADDER[high.category]:
        if high.category is Category.COMPLEX and low is K.F64:
            return K.C128
        return high
    if high.category is Category.COMPLEX:
        return K.C128
    if high.category is Category.FLOAT:
        return max((a, b), key=lambda k: k.bits) if a.bits != b.bits else K.F32
    if a.category is b.category:
        return max((a, b), key=lambda k: k.bits)
    signed, unsigned = (a, b) if a.category is Category.SIGNED else (b, a)
    for kind in _SIGNED:
        if kind.bits > unsigned.bits and kind.bits >= signed.bits:
            return kind
    raise InvalidProblemError(f"{a} and {b} have no common element; cast one of them")


def _number_category(value: complex) -> Category:
    if isinstance(value, bool):
        return Category.BOOL
    if isinstance(value, int):
        return Category.SIGNED
    return Category.FLOAT if isinstance(value, float) else Category.COMPLEX


def common(kinds: Sequence[ElementKind], numbers: Iterable[complex] = ()) -> ElementKind:
    """The common element of tensors and Python numbers."""
    kind_so_far: ElementKind | None = None
    for kind in kinds:
        kind_so_far = kind if kind_so_far is None else promote(kind_so_far, kind)
    for value in numbers:
        category = _number_category(value)
        if kind_so_far is None or _LADDER[category] > _LADDER[kind_so_far.category]:
            if kind_so_far is not None and category is Category.COMPLEX and kind_so_far.is_float:
                kind_so_far = whole(kind_so_far)
            else:
                kind_so_far = _DEFAULT[category]
    if kind_so_far is None:
        raise InvalidProblemError("no tensor among the operands; expected at least one")
    return kind_so_far


def result_element(rule: Rule, kind: ElementKind) -> ElementKind:
    """What a rule makes of the common element."""
    if rule is Rule.FLOATING and not (kind.is_float or kind.category is Category.COMPLEX):
        return K.F32
    if rule is Rule.ACCUMULATING and kind.category in (Category.BOOL, Category.SIGNED):
        return K.S64
    if rule is Rule.ACCUMULATING and kind.category is Category.UNSIGNED:
        return K.U64
    return kind
