"""Compositions as functions: the steps of their bodies on tensors of any library."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from baracuda.core.call_recorder import note_writes, refuse
from baracuda.core.descriptor import Descriptor
from baracuda.core.device import DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.implementation import Executable
from baracuda.core.layout import contiguous_strides, may_share, same_view
from baracuda.core.plan import Plan
from baracuda.core.sku import PlanPreference
from baracuda.core.tensor import TensorMut, TensorRef, tensor_mut
from baracuda.core.views import as_bits, extents_of, reshaped, view
from baracuda.frontends import views
from baracuda.frontends.array.described import is_described
from baracuda.frontends.arrays import borrowed, current_stream, memory_order
from baracuda.frontends.call import NUMBERS, apply, describe
from baracuda.frontends.declared import at_run_time, declared
from baracuda.frontends.indexed import check_indices
from baracuda.frontends.moving import around, described, together
from baracuda.frontends.ranges import check_range
from baracuda.frontends.strided import strided
from baracuda.ops.declaration.composition import Composed, Into, Saved, Shape, one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.traced import IndexBound
from baracuda.ops.shapes.movement import movement_plan


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

    def launch(self, program: Executable, addresses: Sequence[int], written: Sequence[TensorRef]) -> None:
        if is_described(written[0]):
            return
        device = written[0].device
        stream, size = current_stream(self.like, device), program.workspace_bytes
        note_writes(written)
        scratch = self.new((size,), ElementKind.U8).pointer if size else 0
        program.call(addresses, scratch, stream.handle)

    def new(self, shape: Shape, kind: ElementKind, lying_as: TensorRef | None = None) -> TensorMut:
        array, target = views.output(self.like, shape, kind, None if lying_as is None else memory_order(lying_as))
        self._known.append((target, array))
        return target

    def rows(self, shape: Shape, kind: ElementKind) -> TensorMut:
        target = self.new(shape, kind)
        if 0 not in target.shape and target.strides != contiguous_strides(target.shape):  # in the memory order of what it is like
            another = views.output(self.like, (1,), kind)[0]
            array, target = views.output(another, shape, kind)
            self._known.append((target, array))
        return target

    def result(self, shape: Shape, kind: ElementKind, lying_as: TensorRef | None = None) -> TensorMut:
        if self.out is None:
            return self.new(shape, kind, lying_as)
        known, target = tuple(self._known), self._given(tuple(shape), kind)
        if any(may_share(target, ref) for ref, _ in known):
            raise InvalidProblemError("out: its memory is that of a tensor that is read; expected none in common")
        return target

    def result_like(self, tensor: TensorRef) -> TensorMut:
        return self.new_like(tensor) if self.out is None else self._given(tensor.shape, tensor.kind)

    def replacing(self, tensors: Sequence[TensorRef]) -> list[Any]:
        given = list(self.out) if isinstance(self.out, (list, tuple)) else [] if self.out is None else [self.out]
        if len(given) > len(tensors):
            raise InvalidProblemError(f"out: {len(given)} tensors; expected at most {len(tensors)}")
        read = [ref for ref, _ in self._known]
        targets: list[Any] = [None] * len(tensors)
        for i, (tensor, own) in enumerate(zip(tensors, given, strict=False)):
            if own is None:
                continue
            target = tensor_mut(own, name=f"out[{i}]")
            _check_target(target, tensor.shape, tensor.kind, f"out[{i}]")
            known = [t for t in targets if t is not None]
            if any(may_share(target, t) for t in (*read, *known) if t is not tensor or not same_view(target, t)):
                raise InvalidProblemError(
                    f"out[{i}]: its memory is that of another tensor of the call, or a part of it; expected its own, or the "
                    "very tensor that it takes the place of"
                )
            targets[i] = target
        note_writes(t for t in targets if t is not None)
        self._known += [(t, own) for t, own in zip(targets, given, strict=False) if t is not None]
        return [self.new_like(old) if t is None else t for t, old in zip(targets, tensors, strict=True)]

    def _given(self, shape: tuple[int, ...], kind: ElementKind) -> TensorMut:
        """What the caller gave to write the result to."""
        target = tensor_mut(self.out, name="out")
        _check_target(target, shape, kind, "out")
        note_writes([target])
        self._known.append((target, self.out))
        return target

    def new_like(self, tensor: TensorRef) -> TensorMut:
        made, target = views.output(self.tensor_of(tensor), tensor.shape, tensor.kind)
        self._known.append((target, made))
        return target

    def filled(self, shape: Shape, kind: ElementKind, value: complex) -> TensorMut:
        target = self.new(shape, kind)
        self.fill(target, value)
        return target

    def fill(self, target: TensorMut, value: complex, name: str = "value") -> None:
        views.fill(target, value, self.like, name)

    def zero(self, target: TensorMut) -> None:
        views.zero(target, self.like)

    def copy(self, source: TensorRef, target: TensorMut) -> None:
        views.copy(source, target, self.like)

    def merge(self, pieces: Sequence[tuple[int, TensorRef]], axis: int, into: TensorMut) -> None:
        views.merged(pieces, axis, into, self.like)

    def move(
        self,
        pieces: Iterable[tuple[TensorRef, TensorMut]],
        into: TensorMut | None = None,
        fill: complex = 0,
        name: str = "value",
    ) -> None:
        pieces = list(pieces)
        if into is not None:
            parts = around(pieces[0][1], into) if len(pieces) == 1 else None
            for part in [into] if parts is None else parts:
                self.fill(part, fill, name)
        for copies in together(pieces, self._whole):
            if len(copies) == 1:
                self.copy(*copies[0])
                continue
            whole = self._whole(copies[0][1])
            tensors = {f"x{i}": as_bits(source) for i, (source, _) in enumerate(copies)}
            self.plan(movement_plan(len(copies)), described(copies, whole), tensors, as_bits(whole))

    def _whole(self, view_: TensorRef) -> TensorRef:
        """The tensor that a view is of."""
        return next(ref for ref, _ in self._known if ref.owner is view_.owner)

    def reshaped(self, tensor: TensorRef, shape: Shape) -> Any:
        found, extents = reshaped(tensor, shape), extents_of(tensor.shape, shape)
        if found is not None:
            return found
        dense = self.rows(extents, tensor.kind)
        self.copy(tensor, view(dense, 0, tensor.shape, contiguous_strides(tensor.shape)))
        return dense

    def on_host(self, tensor: TensorRef) -> np.ndarray[Any, Any]:
        refuse("it reads values on the host")
        if tensor.device.kind is DeviceKind.CPU:
            return np.array(borrowed(tensor))
        if tensor.strides != contiguous_strides(tensor.shape):
            self.copy(tensor, dense := self.rows(tensor.shape, tensor.kind))
            tensor = dense
        from baracuda.runtime import device_memory

        return device_memory.download(tensor)

    def check_indices(self, index: TensorRef, name: str, limits: IndexBound) -> None:
        check_indices(index, name, limits, self.like)

    def check_range(self, index: TensorRef, name: str, low: int, last: int) -> None:
        check_range(index, name, low, last, self.like)

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
        if not isinstance(results, TensorRef):
            return results
        known = next((tensor for ref, tensor in self._known if ref is results), None)
        return self._view(results) if known is None else known

    def _view(self, ref: TensorRef) -> Any:
        """A view of one of the tensors; a copy where its library has none."""
        base, tensor = next((b, t) for b, t in self._known if b.owner is ref.owner and b.kind is ref.kind)
        found = strided(tensor, (ref.pointer - base.pointer) // ref.kind.itemsize, ref.shape, ref.strides)
        if found is not None:
            return found
        copied, target = views.output(self.like, ref.shape, ref.kind)
        self.copy(ref, target)
        return copied

    def _like(self, tensors: Mapping[str, Any]) -> Any:
        """The tensor that results are laid out like: the first of those with the most axes that are no views."""
        whole = [tensor for t in tensors.values() for ref, tensor in self._known if ref is t]
        return max(whole, key=lambda t: len(t.shape), default=self.like)

    def tensor_of(self, ref: TensorRef) -> Any:
        """The tensor of the caller's library that the body knows as this one."""
        return next(tensor for known, tensor in self._known if known is ref)


def _check_target(target: TensorRef, shape: tuple[int, ...], kind: ElementKind, name: str) -> None:
    """Raise unless what the caller gave to write to is of this shape and element."""
    if target.shape != shape or target.kind is not kind:
        raise InvalidProblemError(f"{name}: {target.kind} of shape {target.shape}; expected {kind} of {shape}")


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
    tensors = composition.patterns
    names = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    variadic = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)
    untyped = [p.replace(annotation=Any) if p.name in tensors else p for p in parameters]

    def function(*arguments: Any, **keywords: Any) -> Any:
        named = dict(zip(names, arguments, strict=False)) | keywords
        more = arguments[len(names) :]
        do = _Steps(_first([*(named.get(n) for n in tensors if n != variadic), *more]), named.pop("out", None))
        for name in named.keys() & tensors.keys():
            named[name] = do.seen(named[name], name)
        if not more:
            return do.handed(composition.body(do, **named))
        seen = [do.seen(t, f"{variadic}[{i}]") for i, t in enumerate(more)]
        return do.handed(composition.body(do, *(named.pop(n) for n in names), *seen, **named))

    function.__name__ = function.__qualname__ = composition.name
    function.__module__, function.__doc__ = "baracuda", composition.body.__doc__
    function.__signature__ = inspect.Signature(untyped)  # type: ignore[attr-defined]
    function.__wrapped__ = composition.body  # type: ignore[attr-defined]  # in whose module annotations have their meaning
    made = declared(**tensors)(function)
    if composition.numbers:
        made = at_run_time(**composition.numbers)(made)
    known = made.__dict__["cacheable"]
    made.__dict__["cacheable"] = known._replace(views=composition.views, creates=composition.creates)
    return made
