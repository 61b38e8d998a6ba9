"""Values as dictionary keys, told apart by type and bits.

Python's numbers compare by value across types: 1 == 1.0 == True, 0.0 == -0.0, and NaN equals nothing, not even itself. A library
whose results are defined bit by bit must not take one for the other, so every cache is keyed by `identity`.
"""

from __future__ import annotations

import struct
from collections.abc import Hashable
from typing import Any

import numpy as np

_float_bits = struct.Struct("<d").pack


def identity(value: Any) -> Hashable:
    """A key that is equal for two values exactly where their types and bits are.

    Raises TypeError for what is not hashable.
    """
    kind = type(value)
    if value is None or kind is int or kind is str:
        return value  # type: ignore[no-any-return]
    if kind is tuple:
        return (tuple, *map(identity, value))
    if kind is float:
        return float, _float_bits(value)
    if kind is bool:
        return bool, value
    if kind is complex:
        return complex, _float_bits(value.real), _float_bits(value.imag)
    if isinstance(value, np.generic):
        return kind, value.tobytes()
    if isinstance(value, (bool, int, float, complex, str, tuple)):  # an enumeration's member, a named tuple
        return kind, *(map(identity, value) if isinstance(value, tuple) else (repr(value),))
    hash(value)
    return value  # type: ignore[no-any-return]
