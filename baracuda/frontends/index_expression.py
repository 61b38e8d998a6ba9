"""x[...] and x[...] = values for tensors of any library: integers, slices, `...`, new axes, integer tensors and masks.

`getitem` and `setitem` follow NumPy: integers, slices, `...` and None make a view; integer tensors, lists of integers and masks
of bool (one for as many axes as it has) are read or written at, broadcast with one another, and their axes stand where the
first of them is, or in front where a slice, `...` or None stands between two of them. A negative index counts from the end.

A mask is as many indices as it has axes, for which the number of its elements that hold is read on the host; not where a mask is
all there is in the expression and what is written is one number.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Annotated, Any

import numpy as np

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.parameters import Free
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import as_bits, broadcasted, expanded_dims, view
from baracuda.frontends.arrays import adopted
from baracuda.frontends.call import NUMBERS, describe
from baracuda.frontends.declared import declared
from baracuda.frontends.families import function
from baracuda.frontends.index_parser import beside, parse
from baracuda.frontends.parts import of_parts, part
from baracuda.frontends.selections import masked_select
from baracuda.frontends.strided import strided
from baracuda.ops.declaration.composition import Steps, chosen, one_or_all
from baracuda.ops.declaration.words import Bounds, Wrt
from baracuda.ops.indexing.expressions import Indexed, Tokens, seen
from baracuda.ops.indexing.indexing import masked_fill
from baracuda.ops.indexing.masks import summed_to
from baracuda.ops.indexing.moves import apart, cleared, copied, held, move

_INDICES = "list ... : s32 s64"
#: Anything between the brackets.
Key = Annotated[Any, Free()]


# --- parts ------------------------------------------------------------------------------------------------------------


def _tensor(do: Steps, value: Any, name: str, kind: ElementKind) -> TensorRef:
    """A tensor itself; of a number one without axes, which kernels are given by its name."""
    if isinstance(value, TensorRef):
        return value
    made = do.new((), kind)
    do.fill(made, value, name)
    return made


@part(x="...", indices=_INDICES)
def _read(
    do: Steps,
    x: TensorRef,
    indices: Sequence[TensorRef],
    *,
    tokens: tuple[tuple[int, ...], ...],
    place: int,
    bounds: Bounds,
) -> TensorMut:
    """The elements at indices."""
    return Indexed(do, x, indices, tokens, place, bounds).read(x, None)


@part(x="...")
def _copy(do: Steps, x: TensorRef, *, tokens: tuple[tuple[int, ...], ...]) -> TensorMut:
    """A copy of a view."""
    source = seen(x, tokens)
    y = do.new(source.shape, x.kind)
    move(do, source, y)
    return y


@part(x="... : T", values="... or number : T", indices=_INDICES, out=True, numbers={"values": ()})
def _write(
    do: Steps,
    x: TensorRef,
    values: Any,
    indices: Sequence[TensorRef],
    *,
    tokens: tuple[tuple[int, ...], ...],
    place: int,
    accumulate: bool,
    bounds: Bounds,
) -> TensorRef:
    """x with values at indices, or in a view."""
    if indices:
        expression = Indexed(do, x, indices, tokens, place, bounds)
        source = _tensor(do, values, "values", x.kind)
        y = copied(do, x)
        expression.write(y, source, accumulate=accumulate)
        return y
    y = copied(do, x)
    target: TensorMut = seen(y, tokens)
    if not isinstance(values, TensorRef) and not accumulate:
        if 0 not in target.shape:
            do.fill(target, values, "values")
        return y
    values = _tensor(do, values, "values", x.kind)
    source = broadcasted(apart(do, values, y), target.shape, "values")
    if accumulate:
        do.merge([(0, target), (0, source)], 0, target)
    else:
        move(do, source, target)
    return y


@part(x="... : T", mask="... : bool", value="... or number : T", out=True, numbers={"value": ()})
def _where(do: Steps, x: TensorRef, mask: TensorRef, value: Any) -> TensorRef:
    """x with one number where a mask of its first axes holds."""
    y = do.result_like(x)
    if prod(x.shape):
        value = _tensor(do, value, "value", x.kind)
        over = expanded_dims(apart(do, mask, y), range(len(mask.shape)), len(x.shape))
        one = view(apart(do, value, y), 0, (), ())
        do.run(masked_fill, {"x": as_bits(x), "mask": over, "value": as_bits(one)}, into=as_bits(y))
    return y


@part(dy="... : T", values="... : T", indices=_INDICES)
def _gradient(
    do: Steps,
    dy: TensorRef,
    values: TensorRef,
    indices: Sequence[TensorRef],
    *,
    tokens: tuple[tuple[int, ...], ...],
    place: int,
    accumulate: bool,
    bounds: Bounds,
    wrt: tuple[str, ...],
) -> Any:
    """The gradients of x and values."""
    expression = Indexed(do, dy, indices, tokens, place, bounds) if indices else None
    found: dict[str, Any] = {}
    for name in wrt:
        if name == "x":
            dx = do.new_like(dy)
            move(do, dy, dx)
            if not accumulate and expression is not None:
                expression.clear(dx)
            elif not accumulate:
                cleared(do, seen(dx, tokens))
            found[name] = dx
        elif expression is not None:
            found[name] = expression.gradient(dy, values, accumulate=accumulate)
        else:
            part_of_dy = seen(dy, tokens)
            broadcasted(values, part_of_dy.shape, "values")
            whole = do.new(part_of_dy.shape, dy.kind)
            move(do, part_of_dy, whole)
            found[name] = summed_to(do, whole, values.shape)
    return one_or_all(tuple(found.values()))


# --- reading and writing ----------------------------------------------------------------------------------------------


def getitem(x: Any, key: Any, *, bounds: str = "check") -> Any:
    """x[key]. Without indices and masks a view, of a library that has one of such strides, else a copy."""
    expression = parse(x, key, lone_mask=True)
    if expression.mask is not None:
        mask = expression.mask
        if tuple(mask.shape) == tuple(x.shape):
            return masked_select(x, mask)
        expression = parse(x, key)
    if expression.indices:
        return _read(x, expression.indices, tokens=expression.tokens, place=expression.place, bounds=bounds)
    viewed = _view(x, expression.tokens)
    return _copy(x, tokens=expression.tokens) if viewed is None else viewed


def _view(x: Any, tokens: Tokens) -> Any:
    """The view of a tensor of a library; None where it has none."""
    ref = describe(x, "x")
    found = seen(ref, tokens)
    return strided(x, (found.pointer - ref.pointer) // ref.kind.itemsize, found.shape, found.strides)


def setitem(x: Any, key: Any, values: Any, *, bounds: str = "check") -> None:
    """x[key] = values, in place: values are a number or a tensor, are cast to the element of x, and broadcast. They may share
    memory with x."""
    values = _cast(values, x)
    expression = parse(x, key, lone_mask=True)
    if expression.mask is not None:
        if 0 in expression.mask.shape:
            return
        if isinstance(values, NUMBERS) or prod(values.shape) == 1:
            _where(x, expression.mask, values, out=x)
            return
        expression = parse(x, key)
    values = _without_leading(values, len(x.shape))
    tokens, place = expression.tokens, expression.place
    _write(x, values, expression.indices, tokens=tokens, place=place, accumulate=False, bounds=bounds, out=x)


def _cast(values: Any, x: Any) -> Any:
    """What is written, in the element of x; of numbers themselves."""
    if type(values) is type(x) and values.dtype == x.dtype:
        return values
    if isinstance(values, np.generic) and not hasattr(values, "__dlpack__"):
        values = np.asarray(values) if values.dtype.kind == "V" else values.item()
    kind = x.kind if isinstance(x, TensorRef) else describe(x, "x").kind
    if isinstance(values, NUMBERS):
        return held(values, kind)
    if isinstance(values, (list, tuple)):
        values = np.asarray(values)
    if isinstance(values, (np.ndarray, np.generic)):
        values = beside(np.asarray(values), x)
    values = adopted(values, "values")
    own = describe(values, "values").kind
    if own is kind:
        return values
    if own.category is Category.COMPLEX and kind.category is not Category.COMPLEX:
        raise InvalidProblemError(f"values: element is {own}; expected a real one for {kind}")
    return function("cast")(values, dtype=kind)


def _without_leading(values: Any, rank: int) -> Any:
    """Values without extents of 1 in front of as many axes as x has, which NumPy lets them have."""
    if isinstance(values, NUMBERS) or len(values.shape) <= max(rank, 1):
        return values
    shape, lead = tuple(values.shape), 0
    while len(shape) - lead > max(rank, 1) and shape[lead] == 1:
        lead += 1
    return values.reshape(shape[lead:]) if lead else values


@of_parts
@declared(x="... : T", values="... or number : T")
def index_put(x: Any, indices: Key, values: Any, *, accumulate: bool = False, bounds: Bounds = "check", out: Any = None) -> Any:
    """x with values at indices: y[indices] = values, or with accumulate y[indices] += values.

    indices is a tuple with a tensor of integers, a mask (bool, for as many axes as it has), a slice, an integer or `...` for the
    axes of x, as NumPy has them between brackets; None leaves an axis whole, as in PyTorch. values is a number, or broadcasts to
    the shape that x[indices] has. Of several values with one place the last in logical order stays; with accumulate they are
    added up in their order, and then to x. A negative index counts from the end. `out` may be `x`.

    Source: torch.index_put.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, rows, columns = np.zeros((2, 3), np.float32), np.array([1, 0, 1]), np.array([2, 0, 2])
    >>> baracuda.index_put(x, (rows, columns), np.float32([1, 2, 3])).tolist()
    [[2.0, 0.0, 0.0], [0.0, 0.0, 3.0]]
    >>> baracuda.index_put(x, (rows, columns), np.float32([1, 2, 3]), accumulate=True).tolist()
    [[2.0, 0.0, 0.0], [0.0, 0.0, 4.0]]
    """
    if isinstance(indices, list):
        indices = tuple(indices)
    expression = parse(x, indices, none_is_whole=True)
    if isinstance(values, NUMBERS):
        values = held(values, describe(x, "x").kind)
    return _write(
        x,
        values,
        expression.indices,
        tokens=expression.tokens,
        place=expression.place,
        accumulate=accumulate,
        bounds=bounds,
        out=out,
    )


@of_parts
@declared(dy="*all : T", x="*all : T", values="... : T")
def index_put_backward(
    dy: Any,
    x: Any,
    indices: Key,
    values: Any,
    *,
    accumulate: bool = False,
    wrt: Wrt = None,
    bounds: Bounds = "check",
) -> Any:
    """The gradients of `index_put`'s x and values, those named in `wrt` or both.

    That of x is dy with 0 where something was put, with accumulate dy; that of values is dy there, without accumulate only for
    the values that stayed.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, at = np.float32([1, 2, 3]), (np.array([2, 0, 2]),)
    >>> [g.tolist() for g in baracuda.index_put_backward(dy, dy, at, np.float32([0, 0, 0]))]
    [[0.0, 2.0, 0.0], [0.0, 1.0, 3.0]]
    """
    if isinstance(indices, list):
        indices = tuple(indices)
    expression = parse(x, indices, none_is_whole=True)
    return _gradient(
        dy,
        values,
        expression.indices,
        tokens=expression.tokens,
        place=expression.place,
        accumulate=accumulate,
        bounds=bounds,
        wrt=chosen(wrt, ("x", "values")),
    )
