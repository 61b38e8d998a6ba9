"""How functions of indices and masks are tried: a call, its tensors, and what NumPy makes of them, element by element."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from tests.ops.composed import called, same_bits

Array = Any

#: Every element that tensors of NumPy and PyTorch have.
KINDS: tuple[Any, ...] = (
    np.float32, np.float16, ml_dtypes.bfloat16, np.float64, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, np.int8, np.uint8,
    np.int16, np.int32, np.int64, np.bool_, np.complex64, np.complex128,
)  # fmt: skip
#: How a tensor lies.
LAYOUTS: Mapping[str, Callable[[Array], Array]] = {
    "contiguous": np.ascontiguousarray,
    "transposed": lambda x: np.array(x, order="F") if x.ndim else x,
    "reversed": lambda x: x[(slice(None, None, -1),) * x.ndim].copy()[(slice(None, None, -1),) * x.ndim],
    "sliced": lambda x: _sliced(x),
}


def _sliced(x: Array) -> Array:
    wide = np.zeros(tuple(2 * n for n in x.shape), x.dtype)
    part = wide[(slice(None, None, 2),) * x.ndim]
    part[...] = x
    return part


@dataclass(frozen=True)
class Case:
    """A call of a function of tensors, and what it gives, one array or a tuple."""

    function: Callable[..., Any]
    tensors: Sequence[Array]
    want: Any


Make = Callable[[np.random.Generator, Any], Case]


def drawn(rng: np.random.Generator, shape: Sequence[int], dtype: Any) -> Array:
    """Numbers that every element holds, some of them zero."""
    return np.asarray(rng.integers(0, 2 if dtype is np.bool_ else 60, tuple(shape)) * (rng.random(shape) < 0.7)).astype(dtype)


def tried(case: Case, layout: str, device: str) -> None:
    """A function gives what NumPy does, bit for bit, on a GPU too, of tensors that lie as the layout says."""
    tensors = [LAYOUTS[layout](t) if isinstance(t, np.ndarray) else t for t in case.tensors]
    if device != "cpu" and layout == "reversed":  # PyTorch has no negative strides
        tensors = list(case.tensors)
    wanted = case.want if isinstance(case.want, tuple) else (case.want,)
    results = called(case.function, tensors, device)
    assert len(results) == len(wanted)
    for got, want in zip(results, wanted, strict=True):
        same_bits(np.asarray(got), np.ascontiguousarray(want) if want.ndim else want)


def in_order(x: Array, places: Sequence[Any], values: Sequence[Array]) -> Array:
    """x with values at places, one after the other."""
    y = x.copy()
    for place, value in zip(places, values, strict=True):
        y[place] = value
    return y
