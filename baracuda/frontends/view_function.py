"""Functions whose results are views of their tensors: what a repeated call comes down to where nothing is launched.

Where the elements of a view lie follows from the layouts of the tensors and the values of all else, so it is found out once for
each and kept. A call in which something is copied is left to the cache of calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from baracuda.core.layout_key import LAYOUT_KEYS, layout_key
from baracuda.core.tensor import tensor_ref
from baracuda.frontends.arrays import extent_of, library_of
from baracuda.frontends.declared import part_of_key
from baracuda.frontends.strided import strided

#: Calls that one function keeps.
MOST_VIEWS = 4096
#: Of each result the tensor that it is a view of, its first element, its shape and strides; and whether there is only one.
Recipe = tuple[tuple[tuple[int, int, tuple[int, ...], tuple[int, ...]], ...], bool]


class ViewFunction:
    """A callable around a function: the views that a repeated call gives are made without calling it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.__wrapped__ = function
        self.__doc__ = function.__doc__
        self._recipes: dict[Any, Recipe | None] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__wrapped__, name)

    def __repr__(self) -> str:
        return repr(self.__wrapped__)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        try:
            key = (len(arguments), *map(part_of_key, arguments), *keywords, *map(part_of_key, keywords.values()))
            recipe = self._recipes.get(key, ())
        except TypeError:
            return self.__wrapped__(*arguments, **keywords)
        if not recipe:
            result = self.__wrapped__(*arguments, **keywords)
            if recipe is not None:
                if len(self._recipes) >= MOST_VIEWS:
                    self._recipes.clear()
                self._recipes[key] = _recipe(_tensors((*arguments, *keywords.values())), result)
            return result
        views, single = recipe
        tensors = _tensors((*arguments, *keywords.values()))
        made = [strided(tensors[of], start, shape, strides) for of, start, shape, strides in views]
        return made[0] if single else tuple(made)


def _tensors(values: Sequence[Any]) -> list[Any]:
    """The tensors among arguments, in order."""
    found: list[Any] = []
    for value in values:
        if type(value) in (tuple, list):
            found += _tensors(value)
        elif value is not None and type(value) in LAYOUT_KEYS:
            found.append(value)
    return found


def _recipe(tensors: Sequence[Any], result: Any) -> Recipe | None:
    """How results are views of tensors; None where one of them is none."""
    single = not isinstance(result, tuple)
    views = []
    refs = [(i, tensor_ref(t), library_of(t)) for i, t in enumerate(tensors)]
    for value in (result,) if single else result:
        if type(value) not in LAYOUT_KEYS or layout_key(value) is None:
            return None
        own, library = tensor_ref(value), library_of(value)
        for i, base, of in refs:
            _, low, high = extent_of(base)
            if own.kind is base.kind and library == of and low <= own.pointer < high:
                start = (own.pointer - base.pointer) // base.kind.itemsize
                views.append((i, start, tuple(own.shape), tuple(own.strides)))
                break
        else:
            return None
    return (tuple(views), single) if views else None
