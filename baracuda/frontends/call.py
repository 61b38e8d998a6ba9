"""What every function of the daily surface does: describe, take the plan from the cache, allocate, run."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from baracuda.core import locks
from baracuda.core.descriptor import Args, Descriptor
from baracuda.core.device import Device, Stream
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.implementation import layout_of
from baracuda.core.layout_key import layout_key
from baracuda.core.plan import Plan
from baracuda.core.preferred import preferred
from baracuda.core.sku import PlanPreference
from baracuda.core.tensor import TensorRef, tensor_ref
from baracuda.core.workspace import Workspace
from baracuda.frontends.array.described import is_described
from baracuda.frontends.arrays import current_stream, empty_like, finish, writable

#: What may stand in a tensor's place.
NUMBERS = (bool, int, float, complex)

#: Plans kept; the oldest go first. Their kernels stay loaded, so that making one again costs no compilation.
MOST_PLANS = 4096

_plans: dict[tuple[Any, ...], Plan[Any, Any]] = {}
_lock = locks.lock()


def public(name: str) -> Any:
    """A public function by its name, the one whose calls are kept. It is looked up late, since it is made of all the rest."""
    return getattr(sys.modules["baracuda"], name)


def describe(obj: Any, name: str) -> TensorRef:
    """The tensor's shape, element and device."""
    return tensor_ref(obj, name=name)


def _key(value: Any) -> Any:
    keyed = layout_key(value)
    if keyed is not None:
        return keyed[0], min(keyed[1] & -keyed[1], 16)
    ref = tensor_ref(value)
    return ref.kind, ref.device, ref.shape, ref.strides, min(ref.alignment, 16)


def plan_for(
    cls: type[Plan[Any, Any]],
    descriptor: Descriptor,
    stream: Stream,
    values: Sequence[Any],
    preference: PlanPreference,
) -> Plan[Any, Any]:
    """The cached plan for these layouts, and for any numbers but where its code holds them (`Plan.fixes_numbers`)."""
    where = (stream.device, preference, *map(_key, values))
    plan = _plans.get((cls, descriptor.structure, *where)) or _plans.get((cls, descriptor, *where))
    if plan is None:
        layout = layout_of(cls.checked(descriptor, values, stream))
        plan = cls.select_layouts(stream.device, descriptor, preference, [layout])
        with _lock:
            while len(_plans) >= MOST_PLANS:
                _plans.pop(next(iter(_plans)))
            _plans[(cls, descriptor if plan.fixes_numbers else descriptor.structure, *where)] = plan
    return plan


def scalars_of(plan: Plan[Any, Any], descriptor: Descriptor) -> Mapping[str, float] | None:
    """The numbers that a call of a plan from the cache brings."""
    return None if plan.fixes_numbers else descriptor.parameters


def apply(
    cls: type[Plan[Any, Any]],
    args_type: type[Args],
    descriptor: Descriptor,
    like: Any,
    inputs: Sequence[Any],
    outputs: Sequence[tuple[Sequence[int], ElementKind] | tuple[Sequence[int], ElementKind, Sequence[int]] | None],
    out: Sequence[Any] = (),
    preference: PlanPreference | None = None,
) -> tuple[Any, ...]:
    """Run a plan on `inputs` and return its outputs: those of `out` that are given, else new tensors.

    `like` is the input whose library and stream are used; an output is its shape, its element and, if it matters, the order of
    its axes in memory, and one that is None is not computed. Without a preference it is
    what `preferring` says, of a plan that it is about.
    """
    if len(out) > len(outputs):
        raise InvalidProblemError(f"out: {len(out)} tensors; expected at most {len(outputs)}")
    results_into = [*out, *[None] * (len(outputs) - len(out))]
    results = [
        g if g is not None else None if wanted is None else empty_like(like, *wanted)
        for g, wanted in zip(results_into, outputs, strict=True)
    ]
    device = device_of(like)
    stream = current_stream(like, device)
    values = [*inputs, *(r if g is not None or r is None else writable(r) for g, r in zip(results_into, results, strict=True))]
    args = args_type(**{spec.name: value for spec, value in zip(cls.tensors, values, strict=True)})
    preference = preference or (preferred() if cls.has_tiers else None) or PlanPreference()
    if is_described(like):
        cls.checked(descriptor, values, stream)
        return tuple(results)
    plan = plan_for(cls, descriptor, stream, values, preference)
    size = plan.workspace_size()
    workspace = Workspace(empty_like(like, (size,), ElementKind.U8)) if size else None
    plan.run(stream, workspace, args, scalars_of(plan, descriptor))
    finish(like, stream)
    return tuple(results)


def device_of(like: Any) -> Device:
    device = getattr(like, "device", None)
    index = getattr(device, "index", None)
    if getattr(device, "type", None) == "cuda" and isinstance(index, int):
        return Device.cuda(index)
    return tensor_ref(like).device


def one(results: tuple[Any, ...]) -> Any:
    (result,) = results
    return result
