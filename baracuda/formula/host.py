"""Arithmetic with a call's numbers on the host: in double, as Python's, and rounded once when it meets an expression.

A parameter annotated `Host` reaches its formula as a `HostNumber`. What is made of it is one too, until it stands beside an
expression; there it is a parameter of the kernel, whose value each call computes from the numbers that it brings. So 1 - beta
keeps all its digits, and no value of beta has a kernel of its own.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeAlias, overload

from baracuda.core.errors import InvalidProblemError
from baracuda.core.host import HostName

Numbers: TypeAlias = Mapping[str, float]


class HostNumber:
    """A number that each call computes; `name` says how."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def _of(self) -> Callable[[Numbers], float]:
        name = self.name
        return name.of if isinstance(name, HostName) else lambda numbers: float(numbers[name])

    @property
    def names(self) -> frozenset[str]:
        """The numbers of a call that it is computed from."""
        return self.name.names if isinstance(self.name, HostName) else frozenset([self.name])

    def __add__(self, other: HostNumber | float) -> HostNumber:
        return _combined("+", operator.add, self, other)

    def __radd__(self, other: float) -> HostNumber:
        return _combined("+", operator.add, other, self)

    def __sub__(self, other: HostNumber | float) -> HostNumber:
        return _combined("-", operator.sub, self, other)

    def __rsub__(self, other: float) -> HostNumber:
        return _combined("-", operator.sub, other, self)

    def __mul__(self, other: HostNumber | float) -> HostNumber:
        return _combined("*", operator.mul, self, other)

    def __rmul__(self, other: float) -> HostNumber:
        return _combined("*", operator.mul, other, self)

    def __truediv__(self, other: HostNumber | float) -> HostNumber:
        return _combined("/", _quotient, self, other)

    def __rtruediv__(self, other: float) -> HostNumber:
        return _combined("/", _quotient, other, self)

    def __neg__(self) -> HostNumber:
        of = self._of()
        return HostNumber(HostName(f"-{self.name}", lambda numbers: -of(numbers), self.names))

    def _no_value(self, *_: Any) -> NoReturn:
        raise InvalidProblemError(
            f"{self.name}: a formula cannot branch on a number of the call; declare what it branches on a literal"
        )

    __bool__ = __float__ = __int__ = __index__ = __lt__ = __le__ = __gt__ = __ge__ = _no_value
    __eq__ = __ne__ = _no_value
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return self.name


def _quotient(a: float, b: float) -> float:
    """IEEE 754's, where Python raises."""
    if b != 0.0:
        return a / b
    return math.nan if a == 0.0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)


def _combined(sign: str, combine: Callable[[float, float], float], a: Any, b: Any) -> HostNumber:
    if not all(isinstance(v, (HostNumber, int, float)) for v in (a, b)):
        return NotImplemented  # type: ignore[no-any-return]  # an expression, which knows what to do
    names = [v.name if isinstance(v, HostNumber) else repr(float(v)) for v in (a, b)]
    x, y = (v._of() if isinstance(v, HostNumber) else _constant(float(v)) for v in (a, b))
    read = frozenset[str]().union(*(v.names for v in (a, b) if isinstance(v, HostNumber)))
    return HostNumber(HostName(f"({names[0]} {sign} {names[1]})", lambda numbers: combine(x(numbers), y(numbers)), read))


def _constant(value: float) -> Callable[[Numbers], float]:
    return lambda numbers: value


@overload
def log(x: HostNumber) -> HostNumber: ...


@overload
def log(x: float) -> float: ...


def log(x: HostNumber | float) -> HostNumber | float:
    """The natural logarithm; -inf of 0, NaN below."""
    if not isinstance(x, HostNumber):
        return math.log(x) if x > 0.0 else -math.inf if x == 0.0 else math.nan
    of = x._of()
    return HostNumber(HostName(f"log({x.name})", lambda numbers: log(of(numbers)), x.names))
