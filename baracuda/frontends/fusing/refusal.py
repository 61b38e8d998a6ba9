"""Why two steps stay two."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Refusal:
    """What stands against merging two steps."""

    reason: str

    def __str__(self) -> str:
        return self.reason
