"""Which of many problems have their CUDA kernels compiled, and for which architectures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import pytest

T = TypeVar("T")


def compiled_for(number: int, share: int, targets: Sequence[T], full: bool) -> Sequence[T]:
    """With --full all targets; without, one of them, in turn, for one of so many problems, and none for the others, whose test is
    skipped: every kernel is compiled where it runs."""
    if full:
        return targets
    if number % share:
        pytest.skip(f"one of {share} without --full")
    return [targets[number // share % len(targets)]]
