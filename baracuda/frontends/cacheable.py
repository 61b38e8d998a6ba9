"""What a function says of itself, so that its calls can be kept (`baracuda.frontends.call_cache`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from baracuda.core.parameters import Domain


class Cacheable(NamedTuple):
    """What is known of a function whose calls are kept.

    Attributes
    ----------
    function
        The function itself.
    positions
        For each parameter by position its name where it is, or may be in a tensor's place, a number of the kernel; else None.
    numbers
        The names of all of these.
    specials
        For some of them, the values that have code of their own.
    scalars
        The numbers of a call as kernels know them, checked, by the arguments of the call; None where there are none.
    every
        Whether a call is only kept where each of its numbers is seen to reach a kernel unchanged.
    domain
        Of a number, what it may be: None where anything of its type, `Free` where that depends on more than itself.
    views
        Whether results may be views of its tensors.
    creates
        Whether its first parameter only says where its results are, and of which library.
    writes
        Whether it may write to any of its tensors, and not to `out` alone.
    """

    function: Callable[..., Any]
    positions: tuple[str | None, ...] = ()
    numbers: tuple[str, ...] = ()
    specials: Mapping[str, tuple[float, ...]] = {}
    scalars: Callable[[tuple[Any, ...], Mapping[str, Any]], Mapping[str, float]] | None = None
    every: bool = False
    domain: Callable[[str], Domain | None] | None = None
    views: bool = False
    creates: bool = False
    writes: bool = False
