"""Rotary position embedding as functions of tensors, and the tables of angles that long contexts are scaled with."""

from __future__ import annotations

import sys
from math import pi
from typing import Annotated, Any, Literal

import numpy as np

from baracuda.core.bounds import AtLeast
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.spec import check_shape
from baracuda.core.tensor import TensorRef, tensor_mut
from baracuda.core.views import expanded_dims, slab, view
from baracuda.frontends.arrays import library_of
from baracuda.frontends.call import describe
from baracuda.frontends.declared import declared
from baracuda.frontends.families import function
from baracuda.frontends.views import copy, output, run
from baracuda.ops.attention.rotary import rotation
from baracuda.ops.declaration.words import Count, FiniteFloat, Positive, PositiveFloat
from baracuda.runtime import memory


def _halves(tensor: TensorRef, pairs: int, interleaved: bool) -> tuple[Any, Any]:
    """The first and the second element of each pair."""
    last = len(tensor.shape) - 1
    if not interleaved:
        return slab(tensor, last, 0, pairs), slab(tensor, last, pairs, 2 * pairs)
    shape, strides = (*tensor.shape[:-1], pairs), (*tensor.strides[:-1], 2 * tensor.strides[-1])
    return view(tensor, 0, shape, strides), view(tensor, tensor.strides[-1], shape, strides)


def _table(name: str, table: Any, ref: TensorRef, axis: int) -> Any:
    """A table of angles laid along the sequence and the pairs of x."""
    table_ref = describe(table, name)
    rank = len(ref.shape)
    return expanded_dims(table_ref, (axis % rank, rank - 1), rank) if len(table_ref.shape) == 2 and rank > 2 else table_ref


def _rotate(x: Any, cos: Any, sin: Any, interleaved: bool, axis: int, inverse: bool, out: Any) -> Any:
    ref = describe(x, "x")
    rank = len(ref.shape)
    if axis % rank == rank - 1:
        raise InvalidProblemError(f"axis: {axis} of x {ref.shape}; expected the axis of the sequence, before the last one")
    tables = _table("cos", cos, ref, axis), _table("sin", sin, ref, axis)
    pairs = tables[0].shape[-1]
    if tables[0].shape != tables[1].shape or 2 * pairs > ref.shape[-1]:
        raise InvalidProblemError(
            f"cos {tables[0].shape}, sin {tables[1].shape}: expected one shape, "
            f"and at most {ref.shape[-1] // 2} angles for x {ref.shape}"
        )
    if out is None:
        result, target = output(x, ref.shape, ref.kind)
    else:
        result, target = out, tensor_mut(out, name="out")
        if target.shape != ref.shape or target.kind is not ref.kind:
            raise InvalidProblemError(f"out: {target.kind} of shape {target.shape}; expected {ref.kind} of {ref.shape}")
    first, second = _halves(ref, pairs, interleaved)
    tensors = {"first": first, "second": second, "cos": tables[0], "sin": tables[1]}
    run(rotation, tensors, x, _halves(target, pairs, interleaved), inverse=inverse)
    last = rank - 1
    if 2 * pairs < ref.shape[-1] and target.pointer != ref.pointer:
        copy(slab(ref, last, 2 * pairs, ref.shape[-1]), slab(target, last, 2 * pairs, ref.shape[-1]), x)
    return result


_TABLES: dict[str, str] = {"cos": "*table pairs : float", "sin": "*table pairs : float"}


@declared(x="*before extent@axis *after : float", **_TABLES)
def rope(x: Any, cos: Any, sin: Any, *, interleaved: bool = False, axis: int = -2, out: Any = None) -> Any:
    """Pairs of elements of the last axis turned by angles: (a, b) becomes (a cos - b sin, b cos + a sin).

    Parameters
    ----------
    x
        Queries or keys in a float element and any strides, such as (batch, heads, sequence, depth).
    cos, sin
        Tables of (sequence, pairs), or tensors that broadcast to x with `pairs` along the last axis (tables at positions of their
        own for each batch element: (batch, 1, sequence, pairs)). `rope_scaling_tables` makes them.
    interleaved
        Whether a pair is elements 2p and 2p + 1 (GPT-J, RoFormer); else p and p + pairs (GPT-NeoX, Llama).
    axis
        The axis of the sequence, for tables of two axes: -2, or -3 for (batch, sequence, heads, depth).
    out
        Where the result is written, which may be x itself.

    Elements beyond twice the number of pairs stay as they are (partial rotation). It computes in f32, f64 for f64, and rounds
    once; the bits are the same on every device. Raises `InvalidProblemError` for tables that do not fit.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = np.float32([[1, 2, 3, 4]])
    >>> quarter = np.float32([[0, 0]]), np.float32([[1, 1]])
    >>> baracuda.rope(x, *quarter).tolist()
    [[-3.0, -4.0, 1.0, 2.0]]
    >>> baracuda.rope(x, *quarter, interleaved=True).tolist()
    [[-2.0, 1.0, -4.0, 3.0]]
    """
    return _rotate(x, cos, sin, interleaved, axis, False, out)


@declared(dy="*before extent@axis *after : float", **_TABLES)
def rope_backward(dy: Any, cos: Any, sin: Any, *, interleaved: bool = False, axis: int = -2, out: Any = None) -> Any:
    """The gradient of `rope`'s x: dy turned back."""
    return _rotate(dy, cos, sin, interleaved, axis, True, out)


@declared(like="...")
def rope_scaling_tables(
    length: Count,
    depth: Annotated[int, AtLeast(2)],
    *,
    base: PositiveFloat = 10000.0,
    scaling: Literal["none", "linear", "ntk", "yarn", "llama3"] = "none",
    factor: PositiveFloat = 1.0,
    original_length: Positive = 8192,
    low: PositiveFloat | None = None,
    high: PositiveFloat | None = None,
    attention_factor: FiniteFloat | None = None,
    start: int = 0,
    like: Any = None,
) -> tuple[Any, Any]:
    """Tables of cosines and sines for `rope`: f32 of (length, depth / 2), for positions from `start` on.

    The angle of pair p at position t is t * base**(-2p / depth), with the frequencies changed by `scaling`:

    - "linear": divided by factor (Chen et al., Position Interpolation, 2023);
    - "ntk": base becomes base * factor**(depth / (depth - 2)) (bloc97, 2023);
    - "yarn": those that turn fewer than `low` (1) times in original_length are divided by factor, those that turn more than
    `high`
      (32) times stay, with a ramp between; the tables are multiplied by attention_factor, 0.1 log(factor) + 1 by default
      (Peng et al., YaRN, 2023);
    - "llama3": likewise between `low` (1) and `high` (4), the ramp linear in the number of turns (Llama 3.1).

    Angles are computed in f64 by baracuda's own functions, so that the tables have the same bits everywhere. `like` is a tensor
    of the library, and on the device, that they are made for; NumPy arrays by default.

    Examples
    --------
    >>> import baracuda
    >>> cos, sin = baracuda.rope_scaling_tables(4096, 128, base=500000.0, scaling="llama3", factor=8.0)
    >>> cos.shape
    (4096, 64)
    """
    if depth % 2:
        raise InvalidProblemError(f"depth: {depth}; expected an even number, 2 or more")
    if scaling == "yarn" and base == 1:
        raise InvalidProblemError(f"base: {base}; expected another than 1, for which every pair turns as often")
    check_shape("(length, depth / 2)", (length, depth // 2))
    angles = memory.empty((length, depth // 2), ElementKind.F64)  # first, so that tables too large are refused by name
    with np.errstate(all="ignore"):  # what is too large for a table is infinite in it
        if scaling == "ntk" and depth > 2:
            base = base * _power(factor, depth / (depth - 2))
        pairs = np.arange(depth // 2, dtype=np.float64)
        frequencies = function("pow")(np.full(depth // 2, base), pairs * (-2.0 / depth))
        size = 1.0
        if scaling == "linear":
            frequencies = frequencies / factor
        elif scaling in ("yarn", "llama3"):
            few, many = 1.0 if low is None else low, (32.0 if scaling == "yarn" else 4.0) if high is None else high
            if not 0 < few < many:
                raise InvalidProblemError(f"low {few}, high {many}; expected 0 < low < high")
            interpolated = _ramp_of_pairs(pairs, depth, base, original_length, few, many) if scaling == "yarn" else None
            if interpolated is None:
                interpolated = np.clip((original_length * frequencies / (2 * pi) - few) / (many - few), 0.0, 1.0)
            frequencies = frequencies * interpolated + frequencies / factor * (1.0 - interpolated)
            if scaling == "yarn":
                size = 0.1 * _log(max(factor, 1.0)) + 1.0 if attention_factor is None else attention_factor
        np.multiply(np.arange(start, start + length, dtype=np.float64)[:, None], frequencies[None], out=angles)
        tables = tuple((function(name)(angles) * size).astype(np.float32) for name in ("cos", "sin"))
    cos, sin = (_moved(t, like) for t in tables)
    return cos, sin


def _power(x: float, y: float) -> float:
    return float(function("pow")(np.array([x]), np.array([y]))[0])


def _log(x: float) -> float:
    return float(function("log")(np.array([x]))[0])


def _ramp_of_pairs(
    pairs: np.ndarray[Any, Any], depth: int, base: float, length: int, few: float, many: float
) -> np.ndarray[Any, Any]:
    """How much of its frequency each pair keeps: a ramp in the pair's number between those that turn `many` and `few` times."""

    def pair(turns: float) -> float:
        return depth * _log(length / (turns * 2 * pi)) / (2 * _log(base))

    first, last = max(np.floor(pair(many)), 0.0), min(np.ceil(pair(few)), depth - 1.0)
    ramp: np.ndarray[Any, Any] = np.clip((pairs - first) / max(last - first, 0.001), 0.0, 1.0)
    return 1.0 - ramp


def _moved(table: np.ndarray[Any, Any], like: Any) -> Any:
    """An array as a tensor of another library."""
    library = "numpy" if like is None else library_of(like)
    if library == "torch":
        return sys.modules["torch"].from_numpy(table).to(like.device)
    if library == "numpy":
        return table
    if library in ("cupy", "jax"):
        return (sys.modules["cupy"] if library == "cupy" else sys.modules["jax"].numpy).asarray(table)
    raise InvalidProblemError(f"like: a tensor of {library}; expected one of NumPy, PyTorch, CuPy or JAX")
