"""What tensors hold when guarantees are tried: the same bits on every machine.

Everything is made of the raw words of Philox, a generator that is integer arithmetic only, by operations that IEEE 754
defines exactly. NumPy's own distributions would not do: they use the system's logarithm, and may change with its version.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError

Array = np.ndarray[Any, Any]

#: A large finite value of each kind that squares and cubes in the compute kind without overflow.
LARGE = {ElementKind.F16: 1e3, ElementKind.BF16: 1e8, ElementKind.F32: 1e8, ElementKind.F64: 1e60}
#: The smallest subnormal and the smallest normal number of each kind.
TINY = {
    ElementKind.F16: (2.0**-24, 2.0**-14),
    ElementKind.BF16: (2.0**-133, 2.0**-126),
    ElementKind.F32: (2.0**-149, 2.0**-126),
    ElementKind.F64: (2.0**-1074, 2.0**-1022),
}
#: What values are mixed into normal ones.
VARIANTS = ("normal", "extreme", "special")


def raw(seed: str, count: int) -> Array:
    """`count` random 64-bit words that depend on the seed alone."""
    words: Array = np.random.Philox(key=zlib.crc32(seed.encode())).random_raw(count)
    return words


def uniform(seed: str, shape: Sequence[int]) -> Array:
    """Multiples of 2**-53 in [0, 1)."""
    return ((raw(seed, prod(shape)) >> np.uint64(11)) * 2.0**-53).reshape(tuple(shape))


def normal(seed: str, shape: Sequence[int]) -> Array:
    """Sums of four uniform values, of mean 0 and variance 1: close to normal, and made without any library function."""
    words = raw(seed, 2 * prod(shape)).reshape(2, *shape)
    pieces = [(words[0] >> np.uint64(16 * k)) & np.uint64(0xFFFF) for k in range(4)]
    total = (pieces[0] + pieces[1] + pieces[2] + pieces[3]).astype(np.float64) + (words[1] >> np.uint64(11)) * 2.0**-53
    scaled: Array = (total / 65536.0 - 2.0) * 1.7320508075688772
    return scaled


def integers(seed: str, shape: Sequence[int], low: int, high: int) -> Array:
    """Whole numbers in low ... high."""
    return (raw(seed, prod(shape)) % np.uint64(high - low + 1)).astype(np.int64).reshape(tuple(shape)) + low


def rounded(values: Array, kind: ElementKind) -> Array:
    """float64 values in `kind`; bf16 by way of f32, so that every version of ml_dtypes gives the same."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        return np.asarray(values, np.float32 if kind is ElementKind.BF16 else values.dtype).astype(kind.numpy)


def salted(values: Array, seed: str, kind: ElementKind, variant: str) -> Array:
    """Values with zeros of both signs, subnormal, tiny and large ones among them ("extreme"), and NaN and infinities
    besides ("special"): in one element of eight, and only in about half the slices along the first axis, so that whole rows
    stay clean either way."""
    if variant == "normal" or not values.size:
        return values
    subnormal, smallest = TINY[kind]
    large = LARGE[kind]
    salt = [0.0, -0.0, subnormal, -3 * subnormal, smallest, -smallest, large, -large]
    if variant == "special":
        salt += [np.nan, np.inf, -np.inf, np.nan]
    words = raw(seed + "/salt", values.size)
    chosen = np.array(salt)[(words >> np.uint64(32)) % np.uint64(len(salt))]
    flat = values.reshape(-1).copy()
    mask = words % np.uint64(8) == 0
    if values.ndim > 1:
        per = values.size // values.shape[0]
        mask &= np.repeat(raw(seed + "/slices", values.shape[0]) % np.uint64(2) == 0, per)
    flat[mask] = chosen[mask]
    return flat.reshape(values.shape)


# --- by domain --------------------------------------------------------------------------------------------------------


def _between(low: float, high: float) -> Callable[[str, Sequence[int]], Array]:
    return lambda seed, shape: low + (high - low) * uniform(seed, shape)


def _gamma(seed: str, shape: Sequence[int]) -> Array:
    """Close to a gamma distribution of shape 2: half the sum of four squares."""
    n = normal(seed, (4, *shape))
    squares = n * n
    half: Array = (squares[0] + squares[1] + squares[2] + squares[3]) * 0.5
    return half


def _signs(seed: str, shape: Sequence[int]) -> Array:
    return np.where(raw(f"{seed}/signs", prod(shape)).reshape(tuple(shape)) & np.uint64(1), -1.0, 1.0)


def _boxes(seed: str, shape: Sequence[int]) -> Array:
    """Corners (x0, y0, x1, y1) along the last axis, the second pair above the first."""
    half = (*shape[:-1], 2)
    return np.concatenate([_between(0, 2)(f"{seed}/low", half), _between(2.5, 5)(f"{seed}/high", half)], -1)


#: What a tensor of each domain holds: a function of the seed and the shape, in float64, bool, int64 or uint32.
DOMAINS: dict[str, Callable[[str, Sequence[int]], Array]] = {
    "any": lambda seed, shape: normal(seed, shape) * 2.0,
    "positive": lambda seed, shape: _gamma(seed, shape) + 0.05,
    "above one": lambda seed, shape: _gamma(seed, shape) + 1.05,
    "unit": _between(-0.95, 0.95),
    "probability": _between(0.02, 0.98),
    "small": lambda seed, shape: normal(seed, shape) * 0.5,
    "nonzero": lambda seed, shape: _between(0.5, 3.0)(seed, shape) * _signs(seed, shape),
    "factor": lambda seed, shape: _between(0.98, 1.02)(seed, shape) * _signs(seed, shape),
    "sign": _signs,
    "grid": lambda seed, shape: integers(seed, shape, -2, 2).astype(np.float64),
    "mask": lambda seed, shape: uniform(seed, shape) < 0.7,
    "box": _boxes,
    "shift": lambda seed, shape: integers(seed, shape, 0, 6),
    "bits": lambda seed, shape: (raw(seed, prod(shape)) >> np.uint64(32)).astype(np.uint32).reshape(tuple(shape)),
}


def values(domain: str, seed: str, shape: Sequence[int]) -> Array:
    """A tensor's values: one of `DOMAINS`, or "index:5" for s64 from 0 to 4.

    Raises `InvalidProblemError` for a domain that is neither.
    """
    name, _, limit = domain.partition(":")
    if name == "index" and limit:
        return integers(seed, shape, 0, int(limit) - 1)
    if name not in DOMAINS:
        raise InvalidProblemError(f"domain {domain!r}; expected index:N or one of {', '.join(DOMAINS)}")
    return DOMAINS[name](seed, shape)


def drawn(domain: str, seed: str, shape: Sequence[int], kind: ElementKind, among: Sequence[float] = ()) -> Array:
    """A tensor of `kind` with the values of a domain; one of indices, bits or truths keeps its own. `among` are numbers that are
    mixed into floats."""
    found = np.asarray(values(domain, seed, shape))
    if found.dtype.kind in "biu" and not (domain == "shift" and kind.is_integer):
        return found
    if kind.category is Category.COMPLEX:
        return np.asarray(found + 1j * values(domain, f"{seed}/imaginary", shape)).astype(kind.numpy)
    if kind is ElementKind.BOOL:
        return np.asarray(found > 0)
    if kind.is_integer:
        low, high = (0, 100) if kind.category is Category.UNSIGNED else (-100, 100)
        return np.asarray(np.clip(np.rint(found * (1 if domain == "shift" else 8)), low, high), kind.numpy)
    if among and found.size:
        found = found.copy()
        found.reshape(-1)[integers(f"{seed}/specials", (len(among),), 0, found.size - 1)] = among
    return rounded(found, kind)
