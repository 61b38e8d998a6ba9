"""What the arguments of a call mean: the one place where names, positions, options and numbers of every function are checked.

Tensors come first and in order. What follows them by position are the other parameters in PyTorch's order, as far as that has
nothing in between that the function does not take. PyTorch's names of parameters are taken for ours (`aliases_of`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from inspect import Parameter
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import numpy as np

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.parameters import (
    ELEMENT,
    Domain,
    Either,
    Flag,
    Free,
    Instance,
    Nothing,
    Several,
    Whole,
    check_order,
    domain_of,
)
from baracuda.core.sku import PlanPreference
from baracuda.frontends.arrays import all_adopted

#: PyTorch's names of what has another here. Its first tensor is `input`, whatever that is to the function.
ALIASES = {
    "diagonal": "k",
    "dim": "axis",
    "dim0": "axis0",
    "dim1": "axis1",
    "dim2": "axis2",
    "dims": "axes",
    "end": "stop",
    "end_dim": "end_axis",
    "indices": "index",
    "indices_or_sections": "sections",
    "input1": "a",
    "input2": "b",
    "keepdim": "keepdims",
    "max_val": "max",
    "maxnorm": "max_norm",
    "min_val": "min",
    "norm_type": "p",
    "offset": "k",
    "ord": "p",
    "other": "b",
    "repetitions": "reps",
    "shifts": "shift",
    "size": "shape",
    "split_size_or_sections": "split_size",
    "src": "source",
    "start_dim": "start_axis",
    "steps": "num",
    "storage_offset": "offset",
    "stride": "strides",
    "tensors": "arrays",
    "total_repeat_length": "output_size",
    "x1": "a",
    "x2": "b",
}

AXES = Either((Whole(), Several(Whole()), Nothing()))
ROW_AXES = Either((Whole(), Several(Whole(), least=1), Nothing()))
NAMES = Either((Several(Instance(str, "a name")), Instance(str, "a name", None), Nothing()))
FREE, FLAG = Free(), Flag()
PREFERENCE = Either((Instance(PlanPreference, "a PlanPreference"), Nothing()))


def domain(annotation: Any) -> Domain:
    """`domain_of`, which knows the words of the library too: elements, preferences, the names of tensors."""
    special = {PlanPreference: PREFERENCE, ElementKind: ELEMENT, Any: FREE}
    if annotation in special:
        return special[annotation]
    if get_origin(annotation) in (Union, UnionType):
        parts = [domain(a) for a in get_args(annotation) if a is not NoneType]
        if any(p in special.values() for p in parts):
            return Either((*parts, Nothing()))
    return domain_of(annotation)


class ArgumentError(InvalidProblemError, TypeError):
    """A call with arguments that a function does not have, or without one that it needs."""


def aliases_of(names: Sequence[str], tensor: str | None) -> dict[str, str]:
    """What else the parameters of a function may be called, given its first tensor; gradients are called as they are here."""
    found = {alias: name for alias, name in ALIASES.items() if name in names and alias not in names}
    for name in ("axis", "reps"):
        if name in names and not {"axes", "dims"} & set(names):
            found["dims"] = name
    return found | {"input": tensor} if tensor not in (None, "dy") and "input" not in names else found


def unknown_parameter(function: str, name: str, known: Sequence[str]) -> ArgumentError:
    """The error for a parameter that a function does not have."""
    near = get_close_matches(name, known, 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return ArgumentError(f"{name}: {function} has no such parameter; expected some of {', '.join(known)}{hint}")


@dataclass(frozen=True)
class BoundArguments:
    """Arguments, understood: one for each tensor, None where none is given; then numbers and options that are given."""

    tensors: tuple[Any, ...]
    numbers: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)


class Binding:
    """The parameters of one function.

    Parameters
    ----------
    function
        Its name, for messages.
    tensors
        The names of the tensors, in order.
    domains
        For every other parameter, in the order in which they may be given by position, what it may be.
    numbers
        Those of them that are numbers of the call: the kernel's parameters at run time.
    positions
        Those that may be given by position, in order; None: all.
    defaults
        The defaults of those that have one: given as they are, they count as left out.
    ordered
        Pairs of numbers of which the first may not be above the second.
    no_alias
        A parameter that has no name but its own.
    """

    def __init__(
        self,
        function: str,
        tensors: Sequence[str],
        domains: Mapping[str, Domain],
        *,
        numbers: frozenset[str] = frozenset(),
        positions: Sequence[str] | None = None,
        defaults: Mapping[str, Any] | None = None,
        ordered: Sequence[tuple[str, str]] = (),
        no_alias: str = "",
    ) -> None:
        self.function, self.tensors, self.domains, self.numbers = function, tuple(tensors), dict(domains), numbers
        self.by_position = tuple(domains if positions is None else positions)
        self.defaults, self.ordered = dict(defaults or {}), tuple(ordered)
        names = [n for n in (*self.tensors, *self.domains) if n != no_alias]
        self.aliases = aliases_of(names, self.tensors[0] if self.tensors else None)
        self.required = tuple(n for n, v in self.defaults.items() if v is Parameter.empty)
        self._count, self._rest = len(self.tensors), (None,) * len(self.tensors)

    def __call__(self, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> BoundArguments:
        """The arguments of a caller, whose tensors may be of any library (`arrays.adopted`)."""
        call = self.bind(arguments, keywords)
        tensors = all_adopted(call.tensors, self.function)
        return call if tensors is call.tensors else replace(call, tensors=tensors)

    def bind(self, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> BoundArguments:
        """The arguments of a call. Raises `ArgumentError` for those that there is no parameter for, and the error of the first
        that is not what it may be."""
        count = self._count
        count_given = len(arguments)
        if not keywords and count_given <= count and not self.required:
            return BoundArguments(_plain(arguments if count_given == count else arguments + self._rest[count_given:]))
        tensors = list(arguments[:count]) + list(self._rest[count_given:])
        numbers: dict[str, Any] = {}
        options: dict[str, Any] = {}
        by_position = self.tensors[:count_given]
        if count_given > count:
            if count_given - count > len(self.by_position):
                expected = self._listed(self.by_position)
                raise ArgumentError(f"{self.function}: got {count_given} arguments by position; expected {expected}")
            keywords = {**self._positions(arguments[count:], keywords), **keywords}
        for name, value in keywords.items():
            name = self.aliases.get(name, name)
            domain = self.domains.get(name)
            if domain is None:
                if name not in self.tensors:
                    raise unknown_parameter(self.function, name, [*self.tensors, *self.domains])
                if name in by_position:
                    raise ArgumentError(f"{self.function}: {name} is given twice")
                tensors[self.tensors.index(name)] = value
                by_position = (*by_position, name)
                continue
            target = numbers if name in self.numbers else options
            if name in target:
                raise ArgumentError(f"{self.function}: {name} is given twice")
            if value is None and self.defaults.get(name, self) is None:
                continue  # as if left out
            target[name] = domain.check(name, value)
        for name in self.required:
            if name not in options and name not in numbers:
                raise ArgumentError(f"{name}: {self.function} needs it; expected {self.domains[name]}")
        if self.ordered and numbers:
            check_order({**self.defaults, **numbers}, self.ordered)
        return BoundArguments(_plain(tuple(tensors)), numbers, options)

    def domain_of_number(self, name: str) -> Domain | None:
        """What a number of a call may be: None where it stands in a tensor's place, `FREE` where that depends on another one."""
        if any(name in pair for pair in self.ordered):
            return FREE
        return None if name in self.tensors else self.domains.get(name, FREE)

    def _positions(self, extra: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
        """What follows the tensors, by name."""
        named = dict(zip(self.by_position, extra, strict=False))
        for name in keywords:
            if self.aliases.get(name, name) in named:
                raise ArgumentError(f"{self.function}: {name} is given twice")
        return named

    def _listed(self, more: Sequence[str]) -> str:
        return f"at most {len(self.tensors) + len(more)}: {', '.join([*self.tensors, *more])}"


def _plain(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Tensors, and what stands in their place: NumPy's numbers as Python's."""
    if any(isinstance(v, np.number) for v in values):
        return tuple(v.item() if isinstance(v, np.number) else v for v in values)
    return values
