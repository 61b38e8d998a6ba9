"""The tables of angles of rotary position embedding, and how long contexts scale them."""

from __future__ import annotations

import sys
from math import pi
from typing import Annotated, Any, Literal

import numpy as np

from baracuda.core.bounds import AtLeast
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.spec import check_shape
from baracuda.frontends.arrays import library_of
from baracuda.frontends.declared import declared
from baracuda.frontends.families import function
from baracuda.ops.declaration.words import Count, FiniteFloat, Positive, PositiveFloat
from baracuda.runtime import memory


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
