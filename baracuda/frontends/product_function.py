"""Products of two tensors as functions: what a call's arguments mean as labelled axes, and its gradients."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.parameters import meaning
from baracuda.core.sku import PlanPreference
from baracuda.core.tensor import TensorRef
from baracuda.frontends.binding import PREFERENCE, Binding, BoundArguments, domain
from baracuda.frontends.cacheable import Cacheable
from baracuda.frontends.call import apply, describe
from baracuda.frontends.families import function
from baracuda.ops.declaration.composition import chosen, one_or_all
from baracuda.ops.declaration.op_descriptor import parts_of
from baracuda.ops.matmul.descriptor import MatmulDescriptor
from baracuda.ops.matmul.plan import MatmulArgs, MatmulPlan

#: The numbers of products that kernels are given at run time, with the values that have code of their own.
_SPECIAL = dict(MatmulDescriptor.numbers)
_READ = [s.name for s in MatmulPlan.tensors if not s.written]


@dataclass(frozen=True)
class Request:
    """A call, understood.

    Attributes
    ----------
    descriptor
        The product.
    read
        By the name of the plan's tensor, which argument it is.
    shape
        The shape of the result where that is another one of as many elements.
    """

    descriptor: MatmulDescriptor
    read: Mapping[str, int]
    shape: tuple[int, ...] | None = None

    @property
    def result_shape(self) -> tuple[int, ...]:
        return self.descriptor.y_shape if self.shape is None else self.shape


#: From the tensors of a call, None for one that is left out, and its options.
Describe = Callable[..., Request]


class MatmulFunction:
    """A function whose result one `MatmulPlan` computes.

    `describe` takes what is known of the tensors, as positional parameters, and the options by keyword. Besides those, the
    function takes `out`, the tensor to write, and `preference`, a `PlanPreference`.
    """

    def __init__(self, describe: Describe) -> None:
        self.describe = describe
        self.__name__ = self.__qualname__ = describe.__name__.lstrip("_")
        self.__module__, self.__doc__ = "baracuda", describe.__doc__
        parameters = inspect.signature(describe).parameters.values()
        self.required = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty]
        self.tensors = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        options = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
        self.domains = {p.name: domain(meaning(p.annotation, describe)) for p in options}
        self.defaults = {p.name: p.default for p in options}
        self.numbers = frozenset(self.domains) & frozenset(_SPECIAL)
        self.binding = self.bind(self.__name__, self.tensors)
        keyword = inspect.Parameter.KEYWORD_ONLY
        extra = [inspect.Parameter(n, keyword, default=None) for n in ("out", "preference")]
        self.__signature__ = inspect.Signature([*(p.replace(annotation=p.empty) for p in parameters), *extra])

    def bind(self, name: str, tensors: Sequence[str]) -> Binding:
        """The parameters of a function that takes these tensors, and the options of this one."""
        return Binding(name, tensors, self.domains, numbers=self.numbers, defaults=self.defaults)

    def __call__(self, *positional: Any, out: Any = None, preference: PlanPreference | None = None, **options: Any) -> Any:
        call = self.binding(positional, options)
        if preference is not None:
            PREFERENCE.check("preference", preference)
        arguments, request = call.tensors, self.request(call)
        d = request.descriptor
        values = [arguments[request.read[n]] if n in request.read else None for n in _READ]
        made = _in_order(d)
        outputs = [made, made if d.saves else None]
        if out is not None and request.shape is not None:
            raise InvalidProblemError(f"{self.__name__}: out; expected none, because the result is a view of what is computed")
        results = apply(MatmulPlan, MatmulArgs, d, values[0], values, outputs, [out], preference)
        return _shaped(tuple(r for r in results if r is not None), request.shape)

    @property
    def cacheable(self) -> Cacheable:
        """What the cache of calls needs to know."""
        names = (*self.tensors, *self.binding.by_position)
        positions = tuple(n if n in self.numbers else None for n in names)
        specials = {n: tuple(v for v in _SPECIAL[n] if not isinstance(v, complex)) for n in self.numbers}
        scalars, domain = partial(_scalars, self.binding), self.binding.domain_of_number
        return Cacheable(self, positions, tuple(self.numbers), specials, scalars, domain=domain)

    def request(self, call: BoundArguments) -> Request:
        """What a call with these arguments asks for."""
        refs: list[TensorRef | None] = []
        for name, value in zip(self.tensors, call.tensors, strict=True):
            if value is None and name in self.required:
                raise InvalidProblemError(f"{name}: got None; {self.__name__} expected a tensor")
            refs.append(None if value is None else describe(value, name))
        return self.describe(*refs, **call.numbers, **call.options)


def _scalars(binding: Binding, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Mapping[str, float]:
    """The numbers of a call as kernels know them."""
    call_options = {k: v for k, v in keywords.items() if k not in ("out", "preference", "z", "wrt")}
    return parts_of(binding.bind(arguments, call_options).numbers)


def _shaped(results: tuple[Any, ...], shape: tuple[int, ...] | None) -> Any:
    if shape is not None:
        results = tuple(r.reshape(shape) for r in results)
    return one_or_all(results)


class MatmulBackward:
    """The gradients of a `MatmulFunction`'s tensors, given that of its result: `baracuda.mm_backward(dy, a, b)`.

    It takes dy, the function's own tensors and options, `wrt`, the names of the tensors whose gradients are wanted (default:
    all that are given), and, where there is an activation, `z`, what it was applied to; without it z is computed again.
    """

    def __init__(self, forward: MatmulFunction) -> None:
        self.forward = forward
        self.__name__ = self.__qualname__ = f"{forward.__name__}_backward"
        self.__module__ = "baracuda"
        self.__doc__ = f"The gradients of `{forward.__name__}`'s tensors, given that of its result.\n\n{forward.__doc__}"
        positional, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
        parameters = [p for p in forward.__signature__.parameters.values() if p.name not in ("out", "saved")]
        names = [inspect.Parameter("dy", positional), *(p for p in parameters if p.kind is positional)]
        self.binding = forward.bind(self.__name__, ["dy", *forward.tensors])
        extra = [inspect.Parameter(n, keyword, default=None) for n in ("z", "wrt")]
        *options, preference = (p for p in parameters if p.kind is keyword)
        self.__signature__ = inspect.Signature([*names, *options, *extra, preference])

    @property
    def cacheable(self) -> Cacheable:
        """What the cache of calls needs to know: numbers are the kernels' where none of them is multiplied first."""
        return self.forward.cacheable._replace(
            function=self,
            positions=tuple(None for _ in self.binding.tensors),
            scalars=partial(_scalars, self.binding),
            every=True,
        )

    def __call__(
        self,
        *positional: Any,
        z: Any = None,
        wrt: Sequence[str] | None = None,
        preference: PlanPreference | None = None,
        **options: Any,
    ) -> Any:
        forward, call = self.forward, self.binding(positional, options)
        if preference is not None:
            PREFERENCE.check("preference", preference)
        dy, *arguments = call.tensors
        request = forward.request(replace(call, tensors=tuple(arguments)))
        d = request.descriptor
        present = [n for n, v in zip(forward.tensors, arguments, strict=True) if v is not None]
        names = chosen(wrt, present)
        shape = describe(dy, "dy").shape
        if shape != request.result_shape:
            raise InvalidProblemError(f"dy: shape is {shape}; expected {request.result_shape}")
        if d.has_a_scale or d.has_b_scale:
            raise InvalidProblemError(f"{self.__name__}: quantized factors; expected factors without scales")
        if request.shape is not None:
            dy = dy.reshape(d.y_shape)
        tensors = {n: arguments[i] for n, i in request.read.items()}
        if d.activation != "none":
            dy = _through_activation(d, dy, tensors, z, preference)
        gradients: dict[str, Any] = {}
        for tensor, i in request.read.items():
            name = forward.tensors[i]
            if name in names:
                gradients[name] = _gradient(d, tensor, dy, tensors, gradients.get(name), preference)
        ordered = tuple(gradients[n] for n in names)
        return one_or_all(ordered)


def _through_activation(
    d: MatmulDescriptor, dy: Any, tensors: Mapping[str, Any], z: Any, preference: PlanPreference | None
) -> Any:
    """The gradient of what the activation is applied to."""
    if z is None:
        plain = replace(d, activation="none", saves=False)
        z = run(plain, tensors, preference)
    if d.activation == "gelu_tanh":
        return function("gelu_backward")(dy, z, approximate="tanh")
    return function(f"{d.activation}_backward")(dy, z)


def _in_order(d: MatmulDescriptor) -> tuple[tuple[int, ...], ElementKind, Sequence[int]]:
    """The result of a product, which has nothing of the order of a factor that happens to have its shape."""
    return d.y_shape, d.element, range(len(d.y_shape))


def run(d: MatmulDescriptor, tensors: Mapping[str, Any], preference: PlanPreference | None = None) -> Any:
    """The result of one product, of tensors given by the plan's names."""
    values = [tensors.get(n) for n in _READ]
    outputs = [_in_order(d), None]
    return apply(MatmulPlan, MatmulArgs, d, values[0], values, outputs, (), preference)[0]


def _gradient(
    d: MatmulDescriptor, tensor: str, dy: Any, tensors: Mapping[str, Any], before: Any, preference: PlanPreference | None
) -> Any:
    """The gradient of one tensor of a product, added to `before` where that is given; dy is that of what is before the
    activation."""
    if tensor not in "ab":
        return _gradient_of_addend(d, tensor, dy)
    own = tensor == "a"
    shape, axes = (d.a_shape, d.a_axes) if own else (d.b_shape, d.b_axes)
    other, other_shape, other_axes = ("b", d.b_shape, d.b_axes) if own else ("a", d.a_shape, d.a_axes)
    other_element = d.b_element if own else d.a_element
    conjugated, other_conjugated = (d.conjugate_a, d.conjugate_b) if own else (d.conjugate_b, d.conjugate_a)
    kept_axes = "".join(x for x, n in zip(axes, shape, strict=True) if n == d.extents[x])
    alpha = d.alpha.conjugate() if d.conjugates and not conjugated else d.alpha
    product = MatmulDescriptor(
        a_shape=d.y_shape,
        b_shape=other_shape,
        a_axes=d.y_axes,
        b_axes=other_axes,
        y_axes=kept_axes,
        a_element=d.element,
        b_element=other_element,
        element=d.a_element if own else d.b_element,
        alpha=alpha,
        conjugate_a=d.conjugates and conjugated,
        conjugate_b=d.conjugates and conjugated == other_conjugated,
        c_shape=None if before is None else tuple(d.extents[x] for x in kept_axes),
    )
    operands = {"a": dy, "b": tensors[other]}
    if before is not None:
        operands["c"] = before.reshape(product.y_shape)
    result = run(product, operands, preference)
    return result if tuple(result.shape) == shape else result.reshape(shape)


def _gradient_of_addend(d: MatmulDescriptor, tensor: str, dy: Any) -> Any:
    """The gradient of c or of the bias: dy summed over what it was broadcast along."""
    rank, factor = len(d.y_shape), d.beta
    if tensor == "bias":
        assert d.bias_axis is not None
        shape, kept_axes, factor = d.bias_shape, {rank + d.bias_axis}, 1
    else:
        assert d.c_shape is not None
        shape, lead = d.c_shape, rank - len(d.c_shape)
        kept_axes = {lead + a for a, n in enumerate(shape) if n == d.y_shape[lead + a]}
        factor = d.beta.conjugate()
    axes = tuple(a for a in range(rank) if a not in kept_axes)
    gradient = function("sum")(dy, axis=axes, dtype=d.element).reshape(shape) if axes else dy
    return gradient if axes and factor == 1 else function("mul")(gradient, factor)
