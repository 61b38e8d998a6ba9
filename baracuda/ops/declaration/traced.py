"""A formula with a signature: the tensors, scalars and options it takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeAlias, get_args, get_origin

from baracuda.core.axes import Axes
from baracuda.core.bounds import Above, AtLeast, AtMost, Below
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.parameters import Domain, Number, Whole, domain_of, is_whole, meaning
from baracuda.formula.complex import Complex
from baracuda.formula.expr import Expr, cast, reduce
from baracuda.formula.graph import Graph, Port
from baracuda.formula.host import HostNumber

#: Marks what is given at run time: a parameter of the kernel, not a constant in it.
RUN_TIME = "run time"
#: A number given at run time, and a whole one; `Annotated[Scalar, Above(0)]` is one with bounds.
Scalar: TypeAlias = Annotated["Expr | float", Number(), RUN_TIME]
WholeScalar: TypeAlias = Annotated["Expr | int", Whole(), RUN_TIME]
#: Marks a number with which the host computes before a kernel is given the result.
ON_HOST = "on the host"
#: A number that the formula computes with in double (`baracuda.formula.host`): the kernel is given 1 - beta, not beta.
Host: TypeAlias = Annotated["HostNumber | float", Number(), RUN_TIME, ON_HOST]
#: Numbers within the bounds that parameters have most often.
Positive: TypeAlias = Annotated[Scalar, Above(0)]
NonNegative: TypeAlias = Annotated[Scalar, AtLeast(0)]
UnitInterval: TypeAlias = Annotated[Scalar, AtLeast(0), AtMost(1)]
#: The share of a moving average that stays.
Decay: TypeAlias = Annotated[Host, AtLeast(0), Below(1)]
#: A tensor that keeps its own element and does not take part in promotion: masks, indices, statistics, weights of a norm.
Own: TypeAlias = Expr
Shape: TypeAlias = "tuple[int, ...]"
Value: TypeAlias = "Expr | Complex"


@dataclass(frozen=True)
class Stored:
    """A result of a formula with the element that it, or each part of a complex one, is stored in, where that does not follow
    from the op's rule, and the axes that it has elements along, where these are more than its expression varies along."""

    value: Value
    element: ElementKind
    axes: Axes | None = None


Result: TypeAlias = "Expr | Complex | Stored"


def stored_like(value: Expr, tensor: Expr) -> Stored:
    """What takes the place of a tensor, in its element."""
    if tensor.op != "input":
        raise InvalidProblemError(f"{tensor.attr}: got a number; expected a tensor, whose element a result has")
    return Stored(cast(value, tensor.kind), tensor.attr[1])


@dataclass(frozen=True)
class Signature:
    """What a formula's parameters mean.

    Attributes
    ----------
    tensors
        Names of the tensors, in order.
    optional, own
        Those that may be left out (default None), and those that keep their own element (annotated `Own`).
    scalars
        Keyword-only parameters given to the kernel at run time, with their defaults.
    options
        Keyword-only parameters that change the formula (annotated bool, int, Literal or tuple), with their defaults.
    domains
        What scalars and options may be (`baracuda.core.parameters`).
    whole
        The scalars that are whole numbers, in s64.
    host
        The scalars that the host computes with before the kernel is given the result.
    wants_element
        Whether the formula has a parameter `element: ElementKind`, filled with the element that its result is stored in; in
        an op whose inputs keep each their own, with the one that the caller asks for, or None.
    """

    tensors: tuple[str, ...]
    optional: frozenset[str]
    own: frozenset[str]
    scalars: Mapping[str, Any]
    options: Mapping[str, Any]
    domains: Mapping[str, Domain]
    whole: frozenset[str] = frozenset()
    host: frozenset[str] = frozenset()
    wants_element: bool = False


def signature(function: Callable[..., Any]) -> Signature:
    """Read from a Python function: tensors are positional, scalars and options keyword-only."""
    tensors, optional, own, host = [], set(), set(), set()
    scalars: dict[str, Any] = {}
    options: dict[str, Any] = {}
    domains: dict[str, Domain] = {}
    wants_element = False
    for p in inspect.signature(function).parameters.values():
        annotation = str(p.annotation)
        if p.kind is p.KEYWORD_ONLY and p.name == "element":
            wants_element = True
            continue
        if p.kind is p.KEYWORD_ONLY:
            meant = Scalar if p.annotation in (p.empty, float, "float") else meaning(p.annotation, function)
            (scalars if _marked(meant, RUN_TIME) else options)[p.name] = p.default
            if _marked(meant, ON_HOST):
                host.add(p.name)
            domains[p.name] = domain_of(meant)
            continue
        tensors.append(p.name)
        if p.default is None:
            optional.add(p.name)
        if annotation.startswith("Own"):
            own.add(p.name)
    if not tensors:
        raise InvalidProblemError(f"{function.__name__}: it takes no tensor; expected at least one positional parameter")
    whole = frozenset(n for n in scalars if is_whole(domains[n]))
    return Signature(
        tuple(tensors), frozenset(optional), frozenset(own), scalars, options, domains, whole, frozenset(host), wants_element
    )


def _marked(annotation: Any, mark: str) -> bool:
    return mark in get_args(annotation) or any(_marked(a, mark) for a in get_args(annotation) if get_origin(a) is Annotated)


#: The axis of the iteration space that each axis of a tensor lies along; None for one that is read at an index.
AxisPlacement: TypeAlias = "Sequence[int | None]"


@dataclass(frozen=True)
class Space:
    """An iteration space: where the tensors' axes lie in it, by their names, and the extents of axes that no tensor has."""

    axes: Mapping[str, AxisPlacement]
    extents: Mapping[int, int] = field(default_factory=dict)

    @property
    def rank(self) -> int:
        positions = (a for axes in self.axes.values() for a in axes if a is not None)
        return 1 + max((*positions, *self.extents), default=-1)


@dataclass(frozen=True)
class IndexBound:
    """What indices must be in: from 0, or with `wrap` from -extent, to extent - 1. `component` says which of the last axis
    of the tensor of indices it is about; None: all of it.

    Of `classes` it holds where their element is an integer, of any size, and `ignored` may stand among them.
    """

    extent: int
    wrap: bool = False
    component: int | None = None
    classes: bool = False
    ignored: int | None = None


def space_of(shapes: Mapping[str, Shape], placements: Mapping[str, AxisPlacement], known: Space | None = None) -> Shape:
    """The shape that all shapes broadcast to; a placed tensor's axes lie where it says, not at the end."""
    rank = max([len(s) for n, s in shapes.items() if n not in placements], default=0) if known is None else known.rank
    space = [1] * rank
    for axis, extent in known.extents.items() if known is not None else ():
        space[axis] = extent
    for name, shape in shapes.items():
        axes = placements.get(name, range(rank - len(shape), rank))
        if len(axes) != len(shape):
            raise InvalidProblemError(f"{name}: shape {shape} has rank {len(shape)}; expected {len(axes)}")
        if any(a is not None and a >= rank for a in axes):
            raise InvalidProblemError(f"{name}: shape {shape} lies along axes {tuple(axes)}; expected axes below {rank}")
        for a, n in zip(axes, shape, strict=True):
            if a is None:
                continue
            if n != 1 and space[a] not in (1, n):
                raise InvalidProblemError(f"{name}: shape {shape} does not broadcast with {tuple(space)}")
            space[a] = n if space[a] == 1 else space[a]
    return tuple(space)


def varying(shape: Shape, space: Shape, placement: AxisPlacement | None = None) -> tuple[bool, ...]:
    """For each axis of the space, whether a tensor has an element for each of its points."""
    axes = range(len(space) - len(shape), len(space)) if placement is None else placement
    extents = dict(zip(axes, shape, strict=True))
    return tuple(extents.get(a) == n for a, n in enumerate(space))


def smallest_class(varies: Sequence[bool], inner: Sequence[bool]) -> Axes:
    """The smallest class of axes that covers what a tensor varies along."""
    axes = Axes.NONE
    if any(v for v, i in zip(varies, inner, strict=True) if i):
        axes |= Axes.INNER
    if any(v for v, i in zip(varies, inner, strict=True) if not i):
        axes |= Axes.OUTER
    return axes


def exact_class(varies: Sequence[bool], inner: Sequence[bool]) -> Axes | None:
    """The class of a tensor that varies along all or none of the inner axes and all or none of the outer ones; None for
    another, and for one that varies along neither, whose gradient takes two sums."""
    axes = Axes.NONE
    for flag, one in ((True, Axes.INNER), (False, Axes.OUTER)):
        values = {v for v, i in zip(varies, inner, strict=True) if i is flag}
        if len(values) > 1:
            return None
        if values == {True} or not values:
            axes |= one
    return axes if axes else None


def gradient_class(shape: Shape, varies: Sequence[bool], inner: Sequence[bool]) -> Axes:
    """The axes that the kernel of a gradient leaves: those of `exact_class`, or FULL less a direction in which the tensor does
    not vary at all."""
    exact = exact_class(varies, inner)
    if exact is not None:
        return exact
    smallest = smallest_class([v and n != 1 for v, n in zip(varies, shape, strict=True)], inner)
    if smallest is Axes.NONE:
        return Axes.OUTER if any(inner) else Axes.FULL
    return smallest if any(inner) and not all(inner) else Axes.FULL


def summed(value: Expr, axes: Axes, inner: tuple[bool, ...]) -> Expr:
    """A value summed over what it varies along beside `axes`."""
    over = Graph((), ((Port("", value.kind), value),), inner).axes[value] & ~axes
    if over & Axes.INNER:
        value = reduce("sum", value)
    return reduce("sum", value, Axes.OUTER) if over & Axes.OUTER else value


def named_results(results: Any, names: Sequence[str]) -> dict[str, Result]:
    """What a formula returned, by name: one value is `y`, several are as declared, or y0, y1, ..."""
    if isinstance(results, Mapping):
        named = dict(results)
    elif isinstance(results, (tuple, list)):
        named = dict(zip(names or [f"y{i}" for i in range(len(results))], results, strict=True))
    else:
        named = {names[0] if names else "y": results}
    for name, value in named.items():
        if not isinstance(value, (Expr, Complex, Stored)):
            raise InvalidProblemError(f"result {name} is {value!r}; expected an expression")
    return named
