"""Steps that indexed writes are made of: elements of any kind moved bit for bit, numbers as tensors, views permuted and
repeated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.layout import contiguous_strides, is_contiguous, may_share, same_view
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import as_bits, broadcasted, view
from baracuda.ops.declaration.composition import Steps

#: Whole numbers up to this are f64's.
_WHOLE = 1 << 53


def move(do: Steps, source: TensorRef, target: TensorMut) -> None:
    """The elements of one view into another of the same shape and element, bit for bit; nothing where they are one view."""
    if not same_view(source, target) and 0 not in source.shape:
        do.copy(as_bits(source), as_bits(target))


def copied(do: Steps, x: TensorRef) -> TensorMut:
    """What the caller gave to write the result to, or a new tensor, with the elements of x; x may be what was given."""
    y = do.result_like(x)
    move(do, x, y)
    return y


def cleared(do: Steps, target: TensorMut) -> None:
    """Make every element 0."""
    if 0 not in target.shape:
        do.zero(as_bits(target))


def zeros(do: Steps, shape: Sequence[int], kind: ElementKind) -> TensorMut:
    """A new tensor of zeros."""
    made = do.new(shape, kind)
    cleared(do, made)
    return made


def number(do: Steps, value: Any, kind: ElementKind) -> TensorMut:
    """A new tensor without axes that holds a number."""
    return full(do, (), kind, value)


def full(do: Steps, shape: Sequence[int], kind: ElementKind, value: Any) -> TensorMut:
    """A new tensor with one number everywhere, which is rounded to its element."""
    made = do.new(shape, kind)
    fill(do, made, value)
    return made


def _rounded(value: Any, kind: ElementKind) -> Any:
    """A number in an element, as NumPy rounds it."""
    if isinstance(value, complex) and kind.category is not Category.COMPLEX:
        raise InvalidProblemError(f"values: {value!r}; expected a real number for {kind}")
    try:
        with np.errstate(over="ignore"):
            return np.asarray(value).astype(kind.numpy)
    except (OverflowError, ValueError) as error:
        raise InvalidProblemError(f"values: {value!r}; expected a number that {kind} holds") from error


def held(value: Any, kind: ElementKind) -> Any:
    """What an element holds of a number, as one of Python's."""
    if kind in (ElementKind.F64, ElementKind.F32) and (type(value) is float or (type(value) is int and -_WHOLE < value < _WHOLE)):
        return float(value)  # which the kernel rounds, once
    found = _rounded(value, kind)
    return float(found) if kind.is_float else found.item()


def fill(do: Steps, target: TensorMut, value: Any) -> None:
    """Make every element a number."""
    if 0 in target.shape:
        return
    kind = target.kind
    bits = _rounded(value, kind)
    words = as_bits(target)
    value = complex(bits) if kind.bits > 64 else int.from_bytes(bits.tobytes(), "little")
    do.copy(broadcasted(do.filled((), words.kind, value), words.shape), words)


def apart(do: Steps, source: TensorRef, target: TensorRef) -> TensorRef:
    """A tensor that shares no memory with what is written: itself, or a copy."""
    if not may_share(source, target):
        return source
    made = do.new(source.shape, source.kind)
    move(do, source, made)
    return made


def contiguous(do: Steps, x: TensorRef, shape: Sequence[int]) -> TensorRef:
    """The elements of x in logical order in another shape: a view where it is contiguous, else a copy."""
    strides = contiguous_strides(tuple(shape))
    if is_contiguous(x.shape, x.strides):
        found: TensorRef = view(x, 0, tuple(shape), strides)
        return found
    made = do.new(x.shape, x.kind)
    whole: TensorMut = view(made, 0, x.shape, contiguous_strides(x.shape))
    move(do, x, whole)
    return view(made, 0, tuple(shape), strides)  # type: ignore[no-any-return]
