"""Ops as functions of tensors: what the caller's arguments mean as a descriptor, and what computes it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from baracuda.core.call_recorder import current as current_recorder
from baracuda.core.errors import InvalidProblemError
from baracuda.core.parameters import ELEMENT, Domain
from baracuda.frontends.binding import AXES, FLAG, ROW_AXES, Binding, BoundArguments
from baracuda.frontends.cacheable import Cacheable
from baracuda.frontends.call import NUMBERS, apply, describe
from baracuda.ops.declaration.composition import one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.op_descriptor import OpDescriptor, parts_of
from baracuda.ops.declaration.op_plan import plan_of

#: Parameters of functions that are none of their op.
_NO_NUMBERS = frozenset(["out", "wrt", "bounds", "dy"])
_NO_AXES = """

    Differs from PyTorch: axis=() names no axes, as in NumPy, so that each element is a row of its own; PyTorch takes all of them.
"""


class OpCall:
    """One descriptor on given tensors."""

    def __init__(self, descriptor: OpDescriptor, tensors: Mapping[str, Any], like: Any) -> None:
        self.descriptor, self.tensors, self.like = descriptor, tensors, like

    def run(self, out: Sequence[Any] = ()) -> dict[str, Any]:
        """Compute; the results by name. `out` are tensors to write, None for one to allocate."""
        d, cls = self.descriptor, plan_of(self.descriptor)
        inputs = [s for s in cls.tensors if not s.written]
        outputs = [s for s in cls.tensors if s.written]
        wanted = [s.name for s in outputs if s.presence(d)]
        if len(out) > len(wanted):
            raise InvalidProblemError(f"out: {len(out)} tensors; expected at most {len(wanted)}: {', '.join(wanted)}")
        results_into = dict(zip(wanted, out, strict=False))
        recorder = current_recorder()
        if recorder is not None:
            recorder.whole += d.whole_numbers
        results = apply(
            cls,
            cls.args,
            d,
            self.like,
            [self.tensors[s.name] if s.presence(d) else None for s in inputs],
            [d.described[s.name][:2] if s.presence(d) else None for s in outputs],
            [results_into.get(s.name) for s in outputs],
        )
        return {s.name: result for s, result in zip(outputs, results, strict=True) if s.name in wanted}


class Function:
    """An op as a function: `baracuda.gelu(x)`. Tensors come first; what follows them is given by name, or by position in the
    order of the signature."""

    def __init__(self, op: Op) -> None:
        self.op = op
        self.__name__ = self.__qualname__ = op.name
        self.__doc__ = op.doc.rstrip() + _NO_AXES if op.rowless else op.doc
        self.__module__ = "baracuda"
        self.binding = op_binding(op)
        self.__signature__ = self._signature()

    def _signature(self) -> inspect.Signature:
        defaults = {
            **{p.name: p.default for p in inspect.signature(self.op.formula).parameters.values()},
            "axis": None if callable(self.op.axis) else self.op.axis,
            "keepdims": self.op.keepdims,
            "saved": False,
            "dtype": None,
            **self.op.signature.options,
        }
        positional, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
        parameters = [inspect.Parameter(n, positional, default=defaults[n]) for n in self.op.signature.tensors]
        ordered, by_position = True, self.binding.by_position
        for name in (*by_position, *(n for n in self.binding.domains if n not in by_position)):
            default = defaults[name]
            follows = default is not inspect.Parameter.empty or all(p.default is p.empty for p in parameters)
            ordered = ordered and name in by_position and follows
            parameters.append(inspect.Parameter(name, positional if ordered else keyword, default=default))
        return inspect.Signature([*parameters, inspect.Parameter("out", keyword, default=None)])

    # --- from arguments to a descriptor -------------------------------------------------------------------------------

    def describe(self, *arguments: Any, wrt: Sequence[str] = (), given: Sequence[str] = (), **keywords: Any) -> OpDescriptor:
        """The descriptor of a call with these arguments."""
        return describe_bound(self.op, self.binding(arguments, keywords), tuple(wrt), tuple(given))[0]

    # --- calls --------------------------------------------------------------------------------------------------------

    def __call__(self, *arguments: Any, out: Any = None, **keywords: Any) -> Any:
        wanted = out if isinstance(out, tuple) else () if out is None else (out,)
        results = OpCall(*describe_bound(self.op, self.binding(arguments, keywords))).run(wanted)
        return one_or_all(tuple(results.values()))

    @property
    def cacheable(self) -> Cacheable:
        """What the cache of calls needs to know."""
        return cacheable_of(self, self.op, self.binding)


def cacheable_of(function: Any, op: Op, binding: Binding) -> Cacheable:
    """What the cache of calls needs to know of a function of an op, or of one of its gradients."""
    tensors = binding.tensors
    numbers = (*op.signature.tensors, *binding.numbers)
    positions = tuple(n if n in numbers else None for n in (*tensors, *binding.by_position))
    specials = {n: tuple(v for v in values if not isinstance(v, complex)) for n, values in op.literals.items()}

    def scalars(arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Mapping[str, float]:
        call = binding.bind(arguments, {k: v for k, v in keywords.items() if k not in _NO_NUMBERS})
        named = dict(zip(tensors, call.tensors, strict=True))
        with_defaults = with_numbers(op, replace(call, tensors=tuple(named.get(n) for n in op.signature.tensors)))
        return parts_of(with_defaults)

    return Cacheable(function, positions, numbers, specials, scalars, domain=binding.domain_of_number)


def binding_of(op: Op, name: str, tensors: Sequence[str]) -> Binding:
    """The parameters of a function of an op."""
    signature = op.signature
    domains: dict[str, Domain] = {}
    defaults = {**signature.scalars, **signature.options}
    if op.rows and op.axis_option:
        domains["axis"] = AXES if op.rowless else ROW_AXES
    if op.keepdims is not None:
        domains["keepdims"] = FLAG
    domains |= {n: d for n, d in signature.domains.items() if n not in domains}
    positions = tuple(domains) if op.positions is None else op.positions
    if op.extra:
        domains["saved"] = FLAG
    if op.element_option:
        domains["dtype"] = ELEMENT
        defaults["dtype"] = None
    return Binding(
        name,
        tensors,
        domains,
        numbers=frozenset(signature.scalars),
        positions=positions,
        defaults=defaults,
        ordered=op.ordered,
        no_alias="axis" if op.crosswise else "",
    )


def with_numbers(op: Op, call: BoundArguments) -> dict[str, Any]:
    """The numbers of a call by name, those that stand for tensors among them."""
    tensors = op.signature.tensors
    in_place = {n: v for n, v in zip(tensors, call.tensors, strict=False) if isinstance(v, NUMBERS)}
    return {**in_place, **call.numbers} if in_place else call.numbers


def describe_call(
    op: Op, arguments: Sequence[Any], keywords: Mapping[str, Any], wrt: tuple[str, ...] = (), given: tuple[str, ...] = ()
) -> tuple[OpDescriptor, dict[str, Any], Any]:
    """The descriptor of a call, its tensors by name, and the one whose library and device are used."""
    return describe_bound(op, op_binding(op).bind(tuple(arguments), keywords), wrt, given)


def op_binding(op: Op) -> Binding:
    """The parameters of an op's own function, made once."""
    binding: Binding | None = op.derived.get("binding")
    if binding is None:
        binding = op.derived["binding"] = binding_of(op, op.name, op.signature.tensors)
    return binding


def describe_bound(
    op: Op, call: BoundArguments, wrt: tuple[str, ...] = (), given: tuple[str, ...] = ()
) -> tuple[OpDescriptor, dict[str, Any], Any]:
    """The descriptor of a call whose arguments are understood, its tensors by name, and the one whose library and device are
    used."""
    signature = op.signature
    named = dict(zip(signature.tensors, call.tensors, strict=True))
    tensors = {n: v for n, v in named.items() if v is not None and not isinstance(v, NUMBERS)}
    if not tensors:
        raise InvalidProblemError(f"{op}: no tensor among {', '.join(signature.tensors)}; expected at least one")
    refs = {n: describe(v, n) for n, v in tensors.items()}
    options = dict(call.options)
    axis = options.pop("axis", op.axis) if op.rows else ()
    keepdims = options.pop("keepdims", op.keepdims) if op.keepdims is not None else True
    element = options.pop("dtype", None) if op.element_option else None
    saved = options.pop("saved", False) if op.extra else False
    wanted: tuple[str, ...] = ()
    if op.extra and not wrt and not saved:
        wanted = tuple(n for n in op.results if n not in op.extra)
    shapes = [refs[n].shape if n in refs else None for n in signature.tensors]
    rank = max((len(s) for s in shapes if s is not None), default=0)
    if callable(op.axis) and (axis is None or callable(axis)):
        axis = op.axis(rank)
    axes = tuple(range(rank)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    descriptor = OpDescriptor(
        op,
        tuple(shapes),
        tuple(refs[n].kind if n in refs else None for n in signature.tensors),
        axes,
        keepdims,
        element,
        tuple(sorted(with_numbers(op, call).items())),
        tuple(sorted(options.items())),
        wanted,
        wrt,
        given,
    )
    like = max(tensors.values(), key=lambda t: len(t.shape))
    return descriptor, tensors, like
