"""What a parameter that is no tensor may be, read from its annotation: the one place where options and numbers are checked.

approximate: Literal["none", "tanh"]        one of these words
equal_nan: bool                             True or False, and nothing that only looks like one
d: Annotated[int, AtLeast(1)]               a whole number
delta: Annotated[float, Above(0)]           a number
axis: int | tuple[int, ...] | None          any of several
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np

from baracuda.core.bounds import Bound
from baracuda.core.elements import ElementKind
from baracuda.core.errors import Error, InvalidProblemError, UnsupportedError

#: Stands for a value that a domain does not have.
NOT = object()


class Domain(ABC):
    """The values that a parameter may have."""

    def check(self, name: str, value: Any) -> Any:
        """The value in the form that the library works with; raises `InvalidProblemError` where it is none of the domain."""
        accepted = self.take(value)
        if accepted is NOT:
            raise InvalidProblemError(f"{name}: {quoted(value)}; expected {self}")
        return accepted

    @abstractmethod
    def take(self, value: Any) -> Any:
        """The value as the library works with it, or `NOT`."""

    @abstractmethod
    def __str__(self) -> str:
        """What is expected, for messages."""


def quoted(value: Any) -> str:
    """A value as messages show it."""
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."


def _plain(value: Any) -> Any:
    """A NumPy scalar as Python's number, or the value itself."""
    return value.item() if isinstance(value, np.generic) else value


@dataclass(frozen=True)
class Flag(Domain):
    """True or False."""

    def take(self, value: Any) -> Any:
        return bool(value) if isinstance(value, (bool, np.bool_)) else NOT

    def __str__(self) -> str:
        return "True or False"


@dataclass(frozen=True)
class Choice(Domain):
    """One of some words or numbers."""

    choices: tuple[Any, ...]

    def take(self, value: Any) -> Any:
        value = _plain(value)
        return next((c for c in self.choices if type(c) is type(value) and c == value), NOT)

    def __str__(self) -> str:
        choices = [repr(c) for c in self.choices]
        return " or ".join(choices) if len(choices) < 3 else f"one of {', '.join(choices)}"


@dataclass(frozen=True)
class Whole(Domain):
    """A whole number within bounds."""

    bounds: tuple[Bound, ...] = ()

    def take(self, value: Any) -> Any:
        value = _plain(value)
        if isinstance(value, bool) or not isinstance(value, int) or not all(b(value) for b in self.bounds):
            return NOT
        return int(value)

    def __str__(self) -> str:
        return " ".join(["a whole number", " and ".join(map(str, self.bounds))]).strip()


@dataclass(frozen=True)
class Number(Domain):
    """A number within bounds; NaN is in none."""

    bounds: tuple[Bound, ...] = ()
    complex_too: bool = False

    def take(self, value: Any) -> Any:
        value = _plain(value)
        if type(value) is not float:
            wanted = (int, float, complex) if self.complex_too else (int, float)
            if isinstance(value, bool) or not isinstance(value, wanted):
                return NOT
        return value if not self.bounds or all(b(value) for b in self.bounds) else NOT

    def __str__(self) -> str:
        return " ".join(["a number", " and ".join(map(str, self.bounds))]).strip()


@dataclass(frozen=True)
class Nothing(Domain):
    """None."""

    def take(self, value: Any) -> Any:
        return None if value is None else NOT

    def __str__(self) -> str:
        return "None"


@dataclass(frozen=True)
class Several(Domain):
    """A tuple or a list of values of one domain, as many as `count` where that is given, else `least` or more."""

    each: Domain
    count: int | None = None
    least: int = 0

    def take(self, value: Any) -> Any:
        if not isinstance(value, (tuple, list)) or len(value) < self.least:
            return NOT
        if self.count is not None and len(value) != self.count:
            return NOT
        accepted = tuple(self.each.take(v) for v in value)
        return NOT if any(t is NOT for t in accepted) else accepted

    def __str__(self) -> str:
        many = f"{self.least} or more" if self.least else "any length"
        return f"a tuple of {many if self.count is None else self.count}, each {self.each}"


@dataclass(frozen=True)
class Either(Domain):
    """A value of one of several domains, the first that has it."""

    domains: tuple[Domain, ...]

    def take(self, value: Any) -> Any:
        return next((accepted for d in self.domains if (accepted := d.take(value)) is not NOT), NOT)

    def __str__(self) -> str:
        return " or ".join(map(str, self.domains))


@dataclass(frozen=True)
class Instance(Domain):
    """An object of a type, or what `of` makes one of."""

    type_: type
    what: str
    of: Callable[[Any], Any] | None = None

    def take(self, value: Any) -> Any:
        if isinstance(value, self.type_):
            return value
        if self.of is None:
            return NOT
        try:
            return self.of(value)
        except (Error, TypeError, ValueError, KeyError):
            return NOT

    def __str__(self) -> str:
        return self.what


@dataclass(frozen=True)
class Function(Domain):
    """Something to call."""

    def take(self, value: Any) -> Any:
        return value if callable(value) else NOT

    def __str__(self) -> str:
        return "a function"


@dataclass(frozen=True)
class Free(Domain):
    """Anything: what it means is checked where it is used."""

    def take(self, value: Any) -> Any:
        return value

    def __str__(self) -> str:
        return "anything"


def domain_of(annotation: Any) -> Domain:
    """The domain that an annotation stands for; raises TypeError for an annotation that is none."""
    if isinstance(annotation, Domain):
        return annotation
    plain = {bool: Flag(), int: Whole(), float: Number(), complex: Number(complex_too=True), NoneType: Nothing(), None: Nothing()}
    if annotation is ElementKind:
        return KIND
    if annotation is str:
        return Instance(str, "a word")
    if isinstance(annotation, (type, NoneType)) and annotation in plain:
        return plain[annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return Choice(arguments)
    if origin is Annotated:
        domains = [a for a in arguments[1:] if isinstance(a, Domain)]
        bounds = tuple(a for a in arguments[1:] if isinstance(a, Bound))
        return bounded(domains[0] if domains else domain_of(arguments[0]), bounds)
    if origin in (Union, UnionType):
        return _either([domain_of(a) for a in arguments])
    if origin in (tuple, list, Sequence):
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return Several(domain_of(arguments[0]))
        if origin is not tuple:
            return Several(domain_of(arguments[0]))
        if len(set(arguments)) == 1:
            return Several(domain_of(arguments[0]), len(arguments))
    if origin is Callable or (callable(annotation) and getattr(annotation, "__name__", "") == "Callable"):
        return Function()
    if origin is not None and getattr(origin, "__name__", "") == "Callable":
        return Function()
    raise TypeError(f"{annotation!r} says of no parameter what it may be")


def meaning(annotation: Any, function: Callable[..., Any]) -> Any:
    """The object that an annotation of a function's parameter stands for, also where annotations are kept as text."""
    return eval(annotation, inspect.unwrap(function).__globals__) if isinstance(annotation, str) else annotation


def _either(domains: Sequence[Domain]) -> Domain:
    """One of several; numbers that a wider domain has as well are left to it."""
    if any(isinstance(d, Number) and not d.bounds for d in domains):
        domains = [d for d in domains if not isinstance(d, Whole)]
    return domains[0] if len(domains) == 1 else Either(tuple(domains))


def bounded(domain: Domain, bounds: tuple[Bound, ...]) -> Domain:
    """A domain of numbers with further bounds, which hold for the numbers in it."""
    if not bounds:
        return domain
    if isinstance(domain, Whole):
        return Whole(domain.bounds + bounds)
    if isinstance(domain, Number):
        return Number(domain.bounds + bounds, domain.complex_too)
    if isinstance(domain, Several):
        return Several(bounded(domain.each, bounds), domain.count, domain.least)
    if isinstance(domain, Either):
        return Either(tuple(bounded(d, bounds) for d in domain.domains))
    return domain


def element_of(dtype: Any) -> ElementKind | None:
    """An element kind from one, from a NumPy or torch dtype, or from a name."""
    if dtype is None or isinstance(dtype, ElementKind):
        return dtype
    name = str(dtype).removeprefix("torch.")
    for kind in ElementKind:
        if name in (kind.label, kind.numpy.name):
            return kind
    return ElementKind.from_numpy(dtype)


KIND = Instance(ElementKind, "an element, or the dtype or name of one", element_of)
ELEMENT = Either((KIND, Nothing()))


@dataclass(frozen=True)
class OneOf(Domain):
    """One of some elements, or the dtype or name of one."""

    kinds: tuple[ElementKind, ...]

    def take(self, value: Any) -> Any:
        kind = KIND.take(value)
        return kind if kind in self.kinds else NOT

    def check(self, name: str, value: Any) -> Any:
        try:
            return super().check(name, value)
        except InvalidProblemError as error:
            raise UnsupportedError(str(error)) from None

    def __str__(self) -> str:
        return f"one of {', '.join(map(str, self.kinds))}, or a dtype or name of it"


def is_optional(domain: Domain) -> bool:
    """Whether None is in it."""
    return domain.take(None) is None


def is_whole(domain: Domain) -> bool:
    """Whether whole numbers are in it, and no others."""
    if isinstance(domain, Either):
        return all(is_whole(d) for d in domain.domains if not isinstance(d, Nothing))
    return isinstance(domain, Whole)


def check_order(values: Mapping[str, Any], pairs: Sequence[tuple[str, str]]) -> None:
    """Raise unless the first number of each pair is at most the second, where both are given."""
    for low, high in pairs:
        first, second = values.get(low), values.get(high)
        if first is not None and second is not None and not first <= second:
            raise InvalidProblemError(f"{low}: {first!r}; expected at most {high}, which is {second!r}")
