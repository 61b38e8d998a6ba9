"""What operators share: reading values on the host, elements, axes."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated, Any

import numpy as np
import onnx

import baracuda
from baracuda.core.call_recorder import current, hold, unseen
from baracuda.core.errors import InvalidProblemError
from baracuda.onnx.coded import Coded

Tensor = Any
#: A tensor that the operator reads on the host: shapes, axes, counts.
Host = Annotated[Any, "read on the host"]


def near(number: Any, x: Tensor, kind: Any = None) -> Tensor:
    """A number as a tensor without axes, of an element (x's own) and where x lies."""
    kind = np.dtype(x.dtype if kind is None else kind)
    if not isinstance(x, np.ndarray):
        return baracuda.full((), number, kind, like=x)
    made = np.asarray(number, kind)
    hold(made)
    return made


def host(x: Tensor) -> np.ndarray:
    """The values on the host."""
    if isinstance(x, Coded):
        return x.numpy()
    if isinstance(x, np.ndarray):
        return x
    recorder = current()
    with unseen() if recorder is not None and recorder.is_made(x) else nullcontext():
        return np.asarray(baracuda.to_host(x))


def ints(x: Tensor) -> tuple[int, ...]:
    """A tensor of shapes, axes or counts as Python has them."""
    return tuple(int(i) for i in host(x).reshape(-1))


def scalar(x: Tensor) -> Any:
    """The one element of a tensor."""
    values = host(x).reshape(-1)
    if len(values) != 1:
        raise InvalidProblemError(f"a tensor of shape {tuple(x.shape)}; expected one element")
    return values[0].item() if values.dtype.kind in "biufcO" else values[0]


def element(number: int) -> np.dtype[Any]:
    """The element that ONNX has under a number."""
    try:
        return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(number))
    except KeyError:
        raise InvalidProblemError(f"element {number}; expected one that ONNX has") from None


def positive(axis: int, rank: int) -> int:
    """An axis counted from the front. Raises where there is none."""
    if not -rank <= axis < max(rank, 1):
        raise InvalidProblemError(f"axis {axis}; expected {-rank} to {rank - 1}")
    return axis % rank if rank else 0


def float_of(kind: np.dtype[Any]) -> bool:
    """Whether the element is a floating-point number, of NumPy's or of ml_dtypes."""
    return kind.kind == "f" or (kind.kind == "V" and "float" in kind.name)
