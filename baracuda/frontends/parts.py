"""Functions that read on the host how large their result is: made of parts, each of which is a call of its own that is kept and
made again, since the whole cannot be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from baracuda.core.call_recorder import refuse
from baracuda.frontends.composed import function_of
from baracuda.ops.declaration.composition import Composed
from baracuda.ops.declaration.patterns import Declared

F = TypeVar("F", bound=Callable[..., Any])


def part(
    *, out: bool = False, numbers: Mapping[str, tuple[float, ...]] | None = None, **patterns: Declared
) -> Callable[[Callable[..., Any]], Any]:
    """Decorator: the body of a composition that is no public function, as a function whose calls are kept."""

    def declare(body: Callable[..., Any]) -> Any:
        from baracuda.frontends.call_cache import call_cached

        function = function_of(Composed(body, patterns, out, numbers or {}))
        known = function.__dict__["cacheable"]
        return call_cached(known)

    return declare


def of_parts(function: F) -> F:
    """Decorator of a public function: its own calls are not kept, those of its parts are."""
    function.__dict__["of_parts"] = True
    return function


def read(tensor: Any) -> int:
    """The whole number that is a tensor's last element. It waits for the device."""
    refuse("it reads on the host how large its result is")
    return int(tensor[tensor.shape[0] - 1])
