"""Results as bit patterns: hashes of them, and where two differ."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def parts(array: Array) -> list[Array]:
    """The array, or the real and imaginary parts of a complex one."""
    return [array.real.copy(), array.imag.copy()] if array.dtype.kind == "c" else [array]


def canonical_bits(array: Array) -> Array:
    """Bit patterns as unsigned integers, every NaN as the same one (its payload and sign are not part of the contract)."""
    flat = np.ascontiguousarray(array).reshape(array.shape)  # which makes a scalar an array of rank 1
    bits = flat.view(f"u{flat.dtype.itemsize}")
    if np.issubdtype(flat.dtype, np.integer) or flat.dtype == np.bool_:
        return bits
    nan = np.array(np.nan, flat.dtype).view(bits.dtype)
    return np.where(np.isnan(flat), nan & bits.dtype.type((1 << (8 * flat.dtype.itemsize - 1)) - 1), bits)


def digest(array: Array) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of an array's elements in logical order, little-endian, with every NaN
    as the same one."""
    bits = canonical_bits(array)
    return hashlib.sha256(bits.astype(bits.dtype.newbyteorder("<")).tobytes()).hexdigest()[:16]


def digests(outputs: Mapping[str, Array]) -> str:
    """The digests of several arrays in order, two for a complex one."""
    return " ".join(digest(part) for array in outputs.values() for part in parts(array))


@dataclass(frozen=True)
class Difference:
    """The first element that differs between what was found and what was expected, and how many do.

    Attributes
    ----------
    tensor, index
        Which output, and where in it.
    found, expected
        The values, as text, and `found_bits`, `expected_bits`: their bit patterns in hexadecimal.
    differing, elements
        How many elements differ, of how many.
    """

    tensor: str
    index: tuple[int, ...]
    found: str
    found_bits: str
    expected: str
    expected_bits: str
    differing: int
    elements: int

    def __str__(self) -> str:
        return (
            f"{self.tensor}{list(self.index)} is {self.found_bits} ({self.found}); expected {self.expected_bits} "
            f"({self.expected}); {self.differing:,} of {self.elements:,} elements differ"
        )


def difference(actual: Mapping[str, Array], expected: Mapping[str, Array]) -> Difference | None:
    """Where two sets of outputs first differ in a bit; None where they do not. Those of `expected` are compared."""
    first: tuple[str, tuple[int, ...], Array, Array] | None = None
    differing = elements = 0
    for name, want in expected.items():
        got = actual[name]
        unequal = np.zeros(want.shape, bool)
        for a, b in zip(parts(got), parts(want), strict=True):
            unequal |= canonical_bits(a) != canonical_bits(b)
        elements += want.size
        differing += int(unequal.sum())
        if first is None and unequal.any():
            first = name, tuple(int(i) for i in np.argwhere(unequal)[0]), got, want
    if first is None:
        return None
    name, index, got, want = first
    return Difference(name, index, *shown(got, index), *shown(want, index), differing, elements)


def shown(array: Array, index: tuple[int, ...]) -> tuple[str, str]:
    """An element's value and its bit pattern, as text."""
    one = array[index]
    pattern = np.ascontiguousarray(one).tobytes()[::-1].hex() if np.little_endian else np.ascontiguousarray(one).tobytes().hex()
    return str(one), f"0x{pattern}"
