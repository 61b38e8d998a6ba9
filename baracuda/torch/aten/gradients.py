"""Gradients of which a mask says which are wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def masked(gradients: Callable[[tuple[str, ...]], Any], names: tuple[str, ...], mask: Any, given: tuple[bool, ...]) -> list[Any]:
    """The gradients of the names that are asked for and given, None for the others; `gradients` takes a tuple of names."""
    wanted = tuple(n for n, m, g in zip(names, mask, given, strict=True) if m and g)
    if not wanted:
        return [None] * len(names)
    found = gradients(wanted)
    by_name = dict(zip(wanted, found if isinstance(found, tuple) else (found,), strict=True))
    return [by_name.get(n) for n in names]
