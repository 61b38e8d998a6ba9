"""What functions give, taken apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def flattened(value: Any) -> Iterator[Any]:
    """Every tensor and plain value of a result."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        for v in value:
            yield from flattened(v)
    else:
        yield value
