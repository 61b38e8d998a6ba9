"""Compositions as functions: the steps of their bodies on tensors of any library."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.frontends import views
from baracuda.frontends.call import NUMBERS, describe, one_or_all
from baracuda.frontends.declared import declared
from baracuda.ops.declaration.composition import Composed, Into
from baracuda.ops.declaration.op import Op


class _Steps:
    """The steps of one call."""

    def __init__(self, like: Any, out: Any) -> None:
        self.like, self.out = like, out
        self._made: list[tuple[TensorRef, Any]] = []

    def run(self, op: Op, tensors: Mapping[str, Any], into: Into = None, **options: Any) -> Any:
        results = views.run(op, tensors, self.like, into, **options).values()
        return one_or_all([self._seen(r) for r in results])

    def new(self, shape: Sequence[int], kind: ElementKind) -> TensorMut:
        made, target = views.output(self.like, shape, kind)
        self._made.append((target, made))
        return target

    def zero(self, target: TensorMut) -> None:
        views.run(views.zero_op, {"x": target}, self.like, target)

    def copy(self, source: TensorRef, target: TensorMut) -> None:
        views.copy(source, target, self.like)

    def _seen(self, tensor: Any) -> TensorRef:
        ref = describe(tensor, "a result")
        self._made.append((ref, tensor))
        return ref

    def tensor_of(self, ref: TensorRef) -> Any:
        """The tensor of the caller's library that a body returns."""
        return next(made for seen, made in self._made if seen is ref)


def function_of(composition: Composed) -> Any:
    """A composition as a public function."""
    parameters = list(inspect.signature(composition.body).parameters.values())[1:]
    if composition.out:
        parameters.append(inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None))
    tensors = composition.patterns
    shown = [p.replace(annotation=Any) if p.name in tensors else p for p in parameters]

    def function(*arguments: Any, **keywords: Any) -> Any:
        given = dict(zip((p.name for p in parameters), arguments, strict=False)) | keywords
        do = _Steps(given[next(iter(tensors))], given.pop("out", None))
        for name in tensors:
            value = given.get(name)
            if value is not None and not isinstance(value, NUMBERS):
                given[name] = describe(value, name)
        results = composition.body(do, **given)
        many = results if isinstance(results, tuple) else (results,)
        return one_or_all([do.tensor_of(r) for r in many])

    function.__name__ = function.__qualname__ = composition.name
    function.__module__, function.__doc__ = "baracuda", composition.body.__doc__
    function.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    function.__wrapped__ = composition.body  # type: ignore[attr-defined]  # in whose module annotations have their meaning
    return declared(**tensors)(function)
