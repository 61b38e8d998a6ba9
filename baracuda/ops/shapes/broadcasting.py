"""Repeated axes as views, the sums that are their gradients, and copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from baracuda.core.elements import Category
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import broadcast_shape, broadcasted, shape_of
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.words import Extents
from baracuda.ops.reductions.reductions import any_, sum_


def _summed(do: Steps, x: TensorRef, shape: tuple[int, ...], name: str = "x") -> Any:
    """x summed, in its own element, over the axes that a shape lacks or has an extent of 1 along."""
    lead = len(x.shape) - len(shape)
    if lead < 0 or any(n not in (1, m) for n, m in zip(shape, x.shape[lead:], strict=True)):
        raise InvalidProblemError(f"{name}: shape is {x.shape}; expected one that {shape} broadcasts to")
    over = [*range(lead), *(a + lead for a, n in enumerate(shape) if n == 1 != x.shape[a + lead])]
    if not over:
        return None
    if x.kind.category is Category.BOOL:
        total = do.run(any_, {"x": x}, axis=tuple(over), keepdims=True)
    else:
        total = do.run(sum_, {"x": x}, axis=tuple(over), keepdims=True, dtype=x.kind)
    return do.reshaped(total, shape)


def sum_over(do: Steps, x: TensorRef, shape: tuple[int, ...], name: str = "x") -> Any:
    """The gradient of what was broadcast from a shape: x summed to it, or x itself."""
    found = _summed(do, x, shape, name)
    return broadcasted(x, shape) if found is None else found


@composed(x="...", views=True)
def broadcast_to(do: Steps, x: TensorRef, shape: Extents) -> Any:
    """x repeated along new axes in front and along axes of extent 1: a view, in which an element stands at several places. -1 is
    x's own extent, as in torch.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.broadcast_to(np.array([1, 2]), (2, 2)).tolist()
    [[1, 2], [1, 2]]
    """
    wanted = (shape,) if isinstance(shape, int) else shape
    lead = len(wanted) - len(x.shape)
    extents = tuple(x.shape[a - lead] if n == -1 and a >= lead else n for a, n in enumerate(wanted))
    return broadcasted(x, shape_of(extents))


@composed(dy="...", x="...", views=True)
def broadcast_to_backward(do: Steps, dy: TensorRef, x: TensorRef) -> Any:
    """The gradient of `broadcast_to`'s x: dy summed to its shape.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.broadcast_to_backward(np.array([[1.0, 2], [3, 4]]), np.zeros(2)).tolist()
    [4.0, 6.0]
    """
    return sum_over(do, dy, x.shape, "dy")


@composed(arrays="...", views=True)
def broadcast_arrays(do: Steps, *arrays: TensorRef) -> Any:
    """Each tensor as a view of the shape that all broadcast to.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [x.tolist() for x in baracuda.broadcast_arrays(np.array([1, 2]), np.array([[3], [4]]))]
    [[[1, 2], [1, 2]], [[3, 3], [4, 4]]]
    """
    shape = broadcast_shape([x.shape for x in arrays])
    return tuple(broadcasted(x, shape) for x in arrays)


@composed(dy="list ...", arrays="...", views=True)
def broadcast_arrays_backward(do: Steps, dy: Sequence[TensorRef], *arrays: TensorRef) -> Any:
    """The gradients of `broadcast_arrays`'s tensors, given a list of those of its results: each summed to its shape.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [x.tolist() for x in baracuda.broadcast_arrays_backward([np.ones((2, 2))] * 2, np.zeros(2), np.zeros((2, 1)))]
    [[2.0, 2.0], [[2.0], [2.0]]]
    """
    if len(dy) != len(arrays):
        raise InvalidProblemError(f"dy: {len(dy)} tensors; expected {len(arrays)}")
    return tuple(sum_over(do, d, x.shape, f"dy[{i}]") for i, (d, x) in enumerate(zip(dy, arrays, strict=True)))


@composed(x="...", views=True)
def sum_to_size(do: Steps, x: TensorRef, shape: Extents) -> Any:
    """x summed over what `shape` would be broadcast along to x's, the gradient of every broadcast; x itself, a view, where
    that is nothing. The sum has x's element and is in the canonical order; of bool it is whether one is true.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.sum_to_size(np.array([[1, 2], [3, 4]]), (2, 1)).tolist()
    [[3], [7]]
    """
    return sum_over(do, x, shape_of(shape))


@composed(dy="...", x="...", views=True)
def sum_to_size_backward(do: Steps, dy: TensorRef, x: TensorRef) -> Any:
    """The gradient of `sum_to_size`'s x: dy repeated, a view.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.sum_to_size_backward(np.array([[1.0], [2.0]]), np.zeros((2, 2))).tolist()
    [[1.0, 1.0], [2.0, 2.0]]
    """
    return broadcasted(dy, x.shape, "dy")


@composed(x="...", out=True)
def contiguous_copy(do: Steps, x: TensorRef) -> Any:
    """The elements of x in a new contiguous tensor.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.contiguous_copy(np.array([[1, 2], [3, 4]]).T).flags.c_contiguous
    True
    """
    y = do.rows(x.shape, x.kind) if do.out is None else do.result(x.shape, x.kind)
    do.copy(x, y)
    return y


@composed(dy="...", views=True)
def contiguous_copy_backward(do: Steps, dy: TensorRef) -> Any:
    """The gradient of `contiguous_copy`'s x: dy, as a view.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.contiguous_copy_backward(np.array([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """
    return broadcasted(dy, dy.shape)
