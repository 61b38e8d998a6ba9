"""What is known of a machine's caches."""

from __future__ import annotations

from functools import cache
from pathlib import Path

MIB = 1 << 20
#: What a machine has that does not say, and the most that one program may count on: large caches have many users.
_USUAL, _MOST = 32 * MIB, 64 * MIB
_UNITS = {"K": 1 << 10, "M": MIB}


@cache
def last_level_cache() -> int:
    """Bytes of the largest cache that the first processor reads through."""
    found = 0
    for size in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        text = size.read_text().strip()
        if text[:-1].isdigit() and text[-1] in _UNITS:
            found = max(found, int(text[:-1]) * _UNITS[text[-1]])
    return min(found or _USUAL, _MOST)
