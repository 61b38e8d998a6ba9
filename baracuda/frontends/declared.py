"""Functions written by hand, declared: what each parameter may be stands in its signature and in the patterns of its tensors, and
is checked here before the function's own code runs, for all of them.

    @declared(x="n k : float", y="n*n", weight="k or number")
    def similarity(y: Any, x: Any, weight: Any = None, *, p: Annotated[float, Above(0)] = 2.0) -> Any: ...

A parameter annotated `Any` is a tensor and has a pattern (`baracuda.ops.declaration.patterns`); every other one has an annotation
that says what it may be (`baracuda.core.parameters`). `out` is a tensor to write, which the plan checks. Patterns give names
their meaning in the order in which they stand.

A function with `**options` hands them on to another declared function, which the decorator is told first, and after it the names
of those that it does not hand on:

    @declared(scaled_dot_product_attention, "out", q="... : float", ...)
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, TypeVar

import numpy as np

from baracuda.core.errors import InvalidProblemError
from baracuda.core.identity import identity
from baracuda.core.layout_key import LAYOUT_KEYS
from baracuda.core.parameters import Domain, meaning, quoted
from baracuda.frontends.arrays import adopted
from baracuda.frontends.binding import ArgumentError, aliases_of, domain, unknown_parameter
from baracuda.frontends.cacheable import Cacheable
from baracuda.frontends.call import NUMBERS, describe
from baracuda.frontends.call_replay import PLAIN
from baracuda.frontends.generator import Generator
from baracuda.ops.declaration.patterns import Declared, Names, Pattern, pattern

F = TypeVar("F", bound=Callable[..., Any])

#: Every declared function by name, with what it takes.
DECLARED: dict[str, Declaration] = {}

#: Calls that one function remembers to have checked.
MOST_CALLS = 256
_INT = {int}


class Declaration:
    """What one function takes: patterns of its tensors and domains of its other parameters."""

    def __init__(
        self,
        function: Callable[..., Any],
        patterns: Mapping[str, Declared],
        target: Callable[..., Any] | None = None,
        without: tuple[str, ...] = (),
    ) -> None:
        self.name, self.function = function.__name__, function
        self.signature = inspect.signature(function)
        self.patterns = {name: pattern(declared) for name, declared in patterns.items()}
        parameters = self.signature.parameters.values()
        of_any_number = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        self.positions = [p.name for p in parameters if p.kind not in of_any_number]
        self.by_position = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        self.variadic = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "")
        self.required = [p.name for p in parameters if p.default is p.empty and p.name in self.positions]
        self.defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        own = {p.name: p.annotation for p in parameters if p.name not in patterns and p.name != "out"}
        free = [n for n, a in own.items() if a in (Any, "Any") and n in (*self.positions, self.variadic)]
        missing = [n for n in patterns if n not in self.signature.parameters]
        if missing or free:
            raise TypeError(f"{self.name}: patterns of {missing}, which are no parameters, and none of {free}, which are tensors")
        named = {n: a for n, a in own.items() if n in self.positions}
        self.domains: dict[str, Domain] = {n: domain(meaning(a, function)) for n, a in named.items()}
        self.handed_on: list[str] = []
        if target is not None:
            theirs: Declaration = target.__dict__["declaration"]
            words = [n for n in theirs.positions if n not in (*self.positions, *without)]
            self.handed_on, handed_domains = words, {n: d for n, d in theirs.domains.items() if n in words}
            self.domains |= handed_domains
            self.defaults |= {n: theirs.defaults[n] for n in words if n in theirs.defaults}
        any_word = next((p for p in parameters if p.kind is p.VAR_KEYWORD), None)
        #: What keywords of any other name may be; None where there are none.
        self.of_any_name: Domain | None = None
        if any_word is not None and target is None:
            if any_word.annotation in (Any, "Any", any_word.empty):
                raise TypeError(f"{self.name}: takes any options, and hands them on to no function")
            self.of_any_name = domain(meaning(any_word.annotation, function))
        self.aliases = aliases_of(list(self.positions), next((n for n in self.by_position if n in patterns), None))
        self.takes_key = "key" in patterns
        self._tensors = [n in patterns for n in self.by_position]
        self._checked_calls: set[Any] = set()

    def __call__(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """The function's result for arguments that are what they may be."""
        if keywords and self.aliases and not keywords.keys().isdisjoint(self.aliases):
            keywords = self._renamed(keywords)
        if self.takes_key:
            for value in (*arguments, *keywords.values()):
                if type(value) is Generator:
                    return value.called(self.name, arguments, keywords)
        key = self._key(arguments, keywords)
        if key is not None and key in self._checked_calls:
            return self.function(*arguments, **keywords)
        named, rest = self.bind(arguments, keywords)
        values = {n: self._taken(n, v) for n, v in named.items() if not (v is None and self.defaults.get(n, self) is None)}
        others = tuple(self._taken(self.variadic, v, f"{self.variadic}[{i}]") for i, v in enumerate(rest))
        self._check_tensors(values, others)
        if key is not None and all(_is_same(v, named[n]) for n, v in values.items()) and all(map(_is_same, others, rest)):
            if len(self._checked_calls) >= MOST_CALLS:
                self._checked_calls.clear()
            self._checked_calls.add(key)
        first = [values.pop(n) for n in self.by_position] if others else []
        return self.function(*first, *others, **values)

    def cacheable(self, function: Callable[..., Any], numbers: Mapping[str, tuple[float, ...]] | None = None) -> Cacheable:
        """What the cache of calls needs to know."""
        numbers = numbers or {}

        def scalars(arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Mapping[str, float]:
            named, _ = self.bind(arguments, self._renamed(keywords))
            return {n: self._taken(n, v) for n, v in named.items() if n in numbers and isinstance(v, NUMBERS)}

        positions = tuple(n if n in numbers else None for n in self.by_position)
        return Cacheable(function, positions, tuple(numbers), numbers, scalars if numbers else None, True, self.domains.get)

    def bind(self, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Any, ...]]:
        """The arguments by name, and those of a variable number."""
        names, most = self.by_position, len(self.by_position)
        if len(arguments) > most and not self.variadic:
            raise ArgumentError(
                f"{self.name}: got {len(arguments)} arguments by position; expected at most {most}: {', '.join(names)}"
            )
        named = dict(zip(names, arguments[:most], strict=False))
        for name, value in keywords.items():
            if name in named:
                raise ArgumentError(f"{self.name}: {name} is given twice")
            if name not in self.positions and name not in self.handed_on and self.of_any_name is None:
                raise unknown_parameter(self.name, name, [*self.positions, *self.handed_on])
            named[name] = value
        absent = [n for n in self.required if n not in named]
        if absent:
            raise ArgumentError(f"{self.name}: {', '.join(absent)} missing; expected {', '.join(self.positions)}")
        return named, arguments[most:]

    def _renamed(self, keywords: Mapping[str, Any]) -> dict[str, Any]:
        """Keywords with PyTorch's names of parameters as ours."""
        renamed: dict[str, Any] = {}
        for word, value in keywords.items():
            name = self.aliases.get(word, word)
            if name in renamed:
                raise ArgumentError(f"{self.name}: {name} is given twice")
            renamed[name] = value
        return renamed

    def _key(self, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
        """What the checks of a call depend on: layouts of tensors, and values of all else but of numbers in place of tensors;
        None where that takes the long way to find out."""
        key: list[Any] = [len(arguments), *keywords]
        try:
            for value in (*arguments, *keywords.values()) if keywords else arguments:
                kind = type(value)
                if kind in NUMBERS:
                    at = len(key) - len(keywords) - 1
                    in_place = at < len(arguments) and (at >= len(self._tensors) or self._tensors[at])
                    key.append(kind if in_place else identity(value))
                else:
                    key.append(part_of_key(value))
        except TypeError:
            return None
        return tuple(key)

    def _taken(self, name: str, value: Any, label: str = "") -> Any:
        """A value in the form that functions work with; raises where it is none of its parameter's."""
        label = label or name
        if name in self.domains:
            return self.domains[name].check(label, value)
        wanted = self.patterns.get(name)
        if wanted is None and self.of_any_name is not None and name != "out":
            return self.of_any_name.check(label, value)
        if wanted is None or (value is None and wanted.none):
            return value
        if isinstance(value, np.generic) and wanted.number:
            value = value.item()
        if isinstance(value, NUMBERS):
            fits = wanted.number and _is_number(value, wanted)
        elif isinstance(value, (list, tuple)):
            fits = bool(wanted.each) or (wanted.numbers and all(_is_number(v, wanted) for v in value))
        else:
            fits = bool(wanted.alternatives) and value is not None
        if not fits:
            if wanted.number or wanted.numbers or wanted.each:
                raise InvalidProblemError(f"{label}: {quoted(value)}; expected {wanted}")
            describe(value, label)  # raises
        return adopted(value, label)

    def _check_tensors(self, values: Mapping[str, Any], others: tuple[Any, ...]) -> None:
        """Raise unless the tensors, and what stands in their place, are of their patterns."""
        names: Names = {**self.defaults, **{n: v for n, v in values.items() if n in self.domains}}
        for name, wanted in self.patterns.items():
            if name == self.variadic:
                for i, value in enumerate(others):
                    names = _checked(f"{name}[{i}]", value, wanted, names)
            elif name in values:
                names = _checked(name, values[name], wanted, names)


def part_of_key(value: Any) -> Any:
    """What checks of a value depend on; raises TypeError where that takes the long way to find out."""
    kind = type(value)
    read = LAYOUT_KEYS.get(kind)
    if read is not None:
        keyed = read(value)
        if keyed is None:
            raise TypeError
        return keyed[0]
    if kind is int or kind is str:
        return value
    if kind in PLAIN or kind in NUMBERS:
        return identity(value)
    if kind is tuple or kind is list:
        return (kind, *value) if {*map(type, value)} == _INT else (kind, *map(part_of_key, value))
    if kind is FunctionType:  # any does
        return kind
    raise TypeError


def _checked(name: str, value: Any, wanted: Pattern, names: Names) -> Names:
    """The names with those that a tensor, or what stands in its place, gives a meaning."""
    if value is None or isinstance(value, NUMBERS):
        return names
    if not isinstance(value, (list, tuple)):
        ref = describe(value, name)
        wanted.check_kind(name, ref.kind, names)
        return wanted.check_shape(name, ref.shape, names)
    if wanted.numbers and all(_is_number(v, wanted) for v in value):
        return wanted.check_shape(name, (len(value),), names)
    for i, member in enumerate(value):
        if isinstance(member, NUMBERS) and wanted.number:
            continue
        if isinstance(member, (list, tuple)) and wanted.nested:
            names = _checked(f"{name}[{i}]", member, wanted, names)
            continue
        ref = describe(member, f"{name}[{i}]")
        wanted.check_kind(f"{name}[{i}]", ref.kind, names)
        names = wanted.check_shape(f"{name}[{i}]", ref.shape, names, member=True)
    return names


def _is_number(value: Any, wanted: Pattern) -> bool:
    """Whether a value is a number that may stand for an element: a whole or a real one where elements are."""
    if wanted.whole:
        return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if wanted.real and isinstance(value, (complex, np.complexfloating)):
        return False
    return isinstance(value, (*NUMBERS, np.number))


def _is_same(checked: Any, passed: Any) -> bool:
    """Whether a value is taken just as it was given."""
    if checked is passed:
        return True
    return type(checked) is type(passed) is tuple and len(checked) == len(passed) and all(map(_is_same, checked, passed))


def declared(target: Callable[..., Any] | None = None, /, *without: str, **patterns: Declared) -> Callable[[F], F]:
    """Decorator: check every call of a function by its annotations and by the patterns of its tensors; `target` is the function
    that its `**options` are handed on to, all but those called as `without` says."""

    def decorate(function: F) -> F:
        declaration = DECLARED[function.__name__] = Declaration(function, patterns, target, without)

        @functools.wraps(function)
        def checked(*arguments: Any, **keywords: Any) -> Any:
            return declaration(arguments, keywords)

        checked.__dict__["declaration"] = declaration
        checked.__dict__["cacheable"] = declaration.cacheable(checked)
        return checked  # type: ignore[return-value]

    return decorate


def at_run_time(**numbers: tuple[float, ...]) -> Callable[[F], F]:
    """Decorator of a declared function: these parameters are numbers that its kernels are given, unchanged and under the same
    name, when they run; with each the values that the function treats in a way of its own. Calls that differ in other values of
    them alone are made of the same launches."""

    def decorate(function: F) -> F:
        declaration: Declaration = function.__dict__["declaration"]
        function.__dict__["cacheable"] = declaration.cacheable(function, numbers)
        return function

    return decorate


__all__ = ["DECLARED", "Declaration", "Pattern", "at_run_time", "declared"]
