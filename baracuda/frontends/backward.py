"""The backward of ops as functions: each gradient in the shape and element of its tensor."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from baracuda.core.elements import Category
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.frontends.binding import BoundArguments
from baracuda.frontends.cacheable import Cacheable
from baracuda.frontends.call import describe
from baracuda.frontends.function import OpCall, binding_of, cacheable_of, describe_bound, describe_call
from baracuda.ops.declaration.composition import chosen, one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.op_descriptor import OpDescriptor
from baracuda.ops.declaration.totals import total


class Backward:
    """An op's backward as a function: `baracuda.gelu_backward(dy, x)`.

    It takes the gradients of the results, then the op's own tensors, then the results that it saved, which it computes where they
    are not given; `wrt` names the tensors whose gradients are wanted (default: every one of a float or complex element that is
    given).
    """

    def __init__(self, op: Op) -> None:
        self.op = op
        self.__name__ = self.__qualname__ = f"{op.name}_backward"
        self.__module__ = "baracuda"
        self.__doc__ = f"The gradients of `{op.name}`'s tensors, given those of its results.\n\n{op.doc}"
        plain = [n for n in op.results or ("y",) if n not in op.extra]
        self.cotangents = tuple(f"d{n}" for n in plain)
        self.names = (*self.cotangents, *(n for n in op.signature.tensors if n not in op.unread), *op.saves)
        self.binding = binding_of(op, self.__name__, self.names)
        positional, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
        more = [inspect.Parameter(n, keyword, default=None) for n in (*self.binding.domains, "wrt")]
        self.__signature__ = inspect.Signature([*(inspect.Parameter(n, positional) for n in self.names), *more])

    @property
    def cacheable(self) -> Cacheable:
        """What the cache of calls needs to know."""
        return cacheable_of(self, self.op, self.binding)

    def __call__(self, *arguments: Any, wrt: Sequence[str] | None = None, **keywords: Any) -> Any:
        op, call = self.op, self.binding(arguments, keywords)
        values = dict(zip(self.names, call.tensors, strict=True))
        saved = {n: values[n] for n in op.saves if values[n] is not None}
        stored = {option: describe(saved[n], n).kind for n, option in op.stored.items() if n in saved}
        options, like = {**stored, **call.options}, None
        if op.unread:
            like = next((values[n] for n in self.cotangents if values[n] is not None), None)
            ref = describe(like, self.cotangents[0])
            values |= {n: like if kind is None else replace(ref, kind=kind) for n, kind in op.unread.items()}
            options = of_dy(op, options, ref)
        own = BoundArguments(tuple(values[n] for n in op.signature.tensors), call.numbers, options)
        descriptor, tensors, largest = describe_bound(op, own)
        like = largest if like is None else like
        named = {n[1:]: values[n] for n in self.cotangents}
        return one_or_all(tuple(self.of(descriptor.forward, named, tensors, like, saved, wrt).values()))

    def of(
        self,
        descriptor: OpDescriptor,
        cotangents: Mapping[str, Any] | Sequence[Any],
        tensors: Mapping[str, Any],
        like: Any,
        saved: Mapping[str, Any] | None = None,
        wrt: Sequence[str] | None = None,
    ) -> dict[str, Any]:
        """The gradients of a forward descriptor's tensors, by name; saved results that are not given are computed."""
        saved = {n: v for n, v in (saved or {}).items() if v is not None}
        missing = [n for n in self.op.saves if n not in saved and n in descriptor.results]
        if missing and self.op.unread:
            raise InvalidProblemError(f"{', '.join(missing)}: got None; expected a result of {self.op}")
        if missing:
            made = OpCall(descriptor, tensors, like).run()
            saved |= {n: made[n] for n in missing}
        results = descriptor.results
        named = cotangents if isinstance(cotangents, Mapping) else dict(zip(results, cotangents, strict=True))
        dys = {name: dy for name, dy in named.items() if dy is not None}
        for name, dy in dys.items():
            shape = describe(dy, f"d{name}").shape
            if name in results and shape != results[name][0]:
                raise InvalidProblemError(f"d{name}: shape is {shape}; expected {results[name][0]}")
        if not dys:
            raise InvalidProblemError(f"{self.__name__}: every gradient of a result is None; expected at least one")
        names = differentiable(descriptor) if wrt is None else chosen(wrt, tuple(descriptor.tensors))
        known = {**{f"d{n}": dy for n, dy in dys.items()}, **saved, **tensors}
        slopes: dict[str, Any] = {}
        for group, axes in groups(descriptor, names):
            part = replace(descriptor, axes=axes, wrt=group, given=tuple(dys))
            slopes |= gradients(part, known, like)
        return {n: slopes[n] for n in names}


def of_dy(op: Op, options: Mapping[str, Any], dy: TensorRef) -> dict[str, Any]:
    """The options of a call whose result's element the gradient tells."""
    return {"dtype": dy.kind, **options} if op.unread and op.element_option else dict(options)


def gradients(descriptor: OpDescriptor, tensors: Mapping[str, Any], like: Any) -> dict[str, Any]:
    """The gradients that one descriptor computes, by the name of their tensor, fitted to its shape."""
    results = OpCall(descriptor, tensors, like).run()
    return {n: _fitted(results[f"d{n}"], descriptor, n) for n in descriptor.wrt}


def differentiable(d: OpDescriptor) -> tuple[str, ...]:
    """The tensors of a forward descriptor whose gradients are computed unless others are asked for."""
    floats = (n for n, (_, k) in d.tensors.items() if k.is_float or k.category is Category.COMPLEX or n in d.op.straight)
    return tuple(n for n in floats if n not in d.op.constants)


def groups(d: OpDescriptor, names: Sequence[str]) -> list[tuple[tuple[str, ...], tuple[int, ...]]]:
    """Gradients that one kernel computes, and the axes of its rows: all of a row-wise op's; a pointwise one's by how they
    were broadcast, since it has no rows of its own."""
    if d.axes:
        return [(tuple(names), d.axes)] if names else []
    groups: dict[tuple[int, ...], list[str]] = {}
    for name in names:
        broadcast = tuple(a for a, v in enumerate(d.varying(name)) if not v)
        groups.setdefault(broadcast, []).append(name)
    return [(tuple(group), axes) for axes, group in groups.items()]


def _fitted(result: Any, d: OpDescriptor, name: str) -> Any:
    """A gradient summed over what its tensor was broadcast along, in the tensor's shape and element."""
    if d.exact(name) is not None:
        return result
    shape, kind = d.given_shapes[name], d.slope_kind(name)
    axes = tuple(a for a, v in enumerate(d.varying(name)) if not v)
    descriptor, tensors, like = describe_call(total, (result,), {"axis": axes, "dtype": kind})
    (summed,) = OpCall(descriptor, tensors, like).run().values()
    return summed.reshape(shape)
