"""Which aten function is computed by what: the only table of names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: A function that takes what an overload takes and gives what it gives.
Serve = Callable[..., Any]

#: Overloads that are computed here. Of one that writes to its arguments the function gives what they become, in their order.
SERVED: dict[Any, Serve] = {}
#: Of those, the ones whose function takes `out`, a tensor of the result's element and shape, which may be an operand too.
TAKES_OUT: set[Any] = set()
#: Those that write to their arguments themselves.
WRITES: set[Any] = set()
#: Overloads that make memory, or read what a tensor is, and compute nothing.
PASSES: set[Any] = set()
#: Overloads that PyTorch makes others of, above autograd, by rules that ask for the device; and which others they are here.
CHOSEN: dict[Any, Serve] = {}


def serves(*overloads: Any, out: bool = False, writes: bool = False) -> Callable[[Serve], Serve]:
    """Declares what computes these overloads.

    Variants that work in place or take `out` follow from the schema (`baracuda.torch.resolution`) and are not named. `out` says
    that the function takes `out` itself, which spares them a copy; `writes`, that it writes to what its schema says is written,
    or writes where its schema keeps silent.
    """

    def declare(function: Serve) -> Serve:
        for overload in overloads:
            assert overload not in SERVED, f"{overload} is served twice"
            SERVED[overload] = function
            if out:
                TAKES_OUT.add(overload)
            if writes:
                WRITES.add(overload)
        return function

    return declare


def passes(*overloads: Any) -> None:
    """Declares overloads that PyTorch carries out itself: memory, and questions about tensors."""
    PASSES.update(overloads)


def chooses(*overloads: Any) -> Callable[[Serve], Serve]:
    """Declares of which others these overloads are made, on every device, by a function of them that autograd sees through."""

    def declare(function: Serve) -> Serve:
        for overload in overloads:
            assert overload not in CHOSEN, f"{overload} is chosen twice"
            CHOSEN[overload] = function
        return function

    return declare
