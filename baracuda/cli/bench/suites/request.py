"""What is asked of a suite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError


@dataclass(frozen=True)
class Request:
    """What is asked of a suite.

    Attributes
    ----------
    kind
        "cpu" or "cuda".
    dtypes
        Labels of elements; empty for those that the suite usually takes.
    shape
        The extents that take the place of the suite's own; None for those.
    quick
        Small shapes: to see that everything runs, not how fast.
    """

    kind: str = "cpu"
    dtypes: tuple[str, ...] = ()
    shape: tuple[int, ...] | None = None
    quick: bool = False

    def elements(self, usual: Sequence[str]) -> list[ElementKind]:
        """The elements asked for, or the usual ones; raises `InvalidProblemError` for a label that no element has."""
        known = {k.label: k for k in ElementKind}
        for label in self.dtypes:
            if label not in known:
                raise InvalidProblemError(f"dtype {label!r}; expected some of {', '.join(known)}")
        return [known[label] for label in self.dtypes or usual]
