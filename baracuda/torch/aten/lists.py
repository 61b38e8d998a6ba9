"""Functions of lists of tensors: all items in as few launches as their addresses have room for, with the bits of each alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import baracuda
from baracuda.torch.aten.elements import common
from baracuda.torch.registry import serves
from baracuda.torch.resolution import FACTORS, factor, of_each
from baracuda.torch.write import plain

aten = torch.ops.aten

#: What PyTorch calls functions of lists, and the function over elements that each is.
OVER_ELEMENTS = {
    **{n: n for n in ("abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1", "floor", "frac")},
    **{n: n for n in ("lgamma", "log", "log10", "log1p", "log2", "neg", "reciprocal", "round", "rsqrt", "sigmoid", "sign")},
    **{n: n for n in ("sin", "sinh", "sqrt", "tan", "tanh", "trunc", "add", "sub", "mul", "div", "maximum", "minimum", "pow")},
    "clamp_min": "maximum",
    "clamp_max": "minimum",
    "addcmul": "addcmul",
    "addcdiv": "addcdiv",
    "lerp": "lerp",
}


def applied(function: Any, lists: list[Any], words: dict[str, Any], *, in_place: bool) -> Any:
    """A function of the library over lists, which may be written."""
    own = [[plain(t) for t in lists[0]] if in_place else lists[0], *lists[1:]]
    return baracuda.multi_tensor_apply(function, *own, in_place=in_place, **words)


def alike(lists: list[Any]) -> bool:
    """Whether all tensors are floats of one element: else items go one by one."""
    elements = {t.dtype for members in lists for t in members}
    return len(elements) == 1 and next(iter(elements)).is_floating_point


def _shared(items: Any, other: Any) -> Any:
    """A number, or a tensor without axes in the element of all items; None where it goes with each in a way of its own."""
    if not isinstance(other, torch.Tensor):
        return other
    if other.ndim or (other.dtype != items[0].dtype and not all(x.ndim for x in items)):
        return None
    own, other = common(items[0], other)
    return other if own is items[0] else None


def _together(overload: Any, function: Any, name: str, in_place: bool) -> Callable[..., Any]:
    """A function of lists in one call, where its items are alike, else item by item."""
    one_by_one = of_each(overload)
    assert one_by_one is not None

    def together(*args: Any, **keywords: Any) -> Any:
        words = dict(keywords)
        own = args
        if name in FACTORS:
            words["value"], own = factor(args, words), args[:3]
        lists = [a for a in own if isinstance(a, (list, tuple)) and isinstance(a[0], torch.Tensor)] if args[0] else []
        if not lists or lists[0] is not args[0] or not alike(lists):
            return one_by_one(*args, **keywords)
        numbers = [_shared(args[0], _one(a)) for a in own[len(lists) :]]
        words = {n: _one(v) for n, v in words.items()}
        if any(v is None for v in (*numbers, *words.values())):
            return one_by_one(*args, **keywords)
        try:
            found = applied(function, [*lists, *numbers], words, in_place=in_place)
        except baracuda.InvalidProblemError:  # raised before anything is written: tensors that overlap, for one
            return one_by_one(*args, **keywords)
        return None if in_place else list(found)

    together.composed = True  # type: ignore[attr-defined]
    return together


def _one(value: Any) -> Any:
    """The number that all items have, None where they have several."""
    if not isinstance(value, (list, tuple)):
        return value
    return value[0] if len({repr(v) for v in value}) == 1 else None


for _name, _function in OVER_ELEMENTS.items():
    for _in_place in (False, True):
        _packet = getattr(aten, f"_foreach_{_name}{'_' if _in_place else ''}", None)
        for _overload in () if _packet is None else _packet.overloads():
            if _overload.endswith("out") or _overload == "ScalarAndTensor":
                continue
            _own = getattr(_packet, _overload)
            serves(_own, writes=_in_place)(_together(_own, getattr(baracuda, _function), _name, _in_place))
