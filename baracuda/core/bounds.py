"""Bounds of numbers, as data in a parameter's annotation: `Annotated[float, Above(0), AtMost(1)]`. NaN is within none."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar


class Bound:
    """Something that a number must be."""

    def __call__(self, value: Any) -> bool:
        """Whether a number is that."""
        raise NotImplementedError


@dataclass(frozen=True)
class Limit(Bound):
    """A bound by another number."""

    limit: float
    words: ClassVar[str]
    holds: ClassVar[Callable[[Any, Any], Any]]

    def __call__(self, value: Any) -> bool:
        return bool(value == value and type(self).holds(value, self.limit))

    def __str__(self) -> str:
        return f"{self.words} {self.limit}"


class AtLeast(Limit):
    """The parameter is this or more."""

    words, holds = "at least", operator.ge


class AtMost(Limit):
    """The parameter is this or less."""

    words, holds = "at most", operator.le


class Above(Limit):
    """The parameter is more than this."""

    words, holds = "above", operator.gt


class Below(Limit):
    """The parameter is less than this."""

    words, holds = "below", operator.lt


class OtherThan(Limit):
    """The parameter is anything but this."""

    words, holds = "other than", operator.ne


@dataclass(frozen=True)
class Finite(Bound):
    """The parameter is not infinite."""

    def __call__(self, value: Any) -> bool:
        try:
            return math.isfinite(value)
        except OverflowError:  # a whole number that no float is near
            return False

    def __str__(self) -> str:
        return "finite"
