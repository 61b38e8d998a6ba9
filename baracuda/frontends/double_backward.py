"""The backward of backward functions: second derivatives, each in the shape and element of its tensor."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from baracuda.core.elements import Category
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.views import expanded_dims
from baracuda.frontends.arrays import broadcast
from baracuda.frontends.backward import Backward, differentiable, of_dy
from baracuda.frontends.binding import BoundArguments
from baracuda.frontends.cacheable import Cacheable
from baracuda.frontends.call import describe
from baracuda.frontends.function import binding_of, cacheable_of, describe_bound
from baracuda.ops.declaration.composition import chosen, one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.op_descriptor import OpDescriptor
from baracuda.ops.declaration.second import backward_op


class DoubleBackward:
    """The backward of an op's backward: `baracuda.gelu_double_backward(ddx, dy, x)`.

    It takes, for each tensor x of the op, the gradient ddx of what the backward gave for it (None where that is not used), then
    the gradients of the results that the backward was given, then the op's own tensors. `wrt` names what the gradients are
    wanted of, "dy" or a tensor; by default all of these. For y = f(x) and dx = dy * f'(x), which is linear in dy, these are

        d(dy) = ddx * f'(x)        dx = ddx * dy * f''(x)

    Saved results are not taken: they depend on the tensors and are computed again. Raises `UnsupportedError` for complex
    tensors and for ops that read at indices.
    """

    def __init__(self, op: Op) -> None:
        self.op = op
        self.__name__ = self.__qualname__ = f"{op.name}_double_backward"
        self.__module__ = "baracuda"
        self.__doc__ = f"The gradients of what `{op.name}_backward` read, given those of what it gave.\n\n{type(self).__doc__}"
        self.cotangents = tuple(f"d{n}" for n in op.results or ("y",) if n not in op.extra)
        self.seconds = tuple(f"dd{n}" for n in op.signature.tensors if n not in op.constants)
        self.names = (*self.seconds, *self.cotangents, *op.signature.tensors)
        self.binding = binding_of(op, self.__name__, self.names)
        positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.__signature__ = inspect.Signature([inspect.Parameter(n, positional, default=None) for n in self.names])

    @property
    def cacheable(self) -> Cacheable:
        """What the cache of calls needs to know."""
        return cacheable_of(self, self.op, self.binding)

    def __call__(self, *arguments: Any, wrt: Sequence[str] | None = None, **keywords: Any) -> Any:
        call = self.binding(arguments, keywords)
        values = dict(zip(self.names, call.tensors, strict=True))
        cotangent = next((describe(values[n], n) for n in self.cotangents if values[n] is not None), None)
        options = call.options if cotangent is None else of_dy(self.op, call.options, cotangent)
        own = BoundArguments(tuple(values[n] for n in self.op.signature.tensors), call.numbers, options)
        descriptor, tensors, like = describe_bound(self.op, own)
        dys = {n[1:]: values[n] for n in self.cotangents}
        seconds = {n[2:]: values[n] for n in self.seconds}
        results = tuple(self.of(descriptor.forward, dys, seconds, tensors, like, wrt).values())
        return one_or_all(results)

    def of(
        self,
        forward: OpDescriptor,
        dys: Mapping[str, Any],
        seconds: Mapping[str, Any],
        tensors: Mapping[str, Any],
        like: Any,
        wrt: Sequence[str] | None = None,
    ) -> dict[str, Any]:
        """The second derivatives of a forward descriptor, by name: `dys` are the gradients of its results, `seconds` those of
        the gradients of its tensors."""
        rank, results = len(forward.space), forward.results
        cotangents = {n: describe(v, f"d{n}") for n, v in dys.items() if v is not None}
        second_dys = {n: describe(v, f"dd{n}") for n, v in seconds.items() if v is not None}
        if not cotangents or not second_dys:
            what = "every gradient of a result" if not cotangents else "every gradient of a gradient"
            raise InvalidProblemError(f"{self.__name__}: {what} is None; expected at least one")
        shapes = {f"d{n}": row[0] for n, row in results.items()} | {f"dd{n}": row[0] for n, row in forward.tensors.items()}
        for name, ref in {**{f"d{n}": v for n, v in cotangents.items()}, **{f"dd{n}": v for n, v in second_dys.items()}}.items():
            if name not in shapes:
                raise InvalidProblemError(f"{name}: got a tensor; expected None, for there is none that it is the gradient of")
            if ref.kind.category is Category.COMPLEX:
                raise UnsupportedError(f"{name}: {ref.kind}, second derivatives of complex numbers; expected real tensors")
            if ref.shape != shapes[name]:
                raise InvalidProblemError(f"{name}: shape is {ref.shape}; expected {shapes[name]}")
        op = backward_op(forward, tuple(second_dys), tuple(cotangents))
        whole = {f"d{n}": expanded_dims(ref, results[n][2], rank) for n, ref in cotangents.items()}
        descriptor = OpDescriptor(
            op,
            (*(ref.shape for ref in whole.values()), *forward.shapes),
            (*(ref.kind for ref in whole.values()), *forward.elements),
            forward.axes,
            scalars=forward.scalars,
            options=forward.options,
        )
        counted_slopes = {}
        for name, ref in second_dys.items():
            placed_ref = expanded_dims(ref, forward.placement(name), rank)
            counted_slopes[f"slope_{name}"] = broadcast(placed_ref, descriptor.results[f"slope_{name}"][0])
        names = (*whole, *differentiable(forward)) if wrt is None else chosen(wrt, (*whole, *forward.tensors))
        slopes = Backward(op).of(descriptor, counted_slopes, {**whole, **tensors}, like, wrt=names)
        return {n: slopes[n].reshape(cotangents[n[1:]].shape) if n in whole else slopes[n] for n in names}
