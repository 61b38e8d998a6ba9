"""Functions of ops that read tensors at indices: they see to it that the indices are in range."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from baracuda.core.errors import InvalidProblemError
from baracuda.frontends.call import describe
from baracuda.frontends.function import Function, bound
from baracuda.ops.bounds import any_beyond, at_position, first_beyond
from baracuda.ops.op import Op
from baracuda.ops.traced import Bound

_any_beyond, _first_beyond, _at_position = Function(any_beyond), Function(first_beyond), Function(at_position)

_BOUNDS = """

    bounds="check" (the default) first reduces each tensor of indices to whether one is out of range, reads that boolean (on a GPU
    this waits for the stream, and cannot be captured in a graph), and raises `InvalidProblemError` with the first index that is
    and what was expected. bounds="clamp" reads nothing and takes the nearest index that is in range, as plans do.
"""


def check_indices(index: Any, name: str, limits: Bound) -> None:
    """Raise `InvalidProblemError` where an index is out of range, with the first one that is. It waits for the device."""
    ref = describe(index, name)
    if 0 in ref.shape:
        return
    if limits.extent == 0:
        raise InvalidProblemError(f"{name}: it has {ref.shape} indices of an axis of extent 0; expected an extent of 1 or more")
    held = np.iinfo(ref.kind.numpy)
    low = max(-limits.extent if limits.wrap else 0, int(held.min))
    words = {"low": low, "last": min(limits.extent - 1, int(held.max))}
    if bool(_any_beyond(index, **words)):
        place = int(_first_beyond(index, **words))
        value = int(_at_position(index, place=place))
        where = tuple(int(i) for i in np.unravel_index(place, ref.shape)) if ref.shape else ()
        raise InvalidProblemError(
            f"{name}: index {value} at {where} is out of range; expected {low} to {limits.extent - 1} for an extent of "
            f"{limits.extent}"
        )


class Indexed(Function):
    """An op that reads at indices as a function; `bounds` says what becomes of an index that is out of range."""

    def __init__(self, op: Op) -> None:
        super().__init__(op)
        self.__doc__ = op.doc.rstrip() + _BOUNDS

    def _signature(self) -> inspect.Signature:
        found = super()._signature()
        word = inspect.Parameter("bounds", inspect.Parameter.KEYWORD_ONLY, default="check")
        return found.replace(parameters=[*found.parameters.values(), word])

    def __call__(self, *arguments: Any, bounds: str = "check", **keywords: Any) -> Any:
        if bounds not in ("check", "clamp"):
            raise InvalidProblemError(f"bounds: {bounds!r}; expected check or clamp")
        if bounds == "check":
            self._check(arguments, keywords)
        return super().__call__(*arguments, **keywords)

    def _check(self, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
        names = self.op.signature.tensors
        values, rest = bound(self.op, arguments, keywords)
        tensors = {n: v for n, v in zip(names, values, strict=True) if v is not None}
        descriptor = self.describe(*values, **{k: v for k, v in rest.items() if k != "out"})
        for name, limits in descriptor.limits:
            index = tensors[name]
            check_indices(index if limits.component is None else index[..., limits.component], name, limits)
