"""Tensors in pieces along an axis: views."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Annotated, Any

from baracuda.core.bounds import AtLeast
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import axis_of, reshaped, slab, view
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.words import Positive
from baracuda.ops.shapes.joins import joined

#: How many pieces, or where they begin.
Sections = Positive | tuple[int, ...]
Size = Positive | tuple[Annotated[int, AtLeast(0)], ...]


def _pieces(x: TensorRef, at: int, edges: Sequence[int]) -> tuple[Any, ...]:
    """What lies between neighbouring edges."""
    return tuple(slab(x, at, low, max(low, high)) for low, high in pairwise(edges))


def _sized(x: TensorRef, sizes: int | Sequence[int], axis: int) -> tuple[Any, ...]:
    """Pieces of a size, the last one what is left, or of these sizes."""
    at = axis_of(axis, len(x.shape))
    n = x.shape[at]
    if isinstance(sizes, int):
        return _pieces(x, at, [*range(0, n, sizes), n] if n else [0, 0])
    edges = [0]
    for size in sizes:
        edges.append(edges[-1] + size)
    if edges[-1] != n:
        raise InvalidProblemError(f"split_size: {tuple(sizes)}, {edges[-1]} in all; expected {n}, the extent of axis {at}")
    return _pieces(x, at, edges)


def _sections(x: TensorRef, sections: int | Sequence[int], axis: int, *, equal: bool = False) -> tuple[Any, ...]:
    """So many pieces, the first ones by one element larger where the extent is no multiple, or the pieces between these places,
    which may count from the end."""
    at = axis_of(axis, len(x.shape))
    n = x.shape[at]
    if isinstance(sections, int):
        if equal and n % sections:
            raise InvalidProblemError(f"sections: {sections}; expected a divisor of {n}, the extent of axis {at}")
        small, larger = divmod(n, sections)
        return _pieces(x, at, [i * small + min(i, larger) for i in range(sections + 1)])
    edges = [0, *(min(max(i + n if i < 0 else i, 0), n) for i in sections), n]
    return tuple(slab(x, at, low, max(low, high)) for low, high in pairwise(edges))


@composed(x="...", views=True)
def split(do: Steps, x: TensorRef, split_size: Size, axis: int = 0) -> Any:
    """x in pieces of split_size along an axis, the last one what is left, or in pieces of the sizes given: a tuple of views.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [p.tolist() for p in baracuda.split(np.arange(5), 2)]
    [[0, 1], [2, 3], [4]]
    """
    return _sized(x, split_size, axis)


@composed(x="...", views=True)
def tensor_split(do: Steps, x: TensorRef, sections: Sections, axis: int = 0) -> Any:
    """x in so many pieces along an axis, of sizes that differ by one at most, larger ones first, or cut at the places given: a
    tuple of views.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [p.tolist() for p in baracuda.tensor_split(np.arange(5), (1, 3))]
    [[0], [1, 2], [3, 4]]
    """
    return _sections(x, sections, axis)


def _chunks(x: TensorRef, chunks: int, axis: int) -> tuple[Any, ...]:
    n = x.shape[axis_of(axis, len(x.shape))]
    return _sized(x, max(-(-n // chunks), 1), axis) if n else _sections(x, chunks, axis)


@composed(x="...", views=True)
def chunk(do: Steps, x: TensorRef, chunks: Positive, axis: int = 0) -> Any:
    """x in pieces of one size along an axis, the last one smaller, and at most so many of them (torch.chunk): a tuple of views.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [p.tolist() for p in baracuda.chunk(np.arange(5), 4)]
    [[0, 1], [2, 3], [4]]
    """
    return _chunks(x, chunks, axis)


def _slices(x: TensorRef, axis: int) -> tuple[Any, ...]:
    at = axis_of(axis, len(x.shape))
    shape, strides = ((*t[:at], *t[at + 1 :]) for t in (x.shape, x.strides))
    return tuple(view(x, i * x.strides[at], shape, strides) for i in range(x.shape[at]))


@composed(x="...", views=True)
def unbind(do: Steps, x: TensorRef, axis: int = 0) -> Any:
    """The slices of x along an axis, each without it: a tuple of views.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [p.tolist() for p in baracuda.unbind(np.array([[1, 2], [3, 4]]), axis=1)]
    [[1, 3], [2, 4]]
    """
    return _slices(x, axis)


def _axis_of_hsplit(x: TensorRef) -> int:
    return 0 if len(x.shape) == 1 else 1


def _declare_numbered(name: str, axis: Callable[[TensorRef], int], least: int, where: str, example: str) -> None:
    """hsplit, vsplit, dsplit: pieces along an axis of the function's own."""

    def forward(do: Steps, x: TensorRef, sections: Sections) -> Any:
        if len(x.shape) < least:
            raise InvalidProblemError(f"x: shape is {x.shape}; expected {least} axes or more")
        return _sections(x, sections, axis(x), equal=True)

    def backward(do: Steps, dy: Sequence[TensorRef], x: TensorRef) -> Any:
        return _rejoined(do, dy, x, axis(x))

    forward.__name__, backward.__name__ = name, f"{name}_backward"
    forward.__doc__ = f"""x in so many pieces of one size along {where}, or cut at the places given: a tuple of views.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [p.tolist() for p in baracuda.{name}(np.arange(4).reshape({example}), 2)]
    {_EXAMPLES[name]}
    """
    backward.__doc__ = f"""The gradient of `{name}`'s x: those of its pieces one after another.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = np.arange(4).reshape({example})
    >>> (baracuda.{name}_backward(baracuda.{name}(x, 2), x) == x).all().item()
    True
    """
    composed(x="...", views=True)(forward)
    composed(dy="list ...", x="...", out=True)(backward)


def _rejoined(do: Steps, dy: Sequence[TensorRef], x: TensorRef, axis: int) -> Any:
    """The gradients of pieces as that of the whole."""
    at = axis_of(axis, len(x.shape))
    found = joined(do, dy, at, x.kind)
    if found.shape != x.shape:
        raise InvalidProblemError(f"dy: shapes that are {found.shape} together; expected {x.shape}, that of x")
    return found


_EXAMPLES = {"hsplit": "[[[0], [2]], [[1], [3]]]", "vsplit": "[[[0, 1]], [[2, 3]]]", "dsplit": "[[[[0], [2]]], [[[1], [3]]]]"}
_declare_numbered("hsplit", _axis_of_hsplit, 1, "the second axis, a vector along its only one", "2, 2")
_declare_numbered("vsplit", lambda x: 0, 2, "the first axis", "2, 2")
_declare_numbered("dsplit", lambda x: 2, 3, "the third axis", "1, 2, 2")


def _declare_backward(of: str, example: str) -> None:
    def backward(do: Steps, dy: Sequence[TensorRef], x: TensorRef, *, axis: int = 0) -> Any:
        return _rejoined(do, dy, x, axis)

    backward.__name__ = f"{of}_backward"
    backward.__doc__ = f"""The gradient of `{of}`'s x: those of its pieces, a list, one after another along the axis.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = np.arange(4)
    >>> (baracuda.{of}_backward(baracuda.{of}(x, {example}), x) == x).all().item()
    True
    """
    composed(dy="list ...", x="...", out=True)(backward)


for _of, _example in (("split", "3"), ("tensor_split", "3"), ("chunk", "2")):
    _declare_backward(_of, _example)


@composed(dy="list ...", x="...", out=True)
def unbind_backward(do: Steps, dy: Sequence[TensorRef], x: TensorRef, *, axis: int = 0) -> Any:
    """The gradient of `unbind`'s x: those of its slices, a list, along the axis.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.unbind_backward([np.array([1.0, 3]), np.array([2.0, 4])], np.zeros((2, 2)), axis=1).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    at = axis_of(axis, len(x.shape))
    widened: list[Any] = [reshaped(t, (*t.shape[:at], 1, *t.shape[at:])) for t in dy]
    if not widened:
        return do.filled(x.shape, x.kind, 0)
    return _rejoined(do, widened, x, at)
