"""What `torch.compile(..., options=...)` may say to this backend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import baracuda
from baracuda.core.preferred import preferred
from baracuda.torch.mode import PREFERENCES, Arithmetic


@dataclass(frozen=True)
class Options:
    """What a graph is compiled for.

    Attributes
    ----------
    arithmetic
        How products are computed, as in `baracuda.torch.reproducible`; None: as `baracuda.preferring` says where it is compiled.
    strict
        An op that is not served raises `UnsupportedError` with its name. False: PyTorch computes it, and
        `baracuda.torch.compiled.report()` says which.
    """

    arithmetic: Arithmetic | None = None
    strict: bool = True

    @property
    def preference(self) -> baracuda.PlanPreference | None:
        return preferred() if self.arithmetic is None else PREFERENCES[self.arithmetic]


def options_of(given: Mapping[str, Any] | None) -> Options:
    """What the caller's options say.

    Raises
    ------
    InvalidProblemError
        An option that there is not, or a value that it cannot have.
    """
    known = [f.name for f in fields(Options)]
    for name in given or {}:
        if name not in known:
            raise baracuda.InvalidProblemError(f"torch.compile: option {name!r}; expected one of {', '.join(known)}")
    options = Options(**(given or {}))
    if options.arithmetic is not None and options.arithmetic not in PREFERENCES:
        raise baracuda.InvalidProblemError(
            f"torch.compile: arithmetic {options.arithmetic!r}; expected None or one of {', '.join(PREFERENCES)}"
        )
    if not isinstance(options.strict, bool):
        raise baracuda.InvalidProblemError(f"torch.compile: strict {options.strict!r}; expected True or False")
    return options
