"""The frequencies of transforms, and transforms with frequency 0 in the middle."""

from __future__ import annotations

from typing import Annotated, Any

from baracuda.core.bounds import Finite
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import as_bits, axes_of
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.words import AxesOrAll, FloatElement, Positive
from baracuda.ops.fft.tables import frequencies_op
from baracuda.ops.shapes.flips import roll

Spacing = Annotated[float, Finite()]


def _frequencies(do: Steps, n: int, d: float, kind: Any, *, both: bool) -> Any:
    if n * d == 0:
        raise InvalidProblemError(f"d: {d}; expected another number than 0")
    y = do.rows((n if both else n // 2 + 1,), kind or ElementKind.F32)
    do.run(frequencies_op, {"x": as_bits(y)}, y, dtype=y.kind, n=float(n), width=float(n) * d, both=both)
    return y


@composed(like="?", creates=True)
def fftfreq(do: Steps, like: TensorRef, n: Positive, d: Spacing = 1.0, dtype: FloatElement | None = None) -> Any:
    """The frequency of each number of a transform of n samples, d apart: 0, 1, ..., then the negative ones from -(n // 2) on,
    over n d. Computed in float64 and rounded once to `dtype`, by default f32.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.fftfreq(5, 0.2).tolist()
    [0.0, 1.0, 2.0, -2.0, -1.0]
    """
    return _frequencies(do, n, d, dtype, both=True)


@composed(like="?", creates=True)
def rfftfreq(do: Steps, like: TensorRef, n: Positive, d: Spacing = 1.0, dtype: FloatElement | None = None) -> Any:
    """The frequency of each number of a real transform (`rfft`) of n samples, d apart: 0 to n // 2, over n d. Computed in float64
    and rounded once to `dtype`, by default f32.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.rfftfreq(4, 0.25).tolist()
    [0.0, 1.0, 2.0]
    """
    return _frequencies(do, n, d, dtype, both=False)


def _shifted(do: Steps, x: TensorRef, axis: AxesOrAll, *, back: bool) -> Any:
    axes = axes_of(axis, len(x.shape))
    if not axes:
        do.copy(x, y := do.new_like(x))
        return y
    shifts = tuple(-(x.shape[a] // 2) if back else x.shape[a] // 2 for a in axes)
    return roll(do, x, shifts, axes)


@composed(x="...")
def fftshift(do: Steps, x: TensorRef, axis: AxesOrAll = None) -> Any:
    """x with frequency 0 moved to the middle, n // 2, of some axes, by default all.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.fftshift(np.array([0, 1, 2, -2, -1])).tolist()
    [-2, -1, 0, 1, 2]
    """
    return _shifted(do, x, axis, back=False)


@composed(dy="...")
def fftshift_backward(do: Steps, dy: TensorRef, axis: AxesOrAll = None) -> Any:
    """The gradient of `fftshift`'s x: dy moved back.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.fftshift_backward(np.array([-2.0, -1, 0, 1, 2])).tolist()
    [0.0, 1.0, 2.0, -2.0, -1.0]
    """
    return _shifted(do, dy, axis, back=True)


@composed(x="...")
def ifftshift(do: Steps, x: TensorRef, axis: AxesOrAll = None) -> Any:
    """x with the middle, n // 2, of some axes, by default all, moved to the front: `fftshift` undone.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.ifftshift(np.array([-2, -1, 0, 1, 2])).tolist()
    [0, 1, 2, -2, -1]
    """
    return _shifted(do, x, axis, back=True)


@composed(dy="...")
def ifftshift_backward(do: Steps, dy: TensorRef, axis: AxesOrAll = None) -> Any:
    """The gradient of `ifftshift`'s x: dy moved as `fftshift` does.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.ifftshift_backward(np.array([0.0, 1, 2, -2, -1])).tolist()
    [-2.0, -1.0, 0.0, 1.0, 2.0]
    """
    return _shifted(do, dy, axis, back=False)
