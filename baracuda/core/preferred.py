"""The preference of calls that are given none."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar

from baracuda.core.errors import InvalidProblemError
from baracuda.core.sku import PlanPreference

F = TypeVar("F", bound=Callable[..., Any])

#: The tiers that programs are computed in, by what they promise.
ARITHMETICS: dict[str, PlanPreference] = {
    "reproducible": PlanPreference(require=frozenset(["bit_stable_across_hardware"])),
    "pinned": PlanPreference(fastest=True, require=frozenset(["deterministic", "batch_invariant"])),
    "fastest": PlanPreference(fastest=True),
}

#: The preference that is set, and those that it stands in front of. Of equal preferences there is one object: the cache of calls
#: tells them apart by their addresses, and holds those that it knows.
PREFERRED: ContextVar[PlanPreference | None] = ContextVar("baracuda.preferred", default=None)
_before: ContextVar[tuple[PlanPreference | None, ...]] = ContextVar("baracuda.preferred.before", default=())
_objects: dict[PlanPreference, PlanPreference] = {}
_MOST_OBJECTS = 1024


def preferred() -> PlanPreference | None:
    """What `preferring` says here; None where it says nothing."""
    return PREFERRED.get()


class preferring:
    """Sets the preference of every call that is given none, in a `with` statement or for all of a function.

    It holds for each function that has a parameter `preference`, its backward, and whatever else takes products or attention
    on the way (a loss of a linear layer, a covariance): plans that can be made in more than one arithmetic. Other functions have
    one arithmetic and take no notice. A call's own `preference` comes before it, and the innermost before those around it.
    An impossible wish is an error here as anywhere: `math=MathPrecision.BF16` refuses a product of f32.

    It belongs to the thread, and to the task of asyncio, in which it is set; tasks that are started within have it too.
    What `record` recorded keeps the preference that it was recorded with. A plan's `select` has its own argument.

    Parameters
    ----------
    preference
        What to insist on; None: what functions do by themselves.

    Raises
    ------
    InvalidProblemError
        It is no `PlanPreference`, or decorates a generator, whose body runs by turns with its caller's.

    Example
    -------
    >>> import numpy as np, baracuda
    >>> a = np.eye(2, dtype=np.float32)
    >>> with baracuda.preferring(baracuda.PlanPreference(fastest=True)):
    ...     y = baracuda.matmul(a, a)  # by BLAS
    >>> @baracuda.preferring(baracuda.PlanPreference(require=["bit_stable_across_hardware"]))
    ... def layer(x):
    ...     return baracuda.matmul(x, a)
    >>> layer(y)
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """

    def __init__(self, preference: PlanPreference | None) -> None:
        if not isinstance(preference, PlanPreference | None):
            raise InvalidProblemError(f"preferring: {preference!r}; expected a PlanPreference or None")
        if preference is not None:
            if len(_objects) >= _MOST_OBJECTS:
                _objects.clear()
            preference = _objects.setdefault(preference, preference)
        self.preference = preference

    def __enter__(self) -> None:
        _before.set((*_before.get(), PREFERRED.get()))
        PREFERRED.set(self.preference)

    def __exit__(self, *_: object) -> None:
        *earlier, last = _before.get()
        _before.set(tuple(earlier))
        PREFERRED.set(last)

    def __call__(self, function: F) -> F:
        """The function with this preference set while it runs."""
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise InvalidProblemError(f"preferring: {function!r} is a generator; expected a function, or `with` in its body")
        if inspect.iscoroutinefunction(function):

            @wraps(function)
            async def awaited(*arguments: Any, **keywords: Any) -> Any:
                with self:
                    return await function(*arguments, **keywords)

            return awaited  # type: ignore[return-value]

        @wraps(function)
        def called(*arguments: Any, **keywords: Any) -> Any:
            with self:
                return function(*arguments, **keywords)

        return called  # type: ignore[return-value]

    def __repr__(self) -> str:
        return f"preferring({self.preference!r})"
