"""Functions of ops that read tensors at indices, or take class indices: they see to it that the indices are in range."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.frontends.call import describe
from baracuda.frontends.function import Function, describe_bound
from baracuda.frontends.ranges import checked, outside
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.traced import Bound

_BOUNDS = """

    bounds="check" (the default) first reduces each tensor of indices to whether one is out of range, reads that boolean (on a GPU
    this waits for the stream, and cannot be captured in a graph), and raises `InvalidProblemError` with the first index that is
    and what was expected. bounds="clamp" reads nothing and takes the nearest index that is in range, as plans do.
"""
_CLASSES = """

    bounds="check" (the default) first reduces class indices to whether one is no class and not ignored, reads that boolean (on a
    GPU this waits for the stream, and cannot be captured in a graph), and raises `InvalidProblemError` with the first one that is
    and what was expected. bounds="clamp" reads nothing; a row whose target is no class then gives NaN, as plans do.
"""


def check_indices(index: Any, name: str, limits: Bound) -> None:
    """Raise `InvalidProblemError` where an index is out of range, with the first one that is. It waits for the device."""
    ref = describe(index, name)
    if not limits.classes and ref.kind not in (ElementKind.S32, ElementKind.S64):
        raise InvalidProblemError(f"{name}: element is {ref.kind}; expected indices in s32 or s64")
    if 0 in ref.shape:
        return
    if limits.extent == 0:
        raise InvalidProblemError(f"{name}: it has {ref.shape} indices of an axis of extent 0; expected an extent of 1 or more")
    low = -limits.extent if limits.wrap else 0
    found = outside(index, name, low, limits.extent - 1, index, ignored=limits.ignored)
    if found is not None:
        low = max(low, int(np.iinfo(ref.kind.numpy).min))
        spared = "" if limits.ignored is None else f", or {limits.ignored}, which is ignored"
        raise InvalidProblemError(
            f"{name}: index {found[0]} at {found[1]} is out of range; expected {low} to {limits.extent - 1} for an extent of "
            f"{limits.extent}{spared}"
        )


class Indexed(Function):
    """An op that reads at indices as a function; `bounds` says what becomes of an index that is out of range."""

    def __init__(self, op: Op) -> None:
        super().__init__(op)
        self.__doc__ = op.doc.rstrip() + (_CLASSES if op.space is None else _BOUNDS)

    def _signature(self) -> inspect.Signature:
        found = super()._signature()
        word = inspect.Parameter("bounds", inspect.Parameter.KEYWORD_ONLY, default="check")
        return found.replace(parameters=[*found.parameters.values(), word])

    def __call__(self, *arguments: Any, bounds: str = "check", **keywords: Any) -> Any:
        if checked(bounds):
            self._check(arguments, keywords)
        return super().__call__(*arguments, **keywords)

    def _check(self, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
        call = self.binding(arguments, {k: v for k, v in keywords.items() if k != "out"})
        descriptor, tensors, _ = describe_bound(self.op, call)
        for name, limits in descriptor.limits:
            index = tensors[name]
            check_indices(index if limits.component is None else index[..., limits.component], name, limits)
