"""Functions of ops that read tensors at indices, or take class indices: they see to it that the indices are in range."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from baracuda.core.device import DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.frontends.call import describe
from baracuda.frontends.function import Function, describe_bound
from baracuda.frontends.ranges import checked, outside
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.traced import IndexBound

_BOUNDS = """

    bounds="check" (the default) raises `InvalidProblemError` for an index out of range, with the first one that is and what was
    expected. On a GPU nothing waits for that: the nearest index in range is read instead, and the error is raised when values are
    next read on the host, by `baracuda.synchronize()`, or by a later call. bounds="clamp" takes the nearest index that is in
    range, as plans do, and checks nothing.
"""
_CLASSES = """

    bounds="check" (the default) raises `InvalidProblemError` for a target that is no class and not ignored, with the first one
    that is and what was expected. On a GPU nothing waits for that: the row's loss is NaN, and the error is raised when values are
    next read on the host, by `baracuda.synchronize()`, or by a later call. With bounds="clamp" such a row gives NaN, as plans do,
    and nothing is checked.
"""


def check_indices(index: Any, name: str, limits: IndexBound, like: Any = None) -> None:
    """Raise `InvalidProblemError` where an index is out of range, with the first one that is; on a GPU, once somebody waits
    (`ranges.outside`). `like` is a tensor of the caller's library where the index is a view."""
    ref = describe(index, name)
    if not limits.classes and ref.kind not in (ElementKind.S32, ElementKind.S64):
        raise InvalidProblemError(f"{name}: element is {ref.kind}; expected indices in s32 or s64")
    if 0 in ref.shape:
        return
    if limits.extent == 0:
        raise InvalidProblemError(f"{name}: it has {ref.shape} indices of an axis of extent 0; expected an extent of 1 or more")
    low = -limits.extent if limits.wrap else 0
    lowest = max(low, int(np.iinfo(ref.kind.numpy).min))
    number = limits.ignored if ref.device.kind is DeviceKind.CPU else "ignore_index"  # told of a later call, it is another
    spared = "" if limits.ignored is None else f", or {number}, which is ignored"
    expected = f"expected {lowest} to {limits.extent - 1} for an extent of {limits.extent}{spared}"
    out_of_range = outside(index, name, low, limits.extent - 1, index if like is None else like, expected, ignored=limits.ignored)
    if out_of_range is not None:
        raise InvalidProblemError(f"{name}: index {out_of_range[0]} at {out_of_range[1]} is out of range; {expected}")


class Indexed(Function):
    """An op that reads at indices as a function; `bounds` says what becomes of an index that is out of range."""

    def __init__(self, op: Op) -> None:
        super().__init__(op)
        self.__doc__ = op.doc.rstrip() + (_CLASSES if op.space is None else _BOUNDS)

    def _signature(self) -> inspect.Signature:
        signature = super()._signature()
        *parameters, out = signature.parameters.values()
        word = inspect.Parameter("bounds", inspect.Parameter.KEYWORD_ONLY, default="check")
        return signature.replace(parameters=[*parameters, word, out])

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
