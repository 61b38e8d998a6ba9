"""Elements in reverse or further on along axes."""

from __future__ import annotations

from itertools import product
from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import as_bits, axes_of, flipped, permuted, slab
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.words import AxesOrAll, Extents
from baracuda.ops.shapes.reversal import reversed_rows

_VIEW = "a view where x's library has negative strides (NumPy, CuPy, our own arrays), else a copy"


@composed(x="...", views=True)
def flip(do: Steps, x: TensorRef, axis: AxesOrAll = None) -> Any:
    """The elements of x in reverse along some axes, by default all: a view where x's library has negative strides (NumPy, CuPy,
    our own arrays), else a copy.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.flip(np.array([[1, 2], [3, 4]]), axis=0).tolist()
    [[3, 4], [1, 2]]
    """
    return flipped(x, axes_of(axis, len(x.shape)))


@composed(dy="...", views=True)
def flip_backward(do: Steps, dy: TensorRef, axis: AxesOrAll = None) -> Any:
    """The gradient of `flip`'s x: dy in reverse along the same axes, a view where its library has negative strides.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.flip_backward(np.array([1.0, 2.0])).tolist()
    [2.0, 1.0]
    """
    return flipped(dy, axes_of(axis, len(dy.shape)))


def _declare(name: str, axis: int, where: str) -> None:
    def forward(do: Steps, x: TensorRef) -> Any:
        if len(x.shape) <= axis:
            raise InvalidProblemError(f"x: shape is {x.shape}; expected {axis + 1} axes or more")
        return flipped(x, (axis,))

    def backward(do: Steps, dy: TensorRef) -> Any:
        return flipped(dy, (axis,))

    forward.__name__, backward.__name__ = name, f"{name}_backward"
    example = """
    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.{}(np.array([[1, 2], [3, 4]])).tolist()
    {}
    """
    shown = "[[3, 4], [1, 2]]" if axis == 0 else "[[2, 1], [4, 3]]"
    forward.__doc__ = f"The elements of x in reverse along the {where} axis: {_VIEW}.\n{example.format(name, shown)}"
    backward.__doc__ = (
        f"The gradient of `{name}`'s x: dy in reverse along the {where} axis.\n{example.format(f'{name}_backward', shown)}"
    )
    composed(x="...", views=True)(forward)
    composed(dy="...", views=True)(backward)


_declare("flipud", 0, "first")
_declare("fliplr", 1, "second")


def _rotated(x: TensorRef, k: int, axes: tuple[int, int]) -> Any:
    if len(x.shape) < 2:
        raise InvalidProblemError(f"x: shape is {x.shape}; expected two axes or more")
    first, second = axes_of(axes, len(x.shape), "axes")
    turn = k % 4
    if turn in (0, 2):
        return flipped(x, (first, second)) if turn else flipped(x, ())
    order = list(range(len(x.shape)))
    order[first], order[second] = second, first
    return flipped(permuted(x, order), (first if turn == 1 else second,))


@composed(x="...", views=True)
def rot90(do: Steps, x: TensorRef, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    """x turned by k quarters from the first of two axes towards the second: a view where x's library has negative strides, else a
    copy.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.rot90(np.array([[1, 2], [3, 4]])).tolist()
    [[2, 4], [1, 3]]
    """
    return _rotated(x, k, axes)


@composed(dy="...", views=True)
def rot90_backward(do: Steps, dy: TensorRef, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    """The gradient of `rot90`'s x: dy turned back.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.rot90_backward(np.array([[2, 4], [1, 3]])).tolist()
    [[1, 2], [3, 4]]
    """
    return _rotated(dy, -k, axes)


def _rolled(do: Steps, x: TensorRef, shift: Extents, axis: AxesOrAll, sign: int) -> Any:
    y = do.result(x.shape, x.kind)
    if axis is None:
        total = sum((shift,) if isinstance(shift, int) else shift)
        row = do.reshaped(x, (-1,))
        flat = do.rows(row.shape, x.kind)
        _roll_into(do, row, flat, {0: sign * total})
        do.copy(do.reshaped(flat, x.shape), y)
        return y
    listed = (axis,) if isinstance(axis, int) else axis
    shifts = (shift,) * len(listed) if isinstance(shift, int) else shift
    if len(shifts) == 1:
        shifts = shifts * len(listed)
    if len(shifts) != len(listed) and len(listed) == 1:
        listed = listed * len(shifts)
    if len(shifts) != len(listed):
        raise InvalidProblemError(f"shift, axis: {shift}, {axis}; expected as many of one as of the other")
    by_axis: dict[int, int] = {}
    for a, s in zip(listed, shifts, strict=True):
        (at,) = axes_of(a, len(x.shape))
        by_axis[at] = by_axis.get(at, 0) + sign * s
    _roll_into(do, x, y, by_axis)
    return y


def _roll_into(do: Steps, x: TensorRef, y: Any, shifts: dict[int, int]) -> None:
    """Every combination of a piece that moves on and one that comes back in front, along each axis."""
    if 0 in x.shape:
        return
    options = []
    for axis, shift in shifts.items():
        n = x.shape[axis]
        s = shift % n
        options.append([(axis, p) for p in ((0, n - s, s), (n - s, n, 0)) if p[1] > p[0]])
    pieces = []
    for chosen in product(*options):
        source, target = x, y
        for axis, (start, stop, to) in chosen:
            source, target = slab(source, axis, start, stop), slab(target, axis, to, to + stop - start)
        pieces.append((source, target))
    do.move(pieces)


@composed(x="...", out=True)
def roll(do: Steps, x: TensorRef, shift: Extents, axis: AxesOrAll = None) -> Any:
    """The elements of x further on by `shift` along an axis, the last ones first; without an axis of all elements as one row.

    Several axes have a shift each, or one for all of them; along an axis that is named twice they add up.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.roll(np.arange(5), 2).tolist()
    [3, 4, 0, 1, 2]
    """
    return _rolled(do, x, shift, axis, 1)


@composed(dy="...", out=True)
def roll_backward(do: Steps, dy: TensorRef, shift: Extents, axis: AxesOrAll = None) -> Any:
    """The gradient of `roll`'s x: dy rolled back.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.roll_backward(np.array([3.0, 4, 0, 1, 2]), 2).tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0]
    """
    return _rolled(do, dy, shift, axis, -1)


def _reversed(do: Steps, x: TensorRef, lengths: TensorRef, batch_axis: int, time_axis: int) -> Any:
    batch, time = axes_of((batch_axis, time_axis), len(x.shape), "batch_axis, time_axis")
    y = do.result(x.shape, x.kind)
    order = (batch, time, *(a for a in range(len(x.shape)) if a not in (batch, time)))
    do.run(reversed_rows, {"x": as_bits(permuted(x, order)), "lengths": lengths}, as_bits(permuted(y, order)))
    return y


@composed(x="...", lengths="n : s32 s64", out=True)
def reverse_sequence(do: Steps, x: TensorRef, lengths: TensorRef, *, batch_axis: int = 1, time_axis: int = 0) -> Any:
    """The first lengths[b] elements along time_axis of each entry b along batch_axis in reverse; the others stay (ONNX
    ReverseSequence). A length counts as one of 0 to the extent of the axis.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = np.arange(8).reshape(2, 4)
    >>> baracuda.reverse_sequence(x, np.array([2, 3]), batch_axis=0, time_axis=1).tolist()
    [[1, 0, 2, 3], [6, 5, 4, 7]]
    """
    return _reversed(do, x, lengths, batch_axis, time_axis)


@composed(dy="...", lengths="n : s32 s64", out=True)
def reverse_sequence_backward(do: Steps, dy: TensorRef, lengths: TensorRef, *, batch_axis: int = 1, time_axis: int = 0) -> Any:
    """The gradient of `reverse_sequence`'s x: dy with the same elements in reverse.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.reverse_sequence_backward(np.array([[1.0], [2], [3]]), np.array([2])).tolist()
    [[2.0], [1.0], [3.0]]
    """
    return _reversed(do, dy, lengths, batch_axis, time_axis)
