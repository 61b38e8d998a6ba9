"""Axes split, ordered and joined as a pattern says, in einops' grammar.

What a pattern means is worked out once, apart from any tensor; what it means for a shape is arithmetic.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import permuted
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.words import Positive
from baracuda.ops.shapes.joins import joined as joined_along
from baracuda.ops.shapes.joins import with_new_axis

_WORD = re.compile(r"\.\.\.|…|[^\W\d]\w*|\d+|[()]|\S")
#: Any axes, each as one of its own, and joined with others in a bracket.
BARE, ELLIPSIS = ("...",), "... in a bracket"
#: An axis of a side of a pattern: the names that it is made of, the last one fastest.
Axis = tuple[str, ...]


@dataclass(frozen=True)
class Recipe:
    """A pattern, understood: the axes of both sides."""

    pattern: str
    left: tuple[Axis, ...]
    right: tuple[Axis, ...]


def _side(text: str, pattern: str) -> tuple[Axis, ...]:
    axes: list[Axis] = []
    group: list[str] | None = None
    for word in _WORD.findall(text):
        if word == "(" and group is None:
            group = []
        elif word == ")" and group is not None:
            axes.append(tuple(group))
            group = None
        elif word in ("...", "…") or word.isidentifier() or word == "1":
            if word.startswith("_") or word.endswith("_"):
                raise InvalidProblemError(
                    f"pattern: {pattern!r} has an axis {word!r}; expected names without an underscore at an end"
                )
            dots = word in ("...", "…")
            if group is not None:
                group += [] if word == "1" else [ELLIPSIS] if dots else [word]
            else:
                axes.append(BARE if dots else () if word == "1" else (word,))
        else:
            raise InvalidProblemError(
                f"pattern: {pattern!r}; expected names, 1, ... and brackets that are not nested, got {word!r}"
            )
    if group is not None:
        raise InvalidProblemError(f"pattern: {pattern!r} has a bracket that is not closed")
    names = _names(axes)
    double = sorted({n for n in names if names.count(n) > 1})
    if double:
        raise InvalidProblemError(f"pattern: {pattern!r} names {', '.join(double)} twice on one side; expected each axis once")
    return tuple(axes)


def _names(side: Sequence[Axis]) -> list[str]:
    """The names of a side; ... is one."""
    return [n.partition(" ")[0] for a in side for n in a]


@lru_cache(maxsize=4096)
def recipe_of(pattern: str) -> Recipe:
    """A pattern, understood; raises `InvalidProblemError` where it is none."""
    sides = pattern.split("->")
    if len(sides) != 2:
        raise InvalidProblemError(f"pattern: {pattern!r}; expected two sides with one -> between")
    left, right = (_side(s, pattern) for s in sides)
    if any(ELLIPSIS in a for a in left):
        raise InvalidProblemError(
            f"pattern: {pattern!r} has ... within brackets on the left; expected it there on the right alone"
        )
    ours, theirs = set(_names(left)), set(_names(right))
    if ours != theirs:
        listed = ", ".join(sorted(ours ^ theirs))
        raise InvalidProblemError(f"pattern: {pattern!r} has {listed} on one side only; expected each axis on both")
    return Recipe(pattern, left, right)


def _extents(recipe: Recipe, shape: Sequence[int], lengths: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """The extents of each name; of ... as many as there are."""
    named = set(_names(recipe.left))
    beyond = [n for n in lengths if n not in named]
    if beyond:
        raise InvalidProblemError(f"{beyond[0]}: no axis of {recipe.pattern!r}; expected some of {', '.join(sorted(named))}")
    rest = len(shape) - len(recipe.left) + 1
    dotted = BARE in recipe.left
    if (dotted and rest < 0) or (not dotted and rest != 1):
        raise InvalidProblemError(
            f"x: shape is {tuple(shape)}; expected {len(recipe.left) - dotted} axes{' or more' * dotted}, as "
            f"{recipe.pattern!r} has"
        )
    found: dict[str, tuple[int, ...]] = {n: (v,) for n, v in lengths.items()}
    at = 0
    for axis in recipe.left:
        if axis == BARE:
            found["..."] = found[ELLIPSIS] = tuple(shape[at : at + rest])
            at += rest
            continue
        unknown = [n for n in axis if n not in found]
        known = prod(found[n][0] for n in axis if n in found)
        extent, text = shape[at], f"({' '.join(axis)})" if len(axis) != 1 else axis[0]
        if len(unknown) > 1:
            raise InvalidProblemError(
                f"{unknown[0]}, {unknown[1]}: both unknown in {text} of {recipe.pattern!r}; expected all lengths but one"
            )
        if (unknown and (known == 0 or extent % known)) or (not unknown and known != extent):
            raise InvalidProblemError(
                f"x: shape is {tuple(shape)}; expected {'a multiple of ' * bool(unknown)}{known} along axis {at}, which is "
                f"{text or '1'} in {recipe.pattern!r}"
            )
        if unknown:
            found[unknown[0]] = (extent // known,)
        at += 1
    return found


def _rearranged(
    do: Steps, x: TensorRef, left: Sequence[Axis], right: Sequence[Axis], extents: Mapping[str, tuple[int, ...]]
) -> Any:
    split = [(n.partition(" ")[0], e) for a in left for n in a for e in extents[n]]
    places: dict[str, list[int]] = {}
    for i, (name, _) in enumerate(split):
        places.setdefault(name, []).append(i)
    places[ELLIPSIS] = places.get("...", [])
    apart = do.reshaped(x, tuple(e for _, e in split))
    order = [i for a in right for n in a for i in places.get(n, [])]
    joined: list[int] = []
    for axis in right:
        if axis == BARE:
            joined += extents[ELLIPSIS]
        else:
            joined.append(prod(e for n in axis for e in extents[n]))
    return do.reshaped(permuted(apart, order), joined)


@composed(x="... or list ...", views=True)
def rearrange(do: Steps, x: Any, pattern: str, **lengths: Positive) -> Any:
    """x with its axes split, ordered and joined as a pattern says: "b (h p) (w q) c -> b h w (p q c)" with p=2, q=2.

    Both sides name the axes; brackets hold those that are, or become, one, the last one fastest; 1 and () are an axis of extent
    1; ... stands for any axes. Of the axes in a bracket on the left all lengths but one are given by name. A list of tensors
    counts as one tensor with a new first axis. The result is a view of x where one will do, else a copy.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.rearrange(np.arange(6), "(a b) -> b a", a=2).tolist()
    [[0, 3], [1, 4], [2, 5]]
    """
    tensor: TensorRef = joined_along(do, *with_new_axis(x, 0)) if isinstance(x, (list, tuple)) else x
    recipe = recipe_of(pattern)
    return _rearranged(do, tensor, recipe.left, recipe.right, _extents(recipe, tensor.shape, lengths))


@composed(dy="...", x="...", views=True)
def rearrange_backward(do: Steps, dy: TensorRef, x: TensorRef, pattern: str, **lengths: Positive) -> Any:
    """The gradient of `rearrange`'s x: dy rearranged back, a view where one will do, else a copy.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.rearrange_backward(np.array([[0, 3], [1, 4]]), np.zeros(4), "(a b) -> b a", a=2).tolist()
    [0, 1, 3, 4]
    """
    recipe = recipe_of(pattern)
    return _rearranged(do, dy, recipe.right, recipe.left, _extents(recipe, x.shape, lengths))
