"""Shapes of a function's tensors as patterns, so that what it takes is data: "*batch n k", "n-1", "... : int".

A pattern is words for axes, and after a colon words for elements. An axis is a name, which stands for one extent in all patterns
of a function; a number; a name or number with +, - or * another; `...` for any axes, and `*name` for any axes that are the same
wherever the name stands. "?" is any shape at all. Several patterns are alternatives where "or" stands between them; the
alternative "number" is a Python number in place of a tensor.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.tensor import TensorRef

Shape = tuple[int, ...]
Names = dict[str, "int | Shape"]

_TERM = re.compile(r"([+\-*])|(\d+)|([a-z]\w*)")
_ELEMENTS = {
    "float": frozenset([Category.FLOAT]),
    "int": frozenset([Category.SIGNED, Category.UNSIGNED]),
    "bool": frozenset([Category.BOOL]),
    "complex": frozenset([Category.COMPLEX]),
}


@dataclass(frozen=True)
class Alternative:
    """One pattern of axes. `run` is where `...` or `*name` stands among them, None where nowhere."""

    axes: tuple[str, ...]
    run: int | None

    def matches(self, shape: Shape, names: Names) -> Names | None:
        """The names with those that this pattern gives a meaning; None where the shape does not fit."""
        if self.axes == ("?",):
            return names
        beyond = len(shape) - len(self.axes) + (self.run is not None)
        if beyond < 0 or (self.run is None and beyond):
            return None
        meant = dict(names)
        extents: list[int | Shape] = list(shape)
        if self.run is not None:
            extents[self.run : self.run + beyond] = [tuple(shape[self.run : self.run + beyond])]
        for axis, extent in zip(self.axes, extents, strict=True):
            if axis == "...":
                continue
            if axis not in meant and axis.lstrip("*").isidentifier():
                meant[axis] = extent
            elif (meant[axis] if axis in meant else _value(axis, meant)) not in (extent, None):
                return None
        return meant

    def __str__(self) -> str:
        return "any" if self.axes == ("?",) else f"({', '.join(self.axes)}{',' * (len(self.axes) == 1)})"


def _value(axis: str, names: Names) -> int | None:
    """The extent that an expression stands for; None where a name in it has no meaning yet."""
    total, operation = 0, "+"
    for sign, number, name in _TERM.findall(axis):
        if sign:
            operation = sign
            continue
        term = int(number) if number else names.get(name)
        if not isinstance(term, int):
            return None
        total = total + term if operation == "+" else total - term if operation == "-" else total * term
    return total


@dataclass(frozen=True)
class Pattern:
    """What one tensor may be."""

    alternatives: tuple[Alternative, ...]
    categories: frozenset[Category]
    number: bool
    text: str

    def check(self, name: str, tensor: TensorRef, names: Names) -> Names:
        """The names with those that this tensor gives a meaning; raises the named error where the tensor is not of the
        pattern."""
        if self.categories and tensor.kind.category not in self.categories:
            raise UnsupportedError(f"{name}: element is {tensor.kind}; expected one of {_kinds(self.categories)}")
        for alternative in self.alternatives:
            meant = alternative.matches(tensor.shape, names)
            if meant is not None:
                return meant
        expected = " or ".join(str(a) for a in self.alternatives)
        known = ", ".join(f"{n.lstrip('*')} = {v}" for n, v in names.items() if re.search(rf"\b{n.lstrip('*')}\b", self.text))
        raise InvalidProblemError(f"{name}: shape is {tensor.shape}; expected {expected}{f' where {known}' if known else ''}")


def _kinds(categories: frozenset[Category]) -> str:
    return ", ".join(str(k) for k in ElementKind if k.category in categories)


def pattern(text: str) -> Pattern:
    """Read a pattern; raises ValueError where it is none."""
    axes, _, elements = text.partition(":")
    alternatives, number = [], False
    for words in (part.split() for part in re.split(r"\bor\b", axes)):
        if words == ["number"]:
            number = True
            continue
        runs = [i for i, w in enumerate(words) if w == "..." or w.startswith("*")]
        if len(runs) > 1:
            raise ValueError(f"{text!r}: {len(runs)} runs of axes; expected one at most")
        alternatives.append(Alternative(tuple(words), runs[0] if runs else None))
    unknown = [w for w in elements.split() if w not in _ELEMENTS]
    if unknown:
        raise ValueError(f"{text!r}: elements {unknown}; expected some of {', '.join(_ELEMENTS)}")
    categories = frozenset[Category]().union(*(_ELEMENTS[w] for w in elements.split()))
    return Pattern(tuple(alternatives), categories, number, axes)


def check_shapes(patterns: Mapping[str, Pattern], tensors: Sequence[tuple[str, str, TensorRef]]) -> None:
    """Raise unless tensors are what their patterns say: for each its name, the name of its pattern, and the tensor. Patterns give
    names their meaning in the order in which they were declared."""
    names: Names = {}
    for declared, wanted in patterns.items():
        for name, of, tensor in tensors:
            if of == declared:
                names = wanted.check(name, tensor, names)
