"""What a JSON value from a file must look like, checked whole before anything is read from it.

A shape is `str`, `bool`, `int` or `float`, the latter two finite; `[shape]` is a list of any length, `(shape, ...)` one of this
length, `{str: shape}` an object with any names, and `{"name": shape}` one with these names, of which those that end in "?" may be
missing; `Maybe(shape)` may be null. What an object holds besides is not looked at.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from baracuda.core.errors import InvalidProblemError

#: The largest number that anything measured may be: far above all, and products of some of them are finite.
MOST = 1e30
#: Characters of a wrong value that a message quotes.
QUOTED = 60


@dataclass(frozen=True)
class Maybe:
    """A value that may be null."""

    shape: Any


@dataclass(frozen=True)
class Number:
    """A number that `holds`, which messages call `name`."""

    name: str
    holds: Callable[[float], bool]


POSITIVE = Number("a number above 0", lambda v: v >= 1e-30)
NOT_NEGATIVE = Number("a number of 0 or above", lambda v: v >= 0)
_NAMES = {str: "a text", bool: "true or false", int: "a whole number", float: "a number"}


def check(value: Any, shape: Any, where: str) -> None:
    """Raise `InvalidProblemError` for the first part of a value that is not as its shape says; messages call it `where`."""
    for path, part, expected in _wrong(value, shape, where):
        quoted = repr(part) if isinstance(part, (str, int, float, bool, type(None))) else f"{type(part).__name__}"
        shortened = quoted if len(quoted) <= QUOTED else quoted[: QUOTED - 3] + "..."
        raise InvalidProblemError(f"{path}: {shortened}; expected {expected}")


def _wrong(value: Any, shape: Any, where: str) -> Iterator[tuple[str, Any, str]]:
    """Places, what stands there, and what was expected."""
    if isinstance(shape, Maybe):
        if value is not None:
            yield from _wrong(value, shape.shape, where)
    elif isinstance(shape, (type, Number)):
        if not _is(value, shape):
            yield where, value, shape.name if isinstance(shape, Number) else _NAMES[shape]
    elif isinstance(shape, (list, tuple)):
        if not isinstance(value, list) or (isinstance(shape, tuple) and len(value) != len(shape)):
            yield where, value, "a list" if isinstance(shape, list) else f"a list of {len(shape)}"
            return
        for i, part in enumerate(value):
            yield from _wrong(part, shape[0] if isinstance(shape, list) else shape[i], f"{where}[{i}]")
    elif not isinstance(value, Mapping):
        yield where, value, "an object"
    elif str in shape:
        for name, part in value.items():
            yield from _wrong(part, shape[str], f"{where}.{name[:QUOTED]}")
    else:
        for name, wanted in shape.items():
            plain = name.removesuffix("?")
            if plain in value:
                yield from _wrong(value[plain], wanted, f"{where}.{plain}")
            elif plain == name:
                yield where, value, f"it to have {name!r}"


def _is(value: Any, shape: Any) -> bool:
    if shape in (str, bool):
        return isinstance(value, shape)
    if isinstance(value, bool) or not isinstance(value, int if shape is int else (int, float)):
        return False
    if not -MOST <= value <= MOST or not math.isfinite(value):
        return False
    return not isinstance(shape, Number) or shape.holds(value)
