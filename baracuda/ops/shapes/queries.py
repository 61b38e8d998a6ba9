"""What a tensor is: its shape, its size, its one value."""

from __future__ import annotations

from math import prod
from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import axes_of
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.words import AxesOrAll


@composed(x="...")
def shape(do: Steps, x: TensorRef, start: int = 0, end: int | None = None) -> Any:
    """The extents of x, as a tuple of Python's numbers; from axis `start` to before `end`, as Python slices it (ONNX Shape).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.shape(np.zeros((2, 3)))
    (2, 3)
    """
    return tuple(x.shape)[start:end]


@composed(x="...")
def numel(do: Steps, x: TensorRef, axis: AxesOrAll = None) -> int:
    """The number of x's elements, or of those along some axes.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.numel(np.zeros((2, 3)))
    6
    """
    return prod(x.shape[a] for a in axes_of(axis, len(x.shape)))


@composed(x="...")
def item(do: Steps, x: TensorRef) -> Any:
    """The one element of x as a number of Python's, once it is there.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.item(np.array([[2.5]]))
    2.5
    """
    if prod(x.shape) != 1:
        raise InvalidProblemError(f"x: shape is {x.shape}; expected one element")
    return do.on_host(x).reshape(-1)[0].item()
