"""Numbers that a call computes from those it brings, in double, before a kernel is given them: 1 - beta, log(beta)."""

from __future__ import annotations

from collections.abc import Callable, Mapping


class HostName(str):
    """The name of such a number: how it is computed, written out. `of` computes it from a call's numbers by name, of which it
    takes those with these `names`."""

    of: Callable[[Mapping[str, float]], float]
    names: frozenset[str]

    def __new__(cls, text: str, of: Callable[[Mapping[str, float]], float], names: frozenset[str]) -> HostName:
        name = super().__new__(cls, text)
        name.of, name.names = of, names
        return name


def value_of(name: str, numbers: Mapping[str, float]) -> float:
    """The number that a parameter's name stands for in a call that brings these numbers."""
    return name.of(numbers) if isinstance(name, HostName) else numbers[name]
