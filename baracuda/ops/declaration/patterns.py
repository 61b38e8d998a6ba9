"""Shapes and elements of a function's tensors as patterns, so that what it takes is data: "*batch n k", "n-1", "n : s32 s64".

A pattern is words for axes, and after a colon words for elements. An axis is a name, which stands for one extent in all patterns
of a function; a number; a name or number with +, - or * another (below 0 it is 0); `...` for any axes, and `*name` for any axes
that are the same wherever the name stands. `n@axis` is the axis that the option `axis` says. Options that are whole numbers are
names too. "?" is any shape at all, "()" that of a number. Several patterns are alternatives where "or" stands between them:

number         a Python number in place of a tensor
numbers        a list of Python numbers in place of a tensor of one axis
none           None, where the parameter has no default
list m n       a list of tensors, of this pattern each
nested m n     a list of tensors or of such lists

Words for elements are labels of elements, of which a tensor with another one is wrong (`InvalidProblemError`); "float" (of 16
bits or more), "int", "complex" and "real" (all that are not complex) for all of a category, of which others are not supported
(`UnsupportedError`); and a capital letter, which stands for one element wherever it stands.

A function in place of a pattern is given the names that it has as parameters, `*batch` as `batch`, and options, and returns the
shape, or None for any; where one of the names has no meaning in a call, the shape may be any. Words for elements may stand beside
it, as a second member of a pair.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError

Shape = tuple[int, ...]
#: What names stand for: extents, runs of axes, elements with the name of the tensor that has it first, options.
Names = dict[str, Any]

_TERM = re.compile(r"([+\-*])|(\d+)|([a-z]\w*)")
_LABELS = {kind.label: {kind} for kind in ElementKind}
_CATEGORIES = {
    "float": {kind for kind in ElementKind if kind.is_float and kind.bits >= 16},
    "int": {kind for kind in ElementKind if kind.is_integer},
    "real": {k for k in ElementKind if k.category is not Category.COMPLEX and k.bits >= (16 if k.is_float else 8)},
    "complex": {kind for kind in ElementKind if kind.category is Category.COMPLEX},
}


def _is_run(word: str | int) -> bool:
    return isinstance(word, str) and (word == "..." or (word[0] == "*" and word[1:].isidentifier()))


def _value(word: str, names: Mapping[str, Any]) -> int | None:
    """The extent that a word stands for; None where a name in it has no meaning yet."""
    total, operation = 0, "+"
    for sign, number, name in _TERM.findall(word):
        if sign:
            operation = sign
            continue
        term = int(number) if number else names.get(name)
        if not isinstance(term, int):
            return None
        total = total + term if operation == "+" else total - term if operation == "-" else total * term
    return max(total, 0)


@dataclass(frozen=True)
class AxesPattern:
    """One pattern of axes."""

    words: tuple[str, ...]

    def match(self, name: str, shape: Shape, names: Names) -> Names | None:
        """The names with those that this pattern gives a meaning; None where the shape does not fit."""
        if self.words == ("?",):
            return names
        meant = dict(names)
        for at, word in enumerate(self.words):
            if "@" in word:
                extent, option = word.split("@")
                axis = _axis(option, names[option], name, shape)
                ahead, behind = self.words[:at], self.words[at + 1 :]
                fits = _fit(ahead, shape[:axis], meant) and _fit((extent, *behind), shape[axis:], meant)
                return meant if fits else None
        return meant if _fit(self.words, shape, meant) else None

    def text(self, names: Names) -> str:
        """The pattern with what has a meaning put in."""
        if self.words == ("?",):
            return "any shape"
        words: list[str] = []
        for word in _written(self.words, names):
            name = str(word).partition("@")[0]
            known = None if isinstance(word, int) or _is_run(name) else _value(name, names)
            words.append(name if known is None else str(known))
        return f"({', '.join(words)}{',' * (len(words) == 1 and not _is_run(words[0]))})"


def _axis(option: str, axis: Any, name: str, shape: Shape) -> int:
    rank = len(shape)
    if rank == 0:
        raise InvalidProblemError(f"{name}: it is a scalar; expected one axis or more, of which {option} {axis} is one")
    if not -rank <= axis < rank:
        raise InvalidProblemError(f"{option}: {axis}; expected {-rank} to {rank - 1} for {name} of shape {shape}")
    return int(axis) % rank


def _written(words: Sequence[str], names: Names) -> list[str | int]:
    """Words with the runs that have a meaning written out."""
    resolved: list[str | int] = []
    for word in words:
        known = names.get(word[1:]) if word[0] == "*" else None
        resolved += known if isinstance(known, tuple) else (word,)
    return resolved


def _fit(words: Sequence[str], shape: Shape, names: Names) -> bool:
    """Whether words stand for a shape; names that have no meaning yet get theirs."""
    resolved = _written(words, names)
    runs = [i for i, w in enumerate(resolved) if _is_run(w)]
    if len(runs) > 1:  # what they stand for is not known in this call
        return True
    beyond = len(shape) - len(resolved) + len(runs)
    if beyond < 0 or (beyond and not runs):
        return False
    for run in runs:
        axes = shape[run : run + beyond]
        if resolved[run] != "...":
            names[str(resolved[run])[1:]] = axes
        resolved[run : run + 1] = axes
    for word, extent in zip(resolved, shape, strict=True):
        if isinstance(word, str):
            if word.isidentifier() and word not in names:
                names[word] = extent
            word = extent if (known := _value(word, names)) is None else known
        if word != extent:
            return False
    return True


@dataclass(frozen=True)
class Computed:
    """A shape that a function of names says."""

    of: Callable[..., Shape | None]
    needs: tuple[str, ...]

    def shape(self, names: Names) -> Shape | None:
        return self.of(*(names[n] for n in self.needs)) if all(n in names for n in self.needs) else None

    def match(self, name: str, shape: Shape, names: Names) -> Names | None:
        return names if self.shape(names) in (shape, None) else None

    def text(self, names: Names) -> str:
        return str(self.shape(names))


@dataclass(frozen=True)
class Pattern:
    """What one parameter may be.

    Attributes
    ----------
    alternatives, each
        The shapes of a tensor, and of each tensor of a list.
    kinds, element
        Its elements, any where there are none, and the name that stands for its element.
    supported
        Whether other elements are not supported, rather than wrong.
    number, numbers, none, nested
        Whether it may be a number, a list of numbers, None, and a list in place of each tensor of a list.
    """

    alternatives: tuple[AxesPattern | Computed, ...] = ()
    each: tuple[AxesPattern, ...] = ()
    kinds: frozenset[ElementKind] = frozenset()
    element: str = ""
    supported: bool = False
    number: bool = False
    numbers: bool = False
    none: bool = False
    nested: bool = False

    @property
    def whole(self) -> bool:
        """Whether elements, and numbers in their place, are whole numbers."""
        return bool(self.kinds) and all(k.is_integer for k in self.kinds)

    @property
    def real(self) -> bool:
        """Whether no element, and so no number in its place, is complex."""
        return bool(self.kinds) and not any(k.category is Category.COMPLEX for k in self.kinds)

    def check_kind(self, name: str, kind: ElementKind, names: Names) -> None:
        """Raise unless a tensor's element is one of the pattern; its name gets a meaning."""
        if self.kinds and kind not in self.kinds:
            expected = [str(k) for k in ElementKind if k in self.kinds]
            error = UnsupportedError if self.supported else InvalidProblemError
            raise error(f"{name}: element is {kind}; expected {'one of ' * (len(expected) > 1)}{', '.join(expected)}")
        if self.element:
            first, of = names.setdefault(self.element, (kind, name))
            if first is not kind:
                raise InvalidProblemError(f"{name}: element is {kind}; expected {first}, that of {of}")

    def check_shape(self, name: str, shape: Shape, names: Names, member: bool = False) -> Names:
        """The names with those that this shape gives a meaning; raises where it is none of the pattern."""
        alternatives = self.each if member else self.alternatives
        for alternative in alternatives:
            meant = alternative.match(name, shape, names)
            if meant is not None:
                return meant
        raise InvalidProblemError(f"{name}: shape is {shape}; expected {' or '.join(a.text(names) for a in alternatives)}")

    def __str__(self) -> str:
        number = "whole number" if self.whole else "real number" if self.real else "number"
        words = {f"a {number}": self.number, f"a list of {number}s": self.numbers, "a list of tensors": self.each}
        return " or ".join(["a tensor"] * bool(self.alternatives) + [w for w, accepted in words.items() if accepted])


#: A pattern; a function that says a shape; or that, and words for elements.
Declared = str | Callable[..., Shape | None] | tuple[Callable[..., Shape | None], str]


def pattern(declared: Declared) -> Pattern:
    """Read a pattern; raises ValueError where it is none."""
    if not isinstance(declared, str):
        of, elements = declared if isinstance(declared, tuple) else (declared, "")
        computed = Computed(of, tuple(inspect.signature(of).parameters))
        return replace(pattern(f"? : {elements}"), alternatives=(computed,))
    axes, _, elements = declared.partition(":")
    alternatives: list[AxesPattern | Computed] = []
    each: list[AxesPattern] = []
    flags = {"number": False, "numbers": False, "none": False, "nested": False}
    for words in (part.split() for part in re.split(r"\bor\b", axes)):
        if not words:
            raise ValueError(f"{declared!r}: no words for axes; expected some, () for a number")
        if len(words) == 1 and words[0] in flags and words[0] != "nested":
            flags[words[0]] = True
            continue
        in_list = words[0] in ("list", "nested")
        flags["nested"] |= words[0] == "nested"
        words = words[in_list:]
        if len([w for w in words if w == "..." or "@" in w]) > 1:
            raise ValueError(f"{declared!r}: {' '.join(words)}; expected one run of any axes, or one axis of an option")
        (each if in_list else alternatives).append(AxesPattern(() if words == ["()"] else tuple(words)))
    kinds: frozenset[ElementKind] = frozenset()
    known = {**_LABELS, **_CATEGORIES}
    names = [w for w in elements.split() if w.isupper()]
    for word in elements.split():
        if word not in known and word not in names:
            raise ValueError(f"{declared!r}: element {word}; expected some of {', '.join(known)}, or a capital letter")
        kinds |= known.get(word, set())
    supported = any(w in _CATEGORIES for w in elements.split())
    return Pattern(tuple(alternatives), tuple(each), kinds, "".join(names), supported, **flags)
