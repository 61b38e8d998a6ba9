"""Tensors cut or padded to given extents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import axes_of
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.shapes.pads import trimmed, window_of


def _centred(rank: int, shape: Any, sizes: Sequence[int], axes: Any) -> dict[int, tuple[int, int]]:
    over = axes_of(axes, rank, "axes")
    if len(over) != len(sizes):
        raise InvalidProblemError(f"shape: {tuple(sizes)}; expected an extent for each of axes {over}")
    widths = {}
    for axis, size in zip(over, sizes, strict=True):
        n = shape[axis]
        if size >= n:
            widths[axis] = ((size - n) // 2, size - n - (size - n) // 2)
        else:
            widths[axis] = (-((n - size) // 2), -(n - size - (n - size) // 2))
    return widths


@composed(x="...", out=True, numbers={"value": ()})
def center_crop_pad(
    do: Steps, x: TensorRef, shape: tuple[int, ...], axes: int | tuple[int, ...] | None = None, *, value: complex = 0
) -> Any:
    """x cut, or padded with a number, on both sides to these extents along some axes; of an odd difference the larger half lies
    behind (ONNX CenterCropPad).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.center_crop_pad(np.array([[1, 2, 3]]), (3, 1)).tolist()
    [[0], [2], [0]]
    """
    part, widths = trimmed(x, _centred(len(x.shape), x.shape, shape, axes))
    y = do.result(tuple(n + sum(widths.get(a, (0, 0))) for a, n in enumerate(part.shape)), x.kind)
    do.move([(part, window_of(y, widths))], y, value, "value")
    return y


@composed(dy="...", x="...", out=True)
def center_crop_pad_backward(
    do: Steps, dy: TensorRef, x: TensorRef, shape: tuple[int, ...], axes: int | tuple[int, ...] | None = None
) -> Any:
    """The gradient of `center_crop_pad`'s x: dy where its elements went, 0 where they were cut off.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.center_crop_pad_backward(np.array([1.0]), np.zeros(3), (1,)).tolist()
    [0.0, 1.0, 0.0]
    """
    dx = do.result(x.shape, x.kind)
    part, widths = trimmed(dx, _centred(len(x.shape), x.shape, shape, axes))
    do.move([(window_of(dy, widths), part)], dx, 0)
    return dx
