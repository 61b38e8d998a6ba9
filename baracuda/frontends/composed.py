"""Compositions as functions: the steps of their bodies on tensors of any library."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from baracuda.core.call_recorder import refuse
from baracuda.core.descriptor import Descriptor
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.plan import Plan
from baracuda.core.sku import PlanPreference
from baracuda.core.tensor import TensorMut, TensorRef, tensor_mut
from baracuda.frontends import views
from baracuda.frontends.call import NUMBERS, apply, describe
from baracuda.frontends.declared import at_run_time, declared
from baracuda.frontends.indexed import check_indices
from baracuda.frontends.ranges import check_range
from baracuda.ops.declaration.composition import Composed, Into, Saved, Shape, one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.traced import IndexBound


class _Steps:
    """The steps of one call."""

    def __init__(self, like: Any, out: Any) -> None:
        self.like, self.out = like, out
        self._known: list[tuple[TensorRef, Any]] = []

    def run(self, op: Op, tensors: Mapping[str, Any], into: Into = None, **options: Any) -> Any:
        return one_or_all([self.seen(r) for r in views.run(op, tensors, self._like(tensors), into, **options).values()])

    def gradients(
        self, op: Op, tensors: Mapping[str, Any], dy: TensorRef, wrt: Sequence[str], saved: Saved = None, **options: Any
    ) -> dict[str, TensorRef]:
        found = views.gradients(op, tensors, dy, self._like(tensors), wrt, saved, **options)
        return {name: self.seen(gradient) for name, gradient in found.items()}

    def plan(
        self,
        plan: type[Plan[Any, Any]],
        descriptor: Descriptor,
        tensors: Mapping[str, Any],
        into: Into = None,
        preference: PlanPreference | None = None,
    ) -> Any:
        d, values = descriptor, [tensors.get(s.name) for s in plan.tensors if not s.written]
        written = [s for s in plan.tensors if s.written]
        outputs = [(s.expected_shape(d), s.expected_kind(d)) if s.presence(d) else None for s in written]
        given = into if isinstance(into, tuple) else (into,)
        made = apply(plan, plan.args, d, self.like, values, outputs, given, preference)
        return one_or_all([self.seen(r) for r in made if r is not None])

    def new(self, shape: Shape, kind: ElementKind) -> TensorMut:
        array, target = views.output(self.like, shape, kind)
        self._known.append((target, array))
        return target

    def result_like(self, tensor: TensorRef) -> TensorMut:
        if self.out is None:
            return self.new_like(tensor)
        target = tensor_mut(self.out, name="out")
        if target.shape != tensor.shape or target.kind is not tensor.kind:
            raise InvalidProblemError(f"out: {target.kind} of shape {target.shape}; expected {tensor.kind} of {tensor.shape}")
        self._known.append((target, self.out))
        return target

    def new_like(self, tensor: TensorRef) -> TensorMut:
        made, target = views.output(self.tensor_of(tensor), tensor.shape, tensor.kind)
        self._known.append((target, made))
        return target

    def filled(self, shape: Shape, kind: ElementKind, value: complex) -> TensorMut:
        target = self.new(shape, kind)
        views.fill(target, value, self.like)
        return target

    def zero(self, target: TensorMut) -> None:
        views.zero(target, self.like)

    def copy(self, source: TensorRef, target: TensorMut) -> None:
        views.copy(source, target, self.like)

    def merge(self, pieces: Sequence[tuple[int, TensorRef]], axis: int, into: TensorMut) -> None:
        views.merged(pieces, axis, into, self.like)

    def reshaped(self, tensor: TensorRef, shape: Shape) -> Any:
        return self.seen(self.tensor_of(tensor).reshape(tuple(shape)))

    def check_indices(self, index: TensorRef, name: str, limits: IndexBound) -> None:
        check_indices(index, name, limits, self.like)

    def check_range(self, index: TensorRef, name: str, low: int, last: int) -> None:
        check_range(index, name, low, last, self.like)

    def read(self, number: TensorRef) -> int:
        refuse("it reads a size on the host")
        return int(self.tensor_of(number).item())

    def seen(self, tensor: Any, name: str = "a result") -> Any:
        """What the body sees of a tensor, or of each of a list; of all else that itself."""
        if tensor is None or isinstance(tensor, NUMBERS):
            return tensor
        if isinstance(tensor, (list, tuple)):
            return type(tensor)(self.seen(t, name) for t in tensor)
        ref = describe(tensor, name)
        self._known.append((ref, tensor))
        return ref

    def handed(self, results: Any) -> Any:
        """What the caller gets of what the body returns."""
        if isinstance(results, (list, tuple)):
            return type(results)(map(self.handed, results))
        return self.tensor_of(results)

    def _like(self, tensors: Mapping[str, Any]) -> Any:
        """The tensor that results are laid out like: the first of those with the most axes that are no views."""
        whole = [tensor for t in tensors.values() for ref, tensor in self._known if ref is t]
        return max(whole, key=lambda t: len(t.shape), default=self.like)

    def tensor_of(self, ref: TensorRef) -> Any:
        """The tensor of the caller's library that the body knows as this one."""
        return next(tensor for known, tensor in self._known if known is ref)


def _first(tensors: Any) -> Any:
    """The tensor that says which library results are of: of a list the first one in it."""
    if not isinstance(tensors, (list, tuple)):
        return tensors
    return next((found for t in tensors if (found := _first(t)) is not None and not isinstance(found, NUMBERS)), None)


def function_of(composition: Composed) -> Any:
    """A composition as a public function."""
    parameters = list(inspect.signature(composition.body).parameters.values())[1:]
    if composition.out:
        parameters.append(inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None))
    names, tensors = [p.name for p in parameters], composition.patterns
    untyped = [p.replace(annotation=Any) if p.name in tensors else p for p in parameters]

    def function(*arguments: Any, **keywords: Any) -> Any:
        named = dict(zip(names, arguments, strict=False)) | keywords
        do = _Steps(_first([named.get(n) for n in tensors]), named.pop("out", None))
        for name in named.keys() & tensors.keys():
            named[name] = do.seen(named[name], name)
        return do.handed(composition.body(do, **named))

    function.__name__ = function.__qualname__ = composition.name
    function.__module__, function.__doc__ = "baracuda", composition.body.__doc__
    function.__signature__ = inspect.Signature(untyped)  # type: ignore[attr-defined]
    function.__wrapped__ = composition.body  # type: ignore[attr-defined]  # in whose module annotations have their meaning
    made = declared(**tensors)(function)
    return at_run_time(**composition.numbers)(made) if composition.numbers else made
