"""Lengths, and labels of padded sequences: whether they are in range, read before an op runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from baracuda.core.call_recorder import current as current_recorder
from baracuda.core.call_recorder import hold, refuse, unseen
from baracuda.core.device import DeviceKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import view
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast, select
from baracuda.frontends.array.described import is_described
from baracuda.frontends.arrays import current_stream
from baracuda.frontends.call import describe
from baracuda.frontends.function import Function
from baracuda.frontends.views import run
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Scalar
from baracuda.ops.indexing.bounds import any_beyond, at_position, first_beyond


def _exists(lengths: Expr) -> Expr:
    return cast(f.index(-1), lengths.kind) < lengths


def _used(targets: Expr, lengths: Own, *, low: Scalar = 0) -> Expr:
    return select(_exists(lengths), targets, low)


def _any_used_beyond(targets: Expr, lengths: Own, *, low: Scalar = 0, last: Scalar = 0) -> Expr:
    return f.max_(((targets < low) | (targets > last)) & _exists(lengths))


def _summary(lengths: Expr) -> dict[str, Expr]:
    return {"most": f.max_(lengths), "sum": f.sum_(lengths)}


_INTERNAL: dict[str, Any] = {"family": "indexing", "takes": "int", "differentiable": False}
_OVER_ALL: dict[str, Any] = {"rows": True, "axis": None, "keepdims": False, **_INTERNAL}
_PLACES = {"lengths": lambda rank, axes: (0,)}
_used_of = Function(Op(_used, Rule.COMMON, name="used_targets", places=_PLACES, **_INTERNAL))
_any_used = Function(Op(_any_used_beyond, Rule.COMMON, name="any_used_beyond", places=_PLACES, **_OVER_ALL))
_summary_of = Function(Op(_summary, Rule.COMMON, name="summary_of_lengths", results=("most", "sum"), **_OVER_ALL))
_any, _first, _at = Function(any_beyond), Function(first_beyond), Function(at_position)


def checked(bounds: str) -> bool:
    """Whether `bounds` asks for a check; raises for a word that it may not be."""
    if bounds not in ("check", "clamp"):
        raise InvalidProblemError(f"bounds: {bounds!r}; expected check or clamp")
    return bounds == "check"


def lengths_of(lengths: Any, name: str, batch: int, like: TensorRef) -> Any:
    """Lengths as a tensor of shape (batch,); where tensors are on the CPU, numbers too."""
    if isinstance(lengths, (int, list, tuple)):
        if like.device.kind is not DeviceKind.CPU:
            raise InvalidProblemError(f"{name}: {lengths!r}; expected a tensor on {like.device}")
        lengths = np.array(lengths, np.int64)
        hold(lengths)
    ref = describe(lengths, name)
    if ref.shape == () and batch == 1:
        return view(ref, 0, (1,), (1,))
    if ref.shape != (batch,):
        raise InvalidProblemError(f"{name}: shape is {ref.shape}; expected {(batch,)}")
    return lengths


def most_and_sum(lengths: Any, like: Any) -> tuple[int, int]:
    """The largest length and the sum of all. It waits for the device."""
    most, total = _call(_summary_of, {"lengths": lengths}, like)
    refuse("it reads lengths on the host")
    return int(most), int(total)


def outside(
    index: Any, name: str, low: int, last: int, like: Any, expected: str, lengths: Any = None, ignored: int | None = None
) -> tuple[int, tuple[int, ...]] | None:
    """The first element that is out of range, and not `ignored`, and where it is; None where there is none.

    On a GPU nothing waits for the device, and None is the answer: it is told later of an element that is out of range
    (`baracuda.runtime.reports`), but for padded tensors, of which lengths are read anyway.

    Of a padded tensor (batch, labels) only the first `lengths` of each row count.
    """
    ref = describe(index, name)
    if 0 in ref.shape:
        return None
    held = np.iinfo(ref.kind.numpy)
    words = {"low": max(low, int(held.min)), "last": min(last, int(held.max))}
    spared = words["low"] if ignored is None else ignored
    if lengths is None and ref.device.kind is DeviceKind.CUDA:
        _report(index, name, like, expected, ignore_index=spared, **words)
        return None
    if lengths is None:
        offender = _call(_any, {"index": index}, like, ignore_index=spared, **words)
    else:
        offender = _call(_any_used, {"targets": index, "lengths": lengths}, like, **words)
    if not holds(offender[0]):
        return None
    if lengths is not None:
        (index,) = _call(_used_of, {"targets": index, "lengths": lengths}, like, low=words["low"])
    place = int(_call(_first, {"index": index}, like, ignore_index=spared, **words)[0])
    value = int(_call(_at, {"index": index}, like, place=place)[0])
    return value, tuple(int(i) for i in np.unravel_index(place, ref.shape)) if ref.shape else ()


def _report(index: Any, name: str, like: Any, expected: str, **words: int) -> None:
    """Have the device look for an element that is out of range; the error is raised when somebody waits for it."""
    from baracuda.runtime import reports

    ref, device = describe(index, name), describe(like, name).device
    shape, stream = ref.shape, current_stream(like, device).handle

    def say(position: int) -> InvalidProblemError:
        place = tuple(int(i) for i in np.unravel_index(position, shape)) if shape else ()
        return InvalidProblemError(f"{name}: index at {place} is out of range; {expected}")

    key = name, expected, shape
    if reports.can_look(ref):
        reports.look(key, say, ref, stream, words)
    else:
        reports.tell(key, say, describe(_call(_first, {"index": index}, like, **words)[0], "first"), stream)


def holds(truth: Any) -> bool:
    """The one boolean of a tensor, which a call goes on with only where it is false. It waits for the device."""
    if is_described(truth):
        return False
    recorder = current_recorder()
    if recorder is None:
        return bool(truth)
    recorder.expect_false(describe(truth, "truth").pointer)
    with unseen():
        return bool(truth)


def check_range(index: Any, name: str, low: int, last: int, like: Any, lengths: Any = None) -> None:
    """Raise `InvalidProblemError` where an element is out of range, with the first one that is (see `outside`)."""
    expected = f"expected {low} to {last}"
    out_of_range = outside(index, name, low, last, like, expected, lengths)
    if out_of_range is not None:
        raise InvalidProblemError(f"{name}: {out_of_range[0]} at {out_of_range[1]}; {expected}")


def _call(function: Function, tensors: Mapping[str, Any], like: Any, **words: Any) -> tuple[Any, ...]:
    """The results of a function of tensors, or of views of tensors of the library of `like`."""
    if any(isinstance(t, TensorRef) for t in tensors.values()):
        return tuple(run(function.op, tensors, like, **words).values())
    results = function(*(tensors[n] for n in function.op.signature.tensors), **words)
    return results if isinstance(results, tuple) else (results,)
