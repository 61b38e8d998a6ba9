"""Functions written by hand, declared: what each parameter may be stands in its signature and in the patterns of its tensors, and
is checked here before the function's own code runs, for all of them.

    @declared(x="n k : float", y="n*n", weight="k or number")
    def similarity(y: Any, x: Any, weight: Any = None, *, p: Annotated[float, Above(0)] = 2.0) -> Any: ...

A parameter annotated `Any` is a tensor and has a pattern (`baracuda.frontends.shapes`); every other one has an annotation that
says what it may be (`baracuda.core.parameters`). `out` is a tensor to write, which the plan checks.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from baracuda.core.errors import InvalidProblemError
from baracuda.core.parameters import Domain, meaning
from baracuda.frontends.arrays import adopted
from baracuda.frontends.binding import ALIASES, ArgumentError, domain, unknown_parameter
from baracuda.frontends.call import describe
from baracuda.frontends.recipes import NUMBERS
from baracuda.frontends.shapes import Pattern, check_shapes, pattern

F = TypeVar("F", bound=Callable[..., Any])

#: Every declared function by name, with what it takes.
DECLARED: dict[str, Declaration] = {}


class Declaration:
    """What one function takes: patterns of its tensors and domains of its other parameters."""

    def __init__(self, function: Callable[..., Any], patterns: Mapping[str, str]) -> None:
        self.name = function.__name__
        self.signature = inspect.signature(function)
        self.patterns = {name: pattern(text) for name, text in patterns.items()}
        self.domains: dict[str, Domain] = {}
        self.variadic = self.open = ""
        parameters = self.signature.parameters.values()
        for p in parameters:
            if p.kind is p.VAR_KEYWORD:
                self.open = p.name
            elif p.name not in self.patterns and p.name != "out":
                self.domains[p.name] = domain(meaning(p.annotation, function))
            if p.kind is p.VAR_POSITIONAL:
                self.variadic = p.name
        missing = [n for n in patterns if n not in self.signature.parameters]
        free = [n for n, d in self.domains.items() if self.signature.parameters[n].annotation in (Any, "Any")]
        if missing or free:
            raise TypeError(f"{self.name}: patterns of {missing}, which are no parameters, and none of {free}, which are tensors")
        self.positions = [p.name for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
        self.before = next((i for i, p in enumerate(parameters) if p.kind is p.VAR_POSITIONAL), None)
        self.required = {p.name for p in parameters if p.default is p.empty and p.name in self.positions}
        self.aliases = {a: n for a, n in ALIASES.items() if n in self.positions and a not in self.positions}

    def bind(self, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Any, ...]]:
        """The arguments by name, and those of a variable number; each is what it may be."""
        most = len(self.positions) if self.before is None else self.before
        if len(arguments) > most and self.before is None:
            expected = f"at most {most}: {', '.join(self.positions)}"
            raise ArgumentError(f"{self.name}: got {len(arguments)} arguments by position; expected {expected}")
        given = dict(zip(self.positions, arguments[:most], strict=False))
        for word, value in keywords.items():
            name = self.aliases.get(word, word)
            if name in given:
                raise ArgumentError(f"{self.name}: {name} is given twice")
            if name not in self.positions and not self.open:
                raise unknown_parameter(self.name, word, self.positions)
            given[name] = value
        absent = [n for n in self.positions if n in self.required and n not in given]
        if absent:
            raise ArgumentError(f"{self.name}: {', '.join(absent)} missing; expected {', '.join(self.positions)}")
        values = {n: self._checked(n, v) for n, v in given.items() if not self._left_out(n, v)}
        rest = tuple(self._checked(self.variadic, v) for v in arguments[most:])
        self._check_shapes(values, rest)
        return values, rest

    def _left_out(self, name: str, value: Any) -> bool:
        """Whether a value says no more than that none is given."""
        parameter = self.signature.parameters.get(name)
        return value is None and parameter is not None and parameter.default is None

    def _checked(self, name: str, value: Any) -> Any:
        known = self.domains.get(name)
        if known is not None:
            return known.check(name, value)
        wanted = self.patterns.get(name)
        if wanted is None:
            return value
        if isinstance(value, NUMBERS):
            if not wanted.number:
                raise InvalidProblemError(f"{name}: {value!r}; expected a tensor")
            return value
        return adopted(value, name)

    def _check_shapes(self, values: Mapping[str, Any], rest: tuple[Any, ...]) -> None:
        tensors = []
        for name, value in (*values.items(), *((self.variadic, v) for v in rest)):
            if name not in self.patterns or isinstance(value, NUMBERS):
                continue
            many = isinstance(value, (list, tuple))
            for i, tensor in enumerate(value if many else (value,)):
                said = f"{name}[{i}]" if many else name
                tensors.append((said, name, describe(tensor, said)))
        check_shapes(self.patterns, tensors)


def declared(**patterns: str) -> Callable[[F], F]:
    """Decorator: check every call of a function by its annotations and by the patterns of its tensors."""

    def decorate(function: F) -> F:
        declaration = DECLARED[function.__name__] = Declaration(function, patterns)

        @functools.wraps(function)
        def checked(*arguments: Any, **keywords: Any) -> Any:
            values, rest = declaration.bind(arguments, keywords)
            if rest:
                first = [values.pop(n) for n in declaration.positions[: declaration.before]]
                return function(*first, *rest, **values)
            return function(**values)

        checked.__dict__["declaration"] = declaration
        return checked  # type: ignore[return-value]

    return decorate


__all__ = ["DECLARED", "Declaration", "Pattern", "declared"]
